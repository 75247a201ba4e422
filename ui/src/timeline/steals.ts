/**
 * Steals: arcs from victim to thief, or, if there are too many to distinguish, the number of steals
 * between each two workers.
 */

import { isShown, laneMiddle } from "./verticalLayout";
import type { Pen } from "./pen";
import { pixelAt as pixel } from "./timeScale";
import type { Scale } from "./timeScale";
import type { Scene } from "./scene";
import type { Slot } from "./tiles";

/** Number of visible arcs above which a heat matrix replaces them. */
export const MAX_ARCS = 2000;

export interface Arc {
  from: number;
  fromT: number;
  to: number;
  toT: number;
  strand: number;
  leap: boolean;
}

export interface Steals {
  /** Visible steals; empty if there are too many. */
  arcs: Arc[];
  /** Number of steals in the visible tiles (in the window itself if arcs are known). */
  total: number;
  crowded: boolean;
  /** [thief row, victim row, count], most first. */
  pairs: [number, number, number][];
}

export function visibleSteals(slots: Slot[], scale: Scale): Steals {
  const arcs: Arc[] = [];
  const pairs = new Map<number, number>();
  let crowded = false;
  let total = 0;
  const seen = new Set<unknown>();
  for (const slot of slots) {
    const data = slot.tile?.data;
    if (!data) continue;
    if (!seen.has(data)) {
      seen.add(data);
      crowded ||= data.facts.truncated === true;
      total += Number(data.facts.total ?? 0);
      for (const [thief, victim, n] of (data.facts.pairs ?? []) as [number, number, number][]) {
        const key = thief * 65536 + victim;
        pairs.set(key, (pairs.get(key) ?? 0) + n);
      }
    }
    const p = data.planes as Record<string, Float64Array>;
    if (!p.to_t || !p.from_row || !p.to_row || !p.from_t || !p.strand) continue;
    for (let i = 0; i < p.to_t.length; i++) {
      const t = p.to_t[i]!;
      if (t < slot.t0 || t >= slot.t1 || t < scale.t0 || t > scale.t1) continue;
      arcs.push({
        from: p.from_row[i]!,
        fromT: p.from_t[i]!,
        to: p.to_row[i]!,
        toT: t,
        strand: p.strand[i]!,
        leap: (p.leap?.[i] ?? 0) !== 0,
      });
    }
  }
  if (!crowded) total = arcs.length;
  crowded ||= arcs.length > MAX_ARCS;
  const list = [...pairs]
    .map(([key, n]): [number, number, number] => [Math.floor(key / 65536), key % 65536, n])
    .sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
  return { arcs: crowded ? [] : arcs, total, crowded, pairs: list };
}

/** The curve of an arc: eight numbers. */
export function curve(arc: Arc, s: Scene): number[] {
  const q = pixel(s.scale, arc.toT);
  const a = laneMiddle(s.bands.rows, arc.from);
  const b = laneMiddle(s.bands.rows, arc.to);
  const bulge = 7 + Math.abs(a - b) * 0.09;
  return [q, a, q - bulge, a + (b - a) * 0.25, q - bulge, a + (b - a) * 0.75, q - 1, b];
}

export function drawArcs(s: Scene, pen: Pen, all: Steals): void {
  const t = s.tokens;
  const far = all.arcs.length > 60;
  const head = far ? 2.2 : 3;
  for (const leap of [false, true]) {
    if (!s.layers.has(leap ? "leaps" : "steals")) continue;
    const curves: number[] = [];
    const heads: number[] = [];
    for (const arc of all.arcs) {
      if (arc.leap !== leap || !isShown(s.bands.rows, arc.from) || !isShown(s.bands.rows, arc.to))
        continue;
      const c = curve(arc, s);
      curves.push(...c);
      heads.push(c[6]!, c[7]!);
    }
    const colour = leap ? t.leap : t.steal;
    pen.curves(curves, colour, { width: far ? 1 : 1.2, alpha: far ? 0.7 : 0.95 });
    // With more arcs, the picture would consist of arrow heads.
    if (heads.length > 1200) continue;
    for (let i = 0; i < heads.length; i += 2) {
      const q = heads[i]! + 1;
      pen.area(
        [
          q + 1.5,
          heads[i + 1]!,
          q - head * 1.5,
          heads[i + 1]! - head,
          q - head * 1.2,
          heads[i + 1]! + head,
        ],
        colour,
        far ? 0.75 : 1,
      );
    }
  }
}

/** The selected steal again, and a dotted line from the time at which its strand became ready. */
export function drawSelectedSteal(s: Scene, pen: Pen, all: Steals): void {
  const what = s.selection;
  if (what?.kind !== "steal" || what.run !== s.meta.id) return;
  const arc = all.arcs.find((a) => a.strand === what.strand);
  if (!arc) return;
  const c = curve(arc, s);
  pen.line([pixel(s.scale, arc.fromT), c[1]!, c[0]!, c[1]!], s.tokens.accent, {
    width: 1.5,
    dash: [1.5, 3],
  });
  pen.curves(c, s.tokens.accent, { width: 2.2 });
  pen.dots([c[0]!, c[1]!], 2.5, s.tokens.accent);
  pen.area([c[6]! + 2.5, c[7]!, c[6]! - 5, c[7]! - 4, c[6]! - 4, c[7]! + 4], s.tokens.accent);
}

/** The first of these steals after a time. */
export function nextArc(all: Steals, after: number): Arc | null {
  let best: Arc | null = null;
  for (const arc of all.arcs) if (arc.toT > after && (!best || arc.toT < best.toT)) best = arc;
  return best;
}
