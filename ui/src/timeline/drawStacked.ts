/**
 * Runs one above the other on one time scale, or each as a fraction of its own length, for Compare.
 */

import { codeColour, colourByNumber, colourNumbers } from "../codeColours";
import { type Colour, MARKS } from "../colors";
import type { Tokens } from "../colors";
import type { RunMeta } from "../data/contract";
import { axisTime as labelAt, percent, time as seconds } from "../format";
import type { Layer } from "../store";
import { tileStyle } from "./tileStyle";
import { lutOf, marksOf } from "./boxColours";
import { shortName } from "./names";
import { LINES, RUN_KINDS } from "./raster";
import type { Pen } from "./pen";
import { profileColumns, steppedArea } from "./parallelismProfile";
import { SAMPLE_Y, SAMPLE_H } from "./drawRows";
import { axis, ticksPerPixel, pixelAt as pixel } from "./timeScale";
import type { Scale, Span } from "./timeScale";
import { binsOf } from "./tiles";
import type { TileStyle, Tiles } from "./tiles";

/** Width left of the plots. */
export const MARGIN = 44;
/** Width right of the plots, and of those below the strip of *Summary*. */
const RIGHT = 10;
export const RIGHT_OF_STRIP = 66;
const AXIS = 20;
const GAP = 16;
/** Height of a row's name, and minimum height of rows with one. */
const LABEL_HEIGHT = 12;
const MIN_LABELLED_PITCH = 4;
/** Minimum height of rows with texture marks. */
const MIN_MARKED = 7;
const LAYERS: ReadonlySet<Layer> = new Set<Layer>(["delay", "nowork"]);

export interface StackedRun {
  meta: RunMeta;
  tiles: Tiles;
  look: TileStyle;
  /** The run's letter, and its colour. */
  name: string;
  colour: () => string;
}

/** Unit of the window: seconds, or fractions of each run. */
export type By = "time" | "fraction";

/** The longest window: seconds of the longest run, or 1. */
export function extent(halves: StackedRun[], by: By): number {
  return by === "fraction"
    ? 1
    : Math.max(1e-9, ...halves.map((h) => h.meta.elapsed / h.meta.ticks_per_second));
}

/** The window in a run's own ticks. */
export function ticksOf(meta: RunMeta, by: By, w: Span): Span {
  const unit = by === "fraction" ? Math.max(1, meta.elapsed) : meta.ticks_per_second;
  return { t0: w.t0 * unit, t1: w.t1 * unit };
}

/** The colour of a code of one of the runs, equal in all pictures side by side. */
export function sharedColour(
  runs: readonly RunMeta[],
  of: RunMeta,
  code: number | null,
  dark: boolean,
): Colour {
  // In runs of one program, a code has the same colour in every view.
  if (runs.every((r) => r.name === runs[0]!.name)) return codeColour(of.codes, code, dark);
  return colourByNumber(of.codes, colourNumbers(runs)[runs.indexOf(of)] ?? null, code, dark);
}

/** Looks of the runs, in which the same code has the same colour and texture. */
export function stackedStyles(runs: readonly RunMeta[], t: Tokens, dark: boolean): TileStyle[] {
  return runs.map((meta) => {
    const table = [
      ...meta.codes.map((_, code) => sharedColour(runs, meta, code, dark)),
      sharedColour(runs, meta, null, dark),
    ];
    const palette = {
      mode: "code" as const,
      by: "code" as const,
      lut: lutOf(table, dark),
      marks: marksOf(table),
    };
    const made = tileStyle(palette, t, LAYERS, null, dark);
    return { ...made, key: `${made.key} stacked ${runs.map((r) => r.id).join()}` };
  });
}

/** Maximum number of rows that determine the height of a run's part. */
const MAX_ROWS = 16;
const MAX_HEIGHT = 280;

/** A height at which all runs are readable; rows get thinner if there are many. */
export function heightFor(runs: readonly RunMeta[]): number {
  const rows = (m: RunMeta) => Math.min(MAX_ROWS, Math.max(1, m.threads.length)) * 15;
  const least = 60 * runs.length;
  const all = runs.reduce((sum, m) => sum + rows(m), 0);
  const gaps = GAP * (runs.length - 1);
  return Math.min(MAX_HEIGHT * runs.length, 50 * runs.length + gaps + AXIS + Math.max(all, least));
}

/** What is drawn of each run: rows alone if a profile on the same axis is above them. */
export type Parts = "rows" | "profile and rows";

/** Width of the plots, without the names of rows and what is at the right of them. */
export const plotWidth = (width: number, parts: Parts): number =>
  width - MARGIN - (parts === "rows" ? RIGHT_OF_STRIP : RIGHT);

