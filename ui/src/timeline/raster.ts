/**
 * One tile of rows as pixels: a line of boxes and a line of CPU load for each row, a pixel for each
 * bin. Runs in the worker (raster.worker.ts) or, where none starts, on the page's own thread; so it
 * knows nothing of canvas or DOM.
 */

import { TILE_BINS } from "../data/contract";

/** What a row's bins are coloured by, told to the rasteriser by the plane that is looked up. */
export type RasterBy = "code" | "site" | "level" | "row" | "critical" | "plain";

/** Colours are 0xRRGGBB. */
export interface RasterJob {
  rows: number;
  by: RasterBy;
  /**
   * Colours by the index that `by` looks up; what is beyond takes the last. `critical`: [off the
   * path, on it].
   */
  lut: Uint32Array;
  /** By index into the lut: 0, or the place of its texture in MARKS, from 1. */
  marks: Uint8Array;
  /** Index into the lut that stays bright, by code or by site; everything else is dimmed. */
  bright: { by: "code" | "site"; index: number } | null;
  /** What dimmed colours are mixed with, and the ground for blending. */
  ground: number;
  cpuColor: number;
  /** 0: the CPU line stays empty; 1: from the plane `cpu` (if there) or else from work. */
  cpu: boolean;
  /**
   * Colour of free time by kind, or -1 when the layer is switched off: delay, no-work-sched,
   * no-work-app. What was not read is no layer: it is always seen.
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
    /** Only traces that could be read in part have it. */
    unread: Uint8Array | null;
    code: Uint16Array;
    site: Uint16Array;
    level: Uint16Array;
    critical: Uint8Array;
    cpu: Uint8Array | null;
  };
}

/**
 * What runs of bins show beside boxes: free time by kind, time off the CPU inside of strands, and
 * what was not read.
 */
export const RUN_KINDS = ["delay", "sched", "app", "descheduled", "blocked", "unread"] as const;

/** Lines of an image that a row takes. */
export const LINES = 4;

export interface Raster {
  /**
   * RGBA, TILE_BINS wide, LINES × rows high: row r's boxes at lines 4r and 4r + 1, its CPU load at
   * 4r + 2 and 4r + 3. Each line is there twice, so that stretching it from between the two smooths
   * nothing of its neighbours into it.
   */
  pixels: Uint8ClampedArray<ArrayBuffer>;
  /**
   * Runs of at least two bins that are mostly of one kind, row by row: row, first bin, bin after
   * the last, index into RUN_KINDS; beyond these, into MARKS.
   */
  runs: Uint16Array<ArrayBuffer>;
}

/** How much of its colour what isn't selected keeps. */
const DIM = 0.22;
/** How much of its colour what is off the CPU keeps. */
const PALE = 0.45;

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

/** A bin's pixel: its commonest code with alpha = coverage, over the free time's flat colour. */
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
      if (of && of[at] !== bright.index) color = blend(color, job.ground, DIM);
      // A bin that was touched at all is seen.
      const share = Math.min(1, running / 255);
      const shown = 0.35 + 0.65 * share;
      add(color, (shown * on) / running);
      // Off the CPU it is the same code, paler; where there is room a pattern goes over it.
      if (off) add(blend(color, job.ground, PALE), (shown * off) / running);
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

/** Finds the runs that are wide enough to carry a pattern. */
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

/** `share` of a, the rest of b. */
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
