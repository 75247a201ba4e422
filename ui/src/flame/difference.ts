/**
 * The difference of two flame graphs: the stacks of both runs as one tree, each frame with its
 * share of either run. Frames are matched by name, because site and code indices differ between
 * runs.
 */

import type { FlameNode } from "./tree";

/** A frame of both runs, or of one of them. Its `total` is the mean of the two shares. */
export interface FramePair {
  node: FlameNode;
  name: string;
  place: string;
  /** Shares of a run's total, 0 to 1; null if the run has no such frame. */
  a: number | null;
  b: number | null;
}

export interface FrameNames {
  nameOf: (n: FlameNode) => string;
  placeOf: (n: FlameNode) => string;
}

/** Number of ticks of a whole run, so that shares are whole numbers. */
const RUN_TICKS = 1e9;

/** Null if neither run has a frame. */
export function difference(
  [a, namesA]: [FlameNode | null, FrameNames],
  [b, namesB]: [FlameNode | null, FrameNames],
): { root: FlameNode; both: Map<FlameNode, FramePair> } | null {
  if (!a && !b) return null;
  const both = new Map<FlameNode, FramePair>();
  let count = 0;
  const share = (n: FlameNode | null, root: FlameNode | null) =>
    n && root && root.total > 0 ? n.total / root.total : null;
  const join = (x: FlameNode | null, y: FlameNode | null, parent: FlameNode | null): FlameNode => {
    const [inA, inB] = [share(x, a), share(y, b)];
    const known = (x ?? y)!;
    const names = x ? namesA : namesB;
    const id = count++;
    const node: FlameNode = {
      id,
      parent,
      // A unique index, so that the stack's key is unique.
      site: id,
      code: null,
      own: 0,
      total: (RUN_TICKS * ((inA ?? 0) + (inB ?? 0))) / 2,
      strands: (x?.strands ?? 0) + (y?.strands ?? 0),
      stolen: 0,
      children: [],
      depth: parent ? parent.depth + 1 : 0,
      heaviest: null,
    };
    both.set(node, {
      node,
      name: names.nameOf(known),
      place: names.placeOf(known),
      a: inA,
      b: inB,
    });
    node.children = pairs(x, namesA, y, namesB)
      .map(([p, q]) => join(p, q, node))
      .sort((p, q) => q.total - p.total || p.id - q.id);
    return node;
  };
  return { root: join(a, b, null), both };
}

/** Pairs of child frames of two frames, matched by name. */
function pairs(
  x: FlameNode | null,
  namesX: FrameNames,
  y: FlameNode | null,
  namesY: FrameNames,
): [FlameNode | null, FlameNode | null][] {
  // Code and tasks of a site may have the same name, and several frames may, too.
  const key = (n: FlameNode, names: FrameNames, seen: Map<string, number>) => {
    const name = `${n.code === null ? "site" : "code"} ${names.nameOf(n)}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return `${name} ${nth}`;
  };
  const seenX = new Map<string, number>();
  const seenY = new Map<string, number>();
  const out = new Map<string, [FlameNode | null, FlameNode | null]>();
  for (const n of x?.children ?? []) out.set(key(n, namesX, seenX), [n, null]);
  for (const n of y?.children ?? []) {
    const k = key(n, namesY, seenY);
    out.set(k, [out.get(k)?.[0] ?? null, n]);
  }
  return [...out.values()];
}

/** Percentage points of the total. */
export const points = (f: FramePair): number => 100 * ((f.b ?? 0) - (f.a ?? 0));

/** Frames that changed by less count as the same, in percentage points. */
export const SAME_POINTS = 0.5;

/** `+18.3`, `−2.7`, `same`. */
export function signed(f: FramePair): string {
  const p = points(f);
  if (Math.abs(p) < SAME_POINTS) return "same";
  return `${p > 0 ? "+" : "−"}${Math.abs(p).toFixed(1)}`;
}
