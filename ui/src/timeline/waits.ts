/**
 * Waits inside strands and the threads that ended them: a curve from the release by the holder to
 * the continuation of the waiting thread.
 */

import { isShown, laneHeight, laneMiddle, laneTop } from "./verticalLayout";
import type { Pen } from "./pen";
import { pixelAt as pixel } from "./timeScale";
import type { Scale } from "./timeScale";
import type { Scene } from "./scene";
import type { Slot } from "./tiles";

const NONE = 0xffffffff;
const NO_ROW = 0xffff;

/**
 * Number of visible waits above which only those of the critical path and the selection have
 * curves; the others are marks below the holder.
 */
export const MAX_CURVES = 40;
/** Maximum number of marks in a frame. */
const MAX_MARKS = 2000;

export interface Wait {
  row: number;
  start: number;
  end: number;
  kind: string;
  strand: number;
  /** Row of the thread that ended it, and the time; null if unknown. */
  by: number | null;
  released: number;
  byStrand: number | null;
  critical: boolean;
}

export interface Waits {
  list: Wait[];
  total: number;
  truncated: boolean;
}

/** Visible waits, by start. */
export function visibleWaits(slots: Slot[], scale: Scale): Waits {
  const list: Wait[] = [];
  const known = new Set<string>();
  let truncated = false;
  for (const slot of slots) {
    const data = slot.tile?.data;
    const p = data?.planes as Record<string, Float64Array> | undefined;
    if (!data || !p?.row || !p.start || !p.end || !p.strand || !p.by_row || !p.released) continue;
    truncated ||= data.facts.truncated === true;
    const kinds = (data.facts.kinds ?? []) as string[];
    for (let i = 0; i < p.row.length; i++) {
      const [start, end] = [p.start[i]!, p.end[i]!];
      if (end < scale.t0 || start > scale.t1) continue;
      // A wait across the border of two tiles is in both.
      const key = `${p.row[i]} ${start}`;
      if (known.has(key)) continue;
      known.add(key);
      list.push({
        row: p.row[i]!,
        start,
        end,
        kind: kinds[p.kind?.[i] ?? -1] ?? "other",
        strand: p.strand[i]!,
        by: p.by_row[i] === NO_ROW ? null : p.by_row[i]!,
        released: p.released[i]!,
        byStrand: (p.by_strand?.[i] ?? NONE) === NONE ? null : p.by_strand![i]!,
        critical: (p.critical?.[i] ?? 0) !== 0,
      });
    }
  }
  return { list: list.sort((a, b) => a.start - b.start), total: list.length, truncated };
}

/** The curve from the holder's lane to the waiting one: eight numbers. */
export function waitCurve(wait: Wait, s: Scene): number[] | null {
  const { rows } = s.bands;
  if (wait.by === null || !isShown(rows, wait.by) || !isShown(rows, wait.row)) return null;
  const [a, b] = [pixel(s.scale, wait.released), pixel(s.scale, wait.end)];
  const [from, to] = [laneMiddle(rows, wait.by), laneMiddle(rows, wait.row)];
  const bulge = 9 + Math.abs(from - to) * 0.06;
  return [
    a,
    from,
    a + bulge,
    from + (to - from) * 0.25,
    b + bulge,
    from + (to - from) * 0.75,
    b,
    to,
  ];
}

const isOf = (wait: Wait, id: number | null): boolean =>
  id !== null && (wait.strand === id || wait.byStrand === id);

/**
 * At most `MAX_CURVES` of the waits from all over the interval: the longest of each part of it. The
 * first ones alone would look as if there were no waits later.
 */
export function spreadOut(waits: Wait[], t0: number, t1: number): Wait[] {
  if (waits.length <= MAX_CURVES) return waits;
  const longest: Wait[] = [];
  for (const wait of waits) {
    const at = Math.floor(((wait.released - t0) / Math.max(1, t1 - t0)) * MAX_CURVES);
    const part = Math.min(MAX_CURVES - 1, Math.max(0, at));
    const best = longest[part];
    if (!best || wait.end - wait.start > best.end - best.start) longest[part] = wait;
  }
  // Without the parts in which no wait ended.
  return longest.filter(() => true);
}

