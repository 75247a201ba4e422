/**
 * Animation between two layouts: each node moves from its old place, or from that of the node that
 * contained it. Pure.
 */

import type { Model, DagNode } from "./model";

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
  spine: number;
}

export const MORPH_MS = 250;

/** Position of each node at the time of the change, by key. */
export function rects(model: Model, at: (n: DagNode) => Rect): Map<string, Rect> {
  const out = new Map<string, Rect>();
  for (const n of model.frames) out.set(n.key, at(n));
  for (const n of model.boxes) out.set(n.key, at(n));
  return out;
}

/**
 * A function from a node to its rectangle at `share` (0 to 1) of the animation. New nodes come out
 * of the node that contained them.
 */
export function morph(old: ReadonlyMap<string, Rect>, share: number): (n: DagNode) => Rect {
  if (share >= 1 || old.size === 0) return (n) => n;
  const e = share < 0.5 ? 4 * share ** 3 : 1 - (-2 * share + 2) ** 3 / 2;
  const from = new Map<DagNode, Rect>();
  const origin = (n: DagNode): Rect => {
    const known = from.get(n);
    if (known) return known;
    let r = old.get(n.key);
    if (!r) {
      let at: DagNode | null = n.parent;
      while (at && !old.has(at.key)) at = at.parent;
      const p = at ? old.get(at.key)! : n;
      // Starts inside the opening box, at the node's relative place, so that the inside unfolds.
      const share =
        at && at.w > 0 && at.h > 0
          ? { x: (n.x - at.x) / at.w, y: (n.y - at.y) / at.h, w: n.w / at.w, h: n.h / at.h }
          : { x: 0, y: 0, w: 1, h: 1 };
      const w = p.w * Math.min(1, share.w);
      r = {
        x: p.x + p.w * share.x,
        y: p.y + p.h * share.y,
        w,
        h: p.h * Math.min(1, share.h),
        spine: n.w > 0 ? (n.spine / n.w) * w : 0,
      };
    }
    from.set(n, r);
    return r;
  };
  const mix = (a: number, b: number) => a + (b - a) * e;
  return (n) => {
    const a = origin(n);
    return {
      x: mix(a.x, n.x),
      y: mix(a.y, n.y),
      w: mix(a.w, n.w),
      h: mix(a.h, n.h),
      spine: mix(a.spine, n.spine),
    };
  };
}
