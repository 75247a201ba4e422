/**
 * The first lines for a part of a run: how busy the workers were while it was open, how far it can
 * scale alone, its share of the run, and the equivalent command.
 */

import { useJson, valueOf } from "../answers";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { partCountText } from "../frame/runParts";
import { count, fileName, many, percent, plain, ticks, times } from "../format";
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
        In {fileName(label)} {plain(busy)} of {count(report.workers)}{" "}
        {report.workers === 1 ? "worker was" : "workers were"} busy. No machine gets it past{" "}
        <Term of="parallelism">{times(report.parallelism)}</Term>.
      </h1>
      <p class="why">
        It was open for {t(elapsed)} of {t(r.elapsed)}, in {partCountText(r.only!)} with{" "}
        {many(tasks, "task")} inside. It is {t(report.work)} of the run's work
        {share(report.work, whole?.work)}; at most {t(report.span)} of it lie on one path
        {whole && <>, where the run's span is {t(whole.span)}</>}.
      </p>
      <p class="why more">
        Numbers, worker time and findings are those of{" "}
        <code>workspan report --only {quoted(argument)}</code>: its clock stands still while{" "}
        {fileName(label)} is not open. Pictures keep the run's times.
      </p>
    </>
  );
}

/** The text as one word of a shell. */
const quoted = (text: string): string =>
  /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
