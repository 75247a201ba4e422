/** The invented run's answers to `strand` and `task`. */

import type { StrandDetail, TaskDetail } from "../contract";
import { Unavailable } from "../source";
import { CODE_LINES, FILE, SITE_LINES } from "./program";
import { CODES, inventedRun, SITES } from "./run";

export function strand(id: string, n: number): StrandDetail {
  const r = inventedRun(id),
    s = r.strands[n];
  if (!s) throw new Unavailable(`There is no strand ${n}.`, "refused");
  const task = r.tasks[s.task]!,
    at = task.strands.indexOf(n),
    onRow = r.strands.filter((x) => x.row === s.row).sort((x, y) => x.start - y.start),
    i = onRow.indexOf(s),
    by = s.preds.map((p) => r.strands[p]!).sort((x, y) => y.end - x.end)[0];
  return {
    id: n,
    task: s.task,
    of: task.strands.length,
    row: s.row,
    start: s.start,
    end: s.end,
    weight: s.end - s.start,
    descheduled: 0,
    blocked: 0,
    recording: 0,
    between: 0,
    code: s.code,
    site: s.site,
    from: { kind: "after_wait", at: `${FILE}:19`, file: FILE, line: 19, function: "msort" },
    to: { kind: "end", at: null, file: null, line: null, function: null },
    critical: s.critical,
    ready_path: s.readyPath,
    ready: s.start > s.ready ? s.ready : null,
    made_ready_by: by
      ? {
          strand: by.id,
          task: by.task,
          row: by.row,
          edge: by.task === s.task ? "wait_continuation" : "end",
        }
      : null,
    stolen: s.stolenFrom === null ? null : { victim: s.stolenFrom, leap: s.leap },
    meanwhile: 4,
    counters: [],
    functions: [{ function: CODES[s.code]!, file: FILE, line: CODE_LINES[s.code]!, samples: 40 }],
    previous: task.strands[at - 1] ?? null,
    next: task.strands[at + 1] ?? null,
    previous_on_row: onRow[i - 1]?.id ?? null,
    next_on_row: onRow[i + 1]?.id ?? null,
    folded: 0,
    sums_alone: false,
    waits: [],
    all_waits: { count: 0, ticks: 0 },
    ended_waits: { count: 0, ticks: 0, longest: null },
  };
}

export function task(id: string, n: number): TaskDetail {
  const r = inventedRun(id),
    t = r.tasks[n];
  if (!t) throw new Unavailable(`There is no task ${n}.`, "refused");
  const stack: TaskDetail["stack"] = [];
  for (let at: number | null = n; at !== null; at = r.tasks[at]!.parent) {
    const x = r.tasks[at]!,
      first = r.strands[x.strands[0]!]!;
    stack.push({
      task: at,
      site: x.site,
      code: x.code,
      row: first.row,
      start: first.start,
      spawned_on: first.stolenFrom ?? first.row,
      stolen_by: first.stolenFrom === null ? null : first.row,
      function: SITES[x.site]!,
      file: FILE,
      line: SITE_LINES[x.site] ?? null,
    });
  }
  const first = r.strands[t.strands[0]!]!,
    last = r.strands[t.strands[t.strands.length - 1]!]!;
  return {
    task: n,
    number: n,
    kind: n === 0 ? "root" : t.inline ? "inline" : "deferred",
    level: t.level,
    site: t.site,
    code: t.code,
    first: first.id,
    last: last.id,
    start: first.start,
    end: last.end,
    strands: t.strands,
    more_strands: 0,
    children: t.children.length,
    first_children: t.children.slice(0, 8),
    work: t.strands.reduce((w, s) => w + r.strands[s]!.end - r.strands[s]!.start, 0),
    span: last.end - first.start,
    tasks: 1,
    stack,
    joined_by: null,
    waits: [],
    depends: [],
    longest: false,
  };
}
