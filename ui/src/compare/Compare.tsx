/**
 * Two runs: the sentence, bars on one scale, timelines one above the other, and what changed where.
 */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useJson, valueOf } from "../answers";
import { runColour } from "../colors";
import { register } from "../commands";
import type { Compare as Answer, RunMeta, Scalability as Bounds } from "../data/contract";
import { requests } from "../data/requests";
import { registerExport } from "../export/export";
import { workerSeconds, plural, time, pageUnits } from "../format";
import { sameProgram } from "../frame/runLoading";
import { announcement, compareBy, meta, other, run, runMeta, status, wholeRunOf } from "../store";
import { dark } from "../theme/theme";
import { sharedColour } from "../timeline/drawStacked";
import { StackedTimelines } from "../timeline/StackedTimelines";
import { BoundsChart } from "../components/BoundsChart";
import type { Part } from "../components/timeBreakdown";
import { Choice, RunBadge, Section, Swatch } from "../components/widgets";
import { useWidth } from "../components/textWidth";
import { StackedBar } from "../components/StackedBar";
import { WhenAnswered, codeInBackticks, EmptyState } from "../components/placeholders";
import { FurtherRuns, comparedRuns } from "./FurtherRuns";
import {
  blockRows,
  compareCsv,
  quantityRows,
  regionRows,
  siteRows,
  type ChangedPlace,
} from "./changes";
import { DagPictures } from "./DagPictures";
import { FlameDifference } from "./FlameDifference";
import { headline } from "./headline";
import { OneRun } from "./OneRun";
import { ChangesTable, WholeRunTable } from "./ChangeTables";
import "./compare.css";

export function Compare() {
  const runs = meta.value?.runs ?? [];
  // Always compares whole runs, even if another view shows only a part of one.
  const first = wholeRunOf(run.value);
  const chosen = runs.find((r) => r.id === other.value && r.id !== first);
  const second = (chosen ?? sameProgram(runs, first))?.id ?? null;
  const asked = useJson<Answer>(second ? requests.compare(first, second) : null);
  useEffect(
    () =>
      register(
        {
          id: "compare.swap",
          title: "Swap the runs",
          keys: ["x"],
          tabs: ["compare"],
          group: "Compare",
          run: swap,
        },
        {
          id: "compare.by",
          title: "Time or fraction",
          keys: ["\\"],
          tabs: ["compare"],
          group: "Compare",
          run: () => {
            compareBy.value = compareBy.value === "time" ? "fraction" : "time";
            announcement.value =
              compareBy.value === "time" ? "one time scale" : "each scaled to its own length";
          },
        },
      ),
    [],
  );
  if (!second && runs.length > 1) return <OfOtherPrograms runs={runs} first={first} />;
  const one = runMeta(first);
  if (!second && one) return <OneRun run={one} title="One run is open" />;
  if (!second) return null;
  return (
    <WhenAnswered answer={asked} what="the comparison" height={420}>
      {(c) => <Comparison of={c} a={first} b={second} />}
    </WhenAnswered>
  );
}

/** The open runs are of other programs: one is compared if it is chosen. */
function OfOtherPrograms({ runs, first }: { runs: readonly RunMeta[]; first: string }) {
  const one = runMeta(first);
  if (!one) return null;
  return (
    <OneRun run={one} title="No other run of this program is open">
      <p class="why">Choose a run of another program. Only code with the same name is matched.</p>
      <div class="others" role="group" aria-label="Run to compare with">
        {runs
          .filter((r) => r.id !== first)
          .map((r) => (
            <button key={r.id} type="button" class="toggle" onClick={() => (other.value = r.id)}>
              <RunBadge id={r.id} /> {r.name}
            </button>
          ))}
      </div>
    </OneRun>
  );
}

function swap() {
  const [a, b] = [wholeRunOf(run.value), other.value];
  if (b) {
    run.value = b;
    other.value = a;
  }
}

