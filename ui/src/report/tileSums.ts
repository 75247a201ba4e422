/**
 * Sums over a part of a run, from the timeline's tiles: where the worker time went, which code ran,
 * and who stole from whom. Inexact sums are marked.
 */

import { TILE_BINS } from "../data/contract";
import type { Planes } from "../data/planes";
import type { PartKind } from "../components/timeBreakdown";

/** A tile's answer and position. */
export interface TileAnswer {
  index: number;
  planes: Planes;
}

/** The part of the run: all rows or some of them, in [t0, t1). */
export interface RunPart {
  t0: number;
  t1: number;
  rows: readonly number[] | null;
}

const includesRow = (part: RunPart, row: number): boolean =>
  part.rows === null || part.rows.includes(row);

/** Minimum number of bins in a part. A bin cut by the part's ends counts by the share inside. */
export const MIN_BINS = 700;

/** The level whose tiles show the part in at least `MIN_BINS` bins, and its tiles there. */
export function tilesOf(
  part: RunPart,
  finest: number,
  top: number,
): { level: number; at: number[] } {
  const length = Math.max(1, part.t1 - part.t0);
  const fitting = Math.floor(Math.log2(length / MIN_BINS));
  const level = Math.max(finest, Math.min(top, Math.max(0, fitting)));
  const size = TILE_BINS * 2 ** level;
  const first = Math.floor(part.t0 / size);
  const last = Math.max(first, Math.ceil(part.t1 / size) - 1);
  return { level, at: Array.from({ length: last - first + 1 }, (_, i) => first + i) };
}

/**
 * Calls `each` with every bin of a tile that overlaps the part, and the number of its ticks inside.
 */
function eachBin(
  part: RunPart,
  level: number,
  index: number,
  each: (bin: number, ticks: number) => void,
): void {
  const width = 2 ** level;
  const begin = index * TILE_BINS * width;
  const first = Math.max(0, Math.floor((part.t0 - begin) / width));
  const last = Math.min(TILE_BINS - 1, Math.ceil((part.t1 - begin) / width) - 1);
  for (let bin = first; bin <= last; bin++) {
    const start = begin + bin * width;
    each(bin, Math.min(part.t1, start + width) - Math.max(part.t0, start));
  }
}

/** Kinds of worker time, and the planes of `profile` tiles that have them. */
export const PROFILE_KINDS = [
  ["work", "running"],
  ["descheduled", "descheduled"],
  ["blocked", "blocked"],
  ["delay", "delay"],
  ["sched", "no_work_sched"],
  ["app", "no_work_app"],
  ["unread", "unread"],
] as const satisfies [PartKind, string][];
/** The same for `rows` tiles. */
const ROWS_KINDS: readonly (readonly [PartKind, string])[] = [
  ["work", "work"],
  ...PROFILE_KINDS.slice(1),
];

/**
 * Ticks of worker time by kind: of all rows from `profile` tiles, of some rows from `rows` tiles.
 */
export function breakdownOf(
  part: RunPart,
  level: number,
  tiles: TileAnswer[],
): { kind: PartKind; ticks: number }[] {
  const list = part.rows === null ? PROFILE_KINDS : ROWS_KINDS;
  const sums = new Map<PartKind, number>();
  for (const { index, planes } of tiles)
    eachBin(part, level, index, (bin, ticks) => {
      for (const [kind, name] of list) {
        const plane = planes.planes[name];
        const of = (row: number) => Number(plane?.[row * TILE_BINS + bin] ?? 0) / 255;
        const share =
          part.rows === null
            ? Number(plane?.[bin] ?? 0)
            : part.rows.reduce((sum, row) => sum + of(row), 0);
        if (share > 0) sums.set(kind, (sums.get(kind) ?? 0) + share * ticks);
      }
    });
  return list.map(([kind]) => ({ kind, ticks: sums.get(kind) ?? 0 })).filter((p) => p.ticks > 0);
}

