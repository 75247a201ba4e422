/** The timeline on its canvas: keeps the data of a frame, draws after changes, moves the window. */

import { effect } from "@preact/signals";
import { workerTicks, plural, percent, ticks as timeOf } from "../format";
import type { InsideDetail, RunMeta, StrandDetail, TaskDetail } from "../data/contract";
import { requests } from "../data/requests";
import type { DataSource } from "../data/source";
import {
  colorBy,
  finding,
  hover,
  layers,
  range,
  rowsShown,
  selection,
  stats,
  status,
} from "../store";
import type { Layer, Selection } from "../store";

import { colours, dark, reducedMotion } from "../theme/theme";
import { layOutBands, laneMiddle, scrollTo } from "./verticalLayout";
import type { Bands, Rows } from "./verticalLayout";
import { StrandBoxes, MAX_INNER_BOXES } from "./strandBoxes";
import { drawFrame } from "./drawFrame";
import type { HitTargets } from "./drawFrame";
import { DetailCache, plainText } from "./detailCache";
import { hitTest } from "./hitTest";
import type { Hit } from "./hitTest";
import { tileStyle } from "./tileStyle";
import { BoxColours } from "./boxColours";
import { CanvasPen } from "./pen";
import type { Pen } from "./pen";
import { arrangeRows } from "./rowGroups";
import { NO_ROWS_MESSAGE } from "./drawRows";
import { Rasteriser } from "./rasteriser";
import { regionLaneCount, regionLanes } from "./regions";
import {
  withMargin,
  interpolate,
  clamp,
  exact,
  minWindow,
  pan,
  ticksPerPixel,
  isWholeRun,
  zoom,
} from "./timeScale";
import type { Span } from "./timeScale";
import type { Callout, Scene } from "./scene";
import { layersOf, hasLayer } from "./layers";
import { dockWidth } from "./stealMatrix";
import { Tiles } from "./tiles";
import type { TileKind } from "./tileGrid";

/** Maximum height that scrolled-away rows add to an exported picture. */
const MAX_EXTRA_HEIGHT = 4000;

