/** Ranges of a run, changed by pointer and keys. Pure. */

export interface Range {
  t0: number;
  t1: number;
}

/** The dragged part of a range: an end, the whole range, or a new range. */
export type Side = "start" | "end" | "middle" | "new";

/** Steps of an arrow key, also with Shift, as shares of the run. */
const STEP = 0.01;
const LARGE_STEP = 0.1;

/** The range after a drag between two places, given as shares of the run. */
export function rangeAfterDrag(
  old: Range | null,
  side: Side,
  from: number,
  to: number,
  elapsed: number,
): Range {
  if (!old || side === "new") return ordered(from * elapsed, to * elapsed, elapsed);
  const by = (to - from) * elapsed;
  if (side === "start") return ordered(old.t0 + by, old.t1, elapsed);
  if (side === "end") return ordered(old.t0, old.t1 + by, elapsed);
  const within = Math.min(elapsed - old.t1, Math.max(-old.t0, by));
  return ordered(old.t0 + within, old.t1 + within, elapsed);
}

/**
 * The left edges of the targets at the ends of a range from `a` to `b`, in pixels. They lie outside
 * of it, so that those of a short range do not overlap; at an edge of the strip they move inwards,
 * one beside the other.
 */
export function targetsOf(
  a: number,
  b: number,
  width: number,
  target: number,
): { start: number; end: number } {
  const start = Math.max(0, Math.min(a - target, width - 2 * target));
  return { start, end: Math.max(start + target, Math.min(b, width - target)) };
}

/** The range after a key on one of its ends; null if the key does nothing. */
export function rangeAfterKey(
  old: Range | null,
  side: "start" | "end",
  key: string,
  large: boolean,
  elapsed: number,
): Range | null {
  const step = (large ? LARGE_STEP : STEP) * elapsed;
  const { t0, t1 } = old ?? { t0: 0, t1: elapsed };
  const at = side === "start" ? t0 : t1;
  const to = {
    ArrowLeft: at - step,
    ArrowDown: at - step,
    ArrowRight: at + step,
    ArrowUp: at + step,
    Home: side === "start" ? 0 : t0 + step,
    End: side === "start" ? t1 - step : elapsed,
  }[key];
  if (to === undefined) return null;
  return side === "start"
    ? ordered(Math.min(to, t1 - 1), t1, elapsed)
    : ordered(t0, Math.max(to, t0 + 1), elapsed);
}

function ordered(a: number, b: number, elapsed: number): Range {
  const [t0, t1] = [Math.max(0, Math.min(a, b)), Math.min(elapsed, Math.max(a, b))];
  return { t0: Math.round(t0), t1: Math.max(Math.round(t1), Math.round(t0) + 1) };
}
