/** The report and its sentences. */

/**
 * `report?run` is the object of `workspan report --json --statistics` (docs/TEXT_TRACE.md), with
 * only the sites of `RunMeta.sites`.
 */
export type Report = Record<string, any>;

/**
 * `report.estimated`: tasks that ran unrecorded because of the overhead budget; null if all were
 * recorded.
 */
export interface Estimated {
  /** Work that was measured without recording its tasks, in units of the metric. */
  unrecorded_work: number;
  unrecorded_strands: number;
  /** Lower and upper bounds of the number of all tasks, and of the span. */
  tasks_low: number;
  tasks_high: number;
  span_low: number;
  span_high: number;
}

/** `summary?run`: the sentences of `workspan report`, so that page and terminal say the same. */
export interface Summary {
  verdict: string;
  /** Sentences below the verdict; the parts of one are text, code (monospace) or strong. */
  why: Words[];
  /** As in the terminal: what the program can change before what the machine did to it. */
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
  /** Equals `report.findings[].id`. */
  id: string;
  /** The index in `report.findings`, which are in descending order of loss. */
  index: number;
  title: Words;
  evidence: Words;
  /** Share of the lost time, 0 to 1, and worker-ticks. */
  share: number;
  lost: number;
  /** Time that the run would save without this loss, in ticks. */
  gain: number;
  /** Its place in the timeline: a range and a selection. */
  show: { t0: number; t1: number; strand: number | null; site: number | null; code: number | null };
  /** Source lines with heat around its place, if there are a source and samples. */
  source: { file: string; line: number } | null;
}
