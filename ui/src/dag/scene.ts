/**
 * The state of one run's DAG: what is loaded and expanded, the layout, the camera, and the current
 * animation. The component draws it and forwards the user's actions; this code does not touch the
 * page.
 */

import { batch, signal } from "@preact/signals";
import type { CriticalPath, Meta, RunId, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { Unavailable, type DataSource } from "../data/source";
import {
  announcement,
  colorBy,
  expanded,
  layers,
  layout,
  power,
  run as shownRun,
  selection,
  type Selection,
  rowsOf,
} from "../store";
import { sameSet } from "../sets";
import { dark, colours, reducedMotion } from "../theme/theme";
import { nodeSentence, type DrawingStyle } from "./nodeDrawing";
import { clampToView, type Camera } from "./camera";
import { firstPicture } from "./expandedSet";
import { CARD_WIDTH, isDot, place, type Options } from "./layout";
import { InsideLoader } from "./insideLoader";
import { buildModel, endOf, isInner, RUN, startOf, type Model, type DagNode } from "./model";
import { rects, type Rect } from "./morph";
import { now, Viewport } from "./viewport";
import { STRIP_HEAD_HEIGHT, STRIP_WIDTH } from "./timeStrip";
import { ActivityProfile } from "./activityProfile";
import type { Neighbours } from "./neighbours";

export const EMPTY: Model = buildModel(new Map(), new Set());
const START_EXPANDED: ReadonlySet<string> = new Set(["t0"]);
/** Minimum width of a card in the first picture, in pixels: most names of functions fit. */
const MIN_CARD_WIDTH = 98;
const isStart = (s: ReadonlySet<string>): boolean =>
  s.size === START_EXPANDED.size && [...s].every((k) => START_EXPANDED.has(k));

export class Scene extends Viewport {
  readonly insides: InsideLoader;
  readonly model = signal<Model>(EMPTY);
  /** A full sentence about why there is no picture, with a remedy. */
  readonly failure = signal<{ words: string; remedy: string | null; again: boolean } | null>(null);
  /** A sentence in the status line beside the counts, until the next change. */
  readonly note = signal("");
  readonly selected = signal<DagNode | null>(null);
  readonly hovered = signal<DagNode | null>(null);
  readonly critical = signal<CriticalPath | null>(null);
  /** Waits of side paths are drawn. */
  readonly slack = signal(true);
  private firstPictureChosen = false;
  /** Called for each picture if another one is drawn beside it. */
  onPictureChange: () => void = () => {};
  links: Neighbours | null = null;
  ownSelection: Selection | null = null;
  /** Counts changes, so that a late answer does not replace a newer one. */
  changeNumber = 0;
  /** The strip of what ran, beside the picture. */
  readonly activityProfile: ActivityProfile;
  /** The selection that scrolls into view once it is shown. */
  pendingSelection: Selection | null = null;

  constructor(
    readonly source: DataSource,
    readonly meta: Meta,
    readonly run: RunMeta,
    /** Whether sections of tasks are nodes. */
    readonly sections = false,
  ) {
    super();
    this.insides = new InsideLoader(source, run.id, meta, sections);
    this.activityProfile = new ActivityProfile(source, run, () => this.requestDraw());
    this.insides.isExpanded = (id) => expanded.peek().has(id);
  }

  get id(): RunId {
    return this.run.id;
  }

  options(): Options {
    return { layout: layout.value, power: power.value, elapsed: this.run.elapsed };
  }

  dot = (n: DagNode): boolean =>
    isDot(n, { layout: layout.peek(), power: power.peek(), elapsed: this.run.elapsed }) &&
    n.h * this.scaleNow().ky < 12;

  look(): DrawingStyle {
    const on = layers.value;
    return {
      view: this.timed
        ? {
            x: this.view.x - 12,
            y: STRIP_HEAD_HEIGHT - 6,
            w: this.width - this.view.x + 12,
            h: this.height - STRIP_HEAD_HEIGHT + 6,
          }
        : { x: 0, y: 0, w: this.width, h: this.height },
      // The picture is on the page's background: paths have the colour of its text, outlines that
      // of the background.
      t: { ...colours.value, path: colours.value.fg, halo: colours.value.panel },
      dark: dark.value,
      mode: colorBy.value,
      meta: this.run,
      critical: on.has("critical"),
      ready: on.has("ready"),
      slack: this.slack.value,
    };
  }

  /** While a site, a code or rows are selected, other nodes are drawn faintly; otherwise null. */
  highlighted(): ((n: DagNode) => boolean) | null {
    const s = selection.value;
    if (!s || s.run !== this.id) return null;
    if (s.kind === "site") return (n) => (n.strand ?? n.folded)?.site === s.site;
    if (s.kind === "code") return (n) => (n.strand ?? n.folded)?.code === s.code;
    if (s.kind === "row") {
      const rows = rowsOf(s);
      return (n) =>
        n.strand
          ? rows.includes(n.strand.row)
          : (n.folded?.rows.some(([row]) => rows.includes(row)) ?? false);
    }
    return null;
  }

  // ---- shown nodes ----

  /**
   * Updates the model to the set of expanded nodes. The first call for a run also chooses that set.
   */
  async follow(): Promise<void> {
    const turn = ++this.changeNumber;
    try {
      if (!this.firstPictureChosen && isStart(expanded.peek())) {
        const first = await firstPicture(
          this.insides.loaded,
          this.insides.load,
          (m) => this.readable(m),
          (n) => !isDot(n, this.options()),
        );
        if (turn !== this.changeNumber) return;
        this.firstPictureChosen = true;
        first.delete(RUN);
        this.failure.value = null;
        if (this.insides.missing.has(RUN)) {
          this.failure.value = {
            words: this.insides.missing.get(RUN)!,
            remedy: null,
            again: false,
          };
          return;
        }
        this.fitted = true;
        if (sameSet(first, expanded.peek())) this.show();
        else expanded.value = first;
        return;
      }
      this.firstPictureChosen = true;
      await this.insides.load([RUN, ...expanded.peek()]);
      if (turn !== this.changeNumber) return;
      this.failure.value = this.insides.missing.has(RUN)
        ? { words: this.insides.missing.get(RUN)!, remedy: null, again: false }
        : null;
      this.show();
    } catch (e) {
      if (turn !== this.changeNumber) return;
      if (!(e instanceof Unavailable)) throw e;
      this.failure.value = {
        words: e.message,
        remedy: e.remedy,
        again: e.why === "loading" || e.why === "gone",
      };
    }
  }

  /** True if everything is readable at the current size. */
  private readable(m: Model): boolean {
    place(m, this.options());
    this.links = null;
    const widest = Math.max(320, this.width - (this.timed ? STRIP_WIDTH : 20) - 40);
    const high = !this.structure || this.view.h / Math.max(1, m.top.h) >= 0.42;
    return m.boxes.length > 0 && high && widest / topWidth(m) >= MIN_CARD_WIDTH / CARD_WIDTH;
  }

  /** Lays out again and moves there. `anchor` stays at its place on the screen. */
  show(anchor: string | null = null): void {
    this.loadSideData();
    const before = this.model.peek();
    const at = now();
    const rect = this.rectAt(at);
    const camera = this.cameraAt(at);
    this.oldRects = before === EMPTY ? new Map() : rects(before, rect);
    const first = before === EMPTY || before.boxes.length === 0;
    const m = buildModel(this.insides.loaded, new Set([RUN, ...expanded.peek()]));
    this.updateView();
    this.placed = place(m, this.options());
    this.links = null;
    this.anchorKey = anchor ?? this.anchorKey;
    let to = this.camera;
    const whole = this.cameraFor("full");
    // A level that was opened everywhere is shown as a whole, even if its names get small.
    if (first || (this.fitted && (whole.kx >= 0.55 || this.anchorKey === null))) {
      to = whole;
      this.fitted = true;
    } else {
      const key = this.anchorKey ?? this.middle(before, m, rect, camera);
      const was = key ? this.oldRects.get(key) : undefined;
      const is = key ? m.byKey.get(key) : undefined;
      if (was && is) {
        // The middle of its upper edge stays in place.
        to = { ...camera };
        to.tx = (was.x + was.spine) * camera.kx + camera.tx - (is.x + is.spine) * to.kx;
        to.ty = was.y * camera.ky + camera.ty - is.y * to.ky;
      }
      if (this.fitted && was === undefined) to = whole;
      to = clampToView(to, this.placed, this.view);
      if (this.fitted) this.fitted = false;
    }
    this.anchorKey = null;
    this.oldCamera = first ? null : camera;
    this.animationStart = first || reducedMotion.value ? -Infinity : at;
    this.camera = to;
    batch(() => {
      this.model.value = m;
      this.hovered.value = null;
      this.selected.value = this.find(m, selection.peek());
    });
    this.requestDraw();
  }

  anchorKey: string | null = null;

  /** The node nearest to the middle of the view that still exists: it stays in place by default. */
  private middle(
    before: Model,
    after: Model,
    rect: (n: DagNode) => Rect,
    c: Camera,
  ): string | null {
    const x = this.view.x + this.view.w / 2,
      y = this.view.y + this.view.h / 2;
    let best: string | null = null;
    let least = Infinity;
    for (const n of before.boxes) {
      let at: DagNode | null = n;
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

  /** After a change of layout or exponent: the same nodes at other places. */
  relayout(): void {
    if (this.model.peek() === EMPTY) return;
    this.fitted = true;
    this.show();
  }

  // ---- selection ----

  /** The node of a selection, if it is shown. */
  find(m: Model, s: Selection | null): DagNode | null {
    if (!s || s.run !== this.id) return null;
    if (s.kind === "strand" && s.inner !== undefined) {
      const inner = (n: DagNode) =>
        n.strand?.inner != null && n.strand.id === s.id && n.strand.start === s.inner;
      return m.boxes.find((n) => inner(n) && endOf(n) > startOf(n)) ?? m.boxes.find(inner) ?? null;
    }
    if (s.kind === "strand")
      return m.byKey.get(`s${s.id}`) ?? openedTask(m.byKey.get(`t${s.task}`), s.id);
    if (s.kind === "steal")
      return m.byKey.get(`s${s.strand}`) ?? openedTask(m.byKey.get(`t${s.task}`), s.strand);
    if (s.kind === "task") return m.byKey.get(`t${s.id}`) ?? null;
    if (s.kind === "group") return m.byKey.get(s.id) ?? null;
    return null;
  }

  selectionOf(n: DagNode): Selection | null {
    if (n.strand?.inner != null)
      return {
        kind: "strand",
        run: this.id,
        id: n.strand.id,
        task: n.strand.task,
        inner: n.strand.start,
      };
    if (n.strand) return { kind: "strand", run: this.id, id: n.strand.id, task: n.strand.task };
    if (!n.folded) return null;
    return n.kind === "group" || isInner(n)
      ? { kind: "group", run: this.id, id: n.key, task: n.folded.task }
      : { kind: "task", run: this.id, id: n.folded.task };
  }

  select(n: DagNode | null): void {
    const s = n ? this.selectionOf(n) : null;
    this.ownSelection = s;
    batch(() => {
      selection.value = s;
      this.selected.value = n;
    });
    announcement.value = n ? nodeSentence(n, this.run) : "Nothing selected";
    this.requestDraw();
  }

  /**
   * Loads what is drawn beside the picture, each part once; parts that a report lacks stay empty.
   */
  loadSideData(): void {
    const quietly = (e: unknown) => {
      if (!(e instanceof Unavailable)) throw e;
    };
    if (!this.critical.peek())
      void this.source
        .json<CriticalPath>(requests.critical(this.id))
        .then((path) => (this.critical.value = path), quietly);
    this.activityProfile.load();
  }

  /** True if this scene's run is the one shown. */
  get current(): boolean {
    return shownRun.peek() === this.id;
  }
}

/**
 * The task that consists of this folded strand alone, if it is opened: the strand is not shown
 * then.
 */
const openedTask = (task: DagNode | undefined, strand: number): DagNode | null =>
  task?.inside?.[0]?.strand?.inner != null && task.inside[0].strand.id === strand ? task : null;
const topWidth = (m: Model): number => Math.max(1, m.top.w);