export function drawStacked(
  pen: Pen,
  halves: StackedRun[],
  by: By,
  w: Span,
  width: number,
  height: number,
  t: Tokens,
  parts: Parts = "profile and rows",
): boolean {
  pen.rect(0, 0, width, height, t.panel);
  const plot = Math.max(40, plotWidth(width, parts));
  const shared: Scale = { ...w, x0: MARGIN, width: plot };
  const bottom = parts === "rows" ? height : height - AXIS;
  if (parts !== "rows") timeAxis(pen, shared, by, bottom, t);
  const h = (bottom - GAP * (halves.length - 1)) / halves.length;
  let complete = true;
  halves.forEach((half, i) => {
    const top = i * (h + GAP);
    complete =
      drawRun(
        pen,
        half,
        { ...ticksOf(half.meta, by, w), x0: MARGIN, width: plot },
        top,
        h,
        t,
        parts,
      ) && complete;
  });
  drawGain(pen, halves.slice(0, 2), by, shared, h, t);
  return complete;
}

function timeAxis(pen: Pen, s: Scale, by: By, bottom: number, t: Tokens): void {
  const made = axis(s, 1, Math.max(3, s.width / 110));
  for (const tick of made.ticks) {
    const at = Math.round(pixel(s, tick.t));
    pen.rect(at, 0, 1, bottom + 3, t.line);
    const label =
      by === "fraction"
        ? percent(
            tick.t,
            made.step < 0.01 ? Math.min(6, Math.ceil(-Math.log10(made.step * 100) + 1e-9)) : 0,
          )
        : made.base
          ? tick.label
          : labelAt(tick.t, made.step);
    const half = pen.textWidth(label, 11) / 2;
    const x = Math.min(Math.max(at, s.x0 + half), s.x0 + s.width - half);
    pen.text(label, x, bottom + 15, { align: "center", colour: t.fg3 });
  }
  if (made.base && by === "time")
    pen.text(`${made.base} +`, s.x0 - 4, bottom + 15, { align: "right", size: 10, colour: t.fg2 });
}

/** Draws a run's profile up to P, with the run's letter. */
function drawProfile(
  pen: Pen,
  half: StackedRun,
  scale: Scale,
  top: number,
  strip: number,
  t: Tokens,
): void {
  const { meta, tiles } = half;
  const base = top + strip;
  const n = Math.max(1, Math.floor(scale.width));
  const c = profileColumns(tiles.slots("profile", scale), scale, n).values;
  const p = Math.max(1, meta.workers);
  const y = new Float64Array(n).fill(base);
  const level = new Float64Array(n);
  const right = Math.min(scale.x0 + scale.width, pixel(scale, meta.elapsed));
  const left = Math.max(scale.x0, pixel(scale, 0));
  pen.patternShift(pixel(scale, 0) - scale.x0);
  if (right > left) pen.rect(left, top, right - left, strip, { ground: "app", strong: true });
  const stack = (v: Float32Array, paint: Parameters<Pen["area"]>[1], least: number, alpha = 1) => {
    const next = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      if (v[i]! > least) level[i]! += v[i]!;
      next[i] = base - (Math.min(p, level[i]!) / p) * strip;
    }
    pen.area(steppedArea(n, scale, y, next), paint, alpha);
    y.set(next);
  };
  stack(c.running!, t.work, 0);
  stack(c.descheduled!, { ground: "descheduled", strong: true }, 0.01, 0.6);
  stack(c.blocked!, { ground: "blocked", strong: true }, 0.01, 0.6);
  stack(c.delay!, { ground: "delay", strong: true }, 0.01);
  stack(c.no_work_sched!, { ground: "sched", strong: true }, 0.02);
  if (c.unread!.some((n) => n > 0.01)) {
    const low = Float64Array.from(c.unread!, (n) => top + (Math.min(p, n || 0) / p) * strip);
    pen.area(steppedArea(n, scale, low, new Float64Array(n).fill(top)), { ground: "unread" });
  }
  pen.text(`P ${p}`, MARGIN - 6, top + 9, {
    align: "right",
    size: 10.5,
    weight: 600,
    colour: t.fg2,
  });
  pen.rects([6, top + strip / 2 - 2, 16, 16], half.colour(), 4);
  pen.text(half.name, 14, top + strip / 2 + 10, {
    align: "center",
    size: 10,
    weight: 700,
    colour: t.panel,
  });
}

