/**
 * An invented run: a parallel merge sort with serial merges on `P` workers, scheduled like Rayon's
 * (a worker pushes the second half of a join, runs the first, then takes the second back or, if it
 * was stolen, steals while it waits). Deterministic; times in nanoseconds.
 */

export interface Strand {
  id: number;
  task: number;
  row: number;
  start: number;
  end: number;
  ready: number;
  code: number;
  site: number;
  level: number;
  from: number;
  to: number;
  /** Strands it depends on. */
  preds: number[];
  stolenFrom: number | null;
  leap: boolean;
  critical: boolean;
  readyPath: boolean;
  endKind: number;
  creates: number[];
}

export interface Task {
  id: number;
  parent: number | null;
  site: number;
  code: number;
  level: number;
  keys: number;
  strands: number[];
  children: number[];
  inline: boolean;
}

export interface Run {
  workers: number;
  elapsed: number;
  tasks: Task[];
  strands: Strand[];
  work: number;
  span: number;
}

export const CODES = ["sort_unstable", "merge", "partition", "fill", "main"];
export const SITES = ["root", "msort", "qsort", "fill"];
const [LEAF, MERGE, PARTITION, FILL, MAIN] = [0, 1, 2, 3, 4];
const END = { create: 0, wait: 1, end: 4 };

/** One piece of a task: run for `ticks`, then join the two plans, if any. */
type Piece = { ticks: number; code: number; join?: [Plan, Plan] };
interface Plan {
  site: number;
  keys: number;
  pieces: Piece[];
}

function qsort(n: number, depth: number): Plan {
  if (n <= 80_000 || depth > 5)
    return { site: 2, keys: n, pieces: [{ ticks: n * 29, code: LEAF }] };
  const left = Math.round(n * (0.4 + 0.2 * noise(n + depth)));
  return {
    site: 2,
    keys: n,
    pieces: [
      { ticks: n * 7, code: PARTITION, join: [qsort(left, depth + 1), qsort(n - left, depth + 1)] },
      { ticks: 0, code: PARTITION },
    ],
  };
}

function msort(n: number, merge: number): Plan {
  if (n <= 320_000) {
    const q = qsort(n, 0);
    return { ...q, site: 1 };
  }
  return {
    site: 1,
    keys: n,
    pieces: [
      { ticks: 400, code: PARTITION, join: [msort(n / 2, merge), msort(n / 2, merge)] },
      { ticks: n * merge, code: MERGE },
    ],
  };
}

function fill(n: number): Plan {
  if (n <= 320_000) return { site: 3, keys: n, pieces: [{ ticks: n * 27, code: FILL }] };
  return {
    site: 3,
    keys: n,
    pieces: [
      { ticks: 200, code: FILL, join: [fill(n / 2), fill(n / 2)] },
      { ticks: 200, code: FILL },
    ],
  };
}

function noise(seed: number): number {
  const x = Math.sin(seed * 12.9898) * 43758.5453;
  return x - Math.floor(x);
}

interface Doing {
  task: Task;
  plan: Plan;
  piece: number;
  parent: Doing | null;
  left: number;
  joinedBy: number[];
  after: number[];
  owner: number;
  ready: number;
}

/**
 * `merge` is the merge's cost per key in nanoseconds: 61 for a serial merge, 6 for a parallel one.
 */
