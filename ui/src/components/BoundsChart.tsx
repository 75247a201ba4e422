/**
 * A chart of the bounds of the speedup over the number of workers, with measured speedups (MODEL.md
 * section 2).
 */

import { colours } from "../theme/theme";
import { plainNumber, multiple } from "../format";
import { textWidth } from "./textWidth";

export interface BoundsRun {
  id: string;
  points: { workers: number; lower: number; upper: number }[];
  /** The largest speedup, up to `knownTo` workers if that is not null. */
  limit: number;
  knownTo: number | null;
  /** The same with the burden of steals, if a burden is known. */
  burdened: number | null;
  colour: string;
  label: string;
  /**
   * The area between its bounds is tinted. Only one of several runs has a tint, because overlapping
   * ones are indistinguishable.
   */
  filled?: boolean;
}
export interface Measured {
  run: string;
  workers: number;
  speedup: number;
  how: string;
  colour: string;
  strong?: boolean;
  /** Drawn as a diamond instead of a circle. */
  simulated: boolean;
  against_serial: boolean;
}

/** The axis' last number of workers: all measured ones are in sight, as far as bounds are known. */
export function axisEnd(measured: { workers: number }[]): 64 | 128 | 256 {
  const most = Math.max(0, ...measured.map((m) => m.workers));
  return most > 128 ? 256 : most > 64 ? 128 : 64;
}

/**
 * The last number of workers worth an axis, if the bounds of all runs end at a known number; null
 * if some have no end.
 */
export function knownAxisEnd(
  runs: readonly { knownTo: number | null }[],
  measured: readonly { workers: number }[],
): number | null {
  if (runs.length === 0 || runs.some((r) => r.knownTo === null)) return null;
  const most = Math.max(4, ...runs.map((r) => r.knownTo!), ...measured.map((m) => m.workers));
  return 2 ** Math.ceil(Math.log2(most + 1));
}

