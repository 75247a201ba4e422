/**
 * The first lines for a part of a run: how busy the workers were while it was open, how far it can
 * scale alone, its share of the run, and the equivalent command.
 */

import { useJson, valueOf } from "../answers";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { partCountText } from "../frame/runParts";
import { count, fileName, plural, percent, plainNumber, ticks, multiple } from "../format";
import { Term } from "../terms/Term";

export function PartHeadline({ report, run: r }: { report: Report; run: RunMeta }) {
  const whole = valueOf(useJson<Report>(requests.report(r.only!.of)));
  const { label, tasks, elapsed, argument } = r.only!;
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const share = (n: number, of: number | undefined) => (of ? ` (${percent(n / of)})` : "");
  const busy = report.mean_busy as number;
  return (
    <>
      <h1 class="verdict">
        In {fileName(label)} {plainNumber(busy)} of {count(report.workers)}{" "}
        {report.workers === 1 ? "worker was" : "workers were"} busy. It can run at most{" "}
        <Term of="parallelism">{multiple(report.largest_speedup)}</Term> as fast as on one worker.
      </h1>
      <p class="why">
        It was open for {t(elapsed)} of {t(r.elapsed)}, in {partCountText(r.only!)} with{" "}
        {plural(tasks, "task")} inside. It is {t(report.work)} of the run's work
        {share(report.work, whole?.work)}; its span is {t(report.span)}
        {whole && <> (the run's: {t(whole.span)})</>}.
      </p>
      <p class="why more">
        Numbers, worker time and findings are those of{" "}
        <code>workspan report --only {quoted(argument)}</code>: time counts only while{" "}
        {fileName(label)} is open. Timeline, DAG and flame graph keep the run's times.
      </p>
    </>
  );
}

/** The text as one word of a shell. */
const quoted = (text: string): string =>
  /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
