/** Links from the rows of an answer into the timeline. */

import type { SqlAnswer } from "../data/contract";
import type { RunMeta } from "../data/contract";
import type { Selection } from "../store";

export interface Link {
  selection: Selection;
  /** Ticks from the run's start; null if the row has no time. */
  at: { t0: number; t1: number } | null;
}

/** The subject of a row: a strand, a task, or a time of the run. */
export function linkOf(
  columns: readonly string[],
  row: SqlAnswer["rows"][number],
  r: Pick<RunMeta, "id" | "elapsed" | "ticks_per_second" | "tasks" | "strands">,
): Link | null {
  const number = (name: string): number | null => {
    const v = row[columns.indexOf(name)];
    return typeof v === "number" && Number.isFinite(v) ? v : null;
  };
  // Times in the tables are nanoseconds.
  const ticks = (ns: number) => (ns * r.ticks_per_second) / 1e9;
  const start = number("start");
  const length = number("time") ?? number("elapsed") ?? 0;
  const end = number("end") ?? (start === null ? null : start + length);
  const at =
    start !== null && end !== null && ticks(start) <= r.elapsed
      ? around(ticks(start), ticks(end), r.elapsed)
      : null;
  const strand = number("strand");
  const task = number("task");
  if (strand !== null && strand >= 0 && strand < r.strands)
    return { selection: { kind: "strand", run: r.id, id: strand, task: task ?? 0 }, at };
  if (task !== null && task >= 0 && task < r.tasks)
    return { selection: { kind: "task", run: r.id, id: task }, at };
  return at && { selection: { kind: "range", run: r.id, ...exact(at) }, at };
}

const exact = ({ t0, t1 }: { t0: number; t1: number }) => ({ t0, t1 });

/** The time with some margin before and after. */
function around(t0: number, t1: number, elapsed: number): { t0: number; t1: number } {
  const pad = Math.max((t1 - t0) / 2, elapsed / 2000);
  return { t0: Math.max(0, t0 - pad), t1: Math.min(elapsed, t1 + pad) };
}
