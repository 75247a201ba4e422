/**
 * Keyboard navigation between nodes: up and down along links, left and right to neighbours. Pure.
 */

import { criticalOf, entryBox, exitBox, startOf, type Model, type DagNode } from "./model";

export type Direction = "up" | "down" | "left" | "right";

/** Drawn links by the boxes at their ends. */
export interface Neighbours {
  next: Map<DagNode, DagNode[]>;
  previous: Map<DagNode, DagNode[]>;
}

export function neighboursByLink(model: Model): Neighbours {
  const next = new Map<DagNode, DagNode[]>();
  const previous = new Map<DagNode, DagNode[]>();
  const add = (of: Map<DagNode, DagNode[]>, a: DagNode, b: DagNode) => {
    const list = of.get(a);
    if (!list) of.set(a, [b]);
    else if (!list.includes(b)) list.push(b);
  };
  for (const l of model.links) {
    const a = exitBox(l.from),
      b = entryBox(l.to);
    if (a === b || a.inside || b.inside) continue;
    add(next, a, b);
    add(previous, b, a);
  }
  return { next, previous };
}

/**
 * The target of an arrow key from `from`; null if there is no node. Without `from`: the first node.
 */
export function neighbourOf(
  model: Model,
  links: Neighbours,
  from: DagNode | null,
  way: Direction,
): DagNode | null {
  if (!from || from.inside) return from?.inside ? entryBox(from) : (model.boxes[0] ?? null);
  if (way === "down" || way === "up") {
    const list = (way === "down" ? links.next : links.previous).get(from) ?? [];
    const best = [...list].sort(
      (a, b) =>
        Number(criticalOf(b)) - Number(criticalOf(a)) ||
        Math.abs(centre(a) - centre(from)) - Math.abs(centre(b) - centre(from)) ||
        startOf(a) - startOf(b),
    );
    if (best.length > 0) return best[0]!;
  }
  return nearestBeside(model, from, way);
}

const centre = (n: DagNode): number => n.x + n.spine;

/** The nearest box in a direction; distance across counts more. */
function nearestBeside(model: Model, from: DagNode, way: Direction): DagNode | null {
  let best: DagNode | null = null;
  let least = Infinity;
  const fx = centre(from),
    fy = from.y + from.h / 2;
  for (const n of model.boxes) {
    if (n === from) continue;
    const dx = centre(n) - fx,
      dy = n.y + n.h / 2 - fy;
    const along = way === "left" ? -dx : way === "right" ? dx : way === "up" ? -dy : dy;
    if (along <= 0.5) continue;
    const off =
      way === "left" || way === "right"
        ? Math.max(0, Math.max(n.y - from.y - from.h, from.y - n.y - n.h))
        : Math.abs(dx);
    const score = along + 4 * off + (way === "left" || way === "right" ? Math.abs(dy) * 0.05 : 0);
    if (score < least) {
      least = score;
      best = n;
    }
  }
  return best;
}
