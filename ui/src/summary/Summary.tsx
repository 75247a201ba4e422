/** The first tab: the verdict, where the worker time went, what to change, and the numbers. */

import { useEffect } from "preact/hooks";
import { useJson, valueOf, type AnswerState } from "../answers";
import type {
  Estimated,
  Report,
  RunMeta,
  Scalability as Bounds,
  Summary as Words,
} from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import {
  workerTicks,
  count,
  fileName,
  NB,
  percent,
  plainNumber,
  shortCount,
  ticks,
  time,
  pageUnits,
} from "../format";
import { run, runMeta, tab } from "../store";
import { codeColour } from "../codeColours";
import { tokens } from "../colors";
import { Term } from "../terms/Term";
import { colours, dark } from "../theme/theme";
import { axisEnd, BoundsChart } from "../components/BoundsChart";
import { breakdown, type Part } from "../components/timeBreakdown";
import { errorMargin, isCounted, spanInterval } from "../components/estimates";
import { Place, Section, Swatch } from "../components/widgets";
import { useWidth } from "../components/textWidth";
import { StackedBar } from "../components/StackedBar";
import { WhenAnswered, codeInBackticks, EmptyState } from "../components/placeholders";
import { Stages } from "../frame/Loading";
import { numbersCsv } from "./summaryCsv";
import { Findings } from "./Findings";
import { Headline } from "./Headline";
import { PartHeadline } from "./PartHeadline";
import { hasNoLength, NoLength } from "./NoLength";
import { RunningWorkers } from "./RunningWorkers";
import { divide, NOTHING_SPARE, useSpareHeight } from "./spareHeight";
import { Trust } from "./Trust";
import { WorkerRows } from "./WorkerRows";
import "./summary.css";

export function Summary() {
  const meta = runMeta();
  if (!meta) return null;
  return meta.overview === null ? <FullSummary meta={meta} /> : <PreviewSummary meta={meta} />;
}

/** The summary of a run that is still being read. */
function PreviewSummary({ meta }: { meta: RunMeta }) {
  return (
    <div class="summary">
      <div class="story scroll">
        <h1 class="verdict">
          {meta.name}: {count(meta.tasks)} tasks in {ticks(meta.elapsed, meta.ticks_per_second)}
        </h1>
        <p class="why">The run is still being read. What limits it, and where, follows.</p>
        <div class="stages" role="status">
          <Stages />
        </div>
        <RunningWorkers run={meta} findings={[]} />
      </div>
    </div>
  );
}

/** Width from which findings are beside the profile, and not below it. */
const WIDE_PX = 1900;
/** Height from which a wide window also has room for the workers' rows. */
const TALL_PX = 1260;

