/** Vertical layout of the timeline: minimap, axis, parallelism, regions, rows. In CSS pixels. */

import type { RowArrangement, RowGroup } from "./rowGroups";

export interface Bands {
  width: number;
  height: number;
  /** Left edge and width of everything with a time axis. */
  x0: number;
  plot: number;
  minimap: { y: number; h: number };
  /** Baseline of the axis' labels. */
  axis: number;
  strip: { y: number; h: number; base: number; p: number };
  regions: { y: number; h: number; lanes: number };
  rows: Rows;
}

export interface Rows {
  y: number;
  /** Visible height for rows. */
  h: number;
  count: number;
  /**
   * Height of a row with everything that belongs to it. Pinned rows among compact ones are higher.
   */
  pitch: number;
  lane: number;
  cpu: number;
  queue: number;
  /** Space above a lane, for the dots of spawns. */
  above: number;
  /** Rows of only a few pixels: no names, textures or dots. */
  compact: boolean;
  /** Rows from top to bottom; and the place of each row among them, -1 if it is hidden. */
  order: readonly number[];
  place: Int32Array;
  /** By place: distance of a row from the first; and the total height of all rows and heads. */
  tops: Float64Array;
  pitches: Float64Array;
  total: number;
  /** The rows of full height among compact ones, with their own layout; null if all are alike. */
  full: Rows | null;
  heads: readonly { y: number; group: RowGroup }[];
  /** Height of each head, and whether there is room for an area. */
  head: number;
  areas: boolean;
  /** By place: number of rows between a row and the head above it, or the first row. */
  since: Int32Array;
  /** Current and maximum scroll position. */
  scroll: number;
  most: number;
}

export const LABELS_WIDTH = 148;
const RIGHT = 14;
const ABOVE = 5;

/** Height of a lane: minimum, usual, and maximum if few rows leave room. */
const LANE = { least: 11, usual: 32, most: 96 };

/**
 * Maximum height of a lane in a run of few rows, which would otherwise leave a third of the window
 * empty.
 */
const MAX_LANE_OF_FEW_ROWS = 110;
const FEW_ROWS = 4;
/**
 * In a canvas of at least this height lanes are higher, and the strip takes more of the remaining
 * height.
 */
const TALL = { height: 900, lane: 160, strip: 0.65 };

/** Heights of compact lanes, with a pixel between two. */
const COMPACT_LANE = { least: 5, usual: 8, most: 10 };

/**
 * Heights of lanes on paper, where all rows share one page: without spawns, CPU time and queues.
 * From `textured` on they have textures, and names beside them.
 */
const PAPER_LANE = { least: 2, usual: 12, most: 32, textured: 7 };

/** Number of rows from which on rows that do not fit are compact by default. */
const MIN_COMPACT_ROWS = 48;

/** Height of the lane of a pinned row among compact ones. */
const PINNED_LANE = 18;

/** Height of the head of a group of rows; and with an area of its running workers. */
const HEAD_PX = 20;
const HEAD_WITH_AREA_PX = 32;

/** Height of the queue of waiting tasks below a lane. */
const QUEUE = 12;

export interface LayoutInput {
  width: number;
  height: number;
  rows: number;
  /** Rows from top to bottom; by default all of them by number. */
  order?: readonly number[];
  heads?: RowArrangement["heads"];
  rowHeight?: "auto" | "full" | "compact" | "paper";
  /** Rows that keep their names and textures while the others are compact. */
  pinned?: ReadonlySet<number>;
  /** Width reserved beside the time axis. */
  dock?: number;
  scroll: number;
  cpu: boolean;
  queue: boolean;
  regionLanes: number;
}

