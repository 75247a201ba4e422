/**
 * Synthetic DAG answers for tests: nested tasks with forks, loops of spawns, partial waits,
 * detached tasks, groups and dependences.
 */

import type { DagFolded, DagInside, DagItem, DagStrand } from "../data/contract";

/** A small, fast random number generator with the same results on every machine. */
export function random(seed: number): () => number {
  let x = Math.imul(seed, 2654435761) >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 2 ** 32;
  };
}

export function strand(
  id: number,
  task: number,
  start: number,
  end: number,
  more: Partial<DagStrand> = {},
): DagStrand {
  return {
    kind: "strand",
    id,
    task,
    row: id % 4,
    start,
    end,
    weight: end - start,
    code: id % 3,
    site: task % 3,
    critical: false,
    ready_path: false,
    ready: null,
    folded: 0,
    creates: [],
    joins: [],
    signals: [],
    end_kind: 4,
    ...more,
  };
}

export function folded(
  task: number,
  start: number,
  end: number,
  more: Partial<DagFolded> = {},
): DagFolded {
  return {
    kind: "task",
    id: `t${task}`,
    site: task % 3,
    code: task % 3,
    label: `task ${task}`,
    task,
    tasks: 3,
    strands: 5,
    children: 2,
    work: (end - start) * 2,
    span: end - start,
    start,
    end,
    ready: null,
    critical: false,
    critical_work: 0,
    rows: [[0, end - start]],
    running: new Array(24).fill(1),
    depends: [],
    expandable: true,
    section: false,
    ...more,
  };
}

export interface SyntheticDag {
  loaded: Map<string, DagInside>;
  elapsed: number;
  tasks: number;
}

/**
 * A run: `r` holds the root, and every task is loaded. Times are consistent: nothing starts before
 * its predecessors have ended.
 */
export function syntheticDag(seed: number, depth = 4, detached = true): SyntheticDag {
  const next = random(seed);
  const loaded = new Map<string, DagInside>();
  let tasks = 0,
    strands = 0;
  /** Makes a task that starts at `start`, and returns its collapsed form. */
  const make = (start: number, level: number): DagFolded => {
    const task = tasks++;
    const items: DagItem[] = [];
    let at = start;
    let end = start;
    let work = 0;
    const run = (more: Partial<DagStrand> = {}): DagStrand => {
      const length = Math.floor(next() ** 3 * 1000) + 1;
      const s = strand(strands++, task, at, at + length, { end_kind: 0, ...more });
      items.push(s);
      at += length;
      work += length;
      end = Math.max(end, at);
      return s;
    };
    const child = (by: DagStrand, from = at): DagFolded => {
      const c = make(from + Math.floor(next() * 50), level + 1);
      by.creates.push(c.id);
      items.push(c);
      work += c.work;
      return c;
    };
    let joins: DagFolded[] = [];
    const sections = level >= depth ? 0 : level === 0 ? 2 : Math.floor(next() * 3);
    for (let s = 0; s < sections; s++) {
      const n = next() < 0.15 ? 14 : 1 + Math.floor(next() * 4);
      const waited: DagFolded[] = [];
      const by = run({ joins: joins.map((j) => j.id) });
      let creator = by;
      const loop = next() < 0.5;
      for (let i = 0; i < n; i++) {
        const before = waited.length > 0 && next() < 0.15 ? waited[waited.length - 1]! : null;
        const c = child(creator, Math.max(at, before?.end ?? 0));
        if (before) c.depends.push(before.id);
        if (detached && next() < 0.08) continue;
        waited.push(c);
        if (loop && next() < 0.7) creator = run();
      }
      for (const c of waited) at = Math.max(at, c.end);
      joins = waited;
    }
    run({ joins: joins.map((j) => j.id), end_kind: 4 });
    loaded.set(`t${task}`, { items });
    for (const i of items) end = Math.max(end, i.end);
    return folded(task, start, end, {
      work,
      expandable: items.length > 1,
      section: false,
      children: items.filter((i) => i.kind !== "strand").length,
    });
  };
  const root = make(0, 0);
  loaded.set("r", { items: [root] });
  return { loaded, elapsed: root.end, tasks };
}
