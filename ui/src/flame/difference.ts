/**
 * The difference of two flame graphs: the same stacks of both runs as one tree, each frame with its
 * share of either run. Frames are matched by what they are called, as numbers of sites and code
 * differ from run to run.
 */

import type { FlameNode } from "./tree";

/** A frame of both runs, or of one of them. Its `total` is the mean of the two shares. */
export interface Both {
  node: FlameNode;
  name: string;
  place: string;
  /** Parts of all that is shown of a run, 0 to 1; null where it has no such frame. */
  a: number | null;
  b: number | null;
}

export interface Names {
  nameOf: (n: FlameNode) => string;
  placeOf: (n: FlameNode) => string;
}

/** Ticks that stand for a whole run, so that shares are whole numbers. */
const WHOLE = 1e9;

/** Null where neither run has a frame. */
export function difference(
  [a, namesA]: [FlameNode | null, Names],
  [b, namesB]: [FlameNode | null, Names],
): { root: FlameNode; both: Map<FlameNode, Both> } | null {
  if (!a && !b) return null;
  const both = new Map<FlameNode, Both>();
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
      // A number of its own, so that a stack's key is its own too.
      site: id,
      code: null,
      own: 0,
      total: (WHOLE * ((inA ?? 0) + (inB ?? 0))) / 2,
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

/** The frames on top of two frames, those that are called the same together. */
function pairs(
  x: FlameNode | null,
  namesX: Names,
  y: FlameNode | null,
  namesY: Names,
): [FlameNode | null, FlameNode | null][] {
  // Code and the tasks of a site may be called the same; several frames may, too.
  const key = (n: FlameNode, names: Names, seen: Map<string, number>) => {
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

/** Points: hundredths of all that is shown. */
export const points = (f: Both): number => 100 * ((f.b ?? 0) - (f.a ?? 0));

/** Frames that changed by fewer points count as the same. */
export const SAME_POINTS = 0.5;

/** `+18.3`, `−2.7`, `same`. */
export function signed(f: Both): string {
  const p = points(f);
  if (Math.abs(p) < SAME_POINTS) return "same";
  return `${p > 0 ? "+" : "−"}${Math.abs(p).toFixed(1)}`;
}
