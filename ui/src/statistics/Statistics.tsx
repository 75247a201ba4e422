/**
 * Distributions of the run: lengths of tasks and strands, waiting times and numbers of ready
 * strands, and which worker took from which by kind of edge.
 */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useJson } from "../answers";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { count, fileName, plural, percent, plainNumber, ticks } from "../format";
import { runMeta, showInTab, status } from "../store";
import { Term } from "../terms/Term";
import { Choice } from "../components/widgets";
import { csv, Table, type Column } from "../components/Table";
import { WhenAnswered, EmptyState } from "../components/placeholders";
import { noStealsSentence } from "../components/sentences";
import { Distribution } from "./Distribution";
import { MovedStrands } from "./MovedStrands";
import { StealMatrix } from "./StealMatrix";
import { Pools, Processes } from "./PoolsAndProcesses";
import {
  EDGES,
  stealMatrices,
  siteRows,
  type ReportStatistics,
  type StealPairs,
  type SiteLengths,
} from "./reportStatistics";
import "./statistics.css";

export function Statistics() {
  const r = runMeta();
  const asked = useJson<Report>(r ? requests.report(r.id) : null);
  if (!r) return null;
  return (
    <WhenAnswered answer={asked} what="the statistics" height={420}>
      {(report) => <StatisticsView report={report} run={r} />}
    </WhenAnswered>
  );
}

function StatisticsView({ report, run: r }: { report: Report; run: RunMeta }) {
  const s = report.statistics as ReportStatistics | null | undefined;
  const rows = useMemo(() => (s ? siteRows(s) : []), [s]);
  const columns = columnsOf(r);
  useEffect(() => registerExport({ tab: "statistics", csv: () => csv(columns, rows) }), [rows, r]);
  useEffect(() => {
    status.value = s
      ? `Lengths are CPU time, as far as it is known${
          s.folded_strands > 0
            ? `; ${plural(s.folded_strands, "strand")} inside folded ones ${s.folded_strands === 1 ? "is" : "are"} known by powers of two only`
            : ""
        }`
      : "";
    return () => {
      status.value = "";
    };
  }, [s]);
  const box = useRef<HTMLDivElement>(null);
  // Two columns of little content leave most of a large window empty.
  useEffect(() => {
    const e = box.current;
    if (!e) return;
    const fit = () => {
      e.classList.add("one-column");
      if (e.scrollHeight > e.clientHeight) e.classList.remove("one-column");
    };
    fit();
    const seen = new ResizeObserver(fit);
    seen.observe(e);
    return () => seen.disconnect();
  }, [s]);
  if (!s)
    return (
      <EmptyState title="No statistics">
        <code>workspan report --statistics</code> says why this run has none.
      </EmptyState>
    );
  return (
    <div class="statistics scroll" ref={box}>
      <section aria-label="Lengths by spawn site">
        <h2>
          Lengths by spawn site <span>CPU time of each task, without its children</span>
        </h2>
        <Table
          label="Lengths by spawn site"
          columns={columns}
          rows={rows}
          id={(w) => String(w.id)}
          onSelect={(w) => select(w, r)}
        />
        {s.more_sites > 0 && <p class="hint">{count(s.more_sites)} further sites are not shown.</p>}
      </section>
      <ReadyTimes of={s} run={r} />
      <Pools report={report} run={r} />
      <Processes report={report} run={r} />
      <WaitingStrands of={s} run={r} elapsed={report.elapsed as number} />
      <StealTables of={s} run={r} />
    </div>
  );
}

function select(w: SiteLengths, r: RunMeta): void {
  const site = r.sites.findIndex((x) => x.place === w.id);
  if (site >= 0) showInTab("sites", null, { kind: "site", run: r.id, site });
}

function columnsOf(r: RunMeta): Column<SiteLengths>[] {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const seconds = (n: number) => Number((n / r.ticks_per_second).toPrecision(9));
  const of = (
    id: "min" | "median" | "p90" | "p99" | "max",
    title: string,
  ): Column<SiteLengths> => ({
    id,
    title,
    unit: "s",
    csv: (w) => seconds(w.task_lengths[id]),
    cell: (w) => t(w.task_lengths[id]),
  });
  return [
    {
      id: "site",
      title: "spawn site",
      left: true,
      csv: (w) => w.site,
      cell: (w) => {
        const known = r.sites.find((x) => x.place === w.id);
        return (
          <span class="place" title={[known?.function, w.site].filter(Boolean).join(" ")}>
            {known?.function && <b class="fn">{known.function} </b>}
            <span class="mono faint">{fileName(w.site)}</span>
          </span>
        );
      },
    },
    { id: "tasks", title: "tasks", csv: (w) => w.tasks, cell: (w) => count(w.tasks) },
    of("min", "shortest"),
    of("median", "median"),
    of("p90", "90 % below"),
    of("p99", "99 % below"),
    of("max", "longest"),
    {
      id: "spread",
      title: "tasks by length",
      left: true,
      cell: (w) => <Distribution of={w.task_lengths} run={r} what="tasks" small />,
    },
    {
      id: "ready",
      title: "ready before start, median",
      unit: "s",
      csv: (w) => seconds(w.ready.times.median),
      cell: (w) => t(w.ready.times.median),
    },
    {
      id: "steals",
      title: "stolen",
      csv: (w) => w.ready.steals,
      cell: (w) =>
        w.ready.starts > 0 ? `${count(w.ready.steals)} of ${count(w.ready.starts)}` : null,
    },
  ];
}

