/**
 * One run's DAG as it is being looked at: what is loaded and expanded, where it lies, the camera, and the change under way. The component
 * draws it and passes on what the user does; nothing here touches the page.
 */

import { batch, signal } from "@preact/signals";
import type { CriticalPath, Meta, RunId, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { Unavailable, type DataSource } from "../data/source";
import { announcement, colorBy, expanded, layers, layout, power, run as shownRun, selection, type Selection } from "../store";
import { isRoot } from "../frame/Tabs";
import { dark, colours, still } from "../theme/theme";
import { sentence, type Look } from "./boxes";
import { between, fit, hold, reveal, zoom, type Camera, type Fit, type View } from "./camera";
import { firstPicture } from "./expand";
import { CARD_WIDTH, isDot, place, type Options, type Placed } from "./layout";
import { Insides } from "./load";
import { build, RUN, type Model, type Shown } from "./model";
import { morph, MORPH_MS, rects, type Rect } from "./morph";
import { HEAD, STRIP } from "./axis";
import { Strip } from "./strip";
import type { Neighbours } from "./walk";

/** Room for the legend below the picture. */
const LEGEND = 40;
/** Factor of the x axis at most where y is time. */
const WIDEST = 2.2;

export const EMPTY: Model = build(new Map(), new Set());
const START: ReadonlySet<string> = new Set(["t0"]);
const isStart = (s: ReadonlySet<string>): boolean => s.size === START.size && [...s].every((k) => START.has(k));

export class Scene {
  readonly insides: Insides;
  readonly model = signal<Model>(EMPTY);
  /** A full sentence about why there is no picture; with what to do. */
  readonly trouble = signal<{ words: string; remedy: string | null; again: boolean } | null>(null);
  /** What the status line says beside the counts, a sentence, until the next change. */
  readonly note = signal("");
  readonly selected = signal<Shown | null>(null);
  readonly hovered = signal<Shown | null>(null);
  readonly critical = signal<CriticalPath | null>(null);
  /** Side paths' waits are drawn. */
  readonly slack = signal(true);
  /** Factor of the y axis in the frame that is shown. */
  readonly shownScale = signal(1);
  placed: Placed = { width: 1, height: 1, time: null };
  camera: Camera = { kx: 1, ky: 1, tx: 0, ty: 0 };
  view: View = { x: 0, y: 0, w: 800, h: 600 };
  width = 0;
  height = 0;
  /** The user has not moved since everything was fitted. */
  fitted = true;
  private pictured = false;
  private old = new Map<string, Rect>();
  private oldCamera: Camera | null = null;
  private began = -Infinity;
  links: Neighbours | null = null;
  walked: Selection | null = null;
  /** Counts changes, so that a late answer does not undo a newer one. */
  turn = 0;
  /** What ran beside the picture. */
  readonly strip: Strip;
  /** What is to come into view once it is shown. */
  sought: Selection | null = null;
  /** Called when there is something new to draw. */
  wake: () => void = () => {};

  constructor(readonly source: DataSource, readonly meta: Meta, readonly run: RunMeta) {
    this.insides = new Insides(source, run.id, meta);
    this.strip = new Strip(source, run, () => this.wake());
    this.insides.holds = (id) => expanded.peek().has(id);
  }

  get id(): RunId {
    return this.run.id;
  }

  options(): Options {
    return { layout: layout.value, power: power.value, elapsed: this.run.elapsed };
  }

  /** No axis is time: heights are those of the words. */
  get structure(): boolean {
    return layout.peek() === "structure";
  }

  get timed(): boolean {
    return layout.peek() === "time";
  }

  dot = (n: Shown): boolean => isDot(n, { layout: layout.peek(), power: power.peek(), elapsed: this.run.elapsed }) && n.h * this.scaleNow().ky < 12;

  private cameraNow: Camera | null = null;
  private scaleNow(): Camera {
    return this.cameraNow ?? this.camera;
  }

  look(): Look {
    const on = layers.value;
    return {
      view: this.timed ? { x: this.view.x - 12, y: HEAD - 6, w: this.width - this.view.x + 12, h: this.height - HEAD + 6 } : { x: 0, y: 0, w: this.width, h: this.height },
      // Here everything lies on the ground of the page: paths are as its text, their rims as the ground.
      t: { ...colours.value, path: colours.value.fg, halo: colours.value.panel }, dark: dark.value, mode: colorBy.value, meta: this.run,
      critical: on.has("critical"), ready: on.has("ready"), slack: this.slack.value, rootCode: (code) => isRoot(this.run.codes[code]?.label),
    };
  }

  /** While a site or a code is selected, what belongs to it stays strong. */
  wanted(): ((n: Shown) => boolean) | null {
    const s = selection.value;
    if (!s || s.run !== this.id) return null;
    if (s.kind === "site") return (n) => (n.strand ?? n.folded)?.site === s.site;
    if (s.kind === "code") return (n) => (n.strand ?? n.folded)?.code === s.code;
    if (s.kind === "row") return (n) => (n.strand ? n.strand.row === s.row : (n.folded?.rows.some(([row]) => row === s.row) ?? false));
    return null;
  }

  // ---- size and camera ----

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.room();
    if (this.fitted) this.fitNow("full", false);
    else this.camera = hold(this.camera, this.placed, this.view);
    this.wake();
  }

  private room(): void {
    const left = this.timed ? STRIP + 12 : 20, top = this.timed ? HEAD + 10 : 18;
    this.view = { x: left, y: top, w: Math.max(40, this.width - left - 20), h: Math.max(40, this.height - top - LEGEND) };
  }

  fitNow(kind: Fit, moving = true): void {
    const to = this.fitFor(kind);
    this.fitted = kind === "full";
    this.moveTo(to, moving);
  }

  private fitFor(kind: Fit): Camera {
    const inner = { x: this.view.x + 8, y: this.view.y, w: this.view.w - 16, h: this.view.h };
    return fit(kind, this.placed, inner, this.camera, { x: 1.15, y: this.structure ? 1.15 : Infinity });
  }

  moveTo(to: Camera, moving: boolean): void {
    if (moving && !still.value) {
      this.oldCamera = this.cameraAt(now());
      this.old = rects(this.model.peek(), this.rectAt(now()));
      this.began = now();
    } else {
      this.oldCamera = null;
      this.began = -Infinity;
    }
    this.camera = to;
    this.wake();
  }

  /** The user moves: at once, and nothing is fitted any more. */
  steer(to: Camera): void {
    this.fitted = false;
    this.oldCamera = null;
    this.camera = hold(to, this.placed, this.view);
    this.wake();
  }

  /** The user zooms at a point. Where an axis is time, boxes need not be wider than can be read. */
  zoomAt(fx: number, fy: number, x: number, y: number): void {
    const most = this.structure ? Infinity : Math.max(1, WIDEST / this.camera.kx);
    this.steer(zoom(this.camera, Math.min(fx, most), fy, x, y));
  }

  private share(at: number): number {
    return still.value ? 1 : Math.min(1, (at - this.began) / MORPH_MS);
  }

  cameraAt(at: number): Camera {
    const share = this.share(at);
    const e = share < 0.5 ? 4 * share ** 3 : 1 - (-2 * share + 2) ** 3 / 2;
    const c = this.oldCamera && share < 1 ? between(this.oldCamera, this.camera, e) : this.camera;
    this.cameraNow = c;
    return c;
  }

  rectAt(at: number): (n: Shown) => Rect {
    const share = this.share(at);
    return share < 1 ? morph(this.old, share) : (n) => n;
  }

  moving(at: number): boolean {
    return this.share(at) < 1;
  }

  // ---- what is shown ----

  /** Brings the model in line with the set of expanded nodes; the first time of a run it chooses that set. */
  async follow(): Promise<void> {
    const turn = ++this.turn;
    try {
      if (!this.pictured && isStart(expanded.peek())) {
        const first = await firstPicture(this.insides.loaded, this.insides.load, (m) => this.readable(m), (n) => !isDot(n, this.options()));
        if (turn !== this.turn) return;
        this.pictured = true;
        first.delete(RUN);
        this.trouble.value = null;
        if (this.insides.missing.has(RUN)) {
          this.trouble.value = { words: this.insides.missing.get(RUN)!, remedy: null, again: false };
          return;
        }
        this.fitted = true;
        if (same(first, expanded.peek())) this.show();
        else expanded.value = first;
        return;
      }
      this.pictured = true;
      await this.insides.load([RUN, ...expanded.peek()]);
      if (turn !== this.turn) return;
      this.trouble.value = this.insides.missing.has(RUN) ? { words: this.insides.missing.get(RUN)!, remedy: null, again: false } : null;
      this.show();
    } catch (e) {
      if (turn !== this.turn) return;
      if (!(e instanceof Unavailable)) throw e;
      this.trouble.value = { words: e.message, remedy: e.remedy, again: e.why === "loading" || e.why === "gone" };
    }
  }

  /** True when everything can be read at the size there is. */
  private readable(m: Model): boolean {
    place(m, this.options());
    this.links = null;
    const widest = Math.max(320, this.width - (this.timed ? STRIP : 20) - 40);
    const high = !this.structure || this.view.h / Math.max(1, m.top.h) >= 0.42;
    return m.boxes.length > 0 && high && widest / topWidth(m) >= 0.8 * (100 / CARD_WIDTH);
  }

  /** Lays out anew and moves there. `anchor` stays where it is on the screen. */
  show(anchor: string | null = null): void {
    this.aside();
    const before = this.model.peek();
    const at = now();
    const rect = this.rectAt(at);
    const camera = this.cameraAt(at);
    this.old = before === EMPTY ? new Map() : rects(before, rect);
    const first = before === EMPTY || before.boxes.length === 0;
    const m = build(this.insides.loaded, new Set([RUN, ...expanded.peek()]));
    this.room();
    this.placed = place(m, this.options());
    this.links = null;
    this.anchored = anchor ?? this.anchored;
    let to = this.camera;
    const whole = this.fitFor("full");
    if (first || (this.fitted && whole.kx >= 0.55)) {
      to = whole;
      this.fitted = true;
    } else {
      const key = this.anchored ?? this.middle(before, m, rect, camera);
      const was = key ? this.old.get(key) : undefined;
      const is = key ? m.byKey.get(key) : undefined;
      if (was && is) {
        // The middle of its upper edge stays.
        to = { ...camera };
        to.tx = (was.x + was.spine) * camera.kx + camera.tx - (is.x + is.spine) * to.kx;
        to.ty = was.y * camera.ky + camera.ty - is.y * to.ky;
      }
      if (this.fitted && was === undefined) to = whole;
      to = hold(to, this.placed, this.view);
      if (this.fitted) this.fitted = false;
    }
    this.anchored = null;
    this.oldCamera = first ? null : camera;
    this.began = first || still.value ? -Infinity : at;
    this.camera = to;
    batch(() => {
      this.model.value = m;
      this.hovered.value = null;
      this.selected.value = this.find(m, selection.peek());
    });
    this.wake();
  }

  anchored: string | null = null;

  /** What is nearest to the middle of the view and still there: it stays where it is when nothing else is asked for. */
  private middle(before: Model, after: Model, rect: (n: Shown) => Rect, c: Camera): string | null {
    const x = this.view.x + this.view.w / 2, y = this.view.y + this.view.h / 2;
    let best: string | null = null;
    let least = Infinity;
    for (const n of before.boxes) {
      let at: Shown | null = n;
      while (at && !after.byKey.has(at.key)) at = at.parent;
      if (!at || at.kind === "run") continue;
      const r = rect(at);
      const off = Math.hypot((r.x + r.spine) * c.kx + c.tx - x, r.y * c.ky + c.ty - y);
      if (off < least) {
        least = off;
        best = at.key;
      }
    }
    return best;
  }

  /** Layout or power changed: same nodes, other places. */
  relayout(): void {
    if (this.model.peek() === EMPTY) return;
    this.fitted = true;
    this.show();
  }

  /** How much is seen of a node, in square pixels; less the further it is off the screen. */
  seen(n: Shown): number {
    const c = this.camera;
    const x = n.x * c.kx + c.tx, y = n.y * c.ky + c.ty, w = Math.max(0.01, n.w * c.kx), h = Math.max(0.01, n.h * c.ky);
    const off = Math.max(0, -x - w, x - this.width, -y - h, y - this.height);
    return off > 0 ? -off : w * h;
  }

  // ---- selection ----

  /** The node of a selection, when it is shown. */
  find(m: Model, s: Selection | null): Shown | null {
    if (!s || s.run !== this.id) return null;
    if (s.kind === "strand") return m.byKey.get(`s${s.id}`) ?? null;
    if (s.kind === "steal") return m.byKey.get(`s${s.strand}`) ?? null;
    if (s.kind === "task") return m.byKey.get(`t${s.id}`) ?? null;
    if (s.kind === "group") return m.byKey.get(s.id) ?? null;
    return null;
  }

  selectionOf(n: Shown): Selection | null {
    if (n.strand) return { kind: "strand", run: this.id, id: n.strand.id, task: n.strand.task };
    if (!n.folded) return null;
    return n.kind === "group" ? { kind: "group", run: this.id, id: n.key, task: n.folded.task } : { kind: "task", run: this.id, id: n.folded.task };
  }

  select(n: Shown | null): void {
    const s = n ? this.selectionOf(n) : null;
    this.walked = s;
    batch(() => {
      selection.value = s;
      this.selected.value = n;
    });
    announcement.value = n ? sentence(n, this.run) : "Nothing selected";
    this.wake();
  }

  /** Moves the camera so that the node is seen. */
  into(n: Shown): void {
    const to = reveal(this.camera, n, this.view, 10);
    if (Math.abs(to.tx - this.camera.tx) + Math.abs(to.ty - this.camera.ty) < 1) return this.wake();
    this.fitted = false;
    this.moveTo(to, true);
  }

  /** Fills the view with a node. */
  focus(n: Shown): void {
    const r = n.inside || n.w > 0 ? n : n.parent!;
    const pad = 60;
    const kx = Math.min(4, (this.view.w - 2 * pad) / Math.max(1, r.w)), ky = Math.min(this.structure ? 4 : 400, (this.view.h - 2 * pad) / Math.max(0.05, r.h));
    const k = !this.structure ? { kx: Math.min(kx, 1.6), ky } : { kx: Math.min(kx, ky), ky: Math.min(kx, ky) };
    this.fitted = false;
    this.moveTo({ ...k, tx: this.view.x + this.view.w / 2 - (r.x + r.w / 2) * k.kx, ty: this.view.y + this.view.h / 2 - (r.y + r.h / 2) * k.ky }, true);
  }

  /** Loads what stands beside the picture, each once; what a report does not carry stays away. */
  aside(): void {
    const quietly = (e: unknown) => {
      if (!(e instanceof Unavailable)) throw e;
    };
    if (!this.critical.peek()) void this.source.json<CriticalPath>(requests.critical(this.id)).then((path) => (this.critical.value = path), quietly);
    this.strip.load();
  }

  /** True when this scene's run is the one shown. */
  get current(): boolean {
    return shownRun.peek() === this.id;
  }
}

const now = (): number => performance.now();
export const same = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => a.size === b.size && [...a].every((k) => b.has(k));
const topWidth = (m: Model): number => Math.max(1, m.top.w);
