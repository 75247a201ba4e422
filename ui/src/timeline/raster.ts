/**
 * Renders one tile of rows as pixels: a line of boxes and a line of CPU load for each row, a pixel
 * for each bin. It runs in the worker (raster.worker.ts) or, if none starts, on the page's own
 * thread, so it does not use canvas or DOM.
 */

import { TILE_BINS } from "../data/contract";

/** The plane that determines the colour of a row's bins. */
export type RasterBy = "code" | "site" | "level" | "row" | "critical" | "plain";

/** A tile to render. Colours are 0xRRGGBB. */
export interface RasterJob {
  rows: number;
  by: RasterBy;
  /**
   * Colours by index in the plane `by`; larger indices have the last colour. `critical`: [off the
   * path, on it].
   */
  lut: Uint32Array;
  /** By index into the lut: 0, or the position of its texture in MARKS, counted from 1. */
  marks: Uint8Array;
  /** The code or site that stays bright; everything else is dimmed. */
  bright: { by: "code" | "site"; index: number } | null;
  /** The background colour, with which dimmed and translucent colours are mixed. */
  ground: number;
  cpuColor: number;
  /**
   * False leaves the CPU line empty; true draws it from the plane `cpu`, or from `work` without
   * that plane.
   */
  cpu: boolean;
  /**
   * Colour of free time by kind, or -1 if the layer is switched off: delay, no-work-sched,
   * no-work-app. Unread time is not a layer: it is always visible.
   */
  free: [number, number, number];
  unreadColor: number;
  planes: {
    work: Uint8Array;
    descheduled: Uint8Array;
    blocked: Uint8Array;
    delay: Uint8Array;
    no_work_sched: Uint8Array;
    no_work_app: Uint8Array;
    /** Only in traces of which a part could not be read. */
    unread: Uint8Array | null;
    code: Uint16Array;
    site: Uint16Array;
    level: Uint16Array;
    critical: Uint8Array;
    cpu: Uint8Array | null;
  };
}

/**
 * Kinds of time besides boxes that form runs of bins: free time by kind, time off the CPU inside
 * strands, and unread time.
 */
export const RUN_KINDS = ["delay", "sched", "app", "descheduled", "blocked", "unread"] as const;

/** Number of image lines per row. */
export const LINES = 4;

export interface Raster {
  /**
   * RGBA, TILE_BINS wide, LINES × rows high: row r's boxes at lines 4r and 4r + 1, its CPU load at
   * 4r + 2 and 4r + 3. Each line is duplicated, so that an image stretched from between the two is
   * not smoothed with neighbouring lines.
   */
  pixels: Uint8ClampedArray<ArrayBuffer>;
  /**
   * Runs of at least two bins that are mostly of one kind, row by row: row, first bin, bin after
   * the last, and index into RUN_KINDS, or beyond those into MARKS.
   */
  runs: Uint16Array<ArrayBuffer>;
}

/** Share of its colour that a dimmed item keeps. */
const DIMMED_SHARE = 0.22;
/** Share of its colour that time off the CPU keeps. */
const OFF_CPU_SHARE = 0.45;

export function rasterise(job: RasterJob): Raster {
  const { rows } = job;
  const pixels = new Uint8ClampedArray(TILE_BINS * rows * LINES * 4);
  const runs: number[] = [];
  for (let row = 0; row < rows; row++) {
    boxes(job, row, pixels);
    twice(pixels, row * LINES);
    if (job.cpu) {
      load(job, row, pixels);
      twice(pixels, row * LINES + 2);
    }
    collect(job, row, runs);
  }
  return { pixels, runs: Uint16Array.from(runs) };
}

function twice(pixels: Uint8ClampedArray, line: number): void {
  const width = TILE_BINS * 4;
  pixels.copyWithin((line + 1) * width, line * width, (line + 1) * width);
}

/**
 * Pixels of bins: the most frequent code with alpha = coverage, over the flat colour of free time.
 */
