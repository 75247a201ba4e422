/**
 * A small report of what is selected: a range of the timeline, or a row. Where its worker time went
 * and how many ran on average, which code, who stole, and which findings lie in it.
 */

import type { ComponentChildren } from "preact";
import { usePlanes, useJson, valueOf } from "../ask";
import { codeColour } from "../codes";
import type { RunMeta, Report, Summary } from "../data/contract";
import { requests } from "../data/requests";
import { areaTicks, count, many, percent, plain, ticks } from "../format";
import { fillOf } from "../patterns";
import { meta, selection } from "../store";
import { showFinding } from "../summary/Findings";
import { imperative } from "../summary/imperatives";
import { Term } from "../terms/Term";
import { dark } from "../theme/theme";
import { Sentence, Swatch } from "../ui/parts";
import {
  breakdownOf,
  codesOf,
  pathOf,
  stealsOf,
  tilesOf,
  type Part,
  type TileAnswer,
} from "./sums";
import "./report.css";

/** Tiles that a part lies in at most (`tilesOf`). */
const MAX_TILES = 3;
/** Codes in the table; the rest is one row. */
const MAX_CODES = 8;

const NAMES = {
  work: ["busy", "busy"],
  recording: ["recording", "recording"],
  descheduled: ["descheduled", "descheduled"],
  blocked: ["blocked", "blocked"],
  delay: ["delay", "delay"],
  sched: ["no work, scheduler", "no work"],
  app: ["no work, program", "no work"],
} as const;

type Kind = "profile" | "rows" | "strands" | "arcs" | "critical";

/** The answers of all tiles of the part; undefined until all are there. */
function useTiles(run: RunMeta, kind: Kind, level: number, at: number[]): TileAnswer[] | undefined {
  const url = (index: number | undefined) =>
    index === undefined
      ? null
      : kind === "critical"
        ? requests.path(run.id, "critical", level, index)
        : requests[kind](run.id, level, index);
  // A component asks the same number of times whenever it is drawn.
  const asked = Array.from({ length: MAX_TILES }, (_, i) => usePlanes(url(at[i])));
  const there = at.slice(0, MAX_TILES).map((index, i) => {
    const planes = valueOf(asked[i]!);
    return planes && { index, planes };
  });
  return there.every((t) => t !== undefined) ? (there as TileAnswer[]) : undefined;
}

/** The three columns of the drawer. */
export function useSelectionReport(
  part: Part,
  run: RunMeta,
): { where: ComponentChildren; code: ComponentChildren; more: ComponentChildren } {
  const { level, at } = tilesOf(part, meta.value?.finest_level ?? 0, run.top_level);
  const bins = useTiles(run, part.row === null ? "profile" : "rows", level, at);
  const strands = useTiles(run, "strands", level, at);
  const arcs = useTiles(run, "arcs", level, at);
  const path = useTiles(run, "critical", level, at);
  return {
    where: bins ? <Where part={part} level={level} tiles={bins} run={run} /> : <Wait />,
    code: strands ? <Codes part={part} tiles={strands} run={run} /> : <Wait />,
    more: (
      <>
        {arcs ? <StealTable part={part} tiles={arcs} run={run} /> : <Wait />}
        <Inside part={part} run={run} path={path && pathOf(part, path)} />
      </>
    ),
  };
}

function Wait() {
  return <p class="faint small-report">…</p>;
}

