/** Finds the node at a point of the screen. */

import type { Model, DagNode } from "./model";
import type { BoxOf } from "./routes";

/** Distance in pixels by which a node may be missed. */
const MAX_HIT_DISTANCE = 6;

/**
 * The box at a point, the smallest of several. Slivers and dots count within a few pixels. Null if
 * there is no box.
 */
export function nodeAt(model: Model, where: BoxOf, x: number, y: number): DagNode | null {
  let best: DagNode | null = null;
  let least = Infinity;
  for (const n of model.boxes) {
    const b = where(n);
    const rimX = b.w < 12 ? MAX_HIT_DISTANCE : 0,
      rimY = b.h < 12 ? MAX_HIT_DISTANCE : 0;
    if (x < b.x - rimX || x > b.x + b.w + rimX || y < b.y - rimY || y > b.y + b.h + rimY) continue;
    const dx = Math.max(0, b.x - x, x - b.x - b.w),
      dy = Math.max(0, b.y - y, y - b.y - b.h);
    // A direct hit precedes a near one.
    const score = (dx + dy) * 1e6 + b.w * b.h;
    if (score < least) {
      least = score;
      best = n;
    }
  }
  return best;
}

/** The innermost expanded task or group around a point. */
export function frameAt(model: Model, where: BoxOf, x: number, y: number): DagNode | null {
  let best: DagNode | null = null;
  for (const f of model.frames) {
    if (f.kind === "run") continue;
    const b = where(f);
    if (x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h && (!best || f.depth > best.depth))
      best = f;
  }
  return best;
}
