/**
 * Scalability of the program: bounds of the speedup over the number of workers, including the cost
 * of steals, and measured speedups.
 */

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { useJson } from "../answers";
import { runColour } from "../colors";
import { register } from "../commands";
import type { Scalability as Bounds } from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { count, plural, percent, plainNumber, ticks, multiple } from "../format";
import { meta, run, runMeta, status } from "../store";
import { colours, dark } from "../theme/theme";
import {
  axisEnd,
  knownAxisEnd,
  BoundsChart,
  pointPath,
  type BoundsRun,
  type Measured,
} from "../components/BoundsChart";
import { spanInterval, useEstimated } from "../components/estimates";
import { Choice, RunBadge, Toggle } from "../components/widgets";
import { useWidth } from "../components/textWidth";
import { WhenAnswered, EmptyState } from "../components/placeholders";
import "./scalability.css";

export function Scalability() {
  const asked = useJson<Bounds>(requests.scalability(run.value));
  return (
    <WhenAnswered answer={asked} what="the bounds" height={420}>
      {(b) => <BoundsView bounds={b} />}
    </WhenAnswered>
  );
}

const CHART_PX = { least: 240, most: 1400, below: 18 };

/** The height that the rest of the view leaves for its chart, so that notes stay in sight. */
function useRoomForChart(chart: RefObject<HTMLDivElement | null>): number {
  const [height, setHeight] = useState(Math.max(320, innerHeight - 270));
  const measure = () => {
    const view = chart.current?.parentElement;
    const last = view?.lastElementChild;
    if (!chart.current || !view || !last) return;
    const content = last.getBoundingClientRect().bottom - view.getBoundingClientRect().top;
    const others = content + view.scrollTop - chart.current.offsetHeight;
    const room = Math.floor(view.clientHeight - others - CHART_PX.below);
    const fits = Math.max(CHART_PX.least, Math.min(CHART_PX.most, room));
    setHeight((before) => (Math.abs(before - fits) < 2 ? before : fits));
  };
  useLayoutEffect(measure);
  useLayoutEffect(() => {
    const view = chart.current?.parentElement;
    if (!view) return;
    const watch = new ResizeObserver(measure);
    watch.observe(view);
    return () => watch.disconnect();
  }, []);
  return height;
}

/** Bounds and points of the runs of one program. */
export function ofProgram(b: Bounds, name: string, nameOf: (id: string) => string): Bounds {
  const same = (x: { run: string }) => nameOf(x.run) === name;
  return { runs: b.runs.filter(same), measured: b.measured.filter(same) };
}