function FullSummary({ meta }: { meta: RunMeta }) {
  const id = run.value;
  const summary = useJson<Words>(requests.summary(id));
  const report = useJson<Report>(requests.report(id));
  const bounds = useJson<Bounds>(requests.scalability(id));
  const r = valueOf(report);
  useEffect(
    () => (r ? registerExport({ tab: "summary", csv: () => numbersCsv(r) }) : undefined),
    [r],
  );
  const [ref, width] = useWidth<HTMLDivElement>();
  const noLength = hasNoLength(meta) && !meta.only;
  const isWide = width >= WIDE_PX && !noLength;
  const findings = valueOf(summary)?.findings ?? [];
  const codes = isWide ? codeByTime(meta) : [];
  const head = meta.only ? (
    <WhenAnswered answer={report} what="the numbers" height={80}>
      {(rep) => <PartHeadline report={rep} run={meta} />}
    </WhenAnswered>
  ) : (
    <>
      <WhenAnswered answer={summary} what="the verdict" height={80}>
        {(s) => <Headline of={s} report={r} run={meta} />}
      </WhenAnswered>
      {r && <Trust report={r} run={meta} />}
    </>
  );
  const bar = (
    <WhenAnswered answer={report} what="where the time went" height={64}>
      {(rep) => <WhereTimeWent report={rep} run={meta} />}
    </WhenAnswered>
  );
  const strip = (
    <RunningWorkers
      run={meta}
      findings={findings}
      report={meta.only ? undefined : r}
      fills={isWide}
    />
  );
  const changes = (
    <WhenAnswered answer={summary} what="the findings">
      {(s) => <Findings of={s} report={r} run={meta} />}
    </WhenAnswered>
  );
  const numbers = (
    <WhenAnswered answer={report} what="the numbers">
      {(rep) => <Numbers report={rep} run={meta} />}
    </WhenAnswered>
  );
  const checked = summary.state === "there" &&
    summary.value.checked.length > 0 &&
    meta.elapsed > 0 && <CheckedCauses of={summary.value} />;
  // A part has a clock of its own, and the rows have the run's.
  const isTall = innerHeight >= TALL_PX && !meta.only;
  const [what, spare] = useSpareHeight<HTMLDivElement>((px) =>
    isWide && r
      ? divide(px, Math.max(0, criticalSites(r).length - SITES.wide), codes.length, isTall)
      : NOTHING_SPARE,
  );
  const sites = r && (
    <CriticalSites report={r} most={isWide ? SITES.wide + spare.sites : SITES.narrow} />
  );
  const notes = r && <Notes report={r} run={meta} />;
  if (isWide) {
    const pair = (
      <div class="bounds-and-checks">
        <SmallBounds bounds={bounds} run={meta} more={isTall ? spare.chart : 0} />
        {checked}
      </div>
    );
    return (
      <div class="summary wide scroll" ref={ref}>
        <div class="story">{head}</div>
        <aside aria-label="Numbers">{numbers}</aside>
        <div class="bar">{bar}</div>
        <div class="when">
          {strip}
          {isTall ? <WorkerRows run={meta} /> : pair}
        </div>
        <div class="what" ref={what}>
          {changes}
          {isTall && pair}
          {sites}
          {spare.codes > 0 && <CodeByTime run={meta} codes={codes} most={spare.codes} />}
          {notes}
        </div>
      </div>
    );
  }
  return (
    <div class="summary" ref={ref}>
      <div class="story scroll">
        {head}
        {noLength ? (
          <NoLength run={meta} />
        ) : (
          <>
            {bar}
            {strip}
            {changes}
          </>
        )}
      </div>
      <aside class="scroll" aria-label="Numbers">
        {numbers}
        <SmallBounds bounds={bounds} run={meta} />
        {checked}
        {sites}
        {notes}
      </aside>
    </div>
  );
}

/** Height below which leader lines would push the findings out of the window. */
const LOW_PX = 860;

function WhereTimeWent({ report, run: r }: { report: Report; run: RunMeta }) {
  const parts = breakdown(report),
    tps = r.ticks_per_second;
  const total = report.workers * report.elapsed;
  const unread = Number(report.breakdown?.unread ?? 0);
  const lost = total - unread - (report.breakdown?.work ?? 0);
  const label = (p: Part) => `${p.label} ${ticks(p.ticks, tps)} · ${percent(p.ticks / total)}`;
  if (!(total > 0))
    return (
      <EmptyState small title="No strand has a length">
        There is no worker time to divide.
      </EmptyState>
    );
  const over = Number(report.breakdown?.oversubscribed ?? 0);
  return (
    <Section
      title={`Where ${count(report.workers)} × ${ticks(report.elapsed, tps)} = ${workerTicks(total, tps)} went`}
      note={report.unread ? unreadWords(report) : undefined}
      end={
        <>
          {lost > 0 ? `${workerTicks(lost, tps)} lost` : unread > 0 ? "" : "all of it was work"}
          {over > total * 0.001 && (
            <span title="More strands ran than there are workers">
              oversubscribed {workerTicks(over, tps)}
            </span>
          )}
        </>
      }
    >
      <StackedBar
        parts={parts}
        total={total}
        label={label}
        title="Where the worker time went"
        leaders={innerHeight >= LOW_PX || "words"}
      />
    </Section>
  );
}

/** What the bar's parts omit of a damaged or truncated trace. */
function unreadWords(report: Report): string {
  return report.unread.off_cpu
    ? "of the part that was read; work may include time off the CPU"
    : "of the part that was read";
}