/** Time of strands by code, most first; inexact if a tile has only its longest strands. */
export function codesOf(
  part: RunPart,
  tiles: TileAnswer[],
): { exact: boolean; strands: number; codes: { code: number; ticks: number }[] } {
  const by = new Map<number, number>();
  // A strand across the border of two tiles is in both.
  const seen = new Set<number>();
  let exact = true;
  for (const { planes: tile } of tiles) {
    const { id, row, start, end, code } = tile.planes;
    if (tile.facts["truncated"]) exact = false;
    if (!id || !row || !start || !end || !code) continue;
    for (let i = 0; i < id.length; i++) {
      if (!includesRow(part, row[i]!)) continue;
      const ticks = Math.min(end[i]!, part.t1) - Math.max(start[i]!, part.t0);
      if (!(ticks > 0) || seen.has(id[i]!)) continue;
      seen.add(id[i]!);
      by.set(code[i]!, (by.get(code[i]!) ?? 0) + ticks);
    }
  }
  const codes = [...by].map(([code, ticks]) => ({ code, ticks }));
  return { exact, strands: seen.size, codes: codes.sort((a, b) => b.ticks - a.ticks) };
}

export interface Steals {
  /** For some rows: steals by them, and from them. For all rows: all steals, and 0. */
  by: number;
  from: number;
  /** Steals in `by` whose thief waited in a join; null if unknown. */
  leaps: number | null;
  /** The pair with most steals. */
  most: { thief: number; victim: number; count: number } | null;
}

/**
 * Steals in the part; `null` if a tile has too many to include their times and the part does not
 * cover the whole tile. `end` is the run's.
 */
export function stealsOf(
  part: RunPart,
  tiles: TileAnswer[],
  level: number,
  end: number,
): Steals | null {
  const sums: Steals = { by: 0, from: 0, leaps: 0, most: null };
  const pairs = new Map<string, { thief: number; victim: number; count: number }>();
  const add = (thief: number, victim: number, count: number): boolean => {
    if (!includesRow(part, thief) && !includesRow(part, victim)) return false;
    if (includesRow(part, thief)) sums.by += count;
    if (part.rows !== null && includesRow(part, victim)) sums.from += count;
    const key = `${thief} ${victim}`;
    const pair = pairs.get(key) ?? { thief, victim, count: 0 };
    pair.count += count;
    pairs.set(key, pair);
    return includesRow(part, thief);
  };
  const seen = new Set<number>();
  for (const { index, planes: tile } of tiles) {
    if (tile.facts["truncated"]) {
      const size = TILE_BINS * 2 ** level;
      if (part.t0 > index * size || part.t1 < Math.min(end, (index + 1) * size)) return null;
      // Such a tile only has the number of steals for each pair of workers.
      sums.leaps = null;
      for (const [thief, victim, n] of (tile.facts["pairs"] ?? []) as number[][])
        add(thief!, victim!, n!);
      continue;
    }
    const { from_row: victims, to_row: thieves, to_t: at, strand, leap } = tile.planes;
    if (!victims || !thieves || !at || !strand) continue;
    for (let i = 0; i < at.length; i++) {
      if (at[i]! < part.t0 || at[i]! >= part.t1 || seen.has(strand[i]!)) continue;
      seen.add(strand[i]!);
      if (add(thieves[i]!, victims[i]!, 1) && leap?.[i] && sums.leaps !== null) sums.leaps++;
    }
  }
  for (const pair of pairs.values()) if (pair.count > (sums.most?.count ?? 1)) sums.most = pair;
  return sums;
}

/** Ticks of the critical path in the part, from its `path` tiles. */
export function pathOf(part: RunPart, tiles: TileAnswer[]): number {
  let ticks = 0;
  for (const { planes: tile } of tiles) {
    const { row, start, end } = tile.planes;
    if (!row || !start || !end) continue;
    for (let i = 0; i < row.length; i++)
      if (includesRow(part, row[i]!))
        ticks += Math.max(0, Math.min(end[i]!, part.t1) - Math.max(start[i]!, part.t0));
  }
  return ticks;
}