function BoundsView({ bounds: all }: { bounds: Bounds }) {
  const log = useSignal(true),
    table = useSignal(false),
    chosen = useSignal<"64" | "128" | "256" | null>(null);
  const everything = useSignal(false);
  const estimate = useEstimated();
  const [ref, width] = useWidth<HTMLDivElement>(900);
  const height = useRoomForChart(ref);
  // Runs of other programs say nothing about this one.
  const sameProgram = ofProgram(all, runMeta()?.name ?? "", (id) => runMeta(id)?.name ?? "");
  const others = all.runs.length - sameProgram.runs.length;
  const b = everything.value ? all : sameProgram;
  const warnings = [...new Set(b.measured.flatMap((m) => m.warning ?? []))];
  const order = [...b.runs].sort(
    (x, y) => Number(y.run === run.value) - Number(x.run === run.value),
  );
  const lines: BoundsRun[] = b.runs
    .filter((r) => r.points.length > 0)
    .map((r) => {
      const m = runMeta(r.run);
      return {
        id: r.run,
        points: r.points,
        limit: r.limit,
        knownTo: r.known_to,
        burdened: r.burdened_span > r.span ? r.work / r.burdened_span : null,
        colour: b.runs.length > 1 ? runColour(r.run, dark.value) : colours.value.work,
        label:
          b.runs.length > 1
            ? `${r.run.toUpperCase()} ${m?.name ?? ""}`.trim().slice(0, 18)
            : "program",
        filled: b.runs.length < 3 || r.run === run.value,
      };
    });
  const measured: Measured[] = b.measured.map((m) => ({
    ...m,
    colour: lines.find((l) => l.id === m.run)?.colour ?? colours.value.fg,
    strong: m.run === run.value,
  }));
  const most = chosen.value ?? (`${axisEnd(b.measured)}` as const);
  useEffect(() => registerExport({ tab: "scalability", csv: () => toCsv(b) }), [b]);
  useEffect(
    () =>
      register(
        {
          id: "scalability.table",
          title: "View as table",
          keys: ["t"],
          tabs: ["scalability"],
          group: "Scalability",
          run: () => {
            table.value = !table.value;
          },
        },
        {
          id: "scalability.log",
          title: "Logarithmic speedup",
          keys: ["l"],
          tabs: ["scalability"],
          group: "Scalability",
          run: () => {
            log.value = !log.value;
          },
        },
      ),
    [],
  );
  useEffect(() => {
    status.value =
      "At most: min(P, work / span). At least: Cilkview's lower bound, from the burdened span";
    return () => {
      status.value = "";
    };
  }, []);
  if (lines.length === 0)
    return (
      <EmptyState title="No bounds">
        {b.runs[0]?.note ?? "The run has no work, so it has no bounds."}
      </EmptyState>
    );
  const own = b.runs.find((r) => r.run === run.value) ?? b.runs[0]!;
  return (
    <div class="scalability">
      <div class="scroll main">
        <h1>{headline(...headlineRun(b, own))}</h1>
        {own.note && <p class="note">{own.note}</p>}
        {warnings.map((w) => (
          <p class="note worse" key={w}>
            {w}
          </p>
        ))}
        <div class="toolbar plain">
          <Choice
            label="Scale"
            value={log.value ? "log" : "linear"}
            of={[
              { value: "log", label: "logarithmic" },
              { value: "linear", label: "linear" },
            ]}
            onChange={(v) => (log.value = v === "log")}
          />
          {knownAxisEnd(lines, measured) === null && (
            <>
              <span class="rule" />
              <Choice
                label="Workers"
                value={most}
                of={[
                  { value: "64", label: "to 64" },
                  { value: "128", label: "to 128" },
                  { value: "256", label: "to 256" },
                ]}
                onChange={(v) => (chosen.value = v)}
              />
            </>
          )}
          <span class="rule" />
          <Toggle
            on={table.value}
            onChange={(v) => (table.value = v)}
            label="View as table"
            shortcut="t"
          />
          {others > 0 && (
            <Toggle
              on={everything.value}
              onChange={(v) => (everything.value = v)}
              label={`${plural(others, "run")} of other programs`}
            />
          )}
          <span class="legend apart">
            <span>
              <Dash kind="solid" />
              at most
            </span>
            {lines.some((l) => l.burdened !== null) && (
              <span>
                <Dash kind="dots" />
                at most, with steals
              </span>
            )}
            <span>
              <Dash kind="dash" />
              at least
            </span>
            <span>
              <Dash kind="linear" />
              linear speedup
            </span>
            {measured.some((m) => !m.simulated) && <PointKey simulated={false} />}
            {measured.some((m) => m.simulated) && <PointKey simulated />}
          </span>
        </div>
        <div ref={ref}>
          {table.value ? (
            <BoundsTable bounds={b} />
          ) : (
            <BoundsChart
              runs={lines}
              measured={measured}
              width={width}
              height={height}
              log={log.value}
              most={Number(most)}
            />
          )}
        </div>
        {meta.value && meta.value.runs.length === 1 && measured.length > 0 && (
          <p class="note">
            This run is one {measured[0]!.simulated ? "simulated" : "measured"} point. To add
            points, open runs with other numbers of workers:{" "}
            <code>workspan view one.wspan two.wspan four.wspan</code>
          </p>
        )}
      </div>
      <aside class="scroll" aria-label="Numbers">
        {order.map((r) => {
          const m = runMeta(r.run);
          if (!m) return null;
          const parallelism = r.span > 0 ? r.work / r.span : 1;
          const enough = Math.max(1, Math.ceil(r.limit - 1e-6));
          return (
            <section key={r.run}>
              <h2>
                {b.runs.length > 1 && <RunBadge id={r.run} />} {m.name}
              </h2>
              <dl class="facts">
                <dt>work</dt>
                <dd>{ticks(r.work, m.ticks_per_second)}</dd>
                <dt>span</dt>
                <dd>{ticks(r.span, m.ticks_per_second)}</dd>
                <dt>parallelism</dt>
                <dd>
                  <b>{plainNumber(parallelism)}</b>
                  {estimate && r.run === run.value && (
                    <span class="faint">
                      {" "}
                      estimated,{" "}
                      {
                        spanInterval(estimate.estimated, estimate.report, m.ticks_per_second)
                          .parallelism
                      }
                    </span>
                  )}
                </dd>
                <dt>burdened</dt>
                <dd>
                  {r.burdened_span > r.span ? (
                    <>
                      {plainNumber(r.work / r.burdened_span)}{" "}
                      <span class="faint">span {ticks(r.burdened_span, m.ticks_per_second)}</span>
                    </>
                  ) : (
                    <span class="faint">the cost of a steal was not measured</span>
                  )}
                </dd>
                <dt>enough workers</dt>
                <dd>
                  {r.known_to === null ? (
                    <>
                      {count(enough)} <span class="faint">more can't help</span>
                    </>
                  ) : (
                    <span class="faint">
                      unknown: its threads divide the work, so more have smaller shares
                    </span>
                  )}
                </dd>
                {b.measured
                  .filter((x) => x.run === r.run)
                  .map((x, i) => [
                    <dt key={`${i}t`}>{x.simulated ? "simulated" : "measured"}</dt>,
                    <dd key={`${i}d`}>
                      {multiple(x.speedup)} on {plural(x.workers, "worker")}{" "}
                      <span class="faint">
                        {x.how}
                        {x.workers > 1 &&
                          `, ${percent(x.speedup / Math.min(x.workers, r.limit))} of the bound`}
                      </span>
                    </dd>,
                  ])}
              </dl>
            </section>
          );
        })}
        <section>
          <h2>How to read it</h2>
          <p class="dim">
            No schedule is faster than the upper line: on the left it is the number of workers, on
            the right the parallelism, or what it is without the order in which locks were taken. A
            work-stealing scheduler that has the machine to itself stays above the lower line, which
            includes the measured cost of steals. A point far below its upper line lost time to the
            scheduler or to memory. A point on the line can only be improved by a shorter span.
          </p>
        </section>
      </aside>
    </div>
  );
}

