/**
 * The first lines of a part of a run: how busy the workers were while it was open and how far it
 * could go alone, how much of the run it is, and which command says the same.
 */

import { useJson, valueOf } from "../ask";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { countWords } from "../frame/parts";
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
        It was open for {t(elapsed)} of {t(r.elapsed)}, in {countWords(r.only!)} with{" "}
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

/** As a shell takes it for one word. */
const quoted = (text: string): string =>
  /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
