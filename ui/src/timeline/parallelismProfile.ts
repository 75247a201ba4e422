/** Mean numbers of strands and workers by pixel column, from tiles. */

import { TILE_BINS } from "../data/contract";
import type { Scale } from "./timeScale";
import { binsOf } from "./tiles";
import type { Slot } from "./tiles";

/** Names of planes of `profile`. */
export const READY = [
  "create",
  "create_continuation",
  "wait_continuation",
  "yield_continuation",
  "end",
  "depend",
  "signal",
] as const;
export const SERIES = [
  "running",
  ...READY.map((k) => `ready_${k}`),
  "delay",
  "no_work_sched",
  "no_work_app",
  "descheduled",
  "blocked",
  "unread",
];

export interface ProfileColumns {
  n: number;
  /** One array per series, NaN where data is missing. */
  values: Record<string, Float32Array>;
}

/** Means over each of `n` columns of the scale. */
export function profileColumns(
  slots: Slot[],
  scale: Scale,
  n: number,
  series: readonly string[] = SERIES,
): ProfileColumns {
  const values: Record<string, Float32Array> = {};
  for (const name of series) values[name] = new Float32Array(n);
  const known = new Float32Array(n);
  const perColumn = (scale.t1 - scale.t0) / n;
  for (const slot of slots) {
    const planes = slot.tile?.data?.planes;
    if (!slot.tile || !planes) continue;
    const bins = binsOf(slot.tile);
    const from = Math.max(slot.t0, scale.t0);
    const to = Math.min(slot.t1, scale.t1);
    const first = Math.max(0, Math.floor((from - bins.from) / bins.ticks));
    const last = Math.min(TILE_BINS, Math.ceil((to - bins.from) / bins.ticks));
    const pieces: [Float32Array, ArrayLike<number>][] = [];
    for (const name of series) if (planes[name]) pieces.push([values[name]!, planes[name]!]);
    for (let bin = first; bin < last; bin++) {
      const a = (Math.max(from, bins.from + bin * bins.ticks) - scale.t0) / perColumn;
      const b = (Math.min(to, bins.from + (bin + 1) * bins.ticks) - scale.t0) / perColumn;
      for (let column = Math.max(0, Math.floor(a)); column < b && column < n; column++) {
        const share = Math.min(b, column + 1) - Math.max(a, column);
        if (share <= 0) continue;
        known[column]! += share;
        for (const [into, plane] of pieces) into[column]! += plane[bin]! * share;
      }
    }
  }
  for (const name of series) {
    const v = values[name]!;
    for (let i = 0; i < n; i++) v[i] = known[i]! > 1e-3 ? v[i]! / known[i]! : NaN;
  }
  return { n, values };
}

/** The column at a pixel, and its numbers. */
export function columnAt(
  c: ProfileColumns,
  scale: Scale,
  px: number,
): Record<string, number> | null {
  const column = Math.floor(((px - scale.x0) / scale.width) * c.n);
  if (column < 0 || column >= c.n || Number.isNaN(c.values.running?.[column] ?? NaN)) return null;
  return Object.fromEntries(Object.entries(c.values).map(([name, v]) => [name, v[column]!]));
}

/**
 * Points of a stepped area between two lines over the columns; columns without data have height 0.
 */
export function steppedArea(
  n: number,
  scale: Scale,
  low: ArrayLike<number>,
  high: ArrayLike<number>,
): number[] {
  const top: number[] = [];
  const bottom: number[] = [];
  const width = scale.width / n;
  for (let i = 0; i < n; i++) {
    if (
      i > 0 &&
      i < n - 1 &&
      high[i] === high[i - 1] &&
      low[i] === low[i - 1] &&
      high[i] === high[i + 1] &&
      low[i] === low[i + 1]
    )
      continue;
    const a = scale.x0 + i * width;
    top.push(a, high[i]!, a + width, high[i]!);
    bottom.push(a, low[i]!, a + width, low[i]!);
  }
  for (let i = bottom.length - 2; i >= 0; i -= 2) top.push(bottom[i]!, bottom[i + 1]!);
  return top;
}