/**
 * Draws curves if there are few; otherwise marks at the releases, and only the important curves.
 */
export function drawWaits(s: Scene, pen: Pen, all: Waits): Wait[] {
  const { rows } = s.bands;
  const told = all.list.filter((w) => w.by !== null);
  const chosen =
    s.selection?.kind === "strand"
      ? s.selection.id
      : s.selection?.kind === "steal"
        ? s.selection.strand
        : null;
  const inView = told.filter((w) => w.released >= s.scale.t0 && w.end <= s.scale.t1);
  const few = inView.length <= MAX_CURVES;
  const some = (of: Wait[]): Wait[] => spreadOut(of, s.scale.t0, s.scale.t1);
  const path = few ? [] : some(inView.filter((w) => w.critical));
  const shown = few ? told : [...some(told.filter((w) => isOf(w, chosen))), ...path];
  if (!few) {
    const marks: number[] = [];
    let last = -1;
    for (const wait of inView) {
      if (!isShown(rows, wait.by!) || marks.length >= 4 * MAX_MARKS) continue;
      const x = Math.round(pixel(s.scale, wait.released));
      const key = wait.by! * 65536 + x;
      if (key === last) continue;
      last = key;
      marks.push(x - 0.5, laneTop(rows, wait.by!) + laneHeight(rows, wait.by!) - 3, 1, 4);
    }
    pen.rects(marks, s.tokens.wait, 0, 0.8);
  }
  for (const strong of [false, true]) {
    const curves: number[] = [];
    const from: number[] = [];
    const heads: number[] = [];
    for (const wait of shown) {
      if (isOf(wait, chosen) !== strong) continue;
      const c = waitCurve(wait, s);
      if (!c) continue;
      curves.push(...c);
      from.push(c[0]!, c[1]!);
      heads.push(c[6]!, c[7]!);
    }
    pen.curves(curves, s.tokens.halo, { width: strong ? 4 : 3, alpha: 0.6 });
    pen.curves(curves, s.tokens.wait, { width: strong ? 2.2 : 1.2 });
    pen.dots(from, strong ? 3 : 2.2, s.tokens.wait);
    for (let i = 0; i < heads.length; i += 2) {
      const [x, y] = [heads[i]!, heads[i + 1]!];
      pen.area([x - 1, y, x + 5, y - 3.2, x + 5, y + 3.2], s.tokens.wait);
    }
  }
  return shown;
}

/** The curve under the pointer. */
export function waitAt(s: Scene, shown: readonly Wait[], px: number, py: number): Wait | null {
  let best: Wait | null = null;
  let least = 3.5;
  for (const wait of shown) {
    const c = waitCurve(wait, s);
    if (!c || py < Math.min(c[1]!, c[7]!) - 4 || py > Math.max(c[1]!, c[7]!) + 4) continue;
    for (let k = 0; k <= 24; k++) {
      const u = k / 24;
      const v = 1 - u;
      const x = v ** 3 * c[0]! + 3 * v * v * u * c[2]! + 3 * v * u * u * c[4]! + u ** 3 * c[6]!;
      const y = v ** 3 * c[1]! + 3 * v * v * u * c[3]! + 3 * v * u * u * c[5]! + u ** 3 * c[7]!;
      const d = Math.hypot(x - px, (y - py) * 0.5);
      if (d < least) [least, best] = [d, wait];
    }
  }
  return best;
}

/** A wait's kind as part of a sentence: `a lock`. */
export const WAIT_KIND_NAMES: Record<string, string> = {
  lock: "a lock",
  channel: "a channel",
  condition: "a condition variable",
  barrier: "a barrier",
  par_bridge: "the lock of par_bridge",
  other: "another thread",
};
