/**
 * Running workers over time, above the stacks: a drag selects the range whose stacks are shown. The
 * range is also the timeline's selection, so the drawer reports on it.
 */

import { useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { usePlanes, valueOf } from "../answers";
import type { RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { axisTime, roundSteps, ticks } from "../format";
import { columns } from "../summary/RunningWorkers";
import { useWidth } from "../components/textWidth";
import { rangeAfterDrag, rangeAfterKey, targetsOf, type Range, type Side } from "./range";

const HEIGHT = 44;
/** Height of the axis below. */
const AXIS = 18;
/** Distance in pixels below which a press is a click. */
const MIN_DRAG = 4;
/** Distance in pixels within which an end of the range can be dragged, from inside the range. */
const GRIP = 6;
/** Width of the target at each end, outside of the range. */
const TARGET = 24;

export function RangeStrip(p: {
  run: RunMeta;
  part: Range | null;
  onChange: (to: Range | null) => void;
}) {
  const { run: r, part } = p;
  const [ref, width] = useWidth<HTMLDivElement>(900);
  const tile = valueOf(usePlanes(requests.profile(r.id, r.top_level, 0)));
  const drawn = useMemo(() => (tile ? profileOf(tile, r, width) : ""), [tile, r, width]);
  const draft = useSignal<Range | null>(null);
  const press = useRef<{ x: number; side: Side; moved: boolean } | null>(null);
  const shown = draft.value ?? part;
  const x = (t: number) => (t / r.elapsed) * width;
  const place = (e: PointerEvent) =>
    Math.min(width, Math.max(0, e.clientX - ref.current!.getBoundingClientRect().left));

  const sideAt = (at: number): Side => {
    if (!part) return "new";
    const [a, b] = [x(part.t0), x(part.t1)];
    if (a - TARGET <= at && at <= a + GRIP) return "start";
    if (b - GRIP <= at && at <= b + TARGET) return "end";
    return a < at && at < b ? "middle" : "new";
  };
  const to = (at: number): Range =>
    rangeAfterDrag(part, press.current!.side, press.current!.x / width, at / width, r.elapsed);
  const down = (e: PointerEvent) => {
    if (e.button !== 0) return;
    const at = place(e);
    press.current = { x: at, side: sideAt(at), moved: false };
    (e.currentTarget as Element).setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent) => {
    const was = press.current;
    const at = place(e);
    if (!was) {
      const side = sideAt(at);
      (e.currentTarget as HTMLElement).style.cursor =
        side === "middle" ? "grab" : side === "new" ? "crosshair" : "ew-resize";
      return;
    }
    was.moved ||= Math.abs(at - was.x) >= MIN_DRAG;
    if (was.moved) draft.value = to(at);
  };
  const up = (e: PointerEvent) => {
    const was = press.current;
    if (!was) return;
    const range = was.moved ? to(place(e)) : null;
    press.current = null;
    draft.value = null;
    // A click outside the range shows the whole run again; inside it nothing changes.
    if (range || was.side === "new") p.onChange(range);
  };
  const cancel = () => {
    press.current = null;
    draft.value = null;
  };
  const key = (e: KeyboardEvent, side: "start" | "end") => {
    const moved = rangeAfterKey(part, side, e.key, e.shiftKey, r.elapsed);
    if (!moved) return;
    e.preventDefault();
    e.stopPropagation();
    p.onChange(moved);
  };

  const perSecond = r.ticks_per_second;
  const marks = roundSteps(0, r.elapsed / perSecond, Math.max(2, Math.floor(width / 110)));
  const whole = shown ?? { t0: 0, t1: r.elapsed };
  const targets = targetsOf(x(whole.t0), x(whole.t1), width, TARGET);
  return (
    <div
      class="range-strip"
      ref={ref}
      role="group"
      aria-label="Range of the run"
      title="Drag to select a range. Click outside it to show the whole run."
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={cancel}
    >
      <svg width={width} height={HEIGHT + AXIS} aria-hidden="true">
        <rect width={width} height={HEIGHT} fill="var(--inset)" />
        <path d={drawn} fill="var(--work)" shape-rendering="crispEdges" />
        {shown && (
          <>
            <rect width={Math.max(0, x(shown.t0))} height={HEIGHT} class="veiled" />
            <rect
              x={x(shown.t1)}
              width={Math.max(0, width - x(shown.t1))}
              height={HEIGHT}
              class="veiled"
            />
            <rect
              x={x(shown.t0) + 0.75}
              y="0.75"
              width={Math.max(1, x(shown.t1) - x(shown.t0) - 1.5)}
              height={HEIGHT - 1.5}
              fill="none"
              stroke="var(--accent)"
              stroke-width="1.5"
            />
          </>
        )}
        {marks.at
          .map((s) => ({ s, at: x(s * perSecond) }))
          .filter(({ at }) => at <= width)
          .map(({ s, at }) => (
            <g key={s}>
              <line x1={at} x2={at} y1={HEIGHT} y2={HEIGHT + 3} stroke="var(--line2)" />
              <text
                x={at}
                y={HEIGHT + 14}
                font-size="11"
                fill="var(--fg3)"
                text-anchor={s === 0 ? "start" : at > width - 20 ? "end" : "middle"}
              >
                {axisTime(s, marks.step)}
              </text>
            </g>
          ))}
      </svg>
      {(["start", "end"] as const).map((side) => {
        const t = side === "start" ? whole.t0 : whole.t1;
        return (
          <span
            key={side}
            class={`grip ${side}${shown ? "" : " off"}`}
            role="slider"
            tabIndex={0}
            aria-label={side === "start" ? "Start of the range" : "End of the range"}
            aria-valuemin={0}
            aria-valuemax={r.elapsed}
            aria-valuenow={t}
            aria-valuetext={ticks(t, perSecond)}
            style={{ left: `${targets[side]}px` }}
            onKeyDown={(e) => key(e, side)}
          />
        );
      })}
    </div>
  );
}

/** The area of running workers, up to P. */
function profileOf(tile: Parameters<typeof columns>[0][number], r: RunMeta, width: number): string {
  const c = columns([tile], r.top_level, r.elapsed);
  const p = Math.max(1, r.workers);
  let d = `M0 ${HEIGHT}`;
  c.running.forEach((running, i) => {
    const y = HEIGHT - (Math.min(p, running) / p) * (HEIGHT - 4);
    const [from, to] = [i, i + 1].map(
      (k) => (Math.min(r.elapsed, k * c.width) / r.elapsed) * width,
    );
    d += `L${from!.toFixed(1)} ${y.toFixed(1)}H${to!.toFixed(1)}`;
  });
  return `${d}L${width} ${HEIGHT}Z`;
}