function Where(p: { part: Part; level: number; tiles: TileAnswer[]; run: RunMeta }) {
  const { part, run: r } = p;
  const t = (n: number) => ticks(n, r.ticks_per_second);
  const length = part.t1 - part.t0;
  const rows = part.row === null ? r.workers : 1;
  const parts = breakdownOf(part, p.level, p.tiles);
  const busy = parts.find((x) => x.kind === "work")?.ticks ?? 0;
  const sum = parts.reduce((n, x) => n + x.ticks, 0);
  const bar = Math.max(sum, 1);
  return (
    <div class="small-report">
      <div class="figures">
        {part.row === null ? (
          <div>
            <b>{plain(busy / length)}</b> of {count(r.workers)}
            <span>mean parallelism</span>
          </div>
        ) : (
          <div>
            <b>{percent(busy / length)}</b>
            <span>busy</span>
          </div>
        )}
        <div>
          <b>{t(length)}</b>
          <span>
            {t(part.t0)} to {t(part.t1)}
          </span>
        </div>
      </div>
      <div class="parts" role="img" aria-label="Where its worker time went">
        <svg width="100%" height="12" preserveAspectRatio="none" aria-hidden="true">
          {parts.map((x, i) => {
            const before = parts.slice(0, i).reduce((n, y) => n + y.ticks, 0);
            return (
              <rect
                key={x.kind}
                x={`${(100 * before) / bar}%`}
                width={`${(100 * x.ticks) / bar}%`}
                height="12"
                fill={x.kind === "recording" ? "var(--fg3)" : fillOf(x.kind, dark.value)}
              />
            );
          })}
        </svg>
      </div>
      <table class="sums" aria-label="Where its worker time went">
        <tbody>
          {parts.map((x) => (
            <tr key={x.kind}>
              <td>
                <svg width="10" height="10" aria-hidden="true">
                  <rect
                    width="10"
                    height="10"
                    rx="2"
                    fill={x.kind === "recording" ? "var(--fg3)" : fillOf(x.kind, dark.value)}
                  />
                </svg>
                <Term of={NAMES[x.kind][1]}>{NAMES[x.kind][0]}</Term>
              </td>
              <td>{t(x.ticks)}</td>
              <td>{percent(x.ticks / bar, 1)}</td>
            </tr>
          ))}
          <tr class="sum">
            <td>sum{rows > 1 && ` of ${count(rows)} workers`}</td>
            <td>{t(sum)}</td>
            <td>{percent(1)}</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function Codes(p: { part: Part; tiles: TileAnswer[]; run: RunMeta }) {
  const { part, run: r } = p;
  const { exact, strands, codes } = codesOf(part, p.tiles);
  const total = codes.reduce((n, c) => n + c.ticks, 0);
  const rest = codes.slice(MAX_CODES);
  const t = (n: number) => ticks(n, r.ticks_per_second);
  return (
    <div class="small-report">
      <h2>
        Code by time
        <span>{exact ? many(strands, "strand") : `of the longest ${count(strands)} strands`}</span>
      </h2>
      {codes.length === 0 ? (
        <p class="dim">No strand ran here.</p>
      ) : (
        <table class="sums" aria-label="Code by time">
          <tbody>
            {codes.slice(0, MAX_CODES).map((c) => (
              <tr key={c.code}>
                <td>
                  <Swatch of={codeColour(r.codes, c.code, dark.value)} />
                  <button
                    type="button"
                    class="link mono"
                    title="Light its strands in every view"
                    onClick={() => {
                      selection.value = { kind: "code", run: r.id, code: c.code };
                    }}
                  >
                    {r.codes[c.code]?.label ?? "other code"}
                  </button>
                </td>
                <td class="bar">
                  <i
                    style={{
                      width: `${(100 * c.ticks) / codes[0]!.ticks}%`,
                      background: codeColour(r.codes, c.code, dark.value).fill,
                    }}
                  />
                </td>
                <td>{t(c.ticks)}</td>
                <td>{percent(c.ticks / total, 1)}</td>
              </tr>
            ))}
            {rest.length > 0 && (
              <tr>
                <td>{count(rest.length)} more</td>
                <td />
                <td>{t(rest.reduce((n, c) => n + c.ticks, 0))}</td>
                <td>{percent(rest.reduce((n, c) => n + c.ticks, 0) / total, 1)}</td>
              </tr>
            )}
            <tr class="sum">
              <td>
                <Term of="running">time of strands</Term>
              </td>
              <td />
              <td>{t(total)}</td>
              <td>{percent(1)}</td>
            </tr>
          </tbody>
        </table>
      )}
    </div>
  );
}

function StealTable(p: { part: Part; tiles: TileAnswer[]; run: RunMeta }) {
  const { part, run: r } = p;
  const steals = stealsOf(part, p.tiles);
  const label = (row: number) => r.threads[row]?.label ?? `thread ${row}`;
  if (!steals)
    return (
      <div class="small-report">
        <h2>Steals</h2>
        <p class="dim">There are too many to count them by time: choose a shorter range.</p>
      </div>
    );
  return (
    <div class="small-report">
      <h2>
        Steals<span>of {count(r.steals)} in the run</span>
      </h2>
      <table class="sums" aria-label="Steals">
        <tbody>
          <tr>
            <td>
              <Term of="steal">{part.row === null ? "steals" : "stolen by it"}</Term>
            </td>
            <td>{count(steals.by)}</td>
          </tr>
          {steals.leaps > 0 && (
            <tr>
              <td>
                <Term of="leapfrog">of them while it waited in a join</Term>
              </td>
              <td>{count(steals.leaps)}</td>
            </tr>
          )}
          {part.row !== null && (
            <tr>
              <td>stolen from it</td>
              <td>{count(steals.from)}</td>
            </tr>
          )}
          {steals.most && (
            <tr>
              <td>
                most: by {label(steals.most.thief)} from {label(steals.most.victim)}
              </td>
              <td>{count(steals.most.count)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** The critical path and the findings that lie in the part. */
function Inside(p: { part: Part; run: RunMeta; path: number | undefined }) {
  const { part, run: r } = p;
  const summary = valueOf(useJson<Summary>(requests.summary(r.id)));
  const report = valueOf(useJson<Report>(requests.report(r.id)));
  const places = (report?.findings as any[] | undefined) ?? [];
  // A finding has a time, not a row.
  const found = (part.row === null ? (summary?.findings ?? []) : [])
    .map((f, i) => ({ f, i }))
    .filter(({ f }) => f.show.t0 < part.t1 && f.show.t1 > part.t0);
  const t = (n: number) => ticks(n, r.ticks_per_second);
  return (
    <div class="small-report">
      {p.path !== undefined && (
        <p>
          <b>{t(p.path)}</b> of the <Term of="critical path" />{" "}
          {part.row === null ? "lie here" : "ran on this row"}.
        </p>
      )}
      {found.map(({ f, i }) => (
        <p key={i}>
          <span class="badge round" aria-hidden="true">
            {i + 1}
          </span>{" "}
          <Sentence of={imperative(f, places[i]?.place, r)} />,{" "}
          {areaTicks(f.lost, r.ticks_per_second)}{" "}
          <button type="button" class="link" onClick={() => showFinding(f, i)}>
            Show me<span class="unseen"> finding {i + 1}</span>
          </button>
        </p>
      ))}
    </div>
  );
}