function Numbers({ report: rep, run: r }: { report: Report; run: RunMeta }) {
  const tps = r.ticks_per_second;
  const t = (n: number) => {
    const [value, unit] = ticks(n, tps).split("\u00a0");
    return (
      <b>
        {value}
        <small>{unit}</small>
      </b>
    );
  };
  const burden = Number(rep.burden ?? 0);
  const time_ = rep.metric === "time";
  const measure = (n: number) => (time_ ? t(n) : <b>{count(n)}</b>);
  const of = rep.estimated as Estimated | null | undefined;
  const between = of ? spanInterval(of, rep, tps) : null;
  return (
    <div class="numbers">
      <div>
        {measure(rep.work)}
        <Term of="work" />
        {!time_ && <span>{rep.metric}</span>}
      </div>
      <div>
        {measure(rep.span)}
        <Term of="span" />
        {between && <span>{between.span}</span>}
      </div>
      <div>
        <b>{rep.work > 0 ? plainNumber(rep.parallelism) : "–"}</b>
        <Term of="parallelism" />
        {between && <span>{between.parallelism}</span>}
      </div>
      <div>
        <b>
          {r.only
            ? count(r.only.tasks)
            : of && !isCounted(of)
              ? `≈${NB}${shortCount(rep.tasks)}`
              : count(rep.tasks)}
        </b>
        <Term of="task">{rep.tasks === 1 ? "task" : "tasks"}</Term>
        {of && <span>{errorMargin(rep.tasks, of.tasks_low, of.tasks_high)}</span>}
      </div>
      <div>
        <b>{count(rep.steals)}</b>
        <Term of="steal">{rep.steals === 1 ? "steal" : "steals"}</Term>
        {r.workers > 1 && rep.steals === 0 && (
          <span>{rep.unread ? "in the part that was read" : "nothing was stolen"}</span>
        )}
        {r.workers === 1 && <span>one worker</span>}
      </div>
      <div title={burden === 0 ? "The cost of a steal was not measured for this run" : undefined}>
        <b>{burden > 0 ? plainNumber(rep.burdened_parallelism) : "–"}</b>
        <Term of="burdened" />
        <span>
          {burden > 0
            ? `${time_ ? time(burden / tps) : count(burden)} per steal`
            : "cost of steals not measured"}
        </span>
      </div>
    </div>
  );
}

const BOUNDS_PX = 214;

/** `more`: additional height. */
function SmallBounds(p: { bounds: AnswerState<Bounds>; run: RunMeta; more?: number }) {
  const { bounds, run: r } = p;
  const height = BOUNDS_PX + (p.more ?? 0);
  const [ref, width] = useWidth<HTMLDivElement>(312);
  const t = tokens(dark.value);
  return (
    <Section
      title="Speedup bounds"
      end={
        <button type="button" class="link" onClick={() => (tab.value = "scalability")}>
          more →
        </button>
      }
    >
      <div ref={ref}>
        <WhenAnswered answer={bounds} what="the bounds" height={height} small>
          {(b) => {
            const own = b.runs.find((x) => x.run === r.id);
            if (!own || !own.points.length || !(own.work > 0))
              return (
                <EmptyState small title="No bounds">
                  {own && own.work > 0 && own.note ? own.note : "The run has no work."}
                </EmptyState>
              );
            const measured = b.measured.filter((m) => m.run === r.id || sameProgram(m.run, r));
            return (
              <BoundsChart
                compact
                width={width}
                height={height}
                most={axisEnd(measured)}
                runs={[
                  {
                    id: r.id,
                    points: own.points,
                    limit: own.limit,
                    knownTo: own.known_to,
                    burdened: own.burdened_span > own.span ? own.work / own.burdened_span : null,
                    colour: t.work,
                    label: r.name,
                  },
                ]}
                measured={measured.map((m) => ({
                  ...m,
                  colour: colours.value.fg,
                  strong: m.run === r.id,
                }))}
              />
            );
          }}
        </WhenAnswered>
      </div>
    </Section>
  );
}

/** True for other runs of the same program: they are points of the same curve. */
function sameProgram(id: string, r: RunMeta): boolean {
  const x = runMeta(id);
  return !!x && x.name === r.name && x.workers !== r.workers;
}

/** Glossary terms of the checks. */
const TERMS: Record<string, string> = {
  "Scheduler delay": "delay",
  "Task size": "average maximal strand",
  "Buried waits": "buried",
  "Waiting for a CPU": "descheduled",
  "Blocked (I/O, locks)": "blocked",
  "Recording itself": "recording",
  "More strands than workers": "oversubscribed",
  "Samples of the code": "sample",
};

