/** Rows of `workspan compare --json` (times in nanoseconds) for the tables. */

import { fileName } from "../format";
import type { RunMeta } from "../data/contract";
import { csv, type Column } from "../components/Table";

export interface Change {
  absolute: number;
  relative: number | null;
  noise: "unknown" | "within" | "beyond";
}

export interface Quantity {
  key: string;
  label: string;
  unit: "ns" | "count";
  a: number;
  b: number;
  change: Change;
  better: "less" | "more" | null;
}

export interface ChangedPlace {
  id: string;
  name: string;
  place: string;
  /** The code, and the run whose index it is: the first run if it has the code. */
  code: { run: string; code: number } | null;
  file: string | null;
  line: number | null;
  critical: [number, number];
  onSpan: Change;
  work: [number, number];
  ofWork: Change;
}

const LABELS: Record<string, [string, "less" | "more" | null]> = {
  elapsed: ["elapsed", "less"],
  work: ["work", "less"],
  span: ["span", "less"],
  parallelism: ["parallelism", "more"],
  burdened_parallelism: ["burdened", "more"],
  mean_busy: ["workers busy", "more"],
  delay: ["delay", "less"],
  no_work_sched: ["no work, scheduler", "less"],
  no_work_app: ["no work, program", "less"],
  descheduled: ["descheduled", "less"],
  blocked: ["blocked", "less"],
  recording: ["recording", null],
  tasks: ["tasks", null],
  steals: ["steals", null],
  average_maximal_strand: ["average strand", null],
};

const NO_CHANGE: Change = { absolute: 0, relative: null, noise: "unknown" };

export function quantityRows(table: Record<string, any>): Quantity[] {
  const all = (table.quantities ?? {}) as Record<string, any>;
  // In the order of LABELS, since the keys of the JSON object are sorted.
  return Object.keys(LABELS)
    .filter((key) => all[key])
    .map((key) => {
      const q = all[key],
        [label, better] = LABELS[key]!;
      return {
        key,
        label,
        unit: q.unit === "ns" ? ("ns" as const) : ("count" as const),
        a: Number(q.values?.[0]?.mean ?? 0),
        b: Number(q.values?.[1]?.mean ?? 0),
        change: (q.differences?.[0] as Change) ?? NO_CHANGE,
        better,
      };
    })
    .filter((q) => q.a !== 0 || q.b !== 0);
}

/** What `compare` tells of its table's rows: the code of each block in both runs. */
export type BlockCodes = readonly (readonly [number | null, number | null])[];

/** Code is named and coloured as in `a`; code that only `b` has, as in `b`. */
export function blockRows(
  table: Record<string, any>,
  codes: BlockCodes,
  a: RunMeta,
  b: RunMeta,
): ChangedPlace[] {
  const list = ((table.blocks ?? []) as any[]).map((row, i): ChangedPlace => {
    const { from, to, from_kind, to_kind } = row.block ?? {};
    const at = from ?? to ?? row.site;
    const [inA, inB] = codes[i] ?? [null, null];
    const label = a.codes[inA ?? -1]?.label ?? b.codes[inB ?? -1]?.label;
    // The same code of the first run, if only the second one ran this block of it.
    const first = inA ?? a.codes.findIndex((c) => c.label === label);
    const place = `${from ? fileName(from.at) : from_kind === "begin" ? "start" : String(from_kind ?? "").replace("_", " ")}→${to ? (from && from.file === to.file && to.line != null ? to.line : fileName(to.at)) : String(to_kind ?? "end")}`;
    return {
      id: `b${i}`,
      name: label ?? at?.function ?? (at?.at ? fileName(at.at) : "root"),
      place,
      code:
        label !== undefined && first >= 0
          ? { run: a.id, code: first }
          : inB !== null
            ? { run: b.id, code: inB }
            : null,
      file: at?.file ?? null,
      line: at?.line ?? null,
      ...values(row),
    };
  });
  return list.sort(byLargestChange);
}

export function siteRows(table: Record<string, any>): ChangedPlace[] {
  const list = ((table.sites ?? []) as any[]).map((s, i): ChangedPlace => ({
    id: `s${i}`,
    name: s.site?.function ?? (s.site?.at ? fileName(s.site.at) : "root"),
    place: s.site?.function ? fileName(s.site.at) : "",
    code: null,
    file: s.site?.file ?? null,
    line: s.site?.line ?? null,
    ...values(s),
  }));
  return list.sort(byLargestChange);
}

/** Regions marked by the programs, by label. */
export function regionRows(table: Record<string, any>): ChangedPlace[] {
  const list = ((table.regions ?? []) as any[]).map((r, i): ChangedPlace => ({
    id: `r${i}`,
    name: String(r.region),
    place: "",
    code: null,
    file: null,
    line: null,
    ...values(r),
  }));
  return list.sort(byLargestChange);
}

function values(x: any) {
  const pair = (v: any): [number, number] => [Number(v?.[0]?.mean ?? 0), Number(v?.[1]?.mean ?? 0)];
  return {
    critical: pair(x.critical_work),
    onSpan: (x.critical_differences?.[0] as Change) ?? NO_CHANGE,
    work: pair(x.work),
    ofWork: (x.work_differences?.[0] as Change) ?? NO_CHANGE,
  };
}

function byLargestChange(x: ChangedPlace, y: ChangedPlace): number {
  const size = (c: ChangedPlace) =>
    Math.max(Math.abs(c.onSpan.absolute), Math.abs(c.ofWork.absolute) / 8);
  return size(y) - size(x);
}

export function compareCsv(quantities: Quantity[], rows: ChangedPlace[]): string {
  const c = (id: string, of: (r: ChangedPlace) => string | number): Column<ChangedPlace> => ({
    id,
    title: id,
    cell: of,
    csv: of,
  });
  const head =
    "quantity,unit,a,b,relative,noise\n" +
    quantities
      .map((q) => [q.key, q.unit, q.a, q.b, q.change.relative ?? "", q.change.noise].join(","))
      .join("\n");
  return `${head}\n\n${csv([c("name", (r) => r.name), c("place", (r) => r.place), c("critical_a_ns", (r) => r.critical[0]), c("critical_b_ns", (r) => r.critical[1]), c("work_a_ns", (r) => r.work[0]), c("work_b_ns", (r) => r.work[1]), c("noise", (r) => r.onSpan.noise)], rows)}`;
}
