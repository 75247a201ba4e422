/**
 * The route of each link over the screen: down, across, down, from the last box inside the source
 * to the first inside the target.
 */

import type { Camera } from "./camera";
import type { Rect } from "./morph";
import { entryBox, exitBox, type Link, type DagNode } from "./model";

/** A rectangle on the screen. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
  cx: number;
}

export interface Route {
  points: number[];
  /** End links: index in `points` at which the dotted part of the slack ends; 0 without slack. */
  slackTo: number;
  /** Middle and length of the slack, for its label. */
  label: { x: number; y: number; length: number } | null;
}

export type BoxOf = (n: DagNode) => Box;

/** Boxes on the screen. Dots keep their size; all others are at least two pixels wide and high. */
export function onScreen(
  at: (n: DagNode) => Rect,
  c: Camera,
  dots: (n: DagNode) => boolean,
): BoxOf {
  // Links, marks and hits ask for boxes too, so each is computed once a picture.
  const known = new Map<DagNode, Box>();
  return (n) => {
    let b = known.get(n);
    if (!b) known.set(n, (b = box(n)));
    return b;
  };
  function box(n: DagNode): Box {
    const r = at(n);
    const x = r.x * c.kx + c.tx,
      y = r.y * c.ky + c.ty,
      w = r.w * c.kx,
      h = r.h * c.ky,
      cx = (r.x + r.spine) * c.kx + c.tx;
    if (!dots(n)) return { x, y, w, h: n.inside ? h : Math.max(h, 2), cx };
    const d = Math.min(10, Math.max(2, w));
    return { x: cx - d / 2, y: y + h / 2 - d / 2, w: d, h: d, cx };
  }
}

export function route(
  link: Link,
  where: BoxOf,
  camera: Camera,
  timed: boolean,
  gap: number,
): Route | null {
  const a = where(exitBox(link.from));
  const b = where(entryBox(link.to));
  const half = (gap * camera.ky) / 2;
  switch (link.kind) {
    case "continue":
      return plain([a.cx, a.y + a.h, b.cx, b.y]);
    case "create": {
      // From the middle of a dot. The bar is just below, or at the fork's own time in the layout by
      // time.
      const dot = a.w === a.h && a.w <= 10;
      const fy = dot ? a.y + a.h / 2 : a.y + a.h;
      if (link.to.above) {
        const x = b.x - Math.max(3, (link.to.gutter * camera.kx) / 1);
        const bar = timed ? fy : fy + half;
        const stub = b.y + Math.min(10, b.h / 2);
        return plain([a.cx, fy, a.cx, bar, x, bar, x, stub, b.x, stub]);
      }
      if (Math.abs(a.cx - b.cx) < 1) return plain([a.cx, fy, b.cx, b.y]);
      const bar = timed ? Math.min(fy, b.y) : Math.min(b.y, fy + half);
      return plain(
        dot && timed
          ? [a.cx, fy, b.cx, bar, b.cx, b.y]
          : [a.cx, fy, a.cx, bar, b.cx, bar, b.cx, b.y],
      );
    }
    case "end": {
      const dot = b.w === b.h && b.w <= 10;
      const ty = dot ? b.y + b.h / 2 : b.y;
      const fy = a.y + a.h;
      const bar = timed ? Math.max(fy, ty) : Math.max(fy, ty - half);
      if (link.from.below) {
        const own = where(link.from);
        const x = own.x + own.w + Math.max(3, link.from.gutter * camera.kx);
        const stub = fy - Math.min(10, a.h / 2);
        return {
          points: [a.x + a.w, stub, x, stub, x, bar, b.cx, bar, b.cx, ty],
          slackTo: 6,
          label: null,
        };
      }
      if (Math.abs(a.cx - b.cx) < 1)
        return {
          points: [a.cx, fy, b.cx, ty],
          slackTo: 2,
          label: { x: a.cx, y: (fy + ty) / 2, length: ty - fy },
        };
      return {
        points: [a.cx, fy, a.cx, bar, b.cx, bar, b.cx, ty],
        slackTo: 4,
        label: { x: a.cx, y: (fy + bar) / 2, length: bar - fy },
      };
    }
    case "order": {
      const g = where(link.from),
        h = where(link.to);
      // Side by side: straight across; otherwise around the corner into the next row.
      if (h.x >= g.x + g.w - 1) {
        const from = Math.max(g.y + 4, Math.min(g.y + g.h - 4, h.y + 12)),
          to = h.y + Math.min(12, h.h / 2),
          mid = (g.x + g.w + h.x) / 2;
        return plain(
          Math.abs(from - to) < 1
            ? [g.x + g.w, to, h.x, to]
            : [g.x + g.w, from, mid, from, mid, to, h.x, to],
        );
      }
      if (h.y < g.y + g.h) return null;
      const mid = (g.y + g.h + h.y) / 2;
      return plain([g.cx, g.y + g.h, g.cx, mid, h.cx, mid, h.cx, h.y]);
    }
    case "depend":
    case "signal": {
      const fy = a.y + a.h;
      if (Math.abs(a.cx - b.cx) < 1) return plain([a.cx, fy, b.cx, b.y]);
      // Below one another: around the side; otherwise straight across.
      const mid = b.y > fy + 8 ? b.y - Math.min(12, (b.y - fy) / 2) : (fy + b.y) / 2;
      return plain([a.cx, fy, a.cx, mid, b.cx, mid, b.cx, b.y]);
    }
  }
}

const plain = (points: number[]): Route => ({ points, slackTo: 0, label: null });