function CheckedCauses({ of }: { of: Words }) {
  const mark = {
    good: ["✓", "better", "fine"],
    bad: ["!", "worse", "needs attention"],
    absent: ["–", "faint", "not available"],
  } as const;
  return (
    <Section title="Also checked">
      {of.checked.map((c) => {
        const [sign, cls, words] = mark[c.state];
        return (
          <div key={c.what} class="checked">
            <span class={cls} title={words} aria-label={words}>
              {sign}
            </span>
            <span class="dim">
              {TERMS[c.what] ? <Term of={TERMS[c.what]!}>{c.what}</Term> : c.what}
            </span>
            <span class="value">{pageUnits(c.value)}</span>
          </div>
        );
      })}
    </Section>
  );
}

/** Number of spawn sites that are listed in any window. */
const SITES = { narrow: 5, wide: 4 };
/** Smallest share of the critical path for which a window's spare height is used. */
const MIN_SITE_PERCENT = 0.05;

const criticalSites = (rep: Report): any[] =>
  (rep.sites as any[]).filter((s, i) => i < SITES.wide || s.critical_percent >= MIN_SITE_PERCENT);

function CriticalSites({ report: rep, most }: { report: Report; most: number }) {
  const rows = (rep.sites as any[]).slice(0, most);
  if (rows.length === 0 || !(rep.span > 0)) return null;
  return (
    <Section
      title="Spawn sites on the critical path"
      end={
        <button type="button" class="link" onClick={() => (tab.value = "sites")}>
          all sites →
        </button>
      }
    >
      {rows.map((s, i) => (
        <div key={i} class="onpath">
          <span class="name">
            <span class="fn">{s.function ?? (s.site === "root" ? "root" : "")}</span>{" "}
            {s.site !== "root" && s.site !== s.function && (
              <Place label={fileName(s.site)} file={s.file} line={s.line} />
            )}
          </span>
          <span class="meter">
            <i style={{ width: `${Math.min(100, s.critical_percent)}%` }} />
          </span>
          <span class="value">{percent(s.critical_percent / 100, 1)}</span>
        </div>
      ))}
    </Section>
  );
}

/** The run's code, most time first, as far as it is worth a row. */
function codeByTime(meta: RunMeta): { index: number; ticks: number }[] {
  const all = meta.codes.map((c, index) => ({ index, ticks: c.ticks }));
  const total = all.reduce((sum, c) => sum + c.ticks, 0);
  return all.filter((c) => c.ticks >= total * 1e-3).sort((x, y) => y.ticks - x.ticks);
}

/** Code blocks by the time of their strands. */
function CodeByTime(p: { run: RunMeta; codes: ReturnType<typeof codeByTime>; most: number }) {
  const total = p.run.codes.reduce((sum, c) => sum + c.ticks, 0);
  return (
    <Section
      title="Code by time"
      note="of its strands, on all workers"
      end={
        <button type="button" class="link" onClick={() => (tab.value = "flame")}>
          flame graph →
        </button>
      }
    >
      {p.codes.slice(0, p.most).map(({ index, ticks: n }) => {
        const code = p.run.codes[index]!;
        return (
          <div key={index} class="onpath timed">
            <span class="name">
              <Swatch of={codeColour(p.run.codes, index, dark.value)} />{" "}
              <span class="fn">{code.label}</span>
            </span>
            <span class="meter">
              <i style={{ width: `${(100 * n) / total}%` }} />
            </span>
            <span class="value">{ticks(n, p.run.ticks_per_second)}</span>
            <span class="value">{percent(n / total, 1)}</span>
          </div>
        );
      })}
    </Section>
  );
}

/** The report's further sentences, except those above every view. */
function Notes({ report: rep, run: r }: { report: Report; run: RunMeta }) {
  const all = (rep.warnings as string[] | undefined) ?? [];
  const notes = all.filter(
    (w) => !r.warnings.includes(w) && !(rep.estimated && w.includes("unrecorded")),
  );
  if (notes.length === 0) return null;
  return (
    <Section title="Notes">
      {notes.map((w) => (
        <p key={w} class="dim">
          {codeInBackticks(pageUnits(w))}
        </p>
      ))}
    </Section>
  );
}
