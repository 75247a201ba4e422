/** The invented run's answers for the DAG view. */

import type { Answer } from "../mock";
import type {
  Ancestors,
  CriticalPath,
  DagAnswer,
  DagFolded,
  DagInside,
  DagItem,
} from "../contract";
import { Unavailable } from "../source";
import { CODES, inventedRun, SITES, type Run, type Task } from "./run";

const MAX_ITEMS = 200;
const BINS = 24;

interface Sums {
  tasks: number;
  strands: number;
  work: number;
  span: number;
  start: number;
  end: number;
  critical: number;
  rows: Map<number, number>;
  all: number[];
}

const sums = new WeakMap<Run, Map<number, Sums>>();

function sumOf(run: Run, task: Task): Sums {
  let known = sums.get(run);
  if (!known) sums.set(run, (known = new Map()));
  const hit = known.get(task.id);
  if (hit) return hit;
  const s: Sums = {
    tasks: 1,
    strands: task.strands.length,
    work: 0,
    span: 0,
    start: Infinity,
    end: 0,
    critical: 0,
    rows: new Map(),
    all: [...task.strands],
  };
  for (const id of task.strands) {
    const t = run.strands[id]!;
    const w = t.end - t.start;
    s.work += w;
    s.span += w;
    s.start = Math.min(s.start, t.start);
    s.end = Math.max(s.end, t.end);
    if (t.critical) s.critical += w;
    s.rows.set(t.row, (s.rows.get(t.row) ?? 0) + w);
  }
  // All joins have two children, so the span is that of the longer one.
  for (let i = 0; i < task.children.length; i += 2) {
    const [a, b] = task.children.slice(i, i + 2).map((c) => sumOf(run, run.tasks[c]!));
    s.span += Math.max(a?.span ?? 0, b?.span ?? 0);
  }
  for (const c of task.children) {
    const t = sumOf(run, run.tasks[c]!);
    s.tasks += t.tasks;
    s.strands += t.strands;
    s.work += t.work;
    s.start = Math.min(s.start, t.start);
    s.end = Math.max(s.end, t.end);
    s.critical += t.critical;
    for (const [row, busy] of t.rows) s.rows.set(row, (s.rows.get(row) ?? 0) + busy);
    s.all.push(...t.all);
  }
  known.set(task.id, s);
  return s;
}

function folded(run: Run, task: Task): DagFolded {
  const s = sumOf(run, task);
  const running = new Array<number>(BINS).fill(0);
  const width = Math.max(1, s.end - s.start) / BINS;
  for (const id of s.all) {
    const t = run.strands[id]!;
    for (
      let i = Math.floor((t.start - s.start) / width);
      i < BINS && s.start + i * width < t.end;
      i++
    ) {
      running[i]! +=
        Math.max(
          0,
          Math.min(t.end, s.start + (i + 1) * width) - Math.max(t.start, s.start + i * width),
        ) / width;
    }
  }
  return {
    kind: "task",
    id: `t${task.id}`,
    site: task.site,
    code: task.code,
    label: SITES[task.site] === "root" ? "main" : `${SITES[task.site]}`,
    task: task.id,
    tasks: s.tasks,
    strands: s.strands,
    children: task.children.length,
    work: s.work,
    span: s.span,
    start: s.start,
    end: s.end,
    ready: run.strands[task.strands[0]!]!.ready,
    critical: s.critical > 0,
    critical_work: s.critical,
    rows: [...s.rows].sort((a, b) => b[1] - a[1]).slice(0, 8),
    running,
    depends: [],
    expandable: s.strands > 1,
    section: false,
  };
}

function inside(run: Run, task: Task): DagInside {
  const items: DagItem[] = [];
  let waited: string[] = [];
  for (const id of task.strands) {
    const t = run.strands[id]!;
    const creates = t.creates.map((c) => `t${c}`);
    items.push({
      kind: "strand",
      id,
      task: task.id,
      row: t.row,
      start: t.start,
      end: t.end,
      weight: t.end - t.start,
      code: t.code,
      site: t.site,
      critical: t.critical,
      ready_path: t.readyPath,
      ready: t.ready < t.start ? t.ready : null,
      creates,
      joins: waited,
      signals: [],
      end_kind: t.endKind,
      folded: 0,
    });
    for (const c of t.creates) items.push(folded(run, run.tasks[c]!));
    waited = creates;
  }
  items.length = Math.min(items.length, MAX_ITEMS);
  return { items };
}

const ofRun = (p: URLSearchParams): Run => inventedRun(p.get("run") ?? "a");

const dag: Answer = (p): DagAnswer => {
  const run = ofRun(p);
  const nodes: Record<string, DagInside> = {};
  for (const id of (p.get("ids") ?? "").split(",")) {
    if (id === "r")
      nodes[id] = { items: run.tasks.filter((t) => t.parent === null).map((t) => folded(run, t)) };
    else {
      const task = run.tasks[Number(id.slice(1))];
      if (!task || id[0] !== "t") throw new Unavailable(`There is no node ${id}.`, "refused");
      nodes[id] = inside(run, task);
    }
  }
  return { nodes };
};

const ancestors: Answer = (p): Ancestors => {
  const run = ofRun(p);
  const out: string[] = [];
  for (
    let t: Task | undefined = run.tasks[Number(p.get("task"))];
    t;
    t = t.parent === null ? undefined : run.tasks[t.parent]
  )
    out.unshift(`t${t.id}`);
  return out;
};

const critical: Answer = (p): CriticalPath => {
  const run = ofRun(p);
  const rows: CriticalPath["rows"] = [];
  for (const s of run.strands.filter((s) => s.critical).sort((a, b) => a.start - b.start)) {
    const weight = s.end - s.start;
    if (weight < 1000) continue;
    const busy =
      run.strands.reduce(
        (sum, o) => sum + Math.max(0, Math.min(o.end, s.end) - Math.max(o.start, s.start)),
        0,
      ) / Math.max(1, weight);
    const last = rows[rows.length - 1];
    if (last && last.code === s.code && CODES[s.code] !== "merge") {
      last.busy = (last.busy * last.weight + busy * weight) / (last.weight + weight);
      last.strands++;
      last.weight += weight;
      last.end = s.end;
      if (weight > last.heaviest) [last.strand, last.heaviest] = [s.id, weight];
    } else {
      rows.push({
        code: s.code,
        site: s.site,
        row: s.row,
        strands: 1,
        weight,
        start: s.start,
        end: s.end,
        busy,
        strand: s.id,
        heaviest: weight,
      });
    }
  }
  return { span: run.span, rows, joined: 0 };
};

export const dagAnswers: Record<string, Answer> = { dag, ancestors, critical };
