/** What to change: each finding as a command, with the event, its cost and the possible gain. */

import { useJson, valueOf } from "../answers";
import type {
  FindingWords,
  Report,
  RunMeta,
  Source,
  StrandDetail,
  Summary,
} from "../data/contract";
import { requests } from "../data/requests";
import { workerTicks, percent, ticks } from "../format";
import {
  announcement,
  colorBy,
  finding,
  run,
  runMeta,
  selection,
  showInTab,
  source,
  type Selection,
} from "../store";
import { plainWords, Section, Sentence } from "../components/widgets";
import { SourceLines } from "../components/SourceLines";
import { EmptyState } from "../components/placeholders";
import { findingTitle } from "./findingTitles";

/** Opens the view that shows a finding, with its callouts. */
export function showFinding(f: FindingWords, index: number): void {
  const id = run.value;
  const { t0, t1, strand, site, code } = f.show;
  const what: Selection | null =
    strand !== null
      ? { kind: "strand", run: id, id: strand, task: 0 }
      : code !== null
        ? { kind: "code", run: id, code }
        : site !== null
          ? { kind: "site", run: id, site }
          : null;
  finding.value = index;
  colorBy.value = "code";
  const pad = (t1 - t0) * 0.15,
    end = runMeta()?.elapsed ?? t1;
  showInTab(
    "timeline",
    t1 > t0 ? { t0: Math.max(0, t0 - pad), t1: Math.min(end, t1 + pad) } : null,
    what,
  );
  announcement.value = `Finding ${index + 1}: ${plainWords(f.title)}`;
  // A finding names its strand; the strand's details name the task.
  if (strand !== null) {
    source.json<StrandDetail>(requests.strand(id, strand)).then(
      (d) => {
        const s = selection.value;
        if (s?.kind === "strand" && s.run === id && s.id === strand)
          selection.value = { ...s, task: d.task };
      },
      () => {},
    );
  }
}

/** Maximum number of findings on the page; the report has all of them. */
const MAX_SHOWN = 5;

export function Findings(p: { of: Summary; report: Report | undefined; run: RunMeta }) {
  const { report, run: r } = p;
  if (p.of.findings.length === 0) return <NoFindings report={report} run={r} />;
  // A part's report has a clock of its own.
  const elapsed = (report?.elapsed as number | undefined) ?? r.elapsed;
  const b = report?.breakdown;
  const lost = report ? report.workers * report.elapsed - (b?.work ?? 0) - (b?.unread ?? 0) : 0;
  const places = (report?.findings as any[] | undefined) ?? [];
  return (
    <Section title="What to change">
      <div class="finding head-row faint" aria-hidden="true">
        <span />
        <span />
        <span>
          cost
          {lost > 0 && (
            <span class="of-lost">, of {workerTicks(lost, r.ticks_per_second)} lost</span>
          )}
        </span>
        <span>saves at best</span>
        <span />
      </div>
      {p.of.findings.slice(0, MAX_SHOWN).map((f, i) => (
        <Finding
          key={i}
          of={f}
          index={i}
          place={places[f.index]?.place}
          run={r}
          elapsed={elapsed}
        />
      ))}
      <SmallerLosses of={p.of.findings.slice(0, MAX_SHOWN)} lost={lost} run={r} />
    </Section>
  );
}

/** Share of the loss below which the remainder has no row. */
const MIN_SMALLER_LOSS = 0.005;

/** Losses without a finding, so that the costs add up. */
function SmallerLosses(p: { of: FindingWords[]; lost: number; run: RunMeta }) {
  const rest = p.lost - p.of.reduce((sum, f) => sum + f.lost, 0);
  if (!(rest > MIN_SMALLER_LOSS * p.lost)) return null;
  const [value, unit] = workerTicks(rest, p.run.ticks_per_second).split("\u00a0");
  return (
    <div class="finding rest">
      <span />
      <div class="evidence">Smaller losses and recording</div>
      <div class="share">
        <span class="cost">
          <span>
            {value} {unit}
          </span>
          <span>{percent(rest / p.lost)}</span>
        </span>
      </div>
      <div class="saves" />
      <span />
    </div>
  );
}

