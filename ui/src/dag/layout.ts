/**
 * Places every node. An expanded task is a spine of strands. Tasks that they create hang below (a
 * fork whose creator waits) or beside (a creator that goes on), in lanes, until the strand that
 * waited for them. Sizes are computed bottom up, then positions top down, in time linear in the
 * shown nodes.
 *
 * Lanes of siblings never overlap, so boxes do not either. Earlier children lie further out, so
 * that their links cross nothing.
 */

import type { Layout } from "../store";
import { criticalOf, endOf, startOf, type Model, type DagNode } from "./model";
import {
  durationHeight,
  lengthOf,
  logHeight,
  levelsIn,
  timeScale,
  type TimeScale,
} from "./timeScale";

export const STRAND_WIDTH = 100;
export const CARD_WIDTH = 104;
export const STRAND_HEIGHT = 40;
export const CARD_HEIGHT = 140;
/** Size of a strand that only forks. */
export const DOT = 10;
export const GAP_X = 16;
/** Distance between a node and the next below, by structure and by duration. */
export const GAP_STRUCTURE = 24;
export const GAP_TIMED = 28;
/** Maximum number of siblings with a lane each; more siblings share lanes. */
const MAX_LANES = 10;
/** Minimum number of columns for siblings with dependences, if there are that many siblings. */
const MIN_COLUMNS = 9;
/**
 * Share of the run below which strands are dots, in layouts in which time does not determine the
 * height.
 */
const DOT_SHARE = 1 / 500;

export interface Options {
  layout: Layout;
  power: number;
  /** Duration of the whole run in ticks. */
  elapsed: number;
}

export interface LayoutResult {
  width: number;
  height: number;
  /** Only in the layout `time`. */
  time: TimeScale | null;
}

const FRAME_MARGIN = 10;

/**
 * True if the node has a frame around its inside: groups, and tasks that consist of groups, whose
 * parts have no links to the rest.
 */
export const hasFrame = (f: DagNode): boolean =>
  f.kind === "group" ||
  (f.kind !== "run" && f.inside !== null && f.inside.every((n) => n.kind === "group"));

/** The space of an inside on both sides of its spine. */
interface Extent {
  left: number;
  right: number;
  height: number;
}

/** True if a strand is drawn as a dot, because it only forks and takes little time. */
export function isDot(n: DagNode, o: Options): boolean {
  if (!n.strand || n.folded) return false;
  return (
    lengthOf(n) < o.elapsed * DOT_SHARE && (n.strand.creates.length > 0 || n.strand.end_kind !== 4)
  );
}

/** Computes x, y, w, h and spine for all nodes of the model. */
export function place(model: Model, o: Options): LayoutResult {
  const time = o.layout === "time" ? timeScale(model, 0, Math.max(1, o.elapsed)) : null;
  const gap = o.layout === "structure" ? GAP_STRUCTURE : GAP_TIMED;
  const exponent = o.layout === "power" ? o.power : 1;

  for (const n of model.boxes) {
    n.above = n.below = false;
    n.w = n.strand && !n.folded ? STRAND_WIDTH : CARD_WIDTH;
    n.spine = n.w / 2;
    if (o.layout === "structure")
      n.h = isDot(n, o) ? DOT : n.folded?.expandable ? CARD_HEIGHT : STRAND_HEIGHT;
    else if (o.layout === "log") n.h = Math.max(0.5, logHeight(lengthOf(n), o.elapsed));
    else n.h = Math.max(0.5, durationHeight(lengthOf(n), o.elapsed, exponent));
  }
  for (let i = model.frames.length - 1; i >= 0; i--) {
    const f = model.frames[i]!;
    f.above = f.below = false;
    const e = inside(f, gap, time !== null);
    f.w = e.left + e.right;
    f.h = e.height;
    f.spine = e.left;
    if (hasFrame(f)) {
      // Make room for the surrounding frame.
      for (const n of f.inside!) {
        n.x += FRAME_MARGIN;
        n.y += FRAME_MARGIN;
      }
      f.w += 2 * FRAME_MARGIN;
      f.h += 2 * FRAME_MARGIN;
      f.spine += FRAME_MARGIN;
    }
  }
  const top = model.top;
  top.x = top.y = 0;
  for (const f of model.frames) {
    for (const c of f.inside!) {
      c.x += f.x;
      c.y += f.y;
    }
  }
  if (time) placeByTime(model, time);
  return { width: top.w, height: time ? time.y(time.t1) : top.h, time };
}

/**
 * Children between a fork and the strand at which all of them have ended, with the spine's strands
 * in between.
 */
interface Section {
  children: DagNode[];
  strands: DagNode[];
}

