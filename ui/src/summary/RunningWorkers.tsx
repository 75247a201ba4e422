/**
 * Running workers over time. Below the line of P, the areas are the breakdown. The findings are
 * above it at their place in time.
 */

import { runningWords } from "../components/sentences";
import { useMemo } from "preact/hooks";
import { usePlanes, valueOf } from "../answers";
import { TILE_BINS, type FindingWords, type Report, type RunMeta } from "../data/contract";
import type { Planes } from "../data/planes";
import { requests } from "../data/requests";
import { axisTime, plural, plainNumber, roundSteps } from "../format";
import { fillOf } from "../patterns";
import { colours, dark } from "../theme/theme";
import { Term } from "../terms/Term";
import { plainWords, Section } from "../components/widgets";
import { textWidth, useSize } from "../components/textWidth";
import { EmptyState, ErrorState, LoadingPlaceholder } from "../components/placeholders";
import { MARGIN, RIGHT_OF_STRIP } from "../timeline/drawStacked";
import { PROFILE_KINDS } from "../report/tileSums";
import { Callouts } from "./Callouts";

/** Glossary terms of the layers. */
const MEANINGS = {
  work: "busy",
  descheduled: "descheduled",
  blocked: "blocked",
  delay: "delay",
  sched: "no work",
  app: "no work",
  unread: "not read",
} as const;

/** Mean workers of each layer in equal columns over the whole run. */
export interface StripColumns {
  width: number;
  at: Record<string, number[]>;
  running: number[];
}

/** Joins the tiles of a level to columns over [0, elapsed). */
export function columns(tiles: Planes[], level: number, elapsed: number): StripColumns {
  const width = 2 ** level,
    n = Math.min(tiles.length * TILE_BINS, Math.ceil(elapsed / width));
  const plane = (name: string) =>
    Array.from({ length: n }, (_, i) =>
      Math.max(0, Number(tiles[Math.floor(i / TILE_BINS)]?.planes[name]?.[i % TILE_BINS] ?? 0)),
    );
  const at = Object.fromEntries(PROFILE_KINDS.map(([key, name]) => [key, plane(name)]));
  // The last column is rarely whole: its means are over the bin, while the picture needs them over
  // the part inside the run.
  const rest = elapsed / width - (n - 1);
  if (n > 0 && rest > 0.02 && rest < 1) for (const key of Object.keys(at)) at[key]![n - 1]! /= rest;
  return { width, at, running: at.work! };
}

/** The longest stretches with a constant number of running workers, longest first. */
export function constantStretches(
  c: StripColumns,
  most: number,
): { from: number; to: number; running: number }[] {
  const out: { from: number; to: number; running: number }[] = [];
  let from = 0;
  for (let i = 1; i <= c.running.length; i++) {
    if (i === c.running.length || Math.abs(c.running[i]! - c.running[from]!) > 0.35) {
      const mean = c.running.slice(from, i).reduce((a, b) => a + b, 0) / (i - from);
      out.push({ from, to: i, running: mean });
      from = i;
    }
  }
  return out.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, most);
}

/** The longest stretch of each number of workers: the same words again tell nothing. */
function distinctStretches<S extends { running: number }>(stretches: S[]): S[] {
  const seen = new Set<number>();
  return stretches.filter(({ running }) => {
    const workers = Math.round(running);
    if (seen.has(workers)) return false;
    seen.add(workers);
    return true;
  });
}

/** Share of recording from which on it is shown beside the mean. */
const MIN_RECORDING = 0.02;

