/**
 * A small report of tasks: those of a site, or a task with all of its descendants. It shows their
 * work beside everything else between their first start and last end, their code, steals, and
 * findings about them.
 */

import type { ComponentChildren } from "preact";
import { useJson, valueOf } from "../answers";
import type { RunMeta, TasksReport } from "../data/contract";
import { requests } from "../data/requests";
import { count, plural, percent, plainNumber, ticks, rowLabel } from "../format";
import { meta } from "../store";
import { Term } from "../terms/Term";
import { WhenAnswered } from "../components/placeholders";
import {
  Breakdown,
  CodeTable,
  Figures,
  FindingsList,
  StealTable,
  ColumnPlaceholder,
} from "./reportTables";
import { useTiles, type ReportColumns } from "./SelectionReport";
import { breakdownOf, tilesOf, type RunPart } from "./tileSums";
import { splitWork } from "./workSplit";
import "./report.css";

/** The three columns of the drawer; `actions` are below the last one. */
export function useTasksReport(
  of: { site: number } | { task: number } | null,
  run: RunMeta,
): ReportColumns {
  const asked = useJson<TasksReport>(of && requests.tasks(run.id, of));
  const tasks = valueOf(asked);
  const part: RunPart = tasks
    ? { t0: tasks.sums.start, t1: Math.max(tasks.sums.end, tasks.sums.start + 1), rows: null }
    : { t0: 0, t1: 1, rows: null };
  const { level, at } = tilesOf(part, meta.value?.finest_level ?? 0, run.top_level);
  const bins = useTiles(run, "profile", level, tasks ? at : []);
  const parts = tasks && bins ? breakdownOf(part, level, bins) : null;
  return {
    where: (
      <WhenAnswered answer={asked} what="the sums of these tasks" height={150} small>
        {(x) => (
          <div class="small-report">
            <TaskNumbers of={x} run={run} />
            {parts ? (
              <Breakdown
                of={splitWork(parts, x.sums.work)}
                run={run}
                sum={`sum of ${plural(run.workers, "worker")}`}
              />
            ) : (
              <ColumnPlaceholder />
            )}
          </div>
        )}
      </WhenAnswered>
    ),
    code: tasks && (
      <CodeTable
        note={plural(tasks.sums.strands, "strand")}
        codes={tasks.codes.map((c) => ({ code: c.code, ticks: c.work }))}
        run={run}
        sum={<Term of="work">work</Term>}
      />
    ),
    more: tasks && (
      <>
        <TaskSteals of={tasks} run={run} />
        <PathAndFindings of={tasks} run={run} />
      </>
    ),
  };
}

function TaskNumbers({ of: x, run: r }: { of: TasksReport; run: RunMeta }) {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const own = x.sums.work + x.sums.recording;
  return (
    <Figures
      of={[
        [<b>{x.active > 0 ? plainNumber(own / x.active) : "–"}</b>, "mean parallelism"],
        [<b>{t(x.sums.work)}</b>, <Term of="work">work</Term>],
        [<b>{t(x.active)}</b>, `${t(x.sums.start)} to ${t(x.sums.end)}`],
        [<b>{count(x.tasks)}</b>, x.tasks === 1 ? "task" : "tasks"],
      ]}
    />
  );
}

function TaskSteals({ of: x, run: r }: { of: TasksReport; run: RunMeta }) {
  const { stolen, leaps, robbed, most } = x.steals;
  const label = (row: number) => rowLabel(r, row);
  const rows: [ComponentChildren, number][] = [
    [<Term of="steal">stolen strands of these tasks</Term>, stolen],
  ];
  if (leaps > 0) rows.push([<Term of="leapfrog">while the thief waited in a join</Term>, leaps]);
  rows.push(["stolen strands that these tasks made ready", robbed]);
  if (most) rows.push([`most: by ${label(most.thief)} from ${label(most.victim)}`, most.count]);
  return <StealTable note={`of ${count(r.steals)} in the run`} of={rows} />;
}

function PathAndFindings({ of: x, run: r }: { of: TasksReport; run: RunMeta }) {
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const { critical, work, ready } = x.sums;
  const inside = new Set(x.findings);
  return (
    <div class="small-report">
      <p>
        <b>{t(critical)}</b> of the <Term of="critical path" /> lie in these tasks
        {work > 0 && `, ${percent(critical / work, 1)} of their work`}.
      </p>
      {ready > 0 && (
        <p>
          Their strands were <Term of="ready">ready</Term> for <b>{t(ready)}</b> in total before
          they started.
        </p>
      )}
      <FindingsList run={r} lies={(_, i) => inside.has(i)} />
    </div>
  );
}
