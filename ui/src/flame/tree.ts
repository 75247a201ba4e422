/** Frames of logical stacks as a tree with sums, and their positions. */

import type { Flame } from "../data/contract";

export interface FlameNode {
  id: number;
  parent: FlameNode | null;
  site: number;
  code: number | null;
  /** Ticks of the frame alone, then including all frames below it in the tree. */
  own: number;
  total: number;
  strands: number;
  stolen: number;
  /** Of a site's tasks: the smallest and the largest size that they told. */
  sizes?: readonly [number, number];
  /** Most time first. */
  children: FlameNode[];
  depth: number;
  /** The code with the largest part of its time. */
  heaviest: number | null;
}

/** The tree; null if nothing ran. */
export function treeOf(flame: Flame): FlameNode | null {
  const nodes: FlameNode[] = [];
  for (const [id, f] of flame.frames.entries()) {
    const parent = f.parent === null ? null : (nodes[f.parent] ?? null);
    const node: FlameNode = {
      id,
      parent,
      site: f.site,
      code: f.code,
      own: f.ticks,
      total: f.ticks + (f.omitted?.ticks ?? 0),
      strands: f.strands + (f.omitted?.strands ?? 0),
      stolen: f.stolen + (f.omitted?.stolen ?? 0),
      ...(f.sizes && { sizes: f.sizes }),
      children: [],
      depth: parent ? parent.depth + 1 : 0,
      heaviest: f.code,
    };
    parent?.children.push(node);
    nodes.push(node);
  }
  const byCode = nodes.map(() => new Map<number, number>());
  // Children have higher indices than their parents.
  for (let i = nodes.length - 1; i >= 0; i--) {
    const n = nodes[i]!;
    if (n.code !== null) byCode[i]!.set(n.code, (byCode[i]!.get(n.code) ?? 0) + n.own);
    n.heaviest = heaviestOf(byCode[i]!);
    n.children.sort((a, b) => b.total - a.total || a.id - b.id);
    if (!n.parent) continue;
    n.parent.total += n.total;
    n.parent.strands += n.strands;
    n.parent.stolen += n.stolen;
    const up = byCode[n.parent.id]!;
    for (const [code, ticks] of byCode[i]!) up.set(code, (up.get(code) ?? 0) + ticks);
  }
  return nodes[0] && nodes[0].total > 0 ? nodes[0] : null;
}

function heaviestOf(codes: Map<number, number>): number | null {
  let best: number | null = null;
  for (const [code, ticks] of codes) if (best === null || ticks > codes.get(best)!) best = code;
  return best;
}

export interface Placed {
  node: FlameNode;
  x: number;
  width: number;
  row: number;
}

/** Minimum width of a drawn frame, in pixels. */
const MIN_WIDTH = 1.2;

/**
 * Positions of the frames in `width` pixels if `zoomed` takes all of it; its ancestors are above it
 * with the full width. `hidden` is the number of frames too narrow to draw.
 */
export function place(
  root: FlameNode,
  zoomed: FlameNode,
  width: number,
): { placed: Placed[]; rows: number; hidden: number } {
  const placed: Placed[] = [];
  let rows = 0;
  let hidden = 0;
  for (let up: FlameNode | null = zoomed.parent; up; up = up.parent)
    placed.push({ node: up, x: 0, width, row: up.depth - root.depth });
  const open: Placed[] = [{ node: zoomed, x: 0, width, row: zoomed.depth - root.depth }];
  while (open.length > 0) {
    const at = open.pop()!;
    placed.push(at);
    rows = Math.max(rows, at.row + 1);
    let x = at.x;
    for (const child of at.node.children) {
      const w = (at.width * child.total) / Math.max(1, at.node.total);
      if (w >= MIN_WIDTH) open.push({ node: child, x, width: w, row: at.row + 1 });
      else hidden += sizeOf(child);
      x += w;
    }
  }
  placed.sort((a, b) => a.row - b.row || a.x - b.x);
  return { placed, rows, hidden };
}

const sizeOf = (n: FlameNode): number => 1 + n.children.reduce((sum, c) => sum + sizeOf(c), 0);

/** Rows of the call tree: the children of a node follow it unless it is closed. */
export function callTree(root: FlameNode, closed: ReadonlySet<string>): FlameNode[] {
  const out: FlameNode[] = [];
  const walk = (n: FlameNode) => {
    out.push(n);
    if (!closed.has(keyOf(n))) n.children.forEach(walk);
  };
  walk(root);
  return out;
}

/** Number of rows of its graph. */
export function levels(root: FlameNode): number {
  let deepest = root.depth;
  const open = [root];
  for (let n = open.pop(); n; n = open.pop()) {
    deepest = Math.max(deepest, n.depth);
    open.push(...n.children);
  }
  return deepest - root.depth + 1;
}

/** A frame's stack as text, equal for the same frame in different answers. */
export function keyOf(n: FlameNode): string {
  const own = `${n.site}${n.code === null ? "" : `:${n.code}`}`;
  return n.parent ? `${keyOf(n.parent)}/${own}` : own;
}

export function find(root: FlameNode, key: string | null): FlameNode | null {
  if (key === null) return null;
  const all = [root];
  while (all.length > 0) {
    const n = all.pop()!;
    if (keyOf(n) === key) return n;
    if (key.startsWith(keyOf(n))) all.push(...n.children);
  }
  return null;
}
