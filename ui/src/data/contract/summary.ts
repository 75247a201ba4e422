/** The report, and its words. */

/**
 * `report?run` is the object of `workspan report --json --statistics` (docs/TEXT_TRACE.md), with
 * the sites of `RunMeta.sites` alone.
 */
export type Report = Record<string, any>;

/**
 * `report.estimated`: what ran unrecorded, to stay inside the overhead budget; null where all was
 * recorded.
 */
export interface Estimated {
  /** Work that was measured but not looked into, in units of the metric. */
  unrecorded_work: number;
  unrecorded_strands: number;
  /** All tasks of the run, at least and at most; the same of the span. */
  tasks_low: number;
  tasks_high: number;
  span_low: number;
  span_high: number;
}

/** `summary?run`: the words of `workspan report`, so that page and terminal say the same. */
export interface Summary {
  verdict: string;
  /** Sentences under it; the words of one are text, code (monospace) or strong. */
  why: Words[];
  findings: FindingWords[];
  /** "Also checked": one line each. */
  checked: { state: "good" | "bad" | "absent"; what: string; value: string }[];
}
export type Words = {
  text: string;
  as?: "code" | "strong" | "place";
  file?: string;
  line?: number;
}[];
export interface FindingWords {
  /** As in `report.findings[].id`. */
  id: string;
  title: Words;
  evidence: Words;
  /** Share of the lost time, 0 to 1, and worker-ticks. */
  share: number;
  lost: number;
  /** How much less time the run would take without this loss, in ticks. */
  gain: number;
  /** What to show for it: a range of the timeline and what is selected there. */
  show: { t0: number; t1: number; strand: number | null; site: number | null; code: number | null };
  /** Source around its place with heat, when there is a source and there are samples. */
  source: { file: string; line: number } | null;
}
