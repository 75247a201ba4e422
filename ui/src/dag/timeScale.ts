/**
 * Maps ticks to heights. The layout `time` maps absolute time with at most a few breaks, in which
 * nested forks of microseconds get room that time alone does not give them. The other layouts map
 * durations to heights.
 */

import { endOf, startOf, type Model, type DagNode } from "./model";

/** Height of the whole run in the layouts with time, in layout units. */
export const HEIGHT = 1600;

export interface Break {
  /** The interval, in ticks, in which the axis is stretched. */
  from: number;
  to: number;
  /** Its position in the layout. */
  y0: number;
  y1: number;
  /** Nested levels of forks that it makes room for. */
  levels: number;
}

export interface TimeScale {
  t0: number;
  t1: number;
  breaks: Break[];
  /** Ticks per layout unit outside breaks. */
  ticksPerUnit: number;
  y(t: number): number;
  /** Time at a height; inside a break, the break's start. */
  t(y: number): number;
}

/** Height of one level of forks. */
export const LEVEL = 36;

/** Share of the shown time below which adjacent forks share a break. */
const BREAK_SHARE = 1 / 90;
const MAX_BREAKS = 4;
/** Number of levels with full height; more levels share it. */
const MAX_LEVELS = 16;

/** Strands that end in a shown fork, with the number of such forks around them. */
function forks(model: Model): { t: number; depth: number; node: DagNode }[] {
  const out: { t: number; depth: number; node: DagNode }[] = [];
  for (const n of model.boxes) {
    if (n.strand && n.strand.creates.length > 0 && n.parent!.inside!.some((c) => c.folded))
      out.push({ t: endOf(n), depth: n.depth, node: n });
  }
  return out.sort((a, b) => a.t - b.t || a.depth - b.depth);
}

/** The scale of a model over [t0, t1], ticks. */
export function timeScale(model: Model, t0: number, t1: number): TimeScale {
  const width = Math.max(1, t1 - t0);
  const near = width * BREAK_SHARE;
  const found: { from: number; to: number; levels: number }[] = [];
  const all = forks(model);
  // A strand after a wait is below what it waited for only if time goes on there, so a wait's end
  // also ends the cluster.
  const waits = model.boxes
    .filter((n) => n.strand && n.strand.joins.length > 0)
    .map(startOf)
    .sort((a, b) => a - b);
  let wait = 0;
  for (let i = 0; i < all.length;) {
    let k = i + 1;
    // A cluster is at most a few pixels long, so that it still counts as a moment.
    while (wait < waits.length && waits[wait]! <= all[i]!.t) wait++;
    const until = waits[wait] ?? Infinity;
    while (k < all.length && all[k]!.t - all[i]!.t <= near && all[k]!.t < until) k++;
    const cluster = all.slice(i, k);
    const levels = nesting(cluster.map((c) => c.node));
    if (levels >= 2)
      found.push({ from: cluster[0]!.t, to: cluster[cluster.length - 1]!.t, levels });
    i = k;
  }
  found.sort((a, b) => b.levels - a.levels || a.from - b.from);
  found.length = Math.min(found.length, MAX_BREAKS);
  found.sort((a, b) => a.from - b.from);

  const perTick = HEIGHT / width;
  const breaks: Break[] = [];
  let extra = 0;
  for (const f of found) {
    const y0 = (f.from - t0) * perTick + extra;
    const room = Math.min(MAX_LEVELS, f.levels + 1) * LEVEL;
    extra += Math.max(0, room - (f.to - f.from) * perTick);
    breaks.push({ ...f, y0, y1: (f.to - t0) * perTick + extra });
  }
  const y = (t: number): number => {
    let more = 0;
    for (const b of breaks) {
      if (t <= b.from) break;
      if (t < b.to) return b.y0 + ((t - b.from) / (b.to - b.from)) * (b.y1 - b.y0);
      more = b.y1 - (b.to - t0) * perTick;
    }
    return (t - t0) * perTick + more;
  };
  const t = (at: number): number => {
    let more = 0;
    for (const b of breaks) {
      if (at <= b.y0) break;
      if (at < b.y1) return b.from;
      more = b.y1 - (b.to - t0) * perTick;
    }
    return t0 + (at - more) / perTick;
  };
  return { t0, t1, breaks, ticksPerUnit: width / HEIGHT, y, t };
}

/**
 * Maximum nesting of `nodes`: a fork is inside another if its task descends from the other's task.
 */
function nesting(nodes: DagNode[]): number {
  const frames = new Set(nodes.map((n) => n.parent!));
  const depth = new Map<DagNode, number>();
  let most = 0;
  for (const start of frames) {
    const way: DagNode[] = [];
    let at: DagNode | null = start;
    while (at && !depth.has(at)) {
      way.push(at);
      at = at.parent;
    }
    let d = at ? depth.get(at)! : 0;
    for (let i = way.length - 1; i >= 0; i--) {
      if (frames.has(way[i]!)) d++;
      depth.set(way[i]!, d);
    }
    most = Math.max(most, depth.get(start)!);
  }
  return most;
}

/**
 * Level (from 0) of each strand that ends in a break with a task that forks there; it gives the
 * position within the break. Strands of one task share a level, one after another in its upper
 * half.
 */
export function levelsIn(model: Model, b: Break): Map<DagNode, number> {
  const out = new Map<DagNode, number>();
  const level = new Map<DagNode, number>();
  const mine = (c: DagNode): boolean => c.strand !== null && endOf(c) >= b.from && endOf(c) <= b.to;
  for (const f of model.frames) {
    const up = f.parent ? level.get(f.parent)! : -1;
    const strands = f.inside!.filter(mine);
    const forks = strands.some((n) => n.strand!.creates.length > 0);
    const own = forks ? up + 1 : up;
    level.set(f, own);
    if (forks) strands.forEach((n, i) => out.set(n, own + (0.5 * i) / strands.length));
  }
  return out;
}

/**
 * Height of a duration in ticks. `whole` ticks are HEIGHT with exponent 1; smaller exponents make
 * short durations taller.
 */
export function durationHeight(ticks: number, whole: number, exponent: number): number {
  return HEIGHT * Math.pow(Math.max(0, ticks) / Math.max(1, whole), exponent);
}

/**
 * Share of the whole below which a duration has no height in the logarithmic layout: six decades.
 */
const MIN_LOG_SHARE = 1e-6;
/**
 * Height of the whole in the logarithmic layout, as every strand of a spine may be nearly as high.
 */
const LOG_HEIGHT = 180;

/** Height of a duration if each decade of time has the same height. */
export function logHeight(ticks: number, whole: number): number {
  const decades = Math.log10(Math.max(MIN_LOG_SHARE, ticks / Math.max(1, whole)) / MIN_LOG_SHARE);
  return (LOG_HEIGHT * decades) / -Math.log10(MIN_LOG_SHARE);
}

export const lengthOf = (n: DagNode): number => Math.max(0, endOf(n) - startOf(n));
