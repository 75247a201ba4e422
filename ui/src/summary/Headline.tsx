/**
 * The verdict in five seconds: how busy the workers were and how far the program can scale, which
 * line limits it at what cost, and the gain of a fix. In other cases (one task, nothing lost, a
 * part that could not be read), the report's own sentence is in the first line.
 */

import type { FindingWords, Report, RunMeta, Summary, Words } from "../data/contract";
import {
  workerTicks,
  count,
  fileName,
  plural,
  percent,
  plainNumber,
  ticks,
  multiple,
  pageUnits,
} from "../format";
import { selection, tab, whatif } from "../store";
import { Term } from "../terms/Term";
import { Place, Sentence } from "../components/widgets";
import { codeWords } from "./findingTitles";

export function Headline(p: { of: Summary; report: Report | undefined; run: RunMeta }) {
  const { of: s, report, run: r } = p;
  // Code is named here only if it cost more than the machine did.
  const f = largestLoss(s.findings);
  const reported = f && report?.findings?.[f.index];
  return (
    <>
      <h1 class="verdict">
        {isUsual(report) ? usualVerdict(report!, r.cpus) : pageUnits(inPart(s.verdict, report))}
      </h1>
      {f && !isMachine(f) && report && (
        <p class="why">
          <Culprit of={f} evidence={reported?.evidence} place={reported?.place} run={r} />
        </p>
      )}
      {f && !isMachine(f) && f.gain > 0 && report && (
        <PossibleGain of={f} report={report} run={r} />
      )}
      {s.why.map((w, i) => (
        <p key={i} class={f && !isMachine(f) ? "why more" : "why"}>
          <Sentence of={w} />
        </p>
      ))}
    </>
  );
}

/** The finding that cost most, wherever it is in the list. */
export const largestLoss = (findings: readonly FindingWords[]): FindingWords | undefined =>
  findings.reduce<FindingWords | undefined>(
    (most, f) => (most && most.lost >= f.lost ? most : f),
    undefined,
  );

/** Prefixes a note if only a part of the trace could be read. */
function inPart(verdict: string, report: Report | undefined): string {
  if (!report?.unread || /^Only part/.test(verdict)) return verdict;
  return `Only part of this trace could be read. All numbers are of that part. ${verdict}`;
}

/**
 * The cause is the machine rather than the program: the report's sentences say what would limit it
 * otherwise.
 */
const isMachine = (f: FindingWords) => f.id === "descheduled" || f.id === "oversubscription";

/** Time was lost, everything was read, and the bound only assumes that nothing blocks. */
function isUsual(report: Report | undefined): boolean {
  return (
    report?.verdict?.state === "lost" &&
    !report.unread &&
    !report.limits?.divided_by_threads &&
    !report.limits?.lock_held
  );
}

function usualVerdict(report: Report, cpus: number | null) {
  const busy = report.mean_busy as number;
  return (
    <>
      On average {plainNumber(busy)} of {count(report.workers)}{" "}
      {report.workers === 1 ? "worker" : "workers"} {report.workers === 1 ? "was" : "were"} busy
      {/* With fewer CPUs than workers, the CPUs may all have been busy. */}
      {cpus !== null && cpus < report.workers && `, on ${plural(cpus, "CPU")}`}.{" "}
      {report.limits?.blocked
        ? "If nothing blocked, the program could run at most"
        : "The program can run at most"}{" "}
      <Term of="parallelism">{multiple(report.largest_speedup)}</Term> as fast as on one worker.
    </>
  );
}

/** The limiting line, what it did, and the cost. */
function Culprit(p: { of: FindingWords; evidence: any; place: any; run: RunMeta }) {
  const { of: f, evidence: e, run: r } = p;
  const cost = (
    <>
      {" "}
      That cost <b>{workerTicks(f.lost, r.ticks_per_second)}</b>, {percent(f.share)} of the loss.
    </>
  );
  if (f.id !== "serial-strand" || !(e?.ticks > 0))
    return (
      <>
        <Sentence of={f.title} />.{cost}
      </>
    );
  const alone = e.alone === e.ticks;
  const idle = alone ? r.workers - 1 : f.lost / e.ticks;
  const did = `for ${ticks(e.ticks, r.ticks_per_second)}${
    e.strands > 1 ? ` in ${count(e.strands)} strands` : ""
  } while ${alone ? count(idle) : `on average ${plainNumber(idle)}`} ${
    idle === 1 ? "other worker" : "workers"
  } had nothing to do`;
  const code = codeWords(f, p.place, r);
  const at = f.source && (
    <Place
      label={`${fileName(f.source.file)}:${f.source.line}`}
      file={f.source.file}
      line={f.source.line}
    />
  );
  const isName = code[0]?.as === "code";
  return (
    <>
      {isName ? (
        <>
          {at} <Sentence of={code} />
        </>
      ) : (
        <>
          <Sentence of={capital(code)} />
          {at && <> at {at}</>}
        </>
      )}{" "}
      limited it: it ran{" "}
      <b class="marked">
        {alone && "alone "}
        {did}
      </b>
      .{cost}
    </>
  );
}

/** The words with the first letter in upper case. */
function capital(words: Words): Words {
  const [first, ...rest] = words;
  return first
    ? [{ ...first, text: first.text.charAt(0).toUpperCase() + first.text.slice(1) }, ...rest]
    : words;
}

/** The run's time without the first finding's loss. */
function PossibleGain({
  of: f,
  report,
  run: r,
}: {
  of: FindingWords;
  report: Report;
  run: RunMeta;
}) {
  const elapsed = report.elapsed as number;
  const left = ticks(elapsed - f.gain, r.ticks_per_second);
  const suggestion = report.suggestion?.finding === f.index ? report.suggestion : null;
  const suggested = suggestion?.what_if;
  const isLock = suggestion?.options.some((option: string) => option.startsWith("--lock"));
  return (
    <p class="why fix">
      Without that, the run would take at best{" "}
      <b>
        {left} instead of {ticks(elapsed, r.ticks_per_second)}
      </b>{" "}
      (−{percent(f.gain / elapsed)}).
      {suggested && (
        <>
          {" "}
          If this {isLock ? "lock were held half as long" : "code were twice as fast"}, the limit
          would be <b>{multiple(suggested.parallelism)}</b>.
        </>
      )}{" "}
      <button
        type="button"
        class="link"
        onClick={() => {
          if (f.show.code !== null) {
            whatif.value = { ...whatif.value, what: [`code:${f.show.code}`] };
            selection.value = { kind: "code", run: r.id, code: f.show.code };
          }
          tab.value = "whatif";
        }}
      >
        What if →
      </button>
    </p>
  );
}
