/**
 * Compare without a second run: what to compare with and how to record it, and this run as the
 * comparison will show it.
 */

import type { ComponentChildren } from "preact";
import { useJson, valueOf } from "../answers";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { count, multiple, plainNumber, plural, ticks, workerTicks } from "../format";
import { meta } from "../store";
import { StackedTimelines } from "../timeline/StackedTimelines";
import { StackedBar } from "../components/StackedBar";
import { breakdown } from "../components/timeBreakdown";
import { RunBadge, Section } from "../components/widgets";
import { DagPictures } from "./DagPictures";

/** `children` are the other open runs, if there are any that can be chosen. */
export function OneRun(p: { run: RunMeta; title: string; children?: ComponentChildren }) {
  const r = p.run;
  const report = valueOf(useJson<Report>(requests.report(r.id)));
  return (
    <div class="compare scroll" role="note">
      <h1>{p.title}</h1>
      {p.children ?? (
        <p class="why">
          {meta.value?.mode === "report"
            ? "This report contains one run. To compare, open two traces."
            : "Compare shows two runs side by side: before and after a change, two runtimes, or two numbers of workers."}
        </p>
      )}
      <div class="columns">
        <div>
          <Section title="Record a run to compare with" style={{ marginTop: "14px" }}>
            <Commands run={r} />
          </Section>
          <Section
            title="Where the worker time went"
            note="the second run comes below, on the same scale"
            end={`${plural(r.workers, "worker")} × ${ticks(r.elapsed, r.ticks_per_second)}`}
          >
            <Sides run={r} report={report ?? null} />
          </Section>
          {r.elapsed > 0 && r.overview === null && (
            <>
              <Section title="Timeline">
                <StackedTimelines runs={[r]} by="time" />
              </Section>
              <Section title="DAG" note="time downwards">
                <DagPictures runs={[r]} by="time" />
              </Section>
            </>
          )}
        </div>
        <aside aria-label="Whole run">
          {report && <Quantities run={r} report={report} />}
          <Section title="What a second run adds">
            <ul class="adds">
              <li>Each change with its sign, and with several runs a side whether it is noise.</li>
              <li>Both timelines and both DAGs, on one scale.</li>
              <li>The difference of the flame graphs, frame by frame.</li>
              <li>What changed in which code, spawn site and region.</li>
              <li>Both runs in the chart of speedups.</li>
            </ul>
          </Section>
        </aside>
      </div>
    </div>
  );
}

/** Runtimes whose number of workers is an environment variable. */
const WORKERS: [runtime: RegExp, variable: string][] = [
  [/rayon/i, "RAYON_NUM_THREADS"],
  [/openmp|gomp/i, "OMP_NUM_THREADS"],
];

function Commands({ run: r }: { run: RunMeta }) {
  const program = r.command ?? "./program";
  const variable = WORKERS.find(([runtime]) => runtime.test(r.runtime ?? ""))?.[1];
  const other = Math.max(2, 2 * r.workers);
  const all: [when: string, command: string][] = [
    [
      "After a change",
      `workspan record -o after.wspan -- ${program}\nworkspan view ${r.file} after.wspan`,
    ],
  ];
  if (variable && r.workers > 1)
    all.push([
      "On one worker",
      `${variable}=1 workspan record -o one.wspan -- ${program}\nworkspan view ${r.file} one.wspan`,
    ]);
  all.push([
    `Simulated on ${count(other)} workers, without running it again`,
    `workspan simulate ${r.file} --workers ${other} -o simulated.jsonl\nworkspan view ${r.file} simulated.jsonl`,
  ]);
  return (
    <div class="commands">
      {all.map(([when, command]) => (
        <div key={when}>
          <h3>{when}</h3>
          <pre class="command">{command}</pre>
        </div>
      ))}
    </div>
  );
}

/** The bar of this run, and the place of the second one. */
function Sides({ run: r, report }: { run: RunMeta; report: Report | null }) {
  const parts = report ? breakdown(report) : [];
  const total = parts.reduce((sum, p) => sum + p.ticks, 0);
  return (
    <>
      <div class="side">
        <RunBadge id={r.id} />
        {total > 0 ? (
          <StackedBar
            parts={parts}
            total={total}
            height={24}
            title={`Run ${r.id}`}
            label={(p) => `${p.label} ${workerTicks(p.ticks, r.ticks_per_second)}`}
          />
        ) : (
          <span class="faint">{report ? "No time passed in this run." : "Loading …"}</span>
        )}
      </div>
      <div class="side">
        <RunBadge id="b" />
        <div class="absent">the second run</div>
      </div>
    </>
  );
}

function Quantities({ run: r, report }: { run: RunMeta; report: Report }) {
  const t = (key: string) => ticks(Number(report[key]), r.ticks_per_second);
  const timed = report.metric === "time";
  const rows: [string, string][] = [
    ["elapsed", t("elapsed")],
    ["work", timed ? t("work") : plainNumber(Number(report.work))],
    ["span", timed ? t("span") : plainNumber(Number(report.span))],
  ];
  if (r.elapsed > 0)
    rows.push(
      ["parallelism", plainNumber(Number(report.parallelism))],
      ["speedup at most", multiple(Number(report.largest_speedup))],
      [r.unread ? "workers in a task" : "workers busy", plainNumber(Number(report.mean_busy))],
    );
  rows.push(["tasks", count(r.tasks)], ["steals", count(r.steals)]);
  return (
    <table class="table" aria-label="Whole run">
      <thead>
        <tr>
          <th class="left">{r.unread ? "what could be read" : "whole run"}</th>
          <th>
            <RunBadge id={r.id} />
          </th>
          <th>
            <RunBadge id="b" />
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <td class="left">{name}</td>
            <td>{value}</td>
            <td class="faint">–</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
