/** The first lines of a part of a run: how much of the run it is, and how far it could go alone. */

import { useJson, valueOf } from "../ask";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { countWords } from "../frame/parts";
import { fileName, many, percent, ticks, times } from "../format";
import { Term } from "../terms/Term";

export function PartHeadline({ report, run: r }: { report: Report; run: RunMeta }) {
  const whole = valueOf(useJson<Report>(requests.report(r.only!.of)));
  const { label, tasks } = r.only!;
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const share = whole && whole.work > 0 ? ` (${percent(report.work / whole.work)})` : "";
  const onPath = whole && whole.span > 0 ? ` (${percent(report.span / whole.span)})` : "";
  return (
    <>
      <h1 class="verdict">
        {fileName(label)} alone: no machine gets it past{" "}
        <Term of="parallelism">{times(report.parallelism)}</Term>.
      </h1>
      <p class="why">
        It is {t(report.work)} of the run's work{share}, in {countWords(r.only!)} with{" "}
        {many(tasks, "task")} inside.
      </p>
      <p class="why">
        At most {t(report.span)} of it lie on one path: the run's span is{" "}
        {whole ? t(whole.span) : "…"}
        {onPath}.
      </p>
    </>
  );
}
