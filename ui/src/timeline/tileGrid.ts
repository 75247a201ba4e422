/**
 * The tiles of a window: levels by powers of two, indices by the tile's width, for three times the
 * window's width.
 */

import { TILE_BINS } from "../data/contract";
import type { RunId } from "../data/contract";
import { requests } from "../data/requests";
import type { Span } from "./timeScale";

export type TileKind =
  "rows" | "strands" | "inside" | "profile" | "arcs" | "waits" | "critical" | "ready";

/** Number of ticks in a tile of this level. */
export const tileTicks = (level: number): number => TILE_BINS * Math.pow(2, level);

export const tileSpan = (level: number, index: number): Span => ({
  t0: index * tileTicks(level),
  t1: (index + 1) * tileTicks(level),
});

/**
 * The level whose bins are between half a device pixel and one pixel wide, limited to 0 and the
 * run's top level.
 */
export function levelFor(ticksPerDevicePixel: number, top: number): number {
  if (!(ticksPerDevicePixel > 1)) return 0;
  return Math.min(Math.floor(Math.log2(ticksPerDevicePixel)), top);
}

/** First and last index of the tiles that overlap [t0, t1) inside the run. */
export function tileIndices(level: number, w: Span, elapsed: number): [number, number] {
  const size = tileTicks(level);
  const last = Math.max(0, Math.ceil(Math.max(elapsed, 1) / size) - 1);
  const first = Math.min(last, Math.max(0, Math.floor(w.t0 / size)));
  const end = Math.min(last, Math.max(first, Math.ceil(w.t1 / size) - 1));
  return [first, end];
}

/** The window extended by its width on either side, so that a pan finds its tiles loaded. */
export function prefetchSpan(w: Span): Span {
  const width = w.t1 - w.t0;
  return { t0: w.t0 - width, t1: w.t1 + width };
}

/** Index of the tile of a coarser level that contains this one. */
export function ancestorIndex(level: number, index: number, at: number): number {
  return Math.floor(index / Math.pow(2, at - level));
}

export interface TileId {
  kind: TileKind;
  level: number;
  index: number;
}

export function tileUrl(run: RunId, { kind, level, index }: TileId): string {
  switch (kind) {
    case "rows":
      return requests.rows(run, level, index);
    case "strands":
      return requests.strands(run, level, index);
    case "inside":
      return requests.inside(run, level, index);
    case "profile":
      return requests.profile(run, level, index);
    case "arcs":
      return requests.arcs(run, level, index);
    case "waits":
      return requests.waits(run, level, index);
    default:
      return requests.path(run, kind, level, index);
  }
}

/** Tiles for a window, the visible ones first, from the middle outwards. */
export function wantedTiles(
  kind: TileKind,
  level: number,
  w: Span,
  elapsed: number,
): { id: TileId; visible: boolean }[] {
  const [from, to] = tileIndices(level, w, elapsed);
  const [first, last] = tileIndices(level, prefetchSpan(w), elapsed);
  const middle = (w.t0 + w.t1) / 2 / tileTicks(level) - 0.5;
  const all: { id: TileId; visible: boolean }[] = [];
  for (let index = first; index <= last; index++)
    all.push({ id: { kind, level, index }, visible: index >= from && index <= to });
  const distance = (t: { id: TileId; visible: boolean }) =>
    Math.abs(t.id.index - middle) + (t.visible ? 0 : 1000);
  return all.sort((a, b) => distance(a) - distance(b));
}
