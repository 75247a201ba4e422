/**
 * The strip beside the layout `time`: the time at each height, its breaks, and what ran at that
 * time, on the scale of the nodes.
 */

import { axisTime, roundSteps } from "../format";
import type { Tokens } from "../colors";
import type { Camera } from "./camera";
import { shorten, type TextStyle, type Pen } from "./pen";
import type { TimeScale } from "./timeScale";

/** Width of the strip with its labels, in pixels. */
export const STRIP_WIDTH = 144;
const BARS_X = 54;
const BARS_WIDTH = 72;
export const STRIP_HEAD_HEIGHT = 30;

/**
 * What workers do when they do not run, in the order drawn beside the running ones. The remaining
 * workers have no work of the program.
 */
const NOT_RUNNING = ["descheduled", "blocked", "delay", "sched", "unread"] as const;
type Kind = "running" | (typeof NOT_RUNNING)[number];

/** Mean number of workers by activity, in equal bins of a part of the run. */
export interface WorkersByActivity {
  workers: Record<Kind, ArrayLike<number>>;
  ticksPerBin: number;
  from: number;
}

export interface TimeStrip {
  scale: TimeScale;
  camera: Camera;
  height: number;
  width: number;
  workers: number;
  perSecond: number;
  /** Finest first; the first one that contains a moment is used for it. */
  running: readonly WorkersByActivity[];
  t: Tokens;
  /** The run is a part of a run: workers that do not run in it may do anything. */
  part: boolean;
}

export function drawTimeStrip(pen: Pen, s: TimeStrip): void {
  const { t, scale, camera } = s;
  const small: TextStyle = { size: 11, colour: t.fg3 };
  const y = (at: number) => scale.y(at) * camera.ky + camera.ty;
  const top = Math.max(STRIP_HEAD_HEIGHT, y(scale.t0));
  const bottom = Math.min(s.height, y(scale.t1));
  pen.clip(0, STRIP_HEAD_HEIGHT - 6, s.width, s.height - STRIP_HEAD_HEIGHT + 6, () => {
    if (bottom > top && s.part) pen.box(BARS_X, top, BARS_WIDTH, bottom - top, 0, t.inset);
    else if (bottom > top) pen.ground(BARS_X, top, BARS_WIDTH, bottom - top, "app");
    drawActivities(pen, s, top, bottom);
    // Marks are evenly spaced in time, and not drawn inside breaks.
    const from = scale.t(-camera.ty / camera.ky + (STRIP_HEAD_HEIGHT - 20) / camera.ky),
      to = scale.t((s.height - camera.ty) / camera.ky);
    const marks = roundSteps(
      Math.max(scale.t0, from) / s.perSecond,
      Math.min(scale.t1, to) / s.perSecond,
      Math.max(2, s.height / 70),
    );
    for (const at of marks.at) {
      const tick = at * s.perSecond;
      if (tick > scale.t1) break;
      const v = Math.round(y(tick)) + 0.5;
      if (v < STRIP_HEAD_HEIGHT - 4 || scale.breaks.some((b) => tick > b.from && tick < b.to))
        continue;
      pen.line([BARS_X, v, s.width, v], { colour: t.line, width: 1 });
      pen.text(axisTime(at, marks.step), BARS_X - 8, v + 4, { ...small, align: "right" });
    }
    for (const b of scale.breaks) {
      const y0 = b.y0 * camera.ky + camera.ty + 3,
        y1 = b.y1 * camera.ky + camera.ty - 3;
      if (y1 < STRIP_HEAD_HEIGHT || y0 > s.height || y1 - y0 < 8) continue;
      pen.box(BARS_X - 1, y0, BARS_WIDTH + 2, y1 - y0, 0, t.panel);
      for (const v of [y0, y1]) {
        const zig: number[] = [];
        for (let i = 0; i <= 10; i++)
          zig.push(BARS_X - 1 + (i * (BARS_WIDTH + 2)) / 10, v + (i % 2 ? 2.5 : -2.5));
        pen.line(zig, { colour: t.fg3, width: 1 });
      }
      if (y1 - y0 > 34) {
        pen.text(
          `forks: ${b.levels} ${b.levels === 1 ? "level" : "levels"}`,
          BARS_X,
          (y0 + y1) / 2 - 3,
          { ...small, size: 10.5 },
        );
        pen.text("not to scale", BARS_X, (y0 + y1) / 2 + 11, { ...small, size: 10.5 });
      }
    }
  });
  pen.text("time", 14, 18, small);
  const room = BARS_WIDTH - 8 - pen.measure(`of ${s.workers}`, small);
  const word = pen.measure("running", small) <= room ? "running" : "busy";
  pen.text(shorten(pen, word, room, small), BARS_X, 18, small);
  pen.text(`of ${s.workers}`, BARS_X + BARS_WIDTH, 18, { ...small, align: "right" });
}

