/**
 * A small report of a part of the timeline (a range, a row, or several rows): where its worker time
 * went, the mean number of running workers, code, steals, and findings in it.
 */

import type { ComponentChildren } from "preact";
import { usePlanes, valueOf } from "../answers";
import type { RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { count, plural, percent, plainNumber, ticks, rowLabel } from "../format";
import { meta } from "../store";
import { Term } from "../terms/Term";
import {
  Breakdown,
  CodeTable,
  Figures,
  FindingsList,
  StealTable,
  ColumnPlaceholder,
} from "./reportTables";
import {
  breakdownOf,
  codesOf,
  pathOf,
  stealsOf,
  tilesOf,
  type RunPart,
  type TileAnswer,
} from "./tileSums";
import "./report.css";

/** Maximum number of tiles that a part lies in (`tilesOf`). */
const MAX_TILES = 3;

type Kind = "profile" | "rows" | "strands" | "arcs" | "critical";

/** The answers of all tiles of the part; undefined until all are there. */
export function useTiles(
  run: RunMeta,
  kind: Kind,
  level: number,
  at: number[],
): TileAnswer[] | undefined {
  const url = (index: number | undefined) =>
    index === undefined
      ? null
      : kind === "critical"
        ? requests.path(run.id, "critical", level, index)
        : requests[kind](run.id, level, index);
  // A component must call the same number of hooks each time it renders.
  const asked = Array.from({ length: MAX_TILES }, (_, i) => usePlanes(url(at[i])));
  const there = at.slice(0, MAX_TILES).map((index, i) => {
    const planes = valueOf(asked[i]!);
    return planes && { index, planes };
  });
  return there.every((t) => t !== undefined) ? (there as TileAnswer[]) : undefined;
}

/** The three columns of the drawer. */
export interface ReportColumns {
  where: ComponentChildren;
  code: ComponentChildren;
  more: ComponentChildren;
}

export function useSelectionReport(part: RunPart, run: RunMeta): ReportColumns {
  const { level, at } = tilesOf(part, meta.value?.finest_level ?? 0, run.top_level);
  const bins = useTiles(run, part.rows === null ? "profile" : "rows", level, at);
  const strands = useTiles(run, "strands", level, at);
  const arcs = useTiles(run, "arcs", level, at);
  const path = useTiles(run, "critical", level, at);
  return {
    where: bins ? (
      <TimeColumn part={part} level={level} tiles={bins} run={run} />
    ) : (
      <ColumnPlaceholder />
    ),
    code: strands ? <CodeColumn part={part} tiles={strands} run={run} /> : <ColumnPlaceholder />,
    more: (
      <>
        {arcs ? (
          <StealColumn part={part} tiles={arcs} level={level} run={run} />
        ) : (
          <ColumnPlaceholder />
        )}
        <PathAndFindings part={part} run={run} path={path && pathOf(part, path)} />
      </>
    ),
  };
}

const isLost = (kind: string) => kind === "delay" || kind === "sched" || kind === "app";

function TimeColumn(p: { part: RunPart; level: number; tiles: TileAnswer[]; run: RunMeta }) {
  const { part, run: r } = p;
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const length = part.t1 - part.t0;
  const rows = part.rows?.length ?? r.workers;
  // In a part of a run, the workers' other activities are unknown.
  const parts = breakdownOf(part, p.level, p.tiles).filter((x) => !r.only || !isLost(x.kind));
  const busy = parts.find((x) => x.kind === "work")?.ticks ?? 0;
  return (
    <div class="small-report">
      <Figures
        of={[
          rows === 1 && part.rows
            ? [<b>{percent(busy / length)}</b>, "busy"]
            : [
                <>
                  <b>{plainNumber(busy / length)}</b> of {count(rows)}
                </>,
                "mean parallelism",
              ],
          [<b>{t(length)}</b>, `${t(part.t0)} to ${t(part.t1)}`],
        ]}
      />
      <Breakdown
        of={parts}
        run={r}
        sum={rows === 1 ? "sum" : `sum of ${plural(rows, part.rows ? "row" : "worker")}`}
      />
    </div>
  );
}

function CodeColumn(p: { part: RunPart; tiles: TileAnswer[]; run: RunMeta }) {
  const { exact, strands, codes } = codesOf(p.part, p.tiles);
  return (
    <CodeTable
      note={exact ? plural(strands, "strand") : `of the longest ${count(strands)} strands`}
      codes={codes}
      run={p.run}
      sum={<Term of="running">time of strands</Term>}
    />
  );
}

function StealColumn(p: { part: RunPart; tiles: TileAnswer[]; level: number; run: RunMeta }) {
  const { part, run: r } = p;
  const steals = stealsOf(part, p.tiles, p.level, r.elapsed);
  const label = (row: number) => rowLabel(r, row);
  if (!steals)
    return (
      <div class="small-report">
        <h2>Steals</h2>
        <p class="dim">There are too many steals to count them by time. Choose a shorter range.</p>
      </div>
    );
  const whom = part.rows && part.rows.length > 1 ? "them" : "it";
  const rows: [ComponentChildren, number][] = [
    [<Term of="steal">{part.rows ? `stolen by ${whom}` : "steals"}</Term>, steals.by],
  ];
  if (steals.leaps) rows.push([<Term of="leapfrog">of these, inside a join</Term>, steals.leaps]);
  if (part.rows) rows.push([`stolen from ${whom}`, steals.from]);
  if (steals.most) {
    const { thief, victim, count: n } = steals.most;
    rows.push([`most: by ${label(thief)} from ${label(victim)}`, n]);
  }
  return <StealTable note={`of ${count(r.steals)} in the run`} of={rows} />;
}

/** The critical path and the findings in the part. */
function PathAndFindings(p: { part: RunPart; run: RunMeta; path: number | undefined }) {
  const { part, run: r } = p;
  return (
    <div class="small-report">
      {p.path !== undefined && (
        <p>
          <b>{ticks(p.path, r.ticks_per_second)}</b> of the <Term of="critical path" />{" "}
          {part.rows ? `ran on ${part.rows.length > 1 ? "these rows" : "this row"}` : "lie here"}.
        </p>
      )}
      {/* A finding has a time, not a row. */}
      <FindingsList
        run={r}
        lies={(f) => !part.rows && f.show.t0 < part.t1 && f.show.t1 > part.t0}
      />
    </div>
  );
}