/** Places the items of `f` relative to `f`. */
function inside(f: DagNode, gap: number, timed: boolean): Extent {
  const items = f.inside!;
  if (items.length === 0) return { left: STRAND_WIDTH / 2, right: STRAND_WIDTH / 2, height: DOT };
  const byKey = new Map<string, DagNode>();
  for (const n of items) if (!n.strand) byKey.set(n.key, n);
  const joined = new Set<string>();
  const creator = new Map<DagNode, DagNode>();
  for (const n of items) {
    if (!n.strand) continue;
    for (const id of n.strand.joins) joined.add(id);
    for (const id of n.strand.creates) {
      const c = byKey.get(id);
      if (c && !creator.has(c)) creator.set(c, n);
    }
  }

  // Vertically: each strand below the previous one and what it waited for, each child below its
  // creator and its dependences.
  const sections: Section[] = [];
  const free: DagNode[] = [];
  let open: Section | null = null;
  let loose: Section | null = null;
  const placed = new Set<DagNode>();
  const counted = new Set<DagNode>();
  const strands = items.some((n) => n.strand);
  let pending = 0;
  let spine = 0;
  let height = 0;
  let latest: DagNode | null = null;
  const closed = new Set<string>();
  for (const n of items) {
    if (n.strand) {
      let y = spine;
      for (const id of n.strand.joins) {
        const c = byKey.get(id);
        if (!c || closed.has(id) || !placed.has(c)) continue;
        closed.add(id);
        if (counted.has(c)) pending--;
        y = Math.max(y, c.y + c.h);
      }
      n.y = latest || y > 0 ? y + gap : 0;
      spine = n.y + n.h;
      height = Math.max(height, spine);
      latest = n;
      if (open && pending <= 0) open = null;
      if (open) open.strands.push(n);
    } else {
      const by = creator.get(n) ?? latest;
      let y = by ? by.y + by.h + gap : 0;
      for (const id of n.folded!.depends) {
        const d = byKey.get(id);
        if (d && d !== n && placed.has(d)) y = Math.max(y, d.y + d.h + gap);
      }
      n.y = y;
      height = Math.max(height, y + n.h);
      placed.add(n);
      if (!by && strands) {
        // Created in the previous stretch: beside this stretch's spine.
        free.push(n);
      } else if (!by) {
        // Roots of the run and tasks of a group form one row.
        if (!loose) sections.push((loose = { children: [], strands: [] }));
        loose.children.push(n);
      } else if (!joined.has(n.key)) {
        free.push(n);
      } else {
        if (!open) sections.push((open = { children: [], strands: [] }));
        open.children.push(n);
        counted.add(n);
        pending++;
      }
    }
  }

  // Horizontally: lanes relative to the spine at 0.
  let left = 0;
  let right = 0;
  // An opened folded strand is wider than its spine.
  let half = STRAND_WIDTH / 2;
  if (latest) left = right = half;
  for (const n of items) {
    if (!n.strand) continue;
    left = Math.max(left, n.spine);
    half = Math.max(half, n.w - n.spine);
  }
  if (latest) right = half;
  const top = (n: DagNode) => (timed ? startOf(n) : n.y);
  const bottom = (n: DagNode) => (timed ? endOf(n) : n.y + n.h);
  const after = (n: DagNode): number =>
    n.folded!.depends.reduce((y, id) => {
      const d = byKey.get(id);
      return d && d !== n ? Math.max(y, d.y + d.h + gap) : y;
    }, -Infinity);
  for (const s of sections) {
    const beside = s.strands.length > 0;
    if (!timed) for (const c of s.children) c.y = Math.max(c.y, after(c));
    const lanes =
      s.children.length > MAX_LANES
        ? pack(s.children, top, bottom, timed ? 0 : gap / 2, beside || timed, after)
        : s.children.map((c) => [c]);
    if (beside) lanes.reverse();
    const total = lanes.reduce((sum, l) => sum + widest(l), 0) + GAP_X * (lanes.length - 1);
    const first = lanes[0]!,
      last = lanes[lanes.length - 1]!;
    const from = beside
      ? half + GAP_X
      : -(spineIn(first) + total - widest(last) + spineIn(last)) / 2;
    placeLanes(lanes, from);
    if (!timed && !beside && s.children.length > MAX_LANES) {
      // Lanes of a fork grow downwards, so what waits for them moves down.
      const grown = Math.max(...s.children.map((c) => c.y + c.h));
      height = Math.max(height, shift(items, s, grown, gap));
    }
    left = Math.max(left, -from);
    right = Math.max(right, from + total);
  }
  if (free.length > 0) {
    if (!timed) for (const c of free) c.y = Math.max(c.y, after(c));
    const lanes =
      free.length > MAX_LANES
        ? pack(free, top, bottom, timed ? 0 : gap / 2, true, after)
        : free.map((c) => [c]);
    lanes.reverse();
    const from = right + (latest || sections.length > 0 ? GAP_X : 0);
    right = from + lanes.reduce((sum, l) => sum + widest(l), 0) + GAP_X * (lanes.length - 1);
    placeLanes(lanes, from);
  }
  for (const n of items) height = Math.max(height, n.y + n.h);
  for (const n of items) n.x = n.strand ? left - n.spine : n.x + left;
  return { left, right, height };
}

const widest = (lane: DagNode[]): number => lane.reduce((w, n) => Math.max(w, n.w), 0);
const spineIn = (lane: DagNode[]): number => lane[0]!.spine;