/**
 * The run for the headline, with the speedup that it reached. A run on one worker has speedup 1 for
 * every program, so another run is preferred.
 */
function headlineRun(
  b: Bounds,
  own: Bounds["runs"][number],
): [Bounds["runs"][number], Bounds["measured"][number] | undefined] {
  const reached = b.measured.find((m) => m.run === own.run);
  if (reached && reached.workers > 1) return [own, reached];
  const name = runMeta(own.run)?.name;
  const most =
    b.measured
      .filter((m) => runMeta(m.run)?.name === name)
      .sort((x, y) => y.workers - x.workers)[0] ?? reached;
  return [b.runs.find((r) => r.run === most?.run) ?? own, most];
}

function headline(r: Bounds["runs"][number], m: Bounds["measured"][number] | undefined): string {
  if (!(r.work > 0)) return "Nothing ran.";
  const of = runMeta(r.run)?.unread ? "Of what could be read, at" : "At";
  const most =
    r.known_to === null
      ? `${of} most ${multiple(r.limit)} however many workers it has`
      : `${of} most ${multiple(r.limit)}, divided among ${plural(r.known_to, "thread")} as it was`;
  if (!m) return `${most}.`;
  const here = Math.min(m.workers, r.limit);
  const how = m.simulated ? "in a simulation" : "reached";
  return `${most}; ${multiple(m.speedup)} of ${multiple(here)} ${how} on ${m.workers}.`;
}

function PointKey({ simulated }: { simulated: boolean }) {
  return (
    <span>
      <svg width="12" height="12" aria-hidden="true">
        <path
          d={pointPath(6, 6, 3.5, simulated)}
          fill="none"
          stroke={colours.value.fg}
          stroke-width="2"
        />
      </svg>
      {simulated ? "simulated" : "measured"}
    </span>
  );
}

function Dash({ kind }: { kind: "solid" | "dash" | "dots" | "linear" }) {
  const t = colours.value;
  const dash = { solid: undefined, dash: "4 3", dots: "1.5 2.5", linear: "2 3" }[kind];
  return (
    <svg width="18" height="8" aria-hidden="true">
      <line
        x1="0"
        x2="18"
        y1="4"
        y2="4"
        stroke={kind === "linear" ? t.fg3 : t.work}
        stroke-width={kind === "solid" ? 2 : 1.3}
        stroke-dasharray={dash}
      />
    </svg>
  );
}

function BoundsTable({ bounds: b }: { bounds: Bounds }) {
  const workers = [...new Set(b.runs.flatMap((r) => r.points.map((p) => p.workers)))].sort(
    (x, y) => x - y,
  );
  return (
    <table
      class="table"
      aria-label="Speedup bounds by number of workers"
      style={{ maxWidth: "720px" }}
    >
      <thead>
        <tr>
          <th>workers</th>
          {b.runs.map((r) => [
            <th key={`${r.run}l`}>
              <RunBadge id={r.run} /> at least
            </th>,
            <th key={`${r.run}u`}>at most</th>,
            <th key={`${r.run}m`}>
              {b.measured.some((m) => m.run === r.run && m.simulated) ? "simulated" : "measured"}
            </th>,
          ])}
        </tr>
      </thead>
      <tbody>
        {workers.map((n) => (
          <tr key={n}>
            <td>{count(n)}</td>
            {b.runs.map((r) => {
              const p = r.points.find((x) => x.workers === n),
                m = b.measured.find((x) => x.run === r.run && x.workers === n);
              return [
                <td key={`${r.run}l`}>{p ? multiple(p.lower) : "–"}</td>,
                <td key={`${r.run}u`}>{p ? multiple(p.upper) : "–"}</td>,
                <td key={`${r.run}m`}>{m ? <b>{multiple(m.speedup)}</b> : null}</td>,
              ];
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function toCsv(b: Bounds): string {
  const lines = ["run,workers,at_least,at_most,measured,how"];
  for (const r of b.runs)
    for (const p of r.points) {
      const m = b.measured.find((m) => m.run === r.run && m.workers === p.workers);
      const how = m ? (m.simulated ? "simulated" : "measured") : "";
      lines.push([r.run, p.workers, p.lower, p.upper, m?.speedup ?? "", how].join(","));
    }
  return lines.join("\n") + "\n";
}
