/** The summary's numbers as CSV: one per line with its unit, times in seconds. */

import type { Report } from "../data/contract";

const COUNTS = [
  "parallelism",
  "burdened_parallelism",
  "workers",
  "tasks",
  "spawns",
  "syncs",
  "steals",
];

/** Quantities in the report's metric, which need not be time. */
const MEASURED = ["work", "span", "burden", "burdened_span", "average_maximal_strand"];

export function numbersCsv(report: Report): string {
  const seconds = (ticks: unknown) =>
    typeof ticks === "number" ? ticks / report.ticks_per_second : ticks;
  const timed = report.metric === "time";
  const rows: [string, unknown, string][] = [
    ["elapsed", seconds(report.elapsed), "s"],
    ...MEASURED.map((key): [string, unknown, string] =>
      timed ? [key, seconds(report[key]), "s"] : [key, report[key], report.metric],
    ),
    ...COUNTS.map((key): [string, unknown, string] => [key, report[key], ""]),
    ...Object.entries(report.breakdown ?? {}).map(([key, ticks]): [string, unknown, string] => [
      `breakdown.${key}`,
      seconds(ticks),
      "worker s",
    ]),
  ];
  return (
    "what,value,unit\n" +
    rows.map(([key, value, unit]) => `${key},${value ?? ""},${unit}`).join("\n") +
    "\n"
  );
}