function NoFindings({ report, run: r }: { report: Report | undefined; run: RunMeta }) {
  const why = report?.verdict?.state;
  return (
    <Section title="What to change">
      <EmptyState small title="Nothing stands out">
        {report?.unread
          ? "The part that could be read shows no cause. The rest is unknown."
          : why === "one_task"
            ? "The run has only one task, so nothing could run in parallel."
            : why === "no_time"
              ? "No strand has a length."
              : r.workers === 1
                ? "There was only one worker. Record with more workers to see what limits them."
                : "The workers were busy nearly all of the time. More speed comes from less work or more workers."}
      </EmptyState>
    </Section>
  );
}

function Finding(p: {
  of: FindingWords;
  index: number;
  place: any;
  run: RunMeta;
  elapsed: number;
}) {
  const { of: f, index: i, run: r } = p;
  const tps = r.ticks_per_second;
  const title = findingTitle(f, p.place, r);
  return (
    <div class="finding">
      <span class="badge round" aria-hidden="true">
        {i + 1}
      </span>
      <div>
        <div class="title">
          <Sentence of={title} />
        </div>
        <div class="evidence">
          {title !== f.title && (
            <>
              <Sentence of={f.title} />.{" "}
            </>
          )}
          <Sentence of={withoutShare(f.evidence)} />
        </div>
      </div>
      <div class="share">
        <span class="cost">
          <span>
            <b>{workerTicks(f.lost, tps).split("\u00a0")[0]}</b>{" "}
            {workerTicks(f.lost, tps).split("\u00a0")[1]}
          </span>
          <span>{percent(f.share)}</span>
        </span>
        <div class="meter">
          <i
            style={{
              width: `${Math.min(100, 100 * f.share)}%`,
              background: i === 0 ? "var(--heat)" : "var(--fg2)",
            }}
          />
        </div>
      </div>
      <div
        class="saves"
        title={`If the workers had used this time for the remaining work: ${workerTicks(f.lost, tps)} / ${r.workers} workers. This is the best case, for this change alone.`}
      >
        {f.gain > 0 ? (
          <>
            <b class="better">−{ticks(f.gain, tps)}</b>
            <span>→ {ticks(p.elapsed - f.gain, tps)}</span>
          </>
        ) : (
          "–"
        )}
      </div>
      <button
        type="button"
        class={`button ${i === 0 ? "solid" : ""}`}
        title={`Shows finding ${i + 1} in the timeline`}
        onClick={() => showFinding(f, i)}
      >
        Show me <span aria-hidden="true">→</span>
        <span class="unseen"> finding {i + 1}</span>
      </button>
      {i === 0 && f.source && <Snippet file={f.source.file} line={f.source.line} />}
    </div>
  );
}

/** The evidence without "41 % of the lost time.", which is shown beside it. */
export function withoutShare(evidence: FindingWords["evidence"]): FindingWords["evidence"] {
  const [share, rest, ...more] = evidence;
  const of = " of the lost time. ";
  return share?.as === "strong" && rest?.text.startsWith(of)
    ? [{ ...rest, text: rest.text.slice(of.length) }, ...more]
    : evidence;
}

/** The lines with heat around a finding's place. */
function Snippet({ file, line }: { file: string; line: number }) {
  const asked = useJson<Source>(requests.source(run.value, file));
  const s = valueOf(asked);
  if (!s || s.missing || s.lines.length === 0) return null;
  // The seven lines near the place with most heat; without samples, the lines around it.
  const near = s.lines.filter((l) => Math.abs(l.line - line) <= 20);
  const heat = (from: number) =>
    near.reduce((n, l) => n + (l.line >= from && l.line < from + 7 ? l.ticks : 0), 0);
  const hot = near.some((l) => l.ticks > 0);
  const top = Math.max(...near.map((l) => l.ticks), 0);
  const from = hot
    ? near
        .map((l) => l.line)
        .reduce((best, n) => (heat(n) > heat(best) * 1.001 ? n : best), near[0]!.line)
    : line - 2;
  const lines = s.lines.filter((l) => l.line >= from && l.line < from + 7);
  // Lines without their text are useless here.
  if (lines.every((l) => !l.text.trim())) return null;
  return (
    <div class="snippet">
      <SourceLines
        lines={lines}
        top={top}
        perSecond={runMeta()?.ticks_per_second ?? 1e9}
        at={hot ? null : line}
      />
    </div>
  );
}