/**
 * Equal rows of pixels, `rows` of them starting at `from`: the part beside the running workers
 * begins at x = `at`.
 */
interface Stretch {
  from: number;
  rows: number;
  at: number;
  width: number;
}

/** Draws one row of pixels at a time: running workers, then the other activities. */
function drawActivities(pen: Pen, s: TimeStrip, top: number, bottom: number): void {
  if (s.running.length === 0 || s.workers <= 0) return;
  const { scale, camera, t } = s;
  const unit = BARS_WIDTH / s.workers;
  const work: number[] = [BARS_X, top];
  const beside = NOT_RUNNING.map((): Stretch[] => []);
  const inBreak = (v: number) => scale.breaks.some((b) => v >= b.y0 && v < b.y1);
  for (let v = top; v < bottom; v++) {
    const h0 = (v - camera.ty) / camera.ky,
      h1 = (v + 1 - camera.ty) / camera.ky;
    if (inBreak(h0)) {
      work.push(BARS_X, v, BARS_X, v + 1);
      continue;
    }
    const t0 = scale.t(h0),
      t1 = scale.t(h1);
    const r =
      s.running.find(
        (p) => t0 >= p.from && t0 < p.from + p.workers.running.length * p.ticksPerBin,
      ) ?? s.running[s.running.length - 1]!;
    let at = Math.min(s.workers, mean(r, "running", t0, t1));
    work.push(BARS_X + at * unit, v, BARS_X + at * unit, v + 1);
    NOT_RUNNING.forEach((kind, i) => {
      const width = Math.min(s.workers - at, mean(r, kind, t0, t1));
      if (width > 0.05) addRow(beside[i]!, v, at, width);
      at += Math.max(0, width);
    });
  }
  work.push(BARS_X, bottom);
  pen.area(work, t.work);
  NOT_RUNNING.forEach((kind, i) =>
    beside[i]!.forEach((b) =>
      pen.ground(BARS_X + b.at * unit, b.from, b.width * unit, b.rows, kind),
    ),
  );
}

/** Mean number of workers of a kind over [t0, t1), in ticks. */
function mean(r: WorkersByActivity, kind: Kind, t0: number, t1: number): number {
  const of = r.workers[kind];
  const a = (t0 - r.from) / r.ticksPerBin,
    b = Math.max((t1 - r.from) / r.ticksPerBin, a + 1e-9);
  let sum = 0,
    width = 0;
  for (let i = Math.max(0, Math.floor(a)); i < b && i < of.length; i++) {
    const part = Math.min(b, i + 1) - Math.max(a, i);
    sum += part * of[i]!;
    width += part;
  }
  return width > 0 ? sum / width : 0;
}

/** Adds a row of pixels, extending the last stretch if it looks the same. */
function addRow(to: Stretch[], v: number, at: number, width: number): void {
  const last = to[to.length - 1];
  if (
    last &&
    v - (last.from + last.rows) < 1 &&
    Math.abs(last.at - at) < 0.1 &&
    Math.abs(last.width - width) < 0.1
  )
    last.rows++;
  else to.push({ from: v, rows: 1, at, width });
}