export function BoundsChart(p: {
  runs: BoundsRun[];
  measured: Measured[];
  width: number;
  height: number;
  log?: boolean;
  most?: number;
  compact?: boolean;
}) {
  const t = colours.value;
  const most = Math.min(p.most ?? 64, knownAxisEnd(p.runs, p.measured) ?? Infinity);
  const left = 38,
    right = p.compact ? 10 : 124,
    top = 14,
    bottom = 30;
  const w = p.width - left - right,
    h = p.height - top - bottom;
  /** The last number of workers with a known bound. */
  const endOf = (r: BoundsRun) => Math.min(most, r.knownTo ?? most);
  const reach = Math.max(
    ...p.runs.map((r) =>
      Math.max(...r.points.filter((q) => q.workers <= endOf(r)).map((q) => q.upper)),
    ),
    ...p.measured.map((m) => m.speedup),
    1,
  );
  const high = p.log ? 2 ** Math.ceil(Math.log2(Math.max(2, reach))) : Math.max(2, reach * 1.45);
  // A run slower than one worker, and a lower bound below 1, are drawn at their values.
  const lowest = Math.min(
    1,
    ...p.measured.map((m) => m.speedup).filter((v) => v > 0),
    ...p.runs.flatMap((r) =>
      r.points.filter((q) => q.workers <= endOf(r) && q.lower > 0).map((q) => q.lower),
    ),
  );
  const low = p.log ? Math.max(1 / 64, 2 ** Math.floor(Math.log2(lowest))) : 0;
  const X = (n: number) => left + (Math.log2(n) / Math.log2(most)) * w;
  const Y = (s: number) =>
    top + h - (p.log ? Math.log2(Math.max(s, low) / low) / Math.log2(high / low) : s / high) * h;
  const yTicks = p.log
    ? Array.from({ length: Math.round(Math.log2(high / low)) + 1 }, (_, i) => low * 2 ** i).filter(
        (_, i, all) => all.length < 8 || (all.length - 1 - i) % 2 === 0,
      )
    : linear(high);
  const xTicks = Array.from({ length: Math.round(Math.log2(most)) + 1 }, (_, i) => 2 ** i);
  const line = (pts: [number, number][]) =>
    pts.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  /**
   * Points of the upper bound, with its bend at the limit, which lies between the given
   * numbers of workers.
   */
  const upper = (r: BoundsRun): [number, number][] => {
    const at = [
      ...r.points.map((q) => q.workers),
      ...fineSteps(most).filter((n) => n >= 1),
      ...(r.limit > 1 ? [r.limit] : []),
    ]
      .filter((n) => n <= endOf(r))
      .sort((a, b) => a - b);
    return at.map((n) => [X(n), Y(Math.min(n, r.limit))]);
  };
  const lower = (r: BoundsRun): [number, number][] =>
    r.points.filter((q) => q.workers <= endOf(r)).map((q) => [X(q.workers), Y(q.lower)]);
  // Runs on different numbers of workers that are measured against one of them form one curve.
  const shown = p.measured
    .filter((m) => m.workers <= most && m.speedup > 0)
    .sort((a, b) => a.workers - b.workers);
  const serialPoints = shown.filter((m) => m.against_serial && !m.simulated);
  const curve =
    new Set(serialPoints.map((m) => m.workers)).size === serialPoints.length &&
    serialPoints[0]?.workers === 1
      ? serialPoints
      : [];
  const diagonal = fineSteps(most)
    .filter((n) => n <= high)
    .map((n): [number, number] => [X(n), Y(n)]);
  return (
    <svg
      width={p.width}
      height={p.height}
      role="img"
      aria-label={`Speedup bounds: ${p.runs.map((r) => `${r.label} at most ${plainNumber(r.limit)}`).join(", ")}${p.measured.length ? `; measured ${p.measured.map((m) => `${plainNumber(m.speedup)} on ${m.workers}`).join(", ")}` : ""}`}
    >
      {yTicks.map((v) => (
        <g key={v}>
          <line x1={left} x2={left + w} y1={Y(v)} y2={Y(v)} stroke={t.line} />
          <text x={left - 7} y={Y(v) + 4} text-anchor="end" font-size="11" fill={t.fg3}>
            {v === 0 ? "0" : v < 1 ? `1/${Math.round(1 / v)}×` : `${v}×`}
          </text>
        </g>
      ))}
      {xTicks.map(
        (n) =>
          (!p.compact || most <= 64 || Math.log2(n) % 2 === 0) && (
            <text
              key={n}
              x={X(n)}
              y={top + h + 16}
              text-anchor="middle"
              font-size="11"
              fill={t.fg3}
            >
              {n}
            </text>
          ),
      )}
      <text x={left + w} y={top + h + 28} text-anchor="end" font-size="11" fill={t.fg3}>
        workers
      </text>
      <path d={line(diagonal)} fill="none" stroke={t.fg3} stroke-width="1" stroke-dasharray="2 3" />
      {p.runs.map((r) => {
        const up = upper(r),
          low = lower(r);
        return (
          <g key={r.id}>
            {r.filled !== false && (
              <path
                d={line(up) + line([...low].reverse()).replace("M", "L") + "Z"}
                fill={r.colour}
                fill-opacity=".14"
              />
            )}
            <path
              d={line(low)}
              fill="none"
              stroke={r.colour}
              stroke-width="1"
              stroke-dasharray="4 3"
            />
            {r.burdened !== null && r.burdened < r.limit * 0.995 && (
              <path
                d={line(
                  fineSteps(most)
                    .filter((n) => n <= endOf(r))
                    .map((n): [number, number] => [X(n), Y(Math.min(n, r.burdened!))]),
                )}
                fill="none"
                stroke={r.colour}
                stroke-width="1.2"
                stroke-dasharray="1.5 2.5"
              />
            )}
            <path d={line(up)} fill="none" stroke={r.colour} stroke-width="1.8" />
          </g>
        );
      })}
      {p.compact && p.runs.length === 1 && p.runs[0]!.limit < high && (
        <HaloText
          x={left + w}
          y={Math.max(11, Y(Math.min(p.runs[0]!.limit, most)) - 7)}
          anchor="end"
          size={11}
          weight={600}
          fill={t.fg}
          text={`at most ${multiple(p.runs[0]!.limit)}${
            endOf(p.runs[0]!) < most ? `, divided among ${endOf(p.runs[0]!)}` : ""
          }`}
          ground={t.panel2}
        />
      )}
      {p.compact &&
        p.runs.length === 1 &&
        (() => {
          const end = p.runs[0]!.points.filter((q) => q.workers <= most).at(-1);
          return end &&
            end.workers <= endOf(p.runs[0]!) &&
            Y(end.lower) - Y(p.runs[0]!.limit) > 26 &&
            !shown.some((m) => m.strong && Math.abs(Y(end.lower) + 10 - Y(m.speedup)) < 13) ? (
            <HaloText
              x={left + w}
              y={Y(end.lower) + 14}
              anchor="end"
              size={11}
              fill={t.fg2}
              text="lower bound"
              ground={t.panel2}
            />
          ) : null;
        })()}
      {!p.compact &&
        labels(
          p.runs.map((r) => ({
            y: Y(Math.min(r.limit, most)),
            text: r.label,
            limit: `at most ${multiple(r.limit)}`,
            fill: r.colour,
            // Beside the end of its line.
            x: X(endOf(r)) + 8,
          })),
        ).map((l, i) => (
          <g key={i} fill={l.fill} font-size="11.5">
            <text x={l.x} y={l.y + 2} font-weight="600">
              {l.text}
            </text>
            <text x={l.x} y={l.y + 16}>
              {l.limit}
            </text>
          </g>
        ))}
      {curve.length > 2 && (
        <path
          d={line(curve.map((m): [number, number] => [X(m.workers), Y(m.speedup)]))}
          fill="none"
          stroke={t.fg2}
          stroke-width="1"
        />
      )}
      {p.measured
        .filter((m) => m.workers <= most && m.speedup > 0)
        .map((m, i) => (
          <g key={i}>
            <path
              d={pointPath(X(m.workers), Y(m.speedup), m.strong ? 5 : 4, m.simulated)}
              fill={m.strong ? m.colour : t.panel}
              stroke={m.strong ? t.panel : m.colour}
              stroke-width={m.strong ? 1.5 : 2}
            >
              <title>{`${multiple(m.speedup)} on ${m.workers}, ${m.simulated ? "simulated" : "measured"}: ${m.how}`}</title>
            </path>
            {m.strong &&
              p.compact &&
              (() => {
                // Below the label's usual place if the flat line of the bound would cross it.
                const bound = p.runs[0]?.limit ?? 0,
                  onLine = Math.abs(Y(m.speedup) - Y(bound)) < 9,
                  // Above it if the axis' numbers are below it.
                  onAxis = Y(m.speedup) > top + h - 8,
                  text = `${multiple(m.speedup)} this run`,
                  flip = X(m.workers) + 14 + textWidth(text, 11.5, 600) > left + w;
                return (
                  <HaloText
                    x={X(m.workers) + (flip ? -9 : 9)}
                    y={Y(m.speedup) + (onAxis ? -6 : onLine ? 17 : 4)}
                    anchor={flip ? "end" : "start"}
                    size={11.5}
                    weight={600}
                    fill={t.fg}
                    text={text}
                    ground={t.panel2}
                  />
                );
              })()}
          </g>
        ))}
    </svg>
  );
}