/** Draws a run: its profile up to P, then its rows. */
function drawRun(
  pen: Pen,
  half: StackedRun,
  scale: Scale,
  top: number,
  h: number,
  t: Tokens,
  parts: Parts,
): boolean {
  const { meta, tiles } = half;
  const strip = parts === "rows" ? 0 : Math.min(44, h * 0.28);
  const base = top + strip;
  if (strip > 0) drawProfile(pen, half, scale, top, strip, t);
  const rows = Math.max(1, meta.threads.length);
  const pitch = Math.min(parts === "rows" ? Infinity : 20, (h - strip - 6) / rows);
  const lane = pitch > 4 ? pitch - 1.5 : pitch;
  let complete = true;
  pen.clip(scale.x0, top, scale.width, h, () => {
    const runs = [...RUN_KINDS, ...MARKS].map(() => [] as number[]);
    for (const slot of tiles.slots("rows", scale)) {
      const from = Math.max(slot.t0, scale.t0, 0);
      const to = Math.min(slot.t1, scale.t1, meta.elapsed);
      if (to <= from) continue;
      const image = slot.tile && tiles.image(slot.tile, half.look);
      if (!slot.tile || !image) {
        complete = false;
        pen.rect(
          pixel(scale, from),
          base + 5,
          pixel(scale, to) - pixel(scale, from),
          rows * pitch,
          t.inset,
        );
        continue;
      }
      const bins = binsOf(slot.tile);
      const a = pixel(scale, from);
      const b = pixel(scale, to);
      for (let row = 0; row < Math.min(rows, tiles.rowsOf(slot.tile)); row++) {
        pen.image(
          image.image,
          (from - bins.from) / bins.ticks,
          row * LINES + SAMPLE_Y,
          (to - from) / bins.ticks,
          SAMPLE_H,
          a,
          base + 5 + row * pitch,
          b - a,
          lane,
        );
      }
      const perBin = bins.ticks / ticksPerPixel(scale);
      for (let i = 0; i < image.runs.length; i += 4) {
        const row = image.runs[i]!;
        const kind = image.runs[i + 3]!;
        if (row >= rows || (image.runs[i + 2]! - image.runs[i + 1]!) * perBin < 3) continue;
        const x0 = Math.max(a, pixel(scale, bins.from + image.runs[i + 1]! * bins.ticks));
        const x1 = Math.min(b, pixel(scale, bins.from + image.runs[i + 2]! * bins.ticks));
        if (x1 > x0) runs[kind]!.push(x0, base + 5 + row * pitch, x1 - x0, lane);
      }
    }
    RUN_KINDS.forEach((kind, i) => {
      const inside = kind === "descheduled" || kind === "blocked";
      if (!inside) pen.rects(runs[i]!, t.panel);
      pen.rects(runs[i]!, { ground: kind }, 0, inside ? 0.4 : 1);
    });
    if (lane >= MIN_MARKED)
      MARKS.forEach((mark, i) => pen.rects(runs[RUN_KINDS.length + i]!, { texture: mark }));
  });
  for (const row of labelledRows(rows, pitch)) {
    const label = meta.threads[row]?.label ?? "";
    pen.text(
      shortName(label, (words) => words.length <= 6) || label.slice(0, 6),
      MARGIN - 6,
      base + 5 + row * pitch + lane / 2 + 4,
      { align: "right", size: 10.5, colour: t.fg3 },
    );
  }
  const end = pixel(scale, meta.elapsed);
  if (end >= scale.x0 && end <= scale.x0 + scale.width + 1)
    pen.rect(end - 0.5, top, 1.4, strip + 5 + rows * pitch, t.fg);
  return complete;
}

/** Rows with room for their name: all, or every n-th from the first. */
export function labelledRows(rows: number, pitch: number): number[] {
  if (pitch < MIN_LABELLED_PITCH) return [];
  const every = Math.ceil(LABEL_HEIGHT / pitch);
  return Array.from({ length: Math.ceil(rows / every) }, (_, i) => i * every);
}

/** Labels how much earlier the shorter run ends, in the room after its end. */
function drawGain(pen: Pen, halves: StackedRun[], by: By, s: Scale, h: number, t: Tokens): void {
  if (by === "fraction" || halves.length < 2) return;
  const ends = halves.map((half) => half.meta.elapsed / half.meta.ticks_per_second);
  const [a, b] = ends as [number, number];
  if (Math.abs(a - b) < 0.005 * Math.max(a, b)) return;
  const shorter = a < b ? 0 : 1;
  const from = pixel(s, Math.max(a, b));
  const to = pixel(s, Math.min(a, b));
  if (from > s.x0 + s.width + 1 || to < s.x0) return;
  const text = `${seconds(Math.abs(a - b))} earlier`;
  const w = pen.textWidth(text, 14, 650) + 16;
  if (from - to < w + 40) return;
  // Of two runs it is not known whether that is more than noise: neither good nor bad.
  const colour = t.fg2;
  const y = shorter * (h + GAP) + h / 2;
  pen.line([from, y, to + 8, y], colour, { width: 1.5 });
  pen.area([to + 5, y, to + 13, y - 4, to + 13, y + 4], colour);
  pen.rect((from + to) / 2 - w / 2, y - 10, w, 20, t.panel);
  pen.text(text, (from + to) / 2, y + 5, { align: "center", size: 14, weight: 650, colour });
}