function Comparison({ of: c, a, b }: { of: Answer; a: string; b: string }) {
  const by = useSignal<"code" | "site" | "region">("code");
  const [one, two] = [runMeta(a)!, runMeta(b)!];
  const runs = meta.value?.runs ?? [];
  const pair = [one, two];
  const { title, doubt } = titleOf(c.words.title);
  const quantities = quantityRows(c.table);
  const blocks = blockRows(c.table, c.codes, one, two);
  const warnings = (c.table.warnings ?? []) as string[];
  const rows =
    by.value === "code" ? blocks : by.value === "site" ? siteRows(c.table) : regionRows(c.table);
  useEffect(
    () => registerExport({ tab: "compare", csv: () => compareCsv(quantities, rows) }),
    [c, by.value],
  );
  useEffect(() => {
    status.value = `${a.toUpperCase()} ${one.file} · ${b.toUpperCase()} ${two.file}${one.host && one.host === two.host ? " · same machine" : ""}`;
    return () => {
      status.value = "";
    };
  }, [a, b]);
  const bounds = valueOf(useJson<Bounds>(requests.scalability(a)));
  const parts = (side: number): Part[] => {
    const get = (key: string) =>
      Math.max(0, Number(c.table.quantities?.[key]?.values?.[side]?.mean ?? 0));
    return (
      [
        ["work", "work", "work"],
        ["recording", "recording", "recording"],
        ["descheduled", "descheduled", "descheduled"],
        ["blocked", "blocked", "blocked"],
        ["delay", "delay", "delay"],
        ["sched", "no work, scheduler", "no_work_sched"],
        ["app", "no work, program", "no_work_app"],
      ] as const
    )
      .map(([kind, label, key]) => ({ kind, label, ticks: get(key) }))
      .filter((p) => p.ticks > 0);
  };
  const sides = [parts(0), parts(1)];
  const total = Math.max(...sides.map((s) => s.reduce((n, p) => n + p.ticks, 0)), 1);
  const [chart, width] = useWidth<HTMLDivElement>(330);
  return (
    <div class="compare scroll">
      <Title of={c} blocks={blocks} a={one} b={two} />
      <p class="details">
        {[title, ...c.words.lines.filter((l) => !warnings.includes(l)), ...doubt].map((l, i) => (
          <span key={i}>{codeInBackticks(pageUnits(l))} </span>
        ))}
      </p>
      {warnings.map((w) => (
        <p key={w} class="why">
          {codeInBackticks(pageUnits(w))}
        </p>
      ))}
      <div class="columns">
        <div class="parts">
          <Section
            title="Where the worker time went"
            note="one scale"
            end={
              <>
                {plural(one.workers, "worker")} × {time(one.elapsed / one.ticks_per_second)} against{" "}
                {two.workers} × {time(two.elapsed / two.ticks_per_second)}
              </>
            }
            style={{ marginTop: "14px" }}
          >
            {sides.map((s, i) => (
              <div key={i} class="side">
                <RunBadge id={i === 0 ? a : b} />
                <StackedBar
                  parts={s}
                  total={total}
                  height={24}
                  leaders={false}
                  title={`Run ${i === 0 ? a : b}`}
                  label={(p) => `${p.label} ${workerSeconds(p.ticks / 1e9)}`}
                />
                <span class="faint small">
                  {s
                    .filter(
                      (p) => p.kind !== "work" && p.ticks / total < 0.12 && p.ticks > total * 1e-4,
                    )
                    .map((p) => `${p.label} ${workerSeconds(p.ticks / 1e9)}`)
                    .join(", ")}
                </span>
              </div>
            ))}
          </Section>
          <Section
            title="Timelines"
            note={
              compareBy.value === "time"
                ? "one absolute time scale"
                : "each scaled to its own length"
            }
            end={
              <Choice
                label="Scale"
                value={compareBy.value}
                of={[
                  { value: "time", label: "absolute" },
                  { value: "fraction", label: "fraction" },
                ]}
                onChange={(v) => (compareBy.value = v)}
              />
            }
          >
            <FurtherRuns pair={pair} all={runs} />
            <StackedTimelines runs={comparedRuns(pair, runs)} by={compareBy.value} />
          </Section>
          <div class="half">
            <Section
              title="DAGs"
              note={compareBy.value === "time" ? "time downwards, on one scale" : "time downwards"}
            >
              <DagPictures runs={comparedRuns(pair, runs)} by={compareBy.value} />
            </Section>
          </div>
          <div class="half">
            <Section
              title="What changed where"
              note={
                by.value === "code"
                  ? "code blocks, largest change first"
                  : by.value === "site"
                    ? "spawn sites, largest change first"
                    : "marked regions, largest change first"
              }
              end={
                <Choice
                  label="Rows"
                  value={by.value}
                  of={[
                    { value: "code", label: "code" },
                    { value: "site", label: "spawn sites" },
                    ...(c.table.regions?.length
                      ? [{ value: "region" as const, label: "regions" }]
                      : []),
                  ]}
                  onChange={(v) => (by.value = v)}
                />
              }
            >
              {rows.length ? (
                <div class="scroll">
                  <ChangesTable rows={rows} a={a} b={b} />
                </div>
              ) : (
                <EmptyState small title="No source positions">
                  The traces contain no source positions, so changes cannot be compared by place.
                </EmptyState>
              )}
            </Section>
          </div>
          <FlameDifference a={one} b={two} />
        </div>
        <aside aria-label="Whole run">
          <WholeRunTable rows={quantities} a={a} b={b} />
          <p class="noise-note">{noiseWords(c.table)}</p>
          {bounds && (
            <Section title="Speedup bounds">
              <div ref={chart}>
                <BoundsChart
                  width={width}
                  height={200}
                  log
                  most={64}
                  runs={bounds.runs
                    .filter((r) => (r.run === a || r.run === b) && r.points.length > 0)
                    .map((r) => ({
                      id: r.run,
                      points: r.points,
                      limit: r.limit,
                      knownTo: r.known_to,
                      burdened: null,
                      colour: runColour(r.run, dark.value),
                      label: r.run.toUpperCase(),
                    }))}
                  measured={bounds.measured
                    .filter((m) => m.run === a || m.run === b)
                    .map((m) => ({ ...m, colour: runColour(m.run, dark.value), strong: true }))}
                />
              </div>
            </Section>
          )}
        </aside>
      </div>
    </div>
  );
}