export class TimelineView {
  readonly facts: DetailCache;
  private readonly tiles: Tiles;
  private readonly rasteriser = new Rasteriser();
  private readonly boxes = new StrandBoxes();
  private readonly inner = new StrandBoxes(MAX_INNER_BOXES, true);
  private readonly context: CanvasRenderingContext2D | null;
  private readonly stop: () => void;
  private palette: BoxColours | null = null;
  private size = { width: 0, height: 0, dpr: 1 };
  private requested = 0;
  private animation = 0;
  private lane: number[] = [];
  private laneOf: unknown = null;
  private closed = false;
  /**
   * Hidden canvas for frames while the previous view's picture is still the better one, and the
   * time limit for that.
   */
  private beside: CanvasRenderingContext2D | null = null;
  private readonly besideUntil = performance.now() + 2000;
  private scroll = 0;
  private rowToReveal: number | null = null;
  private seen: Selection | null = null;
  /** The last frame, for hit tests. */
  scene: Scene | null = null;
  drawn: HitTargets | null = null;
  marks: number[] = [];
  dragged: Span | null = null;
  cursorRow: number | null = null;
  /** Last position of the pointer over the time axis. */
  pointer: { x: number; y: number } | null = null;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly meta: RunMeta,
    readonly source: DataSource,
    /** Called after each frame. */
    private readonly painted: (view: TimelineView) => void = () => {},
    /** Another view's picture is on the canvas: it stays until this view's picture is complete. */
    takesOver = false,
  ) {
    this.context = canvas.getContext("2d", { alpha: false });
    if (takesOver)
      this.beside = document.createElement("canvas").getContext("2d", { alpha: false });
    this.facts = new DetailCache(meta.id, source, () => this.invalidate());
    this.tiles = new Tiles(meta, source, this.rasteriser, () => this.invalidate());
    // A hidden tab could not follow the selection.
    this.seen = null;
    this.stop = effect(() => {
      const now = selection.value;
      if (now !== this.seen) void this.follow(now);
      this.seen = now;
      // Subscribes to every signal that a frame reads.
      void [
        range.value,
        selection.value,
        hover.value,
        layers.value,
        colorBy.value,
        dark.value,
        finding.value,
        rowsShown.value,
      ];
      this.invalidate();
    });
  }

  /** Scrolls to a selection made in another view; one made here is visible already. */
  private async follow(what: Selection | null): Promise<void> {
    if (what?.run !== this.meta.id) return;
    const at =
      what.kind === "strand" || what.kind === "steal"
        ? await this.facts.later<StrandDetail>(
            requests.strand(what.run, what.kind === "strand" ? what.id : what.strand),
          )
        : what.kind === "group" && what.id.startsWith("s")
          ? await this.facts.later<InsideDetail>(requests.insideTask(what.run, what.id))
          : what.kind === "task" || what.kind === "group"
            ? await this.facts.later<TaskDetail>(
                requests.task(what.run, what.kind === "task" ? what.id : what.task),
              )
            : null;
    if (!at || this.closed || selection.peek() !== what) return;
    const w = this.window;
    if (at.end < w.t0 || at.start > w.t1)
      this.reveal(at.start, Math.min(at.end, at.start + (w.t1 - w.t0) / 2));
    const row = "row" in at ? at.row : at.stack[0]?.row;
    if (row !== undefined) this.revealRow(row);
  }

  get least(): number {
    return minWindow(this.meta.ticks_per_second);
  }

  /** The window that is shown. */
  get window(): Span {
    return clamp(range.value ?? { t0: 0, t1: this.meta.elapsed }, this.meta.elapsed, this.least);
  }

  get busy(): boolean {
    return this.tiles.loading > 0 || !(this.drawn?.complete ?? false);
  }

  get inWorker(): boolean {
    return this.rasteriser.inWorker;
  }

  resize(width: number, height: number, dpr: number): void {
    if (width === this.size.width && height === this.size.height && dpr === this.size.dpr) return;
    this.size = { width, height, dpr };
    const [w, h] = [Math.max(1, Math.round(width * dpr)), Math.max(1, Math.round(height * dpr))];
    // Setting a size clears the canvas, even if the size is the same.
    if (this.canvas.width !== w || this.canvas.height !== h)
      [this.canvas.width, this.canvas.height] = [w, h];
    if (this.beside) [this.beside.canvas.width, this.beside.canvas.height] = [w, h];
    // A canvas with a new size is empty: draw before it is displayed.
    this.render();
  }

  invalidate(): void {
    if (this.requested || this.closed) return;
    this.requested = requestAnimationFrame(() => {
      this.requested = 0;
      this.render();
    });
  }

  private regions() {
    return layers.value.has("regions") && this.meta.overview === null ? this.facts.regions() : [];
  }

  private bandsFor(width: number, height: number, isPaper = false): Bands {
    const regions = this.regions();
    if (regions !== this.laneOf) {
      this.laneOf = regions;
      this.lane = regionLanes(regions);
    }
    const cpu = layers.value.has("cpu");
    // Attempts to steal are drawn beside the queues' depth.
    const queue = (["queue", "attempts"] as const).some(
      (l) => layers.value.has(l) && hasLayer(this.meta, l),
    );
    return layOutBands({
      width,
      height,
      rows: this.meta.threads.length,
      ...arrangeRows(this.meta, rowsShown.value),
      rowHeight: isPaper ? "paper" : rowsShown.value.height,
      pinned: new Set(rowsShown.value.pinned),
      dock: dockWidth(this.meta, layers.value, width),
      scroll: isPaper ? 0 : this.scroll,
      cpu,
      queue,
      regionLanes: regionLaneCount(this.lane),
    });
  }

  /** The data of a frame with this size; on paper, with all rows in that height. */
  private compose(width: number, height: number, isPaper = false): Scene {
    const d = dark.value;
    if (!this.palette || this.palette.mode !== colorBy.value || this.palette.dark !== d)
      this.palette = new BoxColours(colorBy.value, this.meta, d, colours.value.panel);
    const b = this.bandsFor(width, height, isPaper);
    const shownLayers = layersOf(this.meta);
    const chosen = selection.value?.run === this.meta.id ? selection.value : null;
    const strandId =
      chosen?.kind === "strand" ? chosen.id : chosen?.kind === "steal" ? chosen.strand : null;
    return {
      meta: this.meta,
      dark: d,
      tokens: colours.value,
      bands: b,
      scale: { ...this.window, x0: b.x0, width: b.plot },
      overview: { t0: 0, t1: Math.max(1, this.meta.elapsed), x0: b.x0, width: b.plot },
      layers: shownLayers,
      colorBy: colorBy.value,
      palette: this.palette,
      selection: chosen,
      hover: hover.value?.run === this.meta.id ? hover.value : null,
      tiles: this.tiles,
      boxes: this.boxes,
      inner: this.inner,
      regions: this.regions(),
      strand: strandId !== null ? (this.facts.strand(strandId) ?? null) : null,
      task: chosen?.kind === "task" ? (this.facts.task(chosen.id) ?? null) : null,
      inside:
        chosen?.kind === "strand" && chosen.inner !== undefined
          ? (this.facts.inside(chosen.id, chosen.inner) ?? null)
          : chosen?.kind === "group" && chosen.id.startsWith("s")
            ? (this.facts.insideTask(chosen.id) ?? null)
            : null,
      callouts: this.callouts(),
      poolSizes: this.poolSizes(),
      marks: this.marks,
      dragged: this.dragged,
      cursorRow: this.cursorRow,
      pinned: new Set(rowsShown.value.pinned),
      offCpu: [],
      blocked: [],
    };
  }

  private poolSizes(): readonly number[] {
    // A part of a run, and one that was not read completely, has no pools of its own.
    const { pools, overview, unread, only } = this.meta;
    if (pools.length === 0 || overview !== null || unread || only) return [];
    return this.facts.poolSizes();
  }

  private callouts(): Callout[] {
    const index = finding.value;
    const words = index === null ? null : this.facts.finding(index);
    if (index === null || !words) return [];
    const { show } = words;
    const strand = show.strand === null ? null : this.facts.strand(show.strand);
    const detail = `${workerTicks(words.lost, this.meta.ticks_per_second)}, ${percent(words.share)} of the lost time`;
    return [
      {
        number: index + 1,
        title: plainText(words.title),
        detail,
        t0: strand?.start ?? show.t0,
        t1: strand?.end ?? show.t1,
        row: strand?.row ?? null,
      },
    ];
  }

  private render(): void {
    const { width, height, dpr } = this.size;
    const c = this.beside ?? this.context;
    if (!c || this.closed || width < 60 || height < 60) return;
    const s = this.compose(width, height);
    this.scroll = s.bands.rows.scroll;
    const kinds: TileKind[] = ["rows", "profile"];
    if (this.meta.overview === null) {
      kinds.push("strands");
      if (this.meta.has.inside) kinds.push("inside");
      if (s.layers.has("critical")) kinds.push("critical");
      if (s.layers.has("ready")) kinds.push("ready");
      if (["steals", "leaps", "matrix"].some((l) => s.layers.has(l as Layer))) kinds.push("arcs");
      if (s.layers.has("waits") && this.meta.waits > 0) kinds.push("waits");
    }
    this.tiles.want(s.scale, s.bands.plot * dpr, kinds);
    this.gather(s);
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.imageSmoothingEnabled = true;
    const pen = new CanvasPen(c, s.dark);
    this.drawn = drawFrame(s, pen, this.lookOf(s), this.lane);
    this.scene = s;
    if (this.beside && (this.drawn.complete || performance.now() > this.besideUntil)) {
      this.beside = null;
      this.invalidate();
    }
    if (this.rowToReveal !== null) {
      const row = this.rowToReveal;
      this.rowToReveal = null;
      this.revealRow(row);
    }
    stats.frames++;
    stats.primitives = pen.primitives;
    stats.mostPrimitives = Math.max(stats.mostPrimitives, pen.primitives);
    this.say(s);
    this.painted(this);
  }

  private lookOf(s: Scene) {
    return tileStyle(s.palette, s.tokens, s.layers, s.selection, s.dark);
  }

  /**
   * Draws the same picture with another pen, for export, with the rows that are scrolled away. The
   * tiles' images must exist already.
   */
  picture(pen: Pen): { width: number; height: number } {
    return this.draw(pen, this.heightOfAllRows());
  }

  /**
   * The same on a page of paper of this height, if the rows are too many for the picture. Returns
   * the rows with it, or null if the picture has them all at their usual height.
   */
  paperPicture(pen: Pen, height: number): { width: number; height: number; rows: Rows } | null {
    const compact = this.scene?.bands.rows.compact ?? false;
    if (!compact && this.heightOfAllRows() <= height) return null;
    return {
      ...this.draw(pen, height, true),
      rows: this.bandsFor(this.size.width, height, true).rows,
    };
  }

  private draw(pen: Pen, height: number, isPaper = false): { width: number; height: number } {
    const { width } = this.size;
    const s = this.compose(width, height, isPaper);
    const others = isPaper || height > this.size.height;
    if (others) this.gather(s);
    drawFrame({ ...s, hover: null, cursorRow: null }, pen, this.lookOf(s), this.lane);
    if (others && this.scene) this.gather(this.scene);
    return { width, height };
  }

  /** Height at which no row is scrolled away, within limits. */
  private heightOfAllRows(): number {
    const most = this.size.height + MAX_EXTRA_HEIGHT;
    let { height } = this.size;
    // The other bands take a part of what is added.
    for (let missing = Infinity; missing > 0 && height < most;) {
      const { rows } = this.bandsFor(this.size.width, height);
      missing = Math.ceil(rows.total - rows.h);
      height = Math.min(most, height + Math.max(0, missing));
    }
    return height;
  }

  /** Collects the strands that have a shape of their own in the visible rows. */
  private gather(s: Scene): void {
    this.boxes.gather(this.tiles.slots("strands", s.scale), s.scale, s.bands.rows);
    if (this.meta.has.inside && this.meta.overview === null)
      this.inner.gather(this.tiles.slots("inside", s.scale), s.scale, s.bands.rows);
  }

  private say(s: Scene): void {
    const perSecond = this.meta.ticks_per_second;
    const strands = Math.max(Math.round(this.boxes.total), this.boxes.n);
    const parts = [
      `view ${exact(s.scale.t0, s.scale, perSecond)} to ${exact(s.scale.t1, s.scale, perSecond)}`,
      `Δ ${timeOf(s.scale.t1 - s.scale.t0, perSecond)}`,
      `${this.boxes.truncated ? "about " : ""}${plural(strands, "strand")} in ${plural(Math.floor(s.scale.width), "column")}, ${timeOf(ticksPerPixel(s.scale), perSecond)} each`,
    ];
    if (this.meta.overview !== null)
      parts.splice(2, 1, `preview in steps of ${timeOf(2 ** this.meta.overview, perSecond)}`);
    const level =
      this.meta.elapsed > 0 && this.meta.overview === null ? this.tiles.detailLimit(s.scale) : null;
    if (this.tiles.bare) parts.push(NO_ROWS_MESSAGE);
    else if (level !== null)
      parts.push(`report: no detail below ${timeOf(2 ** level, perSecond)} here`);
    if (this.tiles.cache.failure) parts.push(this.tiles.cache.failure.message);
    else if (this.tiles.loading) parts.push("loading");
    const text = parts.join("\u2003");
    if (status.peek() !== text) queueMicrotask(() => (status.value = text));
  }

  /** The item at a point of the canvas, in CSS pixels from its corner. */
  at(px: number, py: number): Hit | null {
    return this.scene && this.drawn ? hitTest(this.scene, this.drawn, this.lane, px, py) : null;
  }

  /** Shows a window; `smooth` animates jumps, so that the eye can follow. */
  show(to: Span, smooth = false): void {
    cancelAnimationFrame(this.animation);
    const target = clamp(to, this.meta.elapsed, this.least);
    if (!smooth || reducedMotion.value) {
      this.set(target);
      return;
    }
    const from = this.window;
    const began = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, (now - began) / 180);
      this.set(interpolate(from, target, 1 - (1 - part) ** 3));
      if (part < 1 && !this.closed) this.animation = requestAnimationFrame(step);
    };
    this.animation = requestAnimationFrame(step);
  }

  private set(w: Span): void {
    range.value = isWholeRun(w, this.meta.elapsed) ? null : { t0: w.t0, t1: w.t1 };
  }

  /** Zooms around a pixel, by default around the pointer or the middle. */
  zoom(factor: number, at: number | null = this.pointer?.x ?? null): void {
    cancelAnimationFrame(this.animation);
    const s = this.scene?.scale;
    const w = this.window;
    const inside = s && at !== null && at >= s.x0 && at <= s.x0 + s.width;
    const t = inside ? w.t0 + ((at - s.x0) / s.width) * (w.t1 - w.t0) : (w.t0 + w.t1) / 2;
    this.set(zoom(w, factor, t, this.meta.elapsed, this.least));
  }

  /** Moves the window by a share of its width. */
  pan(share: number): void {
    const w = this.window;
    this.panTicks(share * (w.t1 - w.t0));
  }

  panTicks(by: number): void {
    cancelAnimationFrame(this.animation);
    this.set(pan(this.window, by, this.meta.elapsed, this.least));
  }

  fit(t0: number, t1: number, room = 0.15): void {
    this.show(withMargin(t0, t1, this.meta.elapsed, this.least, room), true);
  }

  /**
   * Moves the window without zooming until it contains a time range, or the start of a longer one.
   */
  reveal(t0: number, t1: number): void {
    const w = this.window;
    const width = w.t1 - w.t0;
    if (t1 - t0 > width) {
      if (t0 >= w.t1 || t1 <= w.t0)
        this.show(pan(w, t0 - 0.15 * width - w.t0, this.meta.elapsed, this.least), true);
    } else if (t0 < w.t0 || t1 > w.t1)
      this.show(pan(w, (t0 + t1) / 2 - (w.t0 + w.t1) / 2, this.meta.elapsed, this.least), true);
  }

  revealRow(row: number): void {
    if (this.scene) this.scrollRows(scrollTo(this.scene.bands.rows, row) - this.scroll);
    else this.rowToReveal = row;
  }

  scrollRows(by: number): boolean {
    const before = this.scroll;
    this.scroll = Math.min(Math.max(0, this.scroll + by), this.scene?.bands.rows.most ?? 0);
    if (this.scroll !== before) this.invalidate();
    return this.scroll !== before;
  }

  /** Middle of a row's lane, from the top of the canvas. */
  rowMiddle(row: number): number {
    return this.scene ? laneMiddle(this.scene.bands.rows, row) : 0;
  }

  close(): void {
    this.closed = true;
    cancelAnimationFrame(this.animation);
    cancelAnimationFrame(this.requested);
    this.stop();
    this.tiles.close();
    this.rasteriser.close();
  }
}
