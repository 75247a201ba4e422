/**
 * The critical path at the top of the lanes and the ready path at their bottom, so that both are
 * visible where they coincide.
 */

import { isShown, laneHeight, laneMiddle } from "./verticalLayout";
import type { Pen } from "./pen";
import { pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";

export interface PathPiece {
  row: number;
  start: number;
  end: number;
  strand: number;
  gap: boolean;
}

/** A piece outside the tile: row, start, end, strand. */
type Neighbour = [number, number, number, number] | null | undefined;

/**
 * Visible pieces by time, from the path's tiles, with the piece before the first tile and the one
 * after the last, so that a wait is drawn even if neither of its ends is visible.
 */
export function pathPieces(s: Scene, kind: "critical" | "ready"): PathPiece[] {
  const all: PathPiece[] = [];
  const seen = new Set<string>();
  const add = (row: number, start: number, end: number, strand: number, gap: boolean) => {
    // Threads without a row, and hidden rows, have no pieces: the path skips them.
    if (isShown(s.bands.rows, row)) all.push({ row, start, end, strand, gap });
  };
  const slots = s.tiles.slots(kind, s.scale).filter((slot) => slot.tile?.data);
  slots.forEach((slot, n) => {
    const data = slot.tile!.data!;
    const p = data.planes as Record<string, Float64Array>;
    if (!p.row || !p.start || !p.end || !p.strand) return;
    let before = data.facts["before"] as Neighbour;
    let after = data.facts["after"] as Neighbour;
    for (let i = 0; i < p.row.length; i++) {
      const piece: Neighbour = [p.row[i]!, p.start[i]!, p.end[i]!, p.strand[i]!];
      const [row, start, end] = piece;
      // A coarser tile used in place of a finer one has pieces outside its slot.
      if (end < slot.t0) {
        before = piece;
        continue;
      }
      if (start >= slot.t1) {
        after = piece;
        break;
      }
      if (start < slot.t0 || end > slot.t1) {
        // A piece across the border of two tiles is in both.
        const key = `${row} ${start} ${end}`;
        if (seen.has(key)) continue;
        seen.add(key);
      }
      add(...piece, (p.gap?.[i] ?? 0) !== 0);
    }
    if (n === 0 && before) add(...before, true);
    if (n === slots.length - 1 && after) add(...after, true);
  });
  return all.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Maximum number of pieces in a frame. */
const MAX_PIECES = 300;

/** Maximum number of hops in a frame that are drawn as lines of their own. */
const MAX_HOPS = 60;

/**
 * Joins pieces of a row that are less than a pixel apart, and omits the shortest if there are still
 * too many.
 */
function joinPieces(all: PathPiece[], s: Scene): PathPiece[] {
  const perPixel = (s.scale.t1 - s.scale.t0) / s.scale.width;
  const joined: PathPiece[] = [];
  for (const piece of all) {
    const last = joined[joined.length - 1];
    if (last && last.row === piece.row && piece.start - last.end < perPixel)
      last.end = Math.max(last.end, piece.end);
    else joined.push({ ...piece });
  }
  let list = joined;
  for (let least = perPixel, k = 0; list.length > MAX_PIECES && k < 60; least *= 1.5, k++) {
    let until = -Infinity;
    list = list.filter((p) => {
      const keep = p.end - p.start >= least || p.start >= until;
      if (keep) until = p.start + least;
      return keep;
    });
  }
  return list;
}

export function drawPath(s: Scene, pen: Pen, kind: "critical" | "ready"): void {
  const { rows } = s.bands;
  const t = s.tokens;
  const critical = kind === "critical";
  const height = (row: number): number => {
    const lane = laneHeight(rows, row);
    const offset = critical
      ? -lane / 2 + Math.min(3, lane / 5)
      : lane / 2 - Math.min(2.5, lane / 6);
    return laneMiddle(rows, row) + offset;
  };
  const runs: number[] = [];
  const hops: number[] = [];
  let before: PathPiece | null = null;
  let last = -Infinity;
  const left = s.scale.x0 - 20;
  const right = s.scale.x0 + s.scale.width + 20;
  for (const piece of joinPieces(pathPieces(s, kind), s)) {
    const y = height(piece.row);
    const a = Math.min(Math.max(pixel(s.scale, piece.start), left), right);
    const b = Math.min(Math.max(pixel(s.scale, piece.end), left), right);
    runs.push(a, y, Math.max(b, a + 0.5), y, NaN, NaN);
    if (before) {
      const y0 = height(before.row);
      const x0 = Math.min(Math.max(pixel(s.scale, before.end), left), right);
      // A hop closer than a pixel to the last one would only make it thicker.
      if (
        (before.row !== piece.row && a - last >= 1) ||
        (before.row === piece.row && a - x0 > 1.5) ||
        a - x0 > 6
      ) {
        hops.push(x0, y0, x0, y, a, y, NaN, NaN);
        last = a;
      }
    }
    before = piece;
  }
  // Compact rows have no room for an outline, and a dark line without one is invisible on a dark
  // background.
  const ink = rows.compact && s.dark ? t.halo : t.path;
  const halo = critical ? t.halo : "rgba(255,255,255,.85)";
  if (!rows.compact) pen.line(runs, halo, { width: critical ? 6 : 3.4 });
  // A path that changes worker all the time would hide the rows behind its dashes, so they are
  // faint.
  const many = hops.length > 8 * MAX_HOPS;
  if (!many && !rows.compact) pen.line(hops, halo, { width: critical ? 3.6 : 3.2 });
  pen.line(
    runs,
    ink,
    critical ? { width: rows.compact ? 2 : 3 } : { width: rows.compact ? 1 : 1.5, dash: [2, 2] },
  );
  pen.line(
    hops,
    ink,
    many || (rows.compact && hops.length > 5 * MAX_HOPS)
      ? { width: 0.6, dash: [1, 3] }
      : { width: critical ? 1.6 : 1.3, dash: [4, 3] },
  );
}