function Title(p: { of: Answer; blocks: readonly ChangedPlace[]; a: RunMeta; b: RunMeta }) {
  const said = headline(p.of.table, p.blocks, p.a, p.b);
  if (!said) return <h1>Two runs</h1>;
  const { code, cause } = said;
  const owner = code?.run === p.a.id ? p.a : p.b;
  return (
    <h1>
      <RunBadge id={p.b.id} big /> {said.change}
      {cause && ": "}
      {code && (
        <>
          <Swatch of={sharedColour([p.a, p.b], owner, code.index, dark.value)} size={14} />{" "}
          {code.name}{" "}
        </>
      )}
      {cause}.
    </h1>
  );
}

/** The report's sentence has the change alone; its certainty follows as a sentence of its own. */
function titleOf(words: string): { title: string; doubt: string[] } {
  const [title, ...rest] = words.split("; ");
  const doubt = rest.join("; ").replace(/\.$/, "");
  return {
    title: title!.endsWith(".") ? title! : `${title}.`,
    doubt: doubt ? [`${doubt.charAt(0).toUpperCase()}${doubt.slice(1)}.`] : [],
  };
}

function noiseWords(table: Record<string, any>): string {
  const runs = (table.sides as { runs: number }[] | undefined)?.map((s) => s.runs) ?? [];
  if (!table.noise_known)
    return "There is one run on each side, so the noise is unknown and a small change may be noise. Compare several runs on each side: `workspan compare a1.wspan a2.wspan -- b1.wspan b2.wspan`.".replaceAll(
      "`",
      "",
    );
  return `Noise: ${runs.join(" and ")} runs. A grey change is within the noise: the 95 % interval of the difference of the means contains 0 (Welch).`;
}
