/**
 * The heads of groups of rows: their workers running over time, how many of them run on average,
 * and whether a pool has more workers than it uses.
 */

import { TILE_BINS } from "../data/contract";
import type { RunMeta } from "../data/contract";
import type { Planes } from "../data/planes";
import { count, NB, plainNumber } from "../format";
import { profileColumns, steppedArea } from "./parallelismProfile";
import type { Pen } from "./pen";
import type { RowGroup } from "./rowGroups";
import type { Scene } from "./scene";
import { pixelAt as pixel } from "./timeScale";
import type { Slot } from "./tiles";

/** Sums over the rows of a group, by bin. Kept with the planes: a frame only reads them. */
interface GroupSums {
  rows: readonly number[];
  running: Float32Array;
}
const kept = new WeakMap<object, Map<string, GroupSums>>();

/** Mean number of the rows that run, by bin. */
export function runningOf(planes: Planes["planes"], group: Pick<RowGroup, "title" | "rows">) {
  const { work } = planes;
  if (!work) return null;
  let groups = kept.get(work);
  if (!groups) kept.set(work, (groups = new Map()));
  const known = groups.get(group.title);
  const { rows } = group;
  if (known && known.rows.length === rows.length && known.rows.every((row, i) => row === rows[i]))
    return known.running;
  const running = new Float32Array(TILE_BINS);
  for (const row of rows)
    for (let bin = 0, at = row * TILE_BINS; bin < TILE_BINS; bin++, at++)
      running[bin]! += (work[at] ?? 0) / 255;
  groups.set(group.title, { rows, running });
  return running;
}

/** Width of a column of the area, in pixels: half of the shapes and sums of the profile's. */
const COLUMN_PX = 2;

/**
 * Draws the area of a group's running workers into its head. `slots` are those of the rows in the
 * window.
 */
export function drawRunning(
  s: Scene,
  pen: Pen,
  slots: readonly Slot[],
  group: RowGroup,
  y: number,
  h: number,
): void {
  const sums: Slot[] = [];
  for (const slot of slots) {
    const { tile } = slot;
    const running = tile?.data && runningOf(tile.data.planes, group);
    if (running)
      sums.push({ ...slot, tile: { ...tile, data: { ...tile.data!, planes: { running } } } });
  }
  const n = Math.max(1, Math.floor(s.bands.plot / COLUMN_PX));
  const { running } = profileColumns(sums, s.scale, n, ["running"]).values;
  const base = y + h;
  const top = new Float64Array(n);
  const most = Math.max(1, group.rows.length);
  for (let i = 0; i < n; i++) top[i] = base - (Math.min(most, running![i] || 0) / most) * h;
  pen.area(steppedArea(n, s.scale, new Float64Array(n).fill(base), top), s.tokens.work, 0.85);
}

/** `1.05 of 2`: running workers on average; empty if not known of every row. */
export function meanOf(meta: Pick<RunMeta, "threads">, group: Pick<RowGroup, "rows">): string {
  let sum = 0;
  for (const row of group.rows) {
    const busy = meta.threads[row]?.busy ?? null;
    if (busy === null) return "";
    sum += busy;
  }
  return `${plainNumber(sum)} of ${count(group.rows.length)}`;
}

export interface SizeVerdict {
  words: string;
  /** The right size, if the pool is larger. */
  right: number | null;
}

/** The report's `enough` of a pool of this size in words. A pool of one worker has no verdict. */
export function sizeVerdict(size: number, enough: number): SizeVerdict | null {
  if (size < 2 || enough < 1) return null;
  if (enough >= size) return { words: `size ${count(size)} fits`, right: null };
  return { words: `right size ${count(enough)} of ${count(size)}`, right: enough };
}

/** The verdict on a whole pool. */
export function poolVerdict(s: Scene, group: RowGroup): SizeVerdict | null {
  if (group.pool === null) return null;
  const size = s.meta.pools[group.pool]?.size;
  const enough = s.poolSizes[group.pool];
  if (size === undefined || enough === undefined || group.rows.length !== size) return null;
  return sizeVerdict(size, enough);
}

const CHIP = { size: 11, pad: 6, height: 17 };

/** The verdict at the right end, and a line at the right size. */
export function drawVerdict(
  s: Scene,
  pen: Pen,
  verdict: SizeVerdict,
  group: RowGroup,
  y: number,
  h: number,
): void {
  const t = s.tokens;
  const words = verdict.words.replaceAll(" ", NB);
  const width = pen.textWidth(words, CHIP.size, 600) + 2 * CHIP.pad;
  const right = s.bands.x0 + s.bands.plot - 4;
  const loud = verdict.right !== null;
  if (verdict.right !== null) {
    const at = Math.round(y + h - (verdict.right / group.rows.length) * h) + 0.5;
    const from = Math.max(s.bands.x0, pixel(s.scale, 0));
    pen.line([from, at, right - width, at], t.bad, { width: 1, dash: [4, 3] });
  }
  const top = y + Math.round((h - CHIP.height) / 2);
  pen.rects([right - width, top, width, CHIP.height], t.panel, 4);
  pen.frame(
    right - width + 0.5,
    top + 0.5,
    width - 1,
    CHIP.height - 1,
    loud ? t.bad : t.line2,
    1,
    4,
  );
  pen.text(words, right - CHIP.pad, top + 12.5, {
    size: CHIP.size,
    weight: loud ? 600 : 400,
    align: "right",
    colour: loud ? t.bad : t.fg2,
  });
}
