/** Writes request URLs; the text is also the key in a single-file report (contract.ts). */

import type { FlameOf, RunId } from "./contract";

const at = (name: string, ...parameters: [string, string | number][]) =>
  `api/v1/${name}` +
  (parameters.length
    ? "?" + parameters.map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&")
    : "");

const atStrand = (name: string, run: RunId, id: number, ...more: [string, string | number][]) =>
  at(name, ["run", run], ["id", id], ...more);

const sectionsParameter = (on: boolean): [string, number][] => (on ? [["sections", 1]] : []);

export const requests = {
  meta: () => at("meta"),
  /** A part of a run as a run of its own: its `RunMeta`. */
  only: (part: RunId) => at("only", ["run", part]),
  report: (run: RunId) => at("report", ["run", run]),
  summary: (run: RunId) => at("summary", ["run", run]),
  profile: (run: RunId, level: number, index: number) =>
    at("profile", ["run", run], ["level", level], ["index", index]),
  rows: (run: RunId, level: number, index: number) =>
    at("rows", ["run", run], ["level", level], ["index", index]),
  strands: (run: RunId, level: number, index: number) =>
    at("strands", ["run", run], ["level", level], ["index", index]),
  inside: (run: RunId, level: number, index: number) =>
    at("inside", ["run", run], ["level", level], ["index", index]),
  arcs: (run: RunId, level: number, index: number) =>
    at("arcs", ["run", run], ["level", level], ["index", index]),
  waits: (run: RunId, level: number, index: number) =>
    at("waits", ["run", run], ["level", level], ["index", index]),
  path: (run: RunId, kind: "critical" | "ready", level: number, index: number) =>
    at("path", ["run", run], ["kind", kind], ["level", level], ["index", index]),
  critical: (run: RunId) => at("critical", ["run", run]),
  regions: (run: RunId) => at("regions", ["run", run]),
  dag: (run: RunId, ids: string[], sections = false) =>
    at("dag", ["run", run], ["ids", ids.join(",")], ...sectionsParameter(sections)),
  ancestors: (run: RunId, task: number, sections = false) =>
    at("ancestors", ["run", run], ["task", task], ...sectionsParameter(sections)),
  way: (run: RunId, id: number, at: number | null = null, sections = false) =>
    at === null
      ? atStrand("way", run, id, ...sectionsParameter(sections))
      : atStrand(
          "way",
          run,
          id,
          ["at", Math.max(0, Math.round(at))],
          ...sectionsParameter(sections),
        ),
  wayToNode: (run: RunId, id: number, node: string, sections = false) =>
    atStrand("way", run, id, ["node", node], ...sectionsParameter(sections)),
  insideTask: (run: RunId, node: string) => at("inside_task", ["run", run], ["id", node]),
  spawned: (run: RunId, row: number, level: number, bin: number) =>
    at("spawned", ["run", run], ["row", row], ["level", level], ["bin", bin]),
  strand: (run: RunId, id: number) => at("strand", ["run", run], ["id", id]),
  insideStrand: (run: RunId, id: number, t: number) =>
    at("inside_strand", ["run", run], ["id", id], ["at", Math.max(0, Math.round(t))]),
  task: (run: RunId, id: number) => at("task", ["run", run], ["id", id]),
  flame: (run: RunId, of: FlameOf, part: { t0: number; t1: number } | null, recursion: boolean) =>
    at(
      "flame",
      ["run", run],
      ["of", of],
      ...(part
        ? ([
            ["t0", Math.floor(part.t0)],
            ["t1", Math.ceil(part.t1)],
          ] satisfies [string, number][])
        : []),
      ...(recursion ? ([["recursion", 1]] satisfies [string, number][]) : []),
    ),
  tasks: (run: RunId, of: { site: number } | { task: number }) =>
    "site" in of
      ? at("tasks", ["run", run], ["site", of.site])
      : at("tasks", ["run", run], ["task", of.task]),
  queries: () => at("queries"),
  sql: (run: RunId, query: string) => at("sql", ["run", run], ["query", query]),
  sites: (run: RunId) => at("sites", ["run", run]),
  source: (run: RunId, file: string) => at("source", ["run", run], ["file", file]),
  /** Of all runs, or of a part of a run. */
  scalability: (run: RunId) =>
    run.includes("~") ? at("scalability", ["run", run]) : at("scalability"),
  compare: (a: RunId, b: RunId) => at("compare", ["a", a], ["b", b]),
  whatif: (run: RunId, what: string, factors: number[]) =>
    at("whatif", ["run", run], ["what", what], ["factors", factors.join(",")]),
  status: () => at("status"),
};
