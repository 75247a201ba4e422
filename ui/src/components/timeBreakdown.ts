/**
 * Division of workers × elapsed time: the parts of a report's breakdown, in the order and with the
 * names used by every view.
 */

import type { Report } from "../data/contract";

export type PartKind =
  "work" | "descheduled" | "blocked" | "recording" | "delay" | "sched" | "app" | "unread";
export interface Part {
  kind: PartKind;
  label: string;
  ticks: number;
}

const ORDER: [PartKind, string, string][] = [
  ["work", "work", "work"],
  ["recording", "recording", "recording"],
  ["descheduled", "descheduled", "descheduled"],
  ["blocked", "blocked", "blocked"],
  ["delay", "delay", "delay"],
  ["sched", "no work, scheduler", "no_work_sched"],
  ["app", "no work, program", "no_work_app"],
  ["unread", "not read", "unread"],
];

export function breakdown(report: Report): Part[] {
  const b = (report.breakdown ?? {}) as Record<string, number>;
  return ORDER.map(([kind, label, key]) => ({ kind, label, ticks: Number(b[key] ?? 0) })).filter(
    (p) => p.ticks > 0,
  );
}
