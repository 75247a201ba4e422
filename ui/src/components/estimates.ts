/**
 * Estimates in a run's numbers, for tasks that ran unrecorded because of the overhead budget
 * (docs/budget.md).
 */

import { useJson, valueOf } from "../answers";
import type { Estimated, Report } from "../data/contract";
import { requests } from "../data/requests";
import { count, NB, percent, plainNumber, shortCount, ticks } from "../format";
import { run, runMeta } from "../store";

/** Estimates of the current run, once its report is there; `null` if it was recorded in full. */
export function useEstimated(): { estimated: Estimated; report: Report } | null {
  const meta = runMeta();
  const asked = useJson<Report>(meta && meta.overview === null ? requests.report(run.value) : null);
  const report = valueOf(asked);
  const estimated = report?.estimated as Estimated | null | undefined;
  return report && estimated ? { estimated, report } : null;
}

/** True if the number of unrecorded tasks is exact, as with OpenMP and oneTBB. */
export const isCounted = (of: Estimated): boolean => of.tasks_low === of.tasks_high;

/** `± 10 %`, as in the report: half of the interval's width. */
export function errorMargin(n: number, low: number, high: number): string {
  return n > 0 && high > low ? `±${NB}${percent((high - low) / 2 / n)}` : "";
}

/** The intervals of the span and of the parallelism, as text. */
export function spanInterval(
  of: Estimated,
  report: Report,
  perSecond: number,
): { span: string; parallelism: string } {
  const time = (n: number) => (report.metric === "time" ? ticks(n, perSecond) : count(n));
  const of_ = (span: number) => plainNumber(span > 0 ? report.work / span : 1);
  return {
    span: range(time(of.span_low), time(of.span_high)),
    parallelism: range(of_(of.span_high), of_(of.span_low)),
  };
}

/** `1.2 ms to 1.3 ms`, or one value if both are printed the same. */
const range = (from: string, to: string): string => (from === to ? from : `${from} to ${to}`);

/** `between 1.2 ms and 1.3 ms`, or one time. */
const intervalText = (range: string): string =>
  range.includes(" to ") ? `between ${range.replace(" to ", " and ")}` : range;

/** An estimate, rounded to the digits that it supports. */
export const roundedEstimate = (n: number): string => (n < 10_000 ? count(n) : shortCount(n));

/** Sentences about the amount that was not recorded, and what is known of it. */
export function estimateSentences(of: Estimated, report: Report, perSecond: number): string {
  const between = spanInterval(of, report, perSecond);
  const unrecorded = `${percent(report.work > 0 ? of.unrecorded_work / report.work : 1)} of the work ran unrecorded, to stay inside the overhead budget.`;
  if (isCounted(of))
    return `${unrecorded} Times are measured and tasks are counted. The span is ${intervalText(between.span)}.`;
  return `${unrecorded} Times are measured. The number of tasks is estimated from sampled subtrees: ${roundedEstimate(report.tasks)} ${errorMargin(report.tasks, of.tasks_low, of.tasks_high)}. The span is ${intervalText(between.span)}.`;
}