function placeLanes(lanes: DagNode[][], from: number): void {
  let x = from;
  for (const lane of lanes) {
    const w = widest(lane);
    lane.forEach((n, i) => {
      n.x = x;
      n.above = i > 0;
      n.below = i < lane.length - 1;
      n.gutter = w - n.w + GAP_X / 2;
    });
    x += w + GAP_X;
  }
}

/**
 * Packs siblings, in order, into the fewest lanes without overlap. If `fixed` is false, all start
 * at one height and are stacked in as many lanes as give about the shape of the screen.
 */
function pack(
  children: DagNode[],
  top: (n: DagNode) => number,
  bottom: (n: DagNode) => number,
  gap: number,
  fixed: boolean,
  after: (n: DagNode) => number,
): DagNode[][] {
  if (!fixed) {
    const area = children.reduce((sum, c) => sum + (c.w + GAP_X) * (c.h + gap), 0);
    const columns = Math.max(
      2,
      Math.min(children.length, Math.round(Math.sqrt(area * 1.6) / (widest(children) + GAP_X))),
    );
    const lanes: DagNode[][] = Array.from({ length: columns }, () => []);
    const ends = new Array<number>(columns).fill(-Infinity);
    for (const c of children) {
      let k = 0;
      for (let i = 1; i < columns; i++) if (ends[i]! < ends[k]!) k = i;
      c.y = Math.max(c.y, ends[k]! + gap, after(c));
      ends[k] = c.y + c.h;
      lanes[k]!.push(c);
    }
    return lanes.filter((l) => l.length > 0);
  }
  const lanes: DagNode[][] = [];
  const ends: number[] = [];
  const laneOf = new Map<string, number>();
  const depends = children.some((c) => c.folded!.depends.length > 0);
  // A single column would look like a series. Tasks that may run together get a few columns; a task
  // with a dependence continues the column of its predecessor.
  const least = depends ? MIN_COLUMNS : gap > 0 ? 4 : 1;
  for (const c of [...children].sort((a, b) => top(a) - top(b) || a.index - b.index)) {
    const free = (i: number) => ends[i]! + gap <= top(c);
    let k =
      c
        .folded!.depends.map((id) => laneOf.get(id) ?? -1)
        .find(
          (i) =>
            i >= 0 && free(i) && c.folded!.depends.includes(lanes[i]![lanes[i]!.length - 1]!.key),
        ) ?? -1;
    if (k < 0 && lanes.length >= least)
      for (let i = 0; i < lanes.length; i++) if (free(i) && (k < 0 || ends[i]! < ends[k]!)) k = i;
    if (k < 0) {
      k = lanes.length;
      lanes.push([]);
    }
    lanes[k]!.push(c);
    laneOf.set(c.key, k);
    ends[k] = bottom(c);
  }
  return lanes;
}

/**
 * Moves everything after a section down so that it starts below `grown`; returns the new height.
 */
function shift(items: DagNode[], s: Section, grown: number, gap: number): number {
  const lastIndex = s.children[s.children.length - 1]!.index;
  const after = items.slice(lastIndex + 1);
  const next = after.find((n) => n.strand);
  let height = grown;
  if (next) {
    const by = grown + gap - next.y;
    if (by > 0) for (const n of after) n.y += by;
  }
  for (const n of items) height = Math.max(height, n.y + n.h);
  return height;
}

/** Heights and places by absolute time; forks in a break by their level. */
function placeByTime(model: Model, scale: TimeScale): void {
  const set = (n: DagNode, y0: number, y1: number) => {
    n.y = y0;
    n.h = Math.max(0.01, y1 - y0);
  };
  for (const f of model.frames) {
    if (f.kind === "run") set(f, 0, scale.y(scale.t1));
    else set(f, heightOfStart(scale, startOf(f)), scale.y(endOf(f)));
  }
  for (const n of model.boxes)
    set(
      n,
      heightOfStart(scale, startOf(n)),
      Math.max(heightOfStart(scale, startOf(n)), scale.y(endOf(n))),
    );
  for (const b of scale.breaks) {
    const room = (b.y1 - b.y0) / (b.levels + 1);
    for (const [n, level] of levelsIn(model, b)) {
      const at = Math.min(b.y1 - room * 0.25, b.y0 + (level + 0.25) * room);
      if (startOf(n) >= b.from) set(n, at, at + 0.01);
      else set(n, Math.min(heightOfStart(scale, startOf(n)), at), at);
    }
  }
  // A fork in a break is above its time: the frame around it begins there.
  for (const f of [...model.frames].reverse()) {
    if (!hasFrame(f)) continue;
    const top = Math.min(f.y, ...f.inside!.map((n) => n.y));
    f.h += f.y - top;
    f.y = top;
  }
}

/** The height of a start: one within a break is below the break. */
function heightOfStart(scale: TimeScale, t: number): number {
  for (const b of scale.breaks) if (t >= b.from && t <= b.to) return b.y1;
  return scale.y(t);
}

/** Node priority for display: critical ones first, then by time inside. */
export function displayPriority(n: DagNode): number {
  return ((n.folded?.work ?? n.strand?.weight ?? 0) + 1) * (criticalOf(n) ? 1e6 : 1);
}
