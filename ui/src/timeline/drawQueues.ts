/** Draws the depth of the workers' queues, below their lanes. */

import { TILE_BINS } from "../data/contract";
import { steppedArea } from "./parallelismProfile";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { binsOf, type Slot } from "./tiles";
import { laneTop, visibleRows } from "./verticalLayout";

/** Number of tasks in each worker's queue, on a log scale, below the lane. */
export function drawQueues(s: Scene, pen: Pen): void {
  const { rows } = s.bands;
  const t = s.tokens;
  const slots = s.tiles.slots("rows", s.scale);
  const top = queueTop(s, slots);
  const n = Math.max(1, Math.floor(s.scale.width));
  const perColumn = (s.scale.t1 - s.scale.t0) / n;
  const low = new Float64Array(n);
  const high = new Float64Array(n);
  for (const row of visibleRows(rows)) {
    const base = queueBase(rows, row);
    pen.rect(s.scale.x0, base, s.scale.width, 0.5, t.line2);
    low.fill(base);
    high.fill(base);
    let any = false;
    for (const slot of slots) {
      const plane = slot.tile?.data?.planes.queue;
      if (!slot.tile || !plane) continue;
      const bins = binsOf(slot.tile);
      const from = Math.max(slot.t0, s.scale.t0);
      const to = Math.min(slot.t1, s.scale.t1);
      const end = Math.min(TILE_BINS, Math.ceil((to - bins.from) / bins.ticks));
      for (let bin = Math.max(0, Math.floor((from - bins.from) / bins.ticks)); bin < end; bin++) {
        const depth = plane[row * TILE_BINS + bin]!;
        if (!(depth > 0)) continue;
        any = true;
        // A queue that is not empty is always visible.
        const y = base - Math.max(1, (rows.queue * Math.log2(1 + depth)) / Math.log2(1 + top));
        const a = Math.floor(
          (Math.max(from, bins.from + bin * bins.ticks) - s.scale.t0) / perColumn,
        );
        const b = Math.ceil(
          (Math.min(to, bins.from + (bin + 1) * bins.ticks) - s.scale.t0) / perColumn,
        );
        for (let column = Math.max(0, a); column < b && column < n; column++)
          high[column] = Math.min(high[column]!, y);
      }
    }
    if (any) pen.area(steppedArea(n, s.scale, low, high), t.fg3, 0.8);
  }
}

/** Baseline of a row's queue. */
export const queueBase = (rows: Scene["bands"]["rows"], row: number): number =>
  laneTop(rows, row) + rows.lane + 3 + (rows.cpu ? rows.cpu + 3 : 0) + rows.queue;

/**
 * The depth at the full height of a queue. It is equal for all rows and doubles in steps, so that
 * it is steady while the window moves.
 */
function queueTop(s: Scene, slots: Slot[]): number {
  let most = 1;
  for (const tile of [s.tiles.coarsest("rows"), ...slots.map((slot) => slot.tile)]) {
    const plane = tile?.data?.planes.queue;
    if (!tile || !plane) continue;
    // Computed once per tile, as it does not change.
    let deepest = tile.made.get("deepest queue") as number | undefined;
    if (deepest === undefined) {
      deepest = 1;
      for (let i = 0; i < plane.length; i++) if (plane[i]! > deepest) deepest = plane[i]!;
      tile.made.set("deepest queue", deepest);
    }
    most = Math.max(most, deepest);
  }
  return 2 ** Math.ceil(Math.log2(most + 1));
}

/** The scale beside the first row's queue: the number of tasks at its full height. */
export function drawQueueScale(s: Scene, pen: Pen): void {
  const { rows, x0 } = s.bands;
  const [row] = visibleRows(rows);
  if (row === undefined) return;
  const base = queueBase(rows, row);
  if (rows.pitch < 40 || base > rows.y + rows.h) return;
  pen.text(`queue, to ${queueTop(s, s.tiles.slots("rows", s.scale))}`, x0 - 10, base, {
    align: "right",
    size: 10,
    colour: s.tokens.fg3,
  });
}