function boxes(job: RasterJob, row: number, pixels: Uint8ClampedArray): void {
  const { planes: p, lut, by, bright } = job;
  const last = lut.length - 1;
  const index = by === "code" ? p.code : by === "site" ? p.site : by === "level" ? p.level : null;
  const of = bright && (bright.by === "code" ? p.code : p.site);
  let out = row * LINES * TILE_BINS * 4;
  for (let at = row * TILE_BINS, end = at + TILE_BINS; at < end; at++, out += 4) {
    const on = p.work[at]!;
    const off = p.descheduled[at]! + p.blocked[at]!;
    let r = 0;
    let g = 0;
    let b = 0;
    let alpha = 0;
    const add = (color: number, share: number) => {
      r += (color >> 16) * share;
      g += ((color >> 8) & 255) * share;
      b += (color & 255) * share;
      alpha += share;
    };
    const running = on + off;
    if (running > 0) {
      const i = index
        ? index[at]!
        : by === "row"
          ? row % lut.length
          : by === "critical"
            ? p.critical[at]! > 127
              ? 1
              : 0
            : 0;
      let color = lut[Math.min(i, last)]!;
      if (of && of[at] !== bright.index) color = blend(color, job.ground, DIMMED_SHARE);
      // Every bin with a strand is visible.
      const share = Math.min(1, running / 255);
      const shown = 0.35 + 0.65 * share;
      add(color, (shown * on) / running);
      // Off the CPU the code's colour is paler; a pattern is drawn over it if there is room.
      if (off) add(blend(color, job.ground, OFF_CPU_SHARE), (shown * off) / running);
    }
    if (alpha < 1) {
      const unread = p.unread?.[at] ?? 0;
      const free = p.delay[at]! + p.no_work_sched[at]! + p.no_work_app[at]! + unread;
      if (free > 0) {
        const left = Math.min(1 - alpha, free / 255) / free;
        if (job.free[0] >= 0) add(job.free[0], p.delay[at]! * left);
        if (job.free[1] >= 0) add(job.free[1], p.no_work_sched[at]! * left);
        if (job.free[2] >= 0) add(job.free[2], p.no_work_app[at]! * left);
        if (unread) add(job.unreadColor, unread * left);
      }
    }
    if (alpha > 0) {
      pixels[out] = r / alpha;
      pixels[out + 1] = g / alpha;
      pixels[out + 2] = b / alpha;
      pixels[out + 3] = alpha * 255;
    }
  }
}

function load(job: RasterJob, row: number, pixels: Uint8ClampedArray): void {
  const plane = job.planes.cpu ?? job.planes.work;
  const color = job.cpuColor;
  let out = (row * LINES + 2) * TILE_BINS * 4;
  for (let at = row * TILE_BINS, end = at + TILE_BINS; at < end; at++, out += 4) {
    const on = plane[at]!;
    if (on === 0) continue;
    pixels[out] = color >> 16;
    pixels[out + 1] = (color >> 8) & 255;
    pixels[out + 2] = color & 255;
    pixels[out + 3] = 64 + (on * 191) / 255;
  }
}

/** Finds the runs that are wide enough for a pattern. */
function collect({ planes: p, by, marks }: RasterJob, row: number, runs: number[]): void {
  const index = by === "code" ? p.code : by === "site" ? p.site : null;
  const last = marks.length - 1;
  const base = row * TILE_BINS;
  let kind = -1;
  let from = 0;
  for (let bin = 0; bin <= TILE_BINS; bin++) {
    let here = -1;
    if (bin < TILE_BINS) {
      const at = base + bin;
      if (p.delay[at]! > 127) here = 0;
      else if (p.no_work_sched[at]! > 127) here = 1;
      else if (p.no_work_app[at]! > 127) here = 2;
      else if (p.descheduled[at]! > 127) here = 3;
      else if (p.blocked[at]! > 127) here = 4;
      else if (p.unread && p.unread[at]! > 127) here = 5;
      else if (index && p.work[at]! > 127) {
        const mark = marks[Math.min(index[at]!, last)] ?? 0;
        if (mark > 0) here = RUN_KINDS.length + mark - 1;
      }
    }
    if (here === kind) continue;
    if (kind >= 0 && bin - from >= 2) runs.push(row, from, bin, kind);
    kind = here;
    from = bin;
  }
}

/** Mixes `share` of a with the rest of b. */
export function blend(a: number, b: number, share: number): number {
  const c = (shift: number) =>
    Math.round(((a >> shift) & 255) * share + ((b >> shift) & 255) * (1 - share)) << shift;
  return c(16) | c(8) | c(0);
}

/** "#rrggbb" or "#rgb" as a number. */
export function packed(color: string): number {
  const hex = color.startsWith("#") ? color.slice(1) : "";
  if (hex.length === 3) return parseInt(hex.replace(/./g, "$&$&"), 16);
  if (hex.length === 6) return parseInt(hex, 16);
  const parts = color.match(/[\d.]+/g);
  if (!parts || parts.length < 3) return 0;
  return (Number(parts[0]) << 16) | (Number(parts[1]) << 8) | Number(parts[2]);
}
