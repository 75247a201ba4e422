/**
 * Maps time to pixels and back: windows, zooming around a point, marks of the axis. Times are ticks
 * relative to the run's start.
 */

/** An interval of time, t0 < t1. */
export interface Span {
  t0: number;
  t1: number;
}

/** A window and its position on the canvas, in CSS pixels. */
export interface Scale extends Span {
  x0: number;
  width: number;
}

export const pixelAt = (s: Scale, t: number): number =>
  s.x0 + ((t - s.t0) / (s.t1 - s.t0)) * s.width;
export const timeAt = (s: Scale, px: number): number =>
  s.t0 + ((px - s.x0) / s.width) * (s.t1 - s.t0);
export const ticksPerPixel = (s: Scale): number => (s.t1 - s.t0) / s.width;

/**
 * Width of the narrowest window: 20 ns, but at least four ticks, below which there is no further
 * detail.
 */
export function minWindow(ticksPerSecond: number): number {
  return Math.max(4, 20e-9 * ticksPerSecond);
}

/** The window moved into [0, elapsed], at least `least` wide; its width is kept if possible. */
export function clamp(w: Span, elapsed: number, least: number): Span {
  const full = Math.max(elapsed, 1);
  const width = Math.min(Math.max(w.t1 - w.t0, Math.min(least, full)), full);
  // A window that is too narrow grows around its middle, so that its contents stay in view.
  const middle = (w.t0 + w.t1) / 2;
  const t0 = Math.min(Math.max(width === w.t1 - w.t0 ? w.t0 : middle - width / 2, 0), full - width);
  return { t0, t1: t0 + width };
}

/** Zooms by `factor` (< 1: in). The time `at` keeps its pixel, as far as the run's ends allow. */
export function zoom(w: Span, factor: number, at: number, elapsed: number, least: number): Span {
  const width = w.t1 - w.t0;
  const to = Math.min(Math.max(width * factor, Math.min(least, elapsed)), Math.max(elapsed, 1));
  const t0 = at - ((at - w.t0) * to) / width;
  return clamp({ t0, t1: t0 + to }, elapsed, least);
}

/** Moves the window by a number of ticks. */
export function pan(w: Span, by: number, elapsed: number, least: number): Span {
  return clamp({ t0: w.t0 + by, t1: w.t1 + by }, elapsed, least);
}

/** True if the window is the whole run (up to rounding), for which the shared signal is null. */
export function isWholeRun(w: Span, elapsed: number): boolean {
  return w.t0 <= elapsed * 1e-9 && w.t1 >= elapsed * (1 - 1e-9);
}

/** A window with a margin around [t0, t1], as shown by F and a double click. */
export function withMargin(
  t0: number,
  t1: number,
  elapsed: number,
  least: number,
  room = 0.15,
): Span {
  const width = Math.max(t1 - t0, least / (1 + 2 * room));
  const middle = (t0 + t1) / 2;
  const half = width * (0.5 + room);
  return clamp({ t0: middle - half, t1: middle + half }, elapsed, least);
}

/** A window between two others, for animations: widths change by equal ratios, for an even zoom. */
export function interpolate(a: Span, b: Span, part: number): Span {
  if (part >= 1) return b;
  const wa = a.t1 - a.t0;
  const wb = b.t1 - b.t0;
  const width = wa * Math.pow(wb / wa, part);
  // The point that both windows show at the same pixel stays there.
  const moved = Math.abs(wa - wb) < 1e-12 * wa ? part : (wa - width) / (wa - wb);
  const t0 = a.t0 + (b.t0 - a.t0) * moved;
  return { t0, t1: t0 + width };
}

export interface Axis {
  /** Distance between two marks of the axis, in seconds. */
  step: number;
  ticks: { t: number; label: string }[];
  /** Origin of the labels if they would be too long otherwise: "1.234567 s +". */
  base: string | null;
}

const UNITS: [number, string][] = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

/** Marks at round times, about `count` of them. */
export function axis(w: Span, ticksPerSecond: number, count: number): Axis {
  const from = w.t0 / ticksPerSecond;
  const to = w.t1 / ticksPerSecond;
  const raw = (to - from) / Math.max(count, 1);
  const decade = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = decade * (raw <= decade ? 1 : raw <= 2 * decade ? 2 : raw <= 5 * decade ? 5 : 10);
  // The labels would need more than five digits before the last one that changes: count from a
  // base.
  const far = Math.max(Math.abs(from), Math.abs(to)) / step > 20000;
  const reach = decade * 100;
  const origin = far ? Math.floor(from / reach) * reach : 0;
  const largest = Math.max(to - origin, step);
  const [unit, name] =
    UNITS.find(([u]) => (far ? step * 10 >= u : largest >= 0.1 * u && step >= u * 1e-3)) ??
    UNITS[3]!;
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / step) - 1e-9)));
  const ticks: Axis["ticks"] = [];
  const first = Math.ceil((from - origin) / step - 1e-9);
  for (let k = first; k <= first + 4 * count + 8; k++) {
    const s = k * step;
    if (s + origin > to + step * 1e-9) break;
    const shown = `${(s / unit).toFixed(digits)}\u00a0${name}`;
    ticks.push({
      t: (s + origin) * ticksPerSecond,
      label: far ? `+${shown}` : k === 0 ? "0" : shown,
    });
  }
  return { step, ticks, base: far ? seconds(origin, reach) : null };
}

/** An origin with as many digits as its step needs. */
function seconds(s: number, step: number): string {
  const unit = s >= 1 ? UNITS[0]! : s >= 1e-3 ? UNITS[1]! : s >= 1e-6 ? UNITS[2]! : UNITS[3]!;
  const digits = Math.max(0, Math.min(9, Math.round(Math.log10(unit[0] / step))));
  return `${(s / unit[0]).toFixed(digits)}\u00a0${unit[1]}`;
}

/** A time with as many digits as its window distinguishes: `237.898884 ms` in a window of 20 ns. */
export function exact(t: number, w: Span, ticksPerSecond: number): string {
  const s = t / ticksPerSecond;
  const step = Math.pow(
    10,
    Math.floor(Math.log10(Math.max((w.t1 - w.t0) / ticksPerSecond, 1e-9) / 100)),
  );
  return Math.abs(s) < step / 2 ? "0\u00a0s" : seconds(s, Math.max(1e-10, step));
}
