/**
 * Choice of expanded nodes: the first picture, level by level, and what to collapse again when
 * there are too many. Pure except for `load`.
 */

import type { DagInside } from "../data/contract";
import { buildModel, criticalOf, expandable, RUN, type Model, type DagNode } from "./model";

/** Maximum number of shown nodes. */
export const MAX_NODES = 5000;
/** Number of nodes in the first picture. */
export const FIRST_PICTURE = { enough: 30, most: 44 };

/**
 * Reciprocal of the share of all work below which a node is not opened for the first picture, once
 * that has some nodes.
 */
const MIN_WORK_DIVISOR = 30;

export type LoadedInsides = ReadonlyMap<string, DagInside>;
export type LoadInsides = (ids: string[]) => Promise<void>;

/** Priority of a collapsed node: its work, higher on the critical path. */
function weight(n: DagNode): number {
  const f = n.folded!;
  return f.work * (f.critical ? 4 : 1);
}

/**
 * Chooses what to expand for an informative first picture: the heaviest nodes first, with
 * preference for the critical path, until there are about thirty nodes for which `tells` is true,
 * and as long as `fits` says that the picture is readable.
 */
export async function firstPicture(
  loaded: LoadedInsides,
  load: LoadInsides,
  fits: (m: Model) => boolean,
  tells: (n: DagNode) => boolean = () => true,
): Promise<Set<string>> {
  const expanded = new Set([RUN]);
  const refused = new Set<string>();
  await load([RUN]);
  for (let round = 0; round < 64; round++) {
    const model = buildModel(loaded, expanded);
    if (model.boxes.filter(tells).length >= FIRST_PICTURE.enough) break;
    const all = model.top.inside!.reduce((sum, n) => sum + (n.folded?.work ?? 0), 0);
    // A node with a small share of all work is not worth its room.
    const least = model.boxes.length > 8 ? all / MIN_WORK_DIVISOR : 0;
    const worth = model.boxes.filter(
      (n) => expandable(n) && n.folded!.work >= least && !refused.has(n.key),
    );
    const next = worth.sort((a, b) => weight(b) - weight(a) || a.key.localeCompare(b.key))[0];
    if (!next) break;
    await load([next.key]);
    const inside = loaded.get(next.key);
    if (!inside || inside.items.length === 0) {
      refused.add(next.key);
      continue;
    }
    const with_ = new Set(expanded).add(next.key);
    const tried = buildModel(loaded, with_);
    if (tried.boxes.filter(tells).length > FIRST_PICTURE.most && model.boxes.length > 2)
      refused.add(next.key);
    else if (model.boxes.length > 2 && !fits(tried)) refused.add(next.key);
    else expanded.add(next.key);
  }
  return expanded;
}

/**
 * Collapsed nodes to expand for one more level, by priority. There are as many as certainly do not
 * exceed the limit by much.
 */
export function expandableByWeight(model: Model): string[] {
  return model.boxes
    .filter(expandable)
    .sort((a, b) => weight(b) - weight(a) || a.index - b.index)
    .map((n) => n.key);
}

/** The expanded set without its innermost nodes. */
export function withoutInnermost(model: Model): Set<string> {
  const out = new Set<string>();
  for (const f of model.frames)
    if (f.kind === "run" || f.inside!.some((n) => n.inside !== null)) out.add(f.key);
  return out;
}

/** The set without `key` and all expanded nodes inside it. */
export function withoutNode(model: Model, expanded: ReadonlySet<string>, key: string): Set<string> {
  const out = new Set(expanded);
  const start = model.byKey.get(key);
  out.delete(key);
  if (!start) return out;
  const open = [start];
  while (open.length > 0) {
    for (const c of open.pop()!.inside ?? []) {
      if (!c.inside) continue;
      out.delete(c.key);
      open.push(c);
    }
  }
  return out;
}

/**
 * Collapses the least visible nodes until at most `most` are shown: off the screen before on it,
 * far before near, small before big; never nodes in `kept` or around them. Returns the set and the
 * number of collapsed nodes.
 */
export function collapseToLimit(
  model: Model,
  expanded: ReadonlySet<string>,
  kept: ReadonlySet<string>,
  seen: (n: DagNode) => number,
  most = MAX_NODES,
): { expanded: Set<string>; folded: number } {
  const out = new Set(expanded);
  let count = model.boxes.length;
  if (count <= most) return { expanded: out, folded: 0 };
  const held = new Set<DagNode>();
  for (const key of kept)
    for (let n: DagNode | null = model.byKey.get(key) ?? null; n && !held.has(n); n = n.parent)
      held.add(n);
  /** Boxes below each expanded node, with those of collapsed children counted as one. */
  const boxes = new Map<DagNode, number>();
  for (let i = model.frames.length - 1; i >= 0; i--) {
    const f = model.frames[i]!;
    boxes.set(
      f,
      f.inside!.reduce((sum, n) => sum + (boxes.get(n) ?? 1), 0),
    );
  }
  // Innermost first, so that each step removes as little as possible; among equals the least
  // visible.
  const candidates = model.frames
    .filter((f) => f.kind !== "run" && !held.has(f))
    .map((f) => ({ f, seen: seen(f) * (criticalOf(f) ? 2 : 1) }));
  candidates.sort((a, b) => a.seen - b.seen || b.f.depth - a.f.depth || b.f.index - a.f.index);
  let folded = 0;
  for (const { f } of candidates) {
    if (count <= most) break;
    if (!out.has(f.key) || hasCollapsedAncestor(f, out)) continue;
    const below = boxes.get(f)!;
    out.delete(f.key);
    folded++;
    count -= below - 1;
    for (let n: DagNode | null = f; n; n = n.parent)
      boxes.set(n, n === f ? 1 : boxes.get(n)! - below + 1);
  }
  for (const f of model.frames)
    if (out.has(f.key) && hasCollapsedAncestor(f, out)) out.delete(f.key);
  return { expanded: out, folded };
}

/** True if a node around `n` was collapsed already. */
function hasCollapsedAncestor(n: DagNode, expanded: ReadonlySet<string>): boolean {
  for (let p = n.parent; p && p.kind !== "run"; p = p.parent) if (!expanded.has(p.key)) return true;
  return false;
}