export function layOutBands(w: LayoutInput): Bands {
  const order = w.order ?? Array.from({ length: Math.max(1, w.rows) }, (_, row) => row);
  const count = Math.max(1, order.length);
  const full = ABOVE + (w.cpu ? 6 : 2) + (w.queue ? QUEUE + 3 : 0) + 2;
  const paper = w.rowHeight === "paper";
  const low =
    paper ||
    w.rowHeight === "compact" ||
    (w.rowHeight !== "full" &&
      count >= MIN_COMPACT_ROWS &&
      count * (full + LANE.least) > w.height - 200);
  const heads = w.heads ?? [];
  const areas = !paper && heads.some((h) => h.group.area);
  const head = areas ? HEAD_WITH_AREA_PX : HEAD_PX;
  const extra = low ? 1 : full;
  const lanes = paper ? PAPER_LANE : low ? COMPACT_LANE : LANE;
  const usualRows = count * (extra + lanes.usual) + heads.length * head;
  // Short windows have a lower strip, so that rows stay visible; height that few rows leave over
  // goes to the strip first.
  const usual = w.height > 420 ? 118 : w.height > 300 ? 84 : 54;
  const spare =
    w.height - (62 + 8 + usual + 14 + (w.regionLanes ? w.regionLanes * 14 + 2 : 0) + usualRows);
  const few = !low && count <= FEW_ROWS;
  // Few rows do not fill a window even at maximum height: the strip takes a part of the rest.
  const tall = w.height >= TALL.height;
  const most = few ? (tall ? TALL.lane : MAX_LANE_OF_FEW_ROWS) : lanes.most;
  const rest = few ? Math.max(0, spare - 90 - count * (most - lanes.usual)) : 0;
  const strip =
    usual + Math.round(Math.min(90, Math.max(0, spare)) + rest * (tall ? TALL.strip : 0.5));
  const minimap = { y: 8, h: w.height > 300 ? 30 : 18 };
  const axis = minimap.y + minimap.h + 24;
  const stripY = axis + 8;
  const regionsY = stripY + strip + 4;
  const regions = {
    y: regionsY,
    h: w.regionLanes ? w.regionLanes * 14 + 2 : 0,
    lanes: w.regionLanes,
  };
  const y = regionsY + regions.h + 6;
  const h = Math.max(24, w.height - y - 4);
  const isHigh = (row: number) => low && !paper && (w.pinned?.has(row) ?? false);
  const high = order.filter(isHigh).length;
  const highPitch = full + PINNED_LANE;
  const room = (h - heads.length * head - high * highPitch) / Math.max(1, count - high);
  const fits = Math.min(extra + most, Math.max(extra + lanes.least, room));
  const pitch = paper ? Math.floor(fits * 10) / 10 : Math.floor(fits);
  const lane = pitch - extra;
  const compact = paper ? lane < PAPER_LANE.textured : low;
  const pitches = Float64Array.from(order.length ? order : [0], (row) =>
    isHigh(row) ? highPitch : pitch,
  );
  const stood = stackRows(pitches, heads, head);
  const overflow = Math.max(0, stood.total - h);
  const rows: Rows = {
    y,
    h,
    count,
    pitch,
    lane,
    cpu: w.cpu && !low ? 3 : 0,
    queue: w.queue && !low ? QUEUE : 0,
    above: low ? 0 : ABOVE,
    compact,
    order,
    place: placesOf(order, w.rows),
    pitches,
    full: null,
    ...stood,
    head,
    areas,
    scroll: Math.min(Math.max(0, w.scroll), overflow),
    most: overflow,
  };
  if (high > 0)
    rows.full = {
      ...rows,
      pitch: highPitch,
      lane: PINNED_LANE,
      cpu: w.cpu ? 3 : 0,
      queue: w.queue ? QUEUE : 0,
      above: ABOVE,
      compact: false,
      place: placesOf(order, w.rows, (row) => w.pinned!.has(row)),
    };
  return {
    width: w.width,
    height: w.height,
    x0: LABELS_WIDTH,
    plot: Math.max(40, w.width - LABELS_WIDTH - RIGHT - (w.dock ?? 0)),
    minimap,
    axis,
    strip: { y: stripY, h: strip, base: stripY + strip, p: Math.round(strip * 0.61) },
    regions,
    rows,
  };
}