function ReadyTimes({ of: s, run: r }: { of: ReportStatistics; run: RunMeta }) {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  if (s.ready_by_edge.length === 0) return null;
  return (
    <section aria-label="Ready times">
      <h2>
        Ready times{" "}
        <span>from the moment a strand could start to its start, by what made it ready</span>
      </h2>
      <table class="table" aria-label="Ready times by edge">
        <thead>
          <tr>
            <th class="left" scope="col">
              edge
            </th>
            <th scope="col">starts</th>
            <th scope="col">stolen</th>
            <th scope="col">sum</th>
            <th scope="col">median</th>
            <th scope="col">90 % below</th>
            <th scope="col">longest</th>
            <th class="left" scope="col">
              starts by time
            </th>
          </tr>
        </thead>
        <tbody>
          {s.ready_by_edge.map((e) => (
            <tr key={e.edge} data-row={e.edge}>
              <td class="left">{EDGES[e.edge] ?? e.edge}</td>
              <td>{count(e.starts)}</td>
              <td>
                {count(e.steals)}{" "}
                <span class="faint">{percent(e.steals / Math.max(1, e.starts))}</span>
              </td>
              <td>{t(e.times.sum)}</td>
              <td>{t(e.times.median)}</td>
              <td>{t(e.times.p90)}</td>
              <td>{t(e.times.max)}</td>
              <td class="left">
                <Distribution of={e.times} run={r} what="starts" small />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Number of ready strands over the run. */
function WaitingStrands(p: { of: ReportStatistics; run: RunMeta; elapsed: number }) {
  const { of: s, run: r, elapsed } = p;
  const { bin_mean: means, max, mean } = s.ready;
  const top = Math.max(1, ...means);
  return (
    <section aria-label="Strands that waited">
      <h2>
        Ready strands that had not started{" "}
        <span>
          {plainNumber(mean)} on average, {count(max)} at most
        </span>
      </h2>
      {max === 0 ? (
        <p class="hint">Every strand started as soon as it was ready.</p>
      ) : (
        <>
          <svg
            class="queue"
            viewBox={`0 0 ${means.length} 60`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`Ready strands over ${ticks(elapsed, r.ticks_per_second)}, from 0 to ${plainNumber(top)}`}
          >
            {means.map((n, i) => (
              <rect
                key={i}
                x={i}
                width="1.02"
                y={60 - (58 * n) / top}
                height={(58 * n) / top}
                fill="var(--delay)"
              />
            ))}
          </svg>
          <div class="queue-axis">
            <span>0</span>
            <span>{ticks(elapsed, r.ticks_per_second)}</span>
          </div>
        </>
      )}
    </section>
  );
}

/** A value that the runtime does not report is not 0. */
const UNKNOWN = <span title="The runtime does not report this">–</span>;

const hasMovedStrands = (m: StealPairs): boolean =>
  m.thieves.some((row, thief) => row.some((n, victim) => n > 0 && thief !== victim));

function StealTables({ of: s, run: r }: { of: ReportStatistics; run: RunMeta }) {
  const none = s.steals.count === 0 && s.steals.failed === 0;
  // Even without steals, strands may have moved between workers.
  const matrices = useMemo(() => stealMatrices(s).filter((m) => !none || hasMovedStrands(m)), [s]);
  const edge = useSignal(matrices[0]?.edge ?? "all");
  const m = matrices.find((x) => x.edge === edge.value) ?? matrices[0];
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const choice = m && matrices.length > 1 && (
    <div class="toolbar plain">
      <Choice
        label="Edge"
        value={m.edge}
        of={matrices.map((x) => ({ value: x.edge, label: EDGES[x.edge] ?? x.edge }))}
        onChange={(v) => (edge.value = v)}
      />
    </div>
  );
  if (none)
    return (
      <section aria-label="Steals">
        <h2>
          Who took from whom{" "}
          {m && <span>strands by who made them ready: {EDGES[m.edge] ?? m.edge}</span>}
        </h2>
        <p class="hint">
          {s.steals.workers.length > 1
            ? noStealsSentence(r)
            : "There is only one worker, so there is no other to steal from."}
        </p>
        {choice}
        {m && (
          <div class="steals">
            <StealMatrix of={m} run={r} />
            <MovedStrands of={m} run={r} />
          </div>
        )}
      </section>
    );
  if (!m) return null;
  return (
    <section aria-label="Steals">
      <h2>
        Who took from whom{" "}
        <span>
          {count(s.steals.count)}{" "}
          <Term of="steal">{s.steals.count === 1 ? "steal" : "steals"}</Term>,{" "}
          {plainNumber(s.steals.per_second)} per second, {count(s.steals.leapfrogs)} while waiting
          in a join
          {r.has.attempts && `, ${plural(s.steals.failed, "failed attempt")}`}
        </span>
      </h2>
      {choice}
      <div class="steals">
        <StealMatrix of={m} run={r} />
        <table class="table" aria-label="Steals by worker">
          <thead>
            <tr>
              <th class="left" scope="col">
                worker
              </th>
              <th scope="col">steals</th>
              <th scope="col">in joins</th>
              <th scope="col">stolen from</th>
              <th scope="col">first steal</th>
              <th scope="col">failed attempts</th>
              <th scope="col">asleep</th>
            </tr>
          </thead>
          <tbody>
            {s.steals.workers.map((w) => (
              <tr key={w.worker} data-row={w.worker}>
                <td class="left">
                  {r.threads.find((x) => x.thread === w.worker)?.label ?? `W${w.worker}`}
                </td>
                <td class="c-steals">{count(w.steals)}</td>
                <td class="c-leapfrogs">{count(w.leapfrogs)}</td>
                <td class="c-stolen">{count(w.stolen)}</td>
                <td class="c-first_steal">{w.first_steal === null ? "never" : t(w.first_steal)}</td>
                <td class="c-failed">{r.has.attempts ? count(w.failed) : UNKNOWN}</td>
                <td class="c-asleep">{r.has.sleeps ? t(w.asleep) : UNKNOWN}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
