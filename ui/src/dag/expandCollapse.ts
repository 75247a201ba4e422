/**
 * Opening and closing nodes of the DAG. All requested nodes are loaded first, so that the picture
 * changes once.
 */

import { Unavailable } from "../data/source";
import { count } from "../format";
import { announcement, expanded } from "../store";
import { nameOf, nodeSentence } from "./nodeDrawing";
import {
  withoutInnermost,
  MAX_NODES,
  expandableByWeight,
  collapseToLimit,
  withoutNode,
} from "./expandedSet";
import { place } from "./layout";
import { buildModel, expandable, RUN, type DagNode } from "./model";
import { sameSet } from "../sets";
import type { Scene } from "./scene";

export function setExpanded(s: Scene, to: Set<string>, anchor: string | null, words: string): void {
  to.delete(RUN);
  s.anchorKey = anchor;
  s.note.value = "";
  // Load all requested nodes before the set changes, so that the picture changes once.
  const turn = ++s.changeNumber;
  void s.insides.load([...to]).then(
    () => {
      if (turn !== s.changeNumber) return;
      const kept = new Set<string>();
      if (anchor) kept.add(anchor);
      const wanted = buildModel(s.insides.loaded, new Set([RUN, ...to]));
      let limited = { expanded: to, folded: 0 };
      if (wanted.boxes.length > MAX_NODES) {
        place(wanted, s.options());
        limited = collapseToLimit(wanted, new Set(to), kept, (n) => s.visibleArea(n));
        s.note.value = `${count(limited.folded)} ${limited.folded === 1 ? "node" : "nodes"} collapsed again: at most ${count(MAX_NODES)} are shown`;
      }
      const absent = [...to].find((k) => s.insides.missing.has(k));
      if (absent) s.note.value = s.insides.missing.get(absent)!;
      announcement.value = words + (s.note.value ? `. ${s.note.value}` : "");
      if (sameSet(limited.expanded, expanded.peek())) s.show(anchor);
      else expanded.value = limited.expanded;
    },
    (e: unknown) => {
      if (!(e instanceof Unavailable)) throw e;
      s.note.value = e.message;
      announcement.value = e.message;
    },
  );
}

export function expand(s: Scene, n: DagNode): void {
  if (!expandable(n)) {
    const why =
      n.strand && n.strand.folded > 0
        ? `the trace has only the sums of its ${count(n.strand.folded)} tasks`
        : "it is a single strand";
    announcement.value = s.note.value = `${nameOf(n, s.run)} cannot be expanded: ${why}`;
    return;
  }
  setExpanded(s, new Set(expanded.peek()).add(n.key), n.key, `Expanded ${nodeSentence(n, s.run)}`);
}

/** Collapses the node, or the node around it. */
export function collapse(s: Scene, n: DagNode): void {
  const f = n.inside ? n : n.parent;
  if (!f || f.kind === "run") {
    announcement.value = "This is the outermost node";
    return;
  }
  s.select(f);
  setExpanded(
    s,
    withoutNode(s.model.peek(), expanded.peek(), f.key),
    f.key,
    `Collapsed ${nameOf(f, s.run)}`,
  );
}

export function expandLevel(s: Scene): void {
  const m = s.model.peek();
  const next = expandableByWeight(m);
  if (next.length === 0) {
    announcement.value = s.note.value = "Everything is expanded";
    return;
  }
  // Loading stops when there are certainly enough; `setExpanded` collapses any excess.
  const turn = ++s.changeNumber;
  const take: string[] = [];
  const go = async () => {
    let boxes = m.boxes.length;
    for (let i = 0; i < next.length && boxes <= MAX_NODES; i += 64) {
      const some = next.slice(i, i + 64);
      await s.insides.load(some);
      if (turn !== s.changeNumber) return;
      for (const id of some) {
        const inside = s.insides.loaded.get(id);
        if (!inside) continue;
        const grows = inside.items.length - 1;
        if (boxes + grows > MAX_NODES) continue;
        boxes += grows;
        take.push(id);
      }
    }
    const left = next.length - take.length;
    setExpanded(
      s,
      new Set([...expanded.peek(), ...take]),
      s.selected.peek()?.key ?? null,
      `Expanded one level: ${count(boxes)} nodes`,
    );
    if (left > 0)
      s.note.value = `${count(left)} ${left === 1 ? "node stays" : "nodes stay"} collapsed: at most ${count(MAX_NODES)} are shown`;
  };
  void go().catch((e: unknown) => {
    if (!(e instanceof Unavailable)) throw e;
    s.note.value = e.message;
  });
}

/** Largest depth offered: deeper trees are too wide to read. */
export const MAX_DEPTH = 12;

/** Expands everything down to a depth and nothing below it; the run's own tasks are depth 1. */
export function expandToDepth(s: Scene, depth: number): void {
  const turn = ++s.changeNumber;
  const go = async () => {
    let open = new Set<string>([RUN]);
    await s.insides.load([RUN]);
    for (;;) {
      const model = buildModel(s.insides.loaded, open);
      const next = model.boxes.filter((n) => expandable(n) && n.depth <= depth).map((n) => n.key);
      if (next.length === 0 || model.boxes.length > MAX_NODES) break;
      await s.insides.load(next);
      if (turn !== s.changeNumber) return;
      const there = next.filter((key) => s.insides.loaded.has(key));
      if (there.length === 0) break;
      open = new Set([...open, ...there]);
    }
    setExpanded(s, open, null, `Expanded to depth ${depth}`);
    s.fitted = true;
  };
  void go().catch((e: unknown) => {
    if (!(e instanceof Unavailable)) throw e;
    s.note.value = e.message;
  });
}

/** The deepest level with an expanded node. */
export const depthOf = (s: Scene): number =>
  Math.max(0, ...s.model.value.frames.filter((f) => f.kind !== "run").map((f) => f.depth));

export function collapseLevel(s: Scene): void {
  const m = s.model.peek();
  setExpanded(s, withoutInnermost(m), s.selected.peek()?.key ?? null, "Collapsed one level");
}