/** Right end of the rows; docked elements are beyond it. */
export const rowsEnd = (b: Bands): number => b.x0 + b.plot + RIGHT;

/** Groups of rows with equal height, because drawing depends on the height. */
export function partsOf(r: Rows): Rows[] {
  const { full } = r;
  if (!full) return [r];
  const place = r.place.map((at, row) => (full.place[row]! >= 0 ? -1 : at));
  return [full, { ...r, place, full: null }];
}

function placesOf(
  order: readonly number[],
  rows: number,
  has: (row: number) => boolean = () => true,
): Int32Array {
  const place = new Int32Array(Math.max(1, rows)).fill(-1);
  order.forEach((row, i) => {
    if (has(row)) place[row] = i;
  });
  return place;
}

/** Positions of rows and heads, from top to bottom. */
function stackRows(
  pitches: Float64Array,
  wanted: RowArrangement["heads"],
  headPx: number,
): Pick<Rows, "tops" | "total" | "heads" | "since"> {
  const count = pitches.length;
  const tops = new Float64Array(count);
  const since = new Int32Array(count);
  const heads: { y: number; group: RowGroup }[] = [];
  let y = 0;
  for (let place = 0, next = 0, first = 0; place < count; place++) {
    const head = wanted[next];
    if (head?.at === place) {
      heads.push({ y, group: head.group });
      y += headPx;
      next++;
      first = place;
    }
    since[place] = place - first;
    tops[place] = y;
    y += pitches[place]!;
  }
  return { tops, total: y, heads, since };
}

/** Position of hidden rows, far above the canvas. */
const HIDDEN_Y = -100_000;

export const isShown = (r: Rows, row: number): boolean => (r.place[row] ?? -1) >= 0;
export const rowTop = (r: Rows, row: number): number =>
  isShown(r, row) ? r.y + r.tops[r.place[row]!]! - r.scroll : HIDDEN_Y;
/** The layout that applies to a row: among compact rows, a pinned one has full height. */
export const styleOf = (r: Rows, row: number): Rows =>
  r.full && (r.full.place[row] ?? -1) >= 0 ? r.full : r;
export const laneTop = (r: Rows, row: number): number => rowTop(r, row) + styleOf(r, row).above;
export const laneHeight = (r: Rows, row: number): number => styleOf(r, row).lane;
export const laneMiddle = (r: Rows, row: number): number =>
  laneTop(r, row) + laneHeight(r, row) / 2;
export const headTop = (r: Rows, head: number): number => r.y + r.heads[head]!.y - r.scroll;

/** The rows that are at least partly visible, from top to bottom. */
export function visibleRows(r: Rows): readonly number[] {
  return r.order.filter((row, place) => {
    const y = r.tops[place]! - r.scroll;
    return r.place[row]! >= 0 && y + r.pitches[place]! > 0 && y < r.h;
  });
}

/** The row at a y position, or null outside the rows. */
export function rowAt(r: Rows, y: number): number | null {
  if (y < r.y || y >= r.y + r.h) return null;
  const at = y - r.y + r.scroll;
  const place = r.tops.findIndex((top, i) => at >= top && at < top + r.pitches[i]!);
  return r.order[place] ?? null;
}

/** The group whose head is at a y position. */
export function headAt(r: Rows, y: number): RowGroup | null {
  if (y < r.y || y >= r.y + r.h) return null;
  const at = y - r.y + r.scroll;
  return r.heads.find((head) => at >= head.y && at < head.y + r.head)?.group ?? null;
}

/** The scroll position, nearest to the current one, at which a row is fully visible. */
export function scrollTo(r: Rows, row: number): number {
  if (!isShown(r, row)) return r.scroll;
  const place = r.place[row]!;
  const top = r.tops[place]!;
  // The first row of a group is shown with its head.
  const head = r.heads.some((h) => h.y + r.head === top) ? r.head : 0;
  if (top - head < r.scroll) return top - head;
  return Math.min(r.most, Math.max(r.scroll, top + r.pitches[place]! - r.h));
}