export function RunningWorkers({
  run: r,
  findings,
  report,
  fills = false,
}: {
  run: RunMeta;
  findings: FindingWords[];
  report?: Report | undefined;
  /** Its height is the one that the layout gives it. */
  fills?: boolean;
}) {
  const [ref, width, given] = useSize<HTMLDivElement>(940);
  // One level finer than the tile of the whole run, if available: at least 1,024 columns.
  const level = Math.max(0, r.top_level - 1);
  const tiles = [
    usePlanes(requests.profile(r.id, level, 0)),
    usePlanes(level < r.top_level ? requests.profile(r.id, level, 1) : null),
  ];
  const coarse = usePlanes(requests.profile(r.id, r.top_level, 0));
  const c = useMemo(() => {
    const [one, two] = tiles.map(valueOf);
    if (one && (two || level === r.top_level || r.elapsed <= TILE_BINS * 2 ** level))
      return columns(two ? [one, two] : [one], level, r.elapsed);
    const whole = valueOf(coarse);
    return whole ? columns([whole], r.top_level, r.elapsed) : null;
  }, [valueOf(tiles[0]!), valueOf(tiles[1]!), valueOf(coarse), r.elapsed]);
  const used = c
    ? PROFILE_KINDS.filter(([key]) => c.at[key]!.some((v) => v > 0.005)).map(([key]) => key)
    : [];
  const names = {
    work: runningWords(r) === "running" ? "busy" : runningWords(r),
    descheduled: "descheduled",
    blocked: "blocked",
    delay: "ready, not running",
    sched: "no work, scheduler",
    app: "no work, program",
    unread: "not read",
  };
  return (
    <Section
      title={runningWords(r) === "running" ? "Running workers over time" : "Workers over time"}
      end={
        <span class="legend">
          {used.map((k) => (
            <span key={k}>
              <svg width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" rx="2" fill={fillOf(k, dark.value)} />
              </svg>
              <Term of={MEANINGS[k]}>{names[k]}</Term>
            </span>
          ))}
        </span>
      }
    >
      <div ref={ref} class="strip">
        {c ? (
          <StripPicture
            c={c}
            run={r}
            width={width}
            height={fills ? given - OUTSIDE : stripHeight(window.innerHeight, findings.length)}
            left={fills ? MARGIN : 0}
            findings={findings}
            report={report}
          />
        ) : coarse.state === "failed" ? (
          <ErrorState error={coarse.error} what="the profile" small />
        ) : (
          <LoadingPlaceholder what="the profile" height={170} />
        )}
      </div>
    </Section>
  );
}

/** Limits of the strip's height, and heights of the rest of the window and of a finding. */
const MIN_HEIGHT = 118;
const MAX_HEIGHT = 560;
const OUTER_HEIGHT = 820;
const FINDING_HEIGHT = 84;

/** Tall windows have a higher strip, in particular if few findings are below it. */
function stripHeight(window: number, findings: number): number {
  const room = window - OUTER_HEIGHT - FINDING_HEIGHT * Math.min(5, findings);
  return Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, room));
}

/** Heights above the line of P, for the findings' numbers, and below the axis, for its times. */
const ABOVE = 32;
const BELOW = 22;
const OUTSIDE = ABOVE + BELOW;