/** A circle for a measured speedup, a diamond for a simulated one. */
export function pointPath(x: number, y: number, r: number, simulated: boolean): string {
  const d = r * 1.25;
  return simulated
    ? `M${x} ${y - d}L${x + d} ${y}L${x} ${y + d}L${x - d} ${y}Z`
    : `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
}

function HaloText(p: {
  x: number;
  y: number;
  anchor: "start" | "end";
  size: number;
  weight?: number;
  fill: string;
  text: string;
  ground: string;
}) {
  return (
    <text
      x={p.x}
      y={p.y}
      text-anchor={p.anchor}
      font-size={p.size}
      font-weight={p.weight ?? 400}
      fill={p.fill}
      paint-order="stroke"
      stroke={p.ground}
      stroke-width="3.5"
      stroke-linejoin="round"
    >
      {p.text}
    </text>
  );
}

function fineSteps(most: number): number[] {
  const n = Math.ceil(Math.log2(most) * 8);
  return Array.from({ length: n + 1 }, (_, i) => 2 ** ((i / n) * Math.log2(most)));
}

function linear(high: number): number[] {
  const step = [1, 2, 5, 10, 20, 50, 100, 200].find((s) => high / s <= 5) ?? 500;
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step);
}

/** Labels at one edge, moved apart so that they do not overlap. */
function labels<T extends { y: number }>(list: T[]): T[] {
  const sorted = [...list].sort((a, b) => a.y - b.y);
  for (let i = 1; i < sorted.length; i++)
    sorted[i] = { ...sorted[i]!, y: Math.max(sorted[i]!.y, sorted[i - 1]!.y + 32) };
  return sorted;
}
