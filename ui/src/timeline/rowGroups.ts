/**
 * Groups of rows, each with a head: by the pool of their thread, by process (by rank in a run of
 * ranks), by the NUMA node on which their thread ran the longest, or by tens.
 */

import type { RunMeta, ThreadMeta } from "../data/contract";
import { count, fileName, plural, percent } from "../format";
import type { RowsShown } from "../store";
import { rowOrder } from "./rowOrder";

export interface RowGroup {
  title: string;
  note: string;
  /** The part of the note that fits below the title. */
  short: string;
  /** Index into `RunMeta.pools` of a pool's rows. */
  pool: number | null;
  /** True if its head has an area of its running workers. */
  area: boolean;
  rows: readonly number[];
}

/** Rows from top to bottom, and the heads before some of them. */
export interface RowArrangement {
  order: readonly number[];
  /** `at` is an index into `order`. */
  heads: readonly { at: number; group: RowGroup }[];
}

/** Number of workers per head when grouping by tens. */
const WORKERS_PER_HEAD = 10;

/** Smallest number of rows that the head counts; fewer are listed by name. */
const MIN_COUNTED = 4;

/** The available groupings. */
export const GROUPINGS: [RowsShown["group"], string][] = [
  ["none", "none"],
  ["pool", "pool"],
  ["process", "process"],
  ["node", "NUMA node"],
  ["tens", "tens"],
];
/** Shown instead of the grouping by node where it is not possible. */
export const NO_NODES = "NUMA node (there is one, or the trace does not say)";

/**
 * The grouping of a run: the chosen one, or by process or pool if there are several of them with
 * more than one row.
 */
export function groupingOf(
  run: Pick<RunMeta, "threads" | "pools" | "processes">,
  shown: Pick<RowsShown, "group">,
): Exclude<RowsShown["group"], "auto"> {
  if (shown.group !== "auto") return shown.group;
  const rows = run.threads.length;
  const processes = run.processes?.length ?? 0;
  if (processes > 1 && rows >= 2 * processes) return "process";
  return run.pools.length > 1 && rows >= 2 * run.pools.length ? "pool" : "none";
}

/** True if the nodes of the rows are known. */
export const hasNodes = (run: Pick<RunMeta, "threads">): boolean =>
  run.threads.some((thread) => thread.node !== undefined);

/** The data of a run that its groups need. */
export type GroupedRun = Pick<RunMeta, "threads" | "pools" | "processes" | "nodes" | "name">;

export function arrangeRows(run: GroupedRun, shown: RowsShown): RowArrangement {
  const order = rowOrder(run.threads, shown);
  const by = groupingOf(run, shown);
  if (by === "none") return { order, heads: [] };
  const pinned = new Set(shown.pinned);
  const groups = new Map<string, number[]>();
  for (const row of order) {
    const key = pinned.has(row) ? "pinned" : keyOf(run.threads[row]!, row, by);
    const rows = groups.get(key);
    if (rows) rows.push(row);
    else groups.set(key, [row]);
  }
  // Pinned rows stay on top. Nodes are in order of their numbers; other groups are ordered by their
  // first worker, however their rows are sorted.
  const place = (rows: readonly number[]): number =>
    by === "node" ? (run.threads[rows[0]!]!.node ?? Number.MAX_VALUE) : Math.min(...rows);
  const sorted = [...groups].sort(([a, x], [b, y]) =>
    a === "pinned" ? -1 : b === "pinned" ? 1 : place(x) - place(y),
  );
  const heads: { at: number; group: RowGroup }[] = [];
  const out: number[] = [];
  for (const [key, rows] of sorted) {
    const pool = /^pool (\d+)$/.exec(key)?.[1];
    const group = {
      short: "",
      ...titleOf(key, run, rows),
      pool: pool === undefined ? null : Number(pool),
      area: by !== "tens",
      rows,
    };
    heads.push({ at: out.length, group });
    out.push(...rows);
  }
  return { order: out, heads };
}

function keyOf(thread: ThreadMeta, row: number, by: RowsShown["group"]): string {
  if (by === "process")
    return thread.process === undefined ? "process" : `process ${thread.process}`;
  if (by === "node") return thread.node === undefined ? "no-node" : `node ${thread.node}`;
  if (!thread.worker) return "threads";
  if (by === "tens") return `tens ${Math.floor(row / WORKERS_PER_HEAD)}`;
  return thread.pool === null ? "workers" : `pool ${thread.pool}`;
}

function titleOf(
  key: string,
  run: GroupedRun,
  rows: readonly number[],
): { title: string; note: string; short?: string } {
  const busy = rows.map((row) => run.threads[row]?.busy ?? null);
  const known = busy.filter((b) => b !== null);
  const mean = known.reduce((sum, b) => sum + b, 0) / Math.max(1, known.length);
  // Thin rows of a group have no room for their names.
  const names = rows.map((row) => run.threads[row]?.label ?? "").join(", ");
  const counted = rows.length < MIN_COUNTED ? names : plural(rows.length, "row");
  const note = [counted, known.length === rows.length ? `mean ${percent(mean, 0)} busy` : ""];
  const [kind, number] = key.split(" ") as [string, string | undefined];
  if (kind === "pool") {
    const pool = run.pools[Number(number)];
    const size = pool ? `size ${count(pool.size)}` : "";
    const built = pool?.built ? `built at ${fileName(pool.built)}` : "";
    note.unshift(...[size, built].filter(Boolean));
    return {
      title: `Pool ${Number(number) + 1}`,
      note: note.filter(Boolean).join(" · "),
      short: built || counted,
    };
  }
  if (kind === "node" && number !== undefined) {
    const cpus = run.nodes?.find((of) => of.node === Number(number))?.cpus;
    const shares = rows.map((row) => run.threads[row]?.on_node ?? 1);
    const least = Math.min(...shares);
    note.unshift(
      cpus ? `CPUs ${cpus.replaceAll("-", "–").replaceAll(",", ", ")}` : "",
      least < 1 ? `each row at least ${percent(Math.floor(least * 100) / 100, 0)} of its time` : "",
    );
    const short = note[0] || counted;
    return { title: `NUMA node ${number}`, note: note.filter(Boolean).join(" · "), short };
  }
  const process = run.processes?.[Number(number)];
  if (kind === "process" && process) {
    const title = process.charAt(0).toUpperCase() + process.slice(1);
    return { title, note: note.filter(Boolean).join(" · "), short: counted };
  }
  const label = (row: number) => run.threads[row]?.label ?? "";
  const [first, last] = [Math.min(...rows), Math.max(...rows)];
  const titles: Record<string, string> = {
    pinned: "Pinned",
    process: `Process ${run.name}`,
    workers: "Workers",
    threads: "Threads",
    "no-node": "NUMA node not known",
    tens: first === last ? label(first) : `${label(first)} to ${label(last)}`,
  };
  if (kind === "threads") note[0] = `outside the pool: ${counted}`;
  return { title: titles[kind]!, note: note.filter(Boolean).join(" · "), short: counted };
}