function StripPicture({
  c,
  run: r,
  width,
  height,
  left,
  findings,
  report,
}: {
  c: StripColumns;
  run: RunMeta;
  width: number;
  height: number;
  /** Room for the names of rows below it. */
  left: number;
  findings: FindingWords[];
  report: Report | undefined;
}) {
  const t = colours.value;
  const w = width - left - RIGHT_OF_STRIP,
    top = ABOVE,
    h = Math.max(MIN_HEIGHT, height),
    bottom = top + h,
    P = Math.max(1, r.workers);
  const x = (ticks: number) => (ticks / r.elapsed) * w;
  const y = (v: number) => bottom - (Math.min(v, P) / P) * h;
  const n = c.running.length;
  const paths = useMemo(() => {
    const below = new Array<number>(n).fill(0);
    return PROFILE_KINDS.map(([key]) => {
      const values = c.at[key]!;
      let d = "";
      let i = 0;
      while (i < n) {
        if (!(values[i]! > 0.002)) {
          i++;
          continue;
        }
        // A run of columns with this layer: its outline goes along the top and back along the
        // bottom.
        let end = i;
        while (end < n && values[end]! > 0.002) end++;
        let up = "",
          down = "";
        for (let k = i; k < end; k++) {
          const [l, rr] = [x(k * c.width), x(Math.min(r.elapsed, (k + 1) * c.width))];
          up += `${k === i ? "M" : "L"}${l.toFixed(2)} ${y(below[k]! + values[k]!).toFixed(2)}H${rr.toFixed(2)}`;
          down = `L${rr.toFixed(2)} ${y(below[k]!).toFixed(2)}H${l.toFixed(2)}` + down;
        }
        d += up + down + "Z";
        for (let k = i; k < end; k++) below[k]! += values[k]!;
        i = end;
      }
      return { key, d };
    });
  }, [c, w, h, P]);
  if (n === 0) return <EmptyState small title="Nothing ran" />;
  // The report's mean is without recording, which the columns include.
  const drawn = c.running.reduce((a, b) => a + b, 0) / n;
  const busy = report && !r.only ? (report.mean_busy as number) : drawn;
  const isRecording = drawn - busy > MIN_RECORDING * P;
  const mean = isRecording ? drawn : busy;
  const perSecond = r.ticks_per_second;
  const marks = roundSteps(0, r.elapsed / perSecond, Math.max(2, Math.floor(w / 96)));
  const labels = distinctStretches(constantStretches(c, 5))
    .map((s) => ({ ...s, l: x(s.from * c.width), rr: x(Math.min(r.elapsed, s.to * c.width)) }))
    .filter((s) => s.rr - s.l > 84);
  return (
    <svg
      width={width}
      height={bottom + BELOW}
      viewBox={`${-left} 0 ${width} ${bottom + BELOW}`}
      data-plot={w}
      role="img"
      aria-label={`${plainNumber(busy)} of ${plural(P, "worker")} busy on average. ${findings.map((f, i) => `Finding ${i + 1}: ${plainWords(f.title)}`).join(". ")}`}
    >
      <rect x="0" y={top} width={w} height={h} fill={t.inset} />
      {paths.map((p) => (
        <path key={p.key} d={p.d} fill={fillOf(p.key, dark.value)} shape-rendering="crispEdges" />
      ))}
      <line x1="0" x2={w} y1={top} y2={top} stroke={t.fg} stroke-dasharray="5 3" />
      {!r.only && (
        <line
          x1="0"
          x2={w}
          y1={y(mean)}
          y2={y(mean)}
          stroke={t.fg}
          stroke-opacity=".55"
          stroke-dasharray="1.5 2.5"
        />
      )}
      <line x1="0" x2={w} y1={bottom} y2={bottom} stroke={t.line2} />
      <text x={w + 7} y={top + 4} font-size="11" font-weight="600" fill={t.fg}>
        P = {P}
      </text>
      {!r.only && Math.abs(y(mean) - top) > 13 && (
        <text
          x={w + 7}
          y={Math.min(y(mean) + 4, bottom - (isRecording ? 23 : 10))}
          font-size="11"
          fill={t.fg2}
        >
          mean {plainNumber(mean)}
          {isRecording && (
            <tspan x={w + 7} dy="13">
              {plainNumber(busy)} busy
            </tspan>
          )}
          <title>
            {isRecording
              ? `${plainNumber(busy)} workers busy on average, ${plainNumber(mean)} including recording`
              : "Workers busy on average"}
          </title>
        </text>
      )}
      <text x={w + 7} y={bottom + 4} font-size="11" fill={t.fg3}>
        0
      </text>
      {labels.map((s, i) => {
        const running = Math.round(s.running),
          words = `${running} ${running === 1 ? "worker" : "workers"}`;
        const barHigh = bottom - y(s.running),
          idle = P - running,
          middle = (s.l + s.rr) / 2,
          wide = s.rr - s.l;
        const inBar = barHigh > 16 && running > 0;
        const long = `${words} ${runningWords(r)}`;
        const inside = Math.min(bottom - 5, y(s.running) + Math.max(14, barHigh / 2 + 4));
        // The line of the mean would cross it.
        const struck = !r.only && Math.abs(inside - 4 - y(mean)) < 10;
        const clear = y(mean) + 18 < bottom - 5 ? y(mean) + 18 : y(mean) - 8;
        return (
          <g key={i}>
            {inBar && (
              <text
                x={middle}
                y={struck && barHigh > 40 ? clear : inside}
                text-anchor="middle"
                font-size={barHigh > 30 ? 12 : 11}
                font-weight="600"
                fill={t.onWork}
                paint-order="stroke"
                stroke={t.work}
                stroke-width="4"
              >
                {wide > textWidth(long, 12, 600) + 20
                  ? long
                  : wide > textWidth(words, 11, 600) + 10
                    ? words
                    : running}
              </text>
            )}
            {idle > 0 &&
              h - barHigh > 30 &&
              i < 2 &&
              wide > textWidth(`${idle} workers have nothing to do`, 12, 600) + 24 &&
              c.at.app!.slice(s.from, s.to).reduce((a, b) => a + b, 0) / (s.to - s.from) >
                idle * 0.7 && (
                <text
                  x={middle}
                  y={top + (h - barHigh) / 2 + 4}
                  text-anchor="middle"
                  font-size="12"
                  font-weight="600"
                  fill={t.fg}
                  paint-order="stroke"
                  stroke={t.appBg}
                  stroke-width="5"
                >
                  {idle} {idle === 1 ? "worker has" : "workers have"} nothing to do
                </text>
              )}
          </g>
        );
      })}
      {marks.at.map(
        (s) =>
          s <= r.elapsed / perSecond && (
            <g key={s}>
              <line
                x1={x(s * perSecond)}
                x2={x(s * perSecond)}
                y1={bottom}
                y2={bottom + 3}
                stroke={t.line2}
              />
              <text
                x={Math.max(0, x(s * perSecond))}
                y={bottom + 16}
                text-anchor={s === 0 ? "start" : x(s * perSecond) > w - 16 ? "end" : "middle"}
                font-size="11"
                fill={t.fg3}
              >
                {axisTime(s, marks.step)}
              </text>
            </g>
          ),
      )}
      <Callouts
        findings={findings}
        strands={findings.map((f) => report?.findings?.[f.index]?.evidence?.strands ?? 1)}
        x={x}
        w={w}
        top={top}
        elapsed={r.elapsed}
      />
    </svg>
  );
}