export function invent(workers: number, merge = 61): Run {
  const tasks: Task[] = [],
    strands: Strand[] = [];
  const newTask = (plan: Plan, parent: Task | null, inline: boolean): Task => {
    const t: Task = {
      id: tasks.length,
      parent: parent?.id ?? null,
      site: parent ? plan.site : 0,
      code: plan.pieces[plan.pieces.length - 1]!.code,
      level: parent ? parent.level + 1 : 0,
      keys: plan.keys,
      strands: [],
      children: [],
      inline,
    };
    tasks.push(t);
    parent?.children.push(t.id);
    return t;
  };
  const n = 10_240_000;
  const root: Plan = {
    site: 0,
    keys: n,
    pieces: [
      { ticks: 2_600_000, code: MAIN, join: [fill(n / 2), fill(n / 2)] },
      { ticks: 31_400_000, code: MAIN, join: [msort(n / 2, merge), msort(n / 2, merge)] },
      { ticks: n * merge, code: MERGE },
    ],
  };
  const queues: Doing[][] = Array.from({ length: workers }, () => []);
  const stacks: Doing[][] = Array.from({ length: workers }, () => []);
  const free: number[] = new Array(workers).fill(0);
  const first: Doing = {
    task: newTask(root, null, false),
    plan: root,
    piece: 0,
    parent: null,
    left: 0,
    joinedBy: [],
    after: [],
    owner: 0,
    ready: 0,
  };
  const events: { at: number; row: number; then: () => void }[] = [];
  const push = (at: number, row: number, then: () => void) => {
    events.push({ at, row, then });
  };
  let elapsed = 0;
  const run = (d: Doing, row: number, at: number, stolenFrom: number | null, leap: boolean) => {
    const p = d.plan.pieces[d.piece]!;
    const end = at + Math.max(120, Math.round(p.ticks));
    const s: Strand = {
      id: strands.length,
      task: d.task.id,
      row,
      start: at,
      end,
      ready: d.ready,
      code: p.code,
      site: d.task.site,
      level: d.task.level,
      from: d.piece,
      to: d.piece + 1,
      preds: d.after,
      stolenFrom,
      leap,
      critical: false,
      readyPath: false,
      endKind: p.join ? END.wait : END.end,
      creates: [],
    };
    strands.push(s);
    d.task.strands.push(s.id);
    elapsed = Math.max(elapsed, end);
    d.owner = row;
    push(end, row, () => {
      d.piece++;
      if (p.join) {
        s.endKind = END.create;
        const [a, b] = p.join.map((plan, i): Doing => ({
          task: newTask(plan, d.task, i === 0),
          plan,
          piece: 0,
          parent: d,
          left: 0,
          joinedBy: [],
          after: [s.id],
          owner: row,
          ready: end,
        })) as [Doing, Doing];
        s.creates = [a.task.id, b.task.id];
        d.left = 2;
        d.joinedBy = [];
        stacks[row]!.push(d);
        queues[row]!.push(b);
        run(a, row, end, null, false);
      } else {
        const up = d.parent;
        if (up) {
          up.left--;
          up.joinedBy.push(s.id);
          if (up.left === 0) {
            up.ready = end;
            up.after = up.joinedBy;
          }
        }
        next(row, end);
      }
    });
  };
  const next = (row: number, at: number) => {
    const stack = stacks[row]!,
      top = stack[stack.length - 1];
    if (top && top.left === 0) {
      stack.pop();
      return run(top, row, at, null, false);
    }
    const own = queues[row]!.pop();
    if (own) return run(own, row, at, null, false);
    const order = [...Array(workers).keys()]
      .filter((w) => w !== row && queues[w]!.length)
      .sort((a, b) => noise(a * 31 + at) - noise(b * 31 + at));
    if (order.length) {
      const v = order[0]!;
      return run(queues[v]!.shift()!, row, at + 2100, v, stack.length > 0);
    }
    free[row] = 1;
  };
  run(first, 0, 0, null, false);
  for (let w = 1; w < workers; w++) free[w] = 1;
  while (events.length) {
    let best = 0;
    for (let i = 1; i < events.length; i++) if (events[i]!.at < events[best]!.at) best = i;
    const e = events.splice(best, 1)[0]!;
    e.then();
    for (let w = 0; w < workers; w++)
      if (free[w]) {
        const top = stacks[w]![stacks[w]!.length - 1];
        if ((top && top.left === 0) || queues.some((q) => q.length)) {
          free[w] = 0;
          next(w, e.at);
        }
      }
  }
  mark(strands);
  const work = strands.reduce((sum, s) => sum + s.end - s.start, 0);
  const span = strands.reduce((sum, s) => sum + (s.critical ? s.end - s.start : 0), 0);
  return { workers, elapsed, tasks, strands, work, span };
}

/** Marks the heaviest path and the ready path. */
function mark(strands: Strand[]) {
  const heavy: number[] = [],
    before: number[] = [];
  for (const s of strands) {
    let best = -1;
    for (const p of s.preds) if (best < 0 || heavy[p]! > heavy[best]!) best = p;
    before.push(best);
    heavy.push((best < 0 ? 0 : heavy[best]!) + s.end - s.start);
  }
  let at = strands.reduce((b, s) => (heavy[s.id]! > heavy[b]! ? s.id : b), 0);
  while (at >= 0) {
    strands[at]!.critical = true;
    at = before[at]!;
  }
  let r: Strand | undefined = strands.reduce((b, s) => (s.end > b.end ? s : b), strands[0]!);
  while (r) {
    r.readyPath = true;
    r = r.preds
      .map((p) => strands[p]!)
      .reduce<Strand | undefined>((b, p) => (!b || p.end > b.end ? p : b), undefined);
  }
}

/** Intervals with constant numbers of strands: [from, to, running, ready]. */
export function profile(run: Run): [number, number, number, number][] {
  const ev: [number, number, number][] = [];
  for (const s of run.strands) {
    ev.push([s.start, 1, 0], [s.end, -1, 0]);
    if (s.start > s.ready) ev.push([s.ready, 0, 1], [s.start, 0, -1]);
  }
  ev.sort((a, b) => a[0] - b[0]);
  const out: [number, number, number, number][] = [];
  let t = 0,
    running = 0,
    ready = 0;
  for (const [at, a, b] of ev) {
    if (at > t) out.push([t, at, running, ready]);
    t = at;
    running += a;
    ready += b;
  }
  return out;
}

let a: Run | null = null,
  b: Run | null = null;
/** The two runs: before (serial merge) and after. */
export function inventedRun(id: string): Run {
  return id === "b" ? (b ??= invent(8, 8)) : (a ??= invent(8));
}
