/**
 * Steals: arcs from victim to thief, or, where they are too many to tell apart, who stole from whom
 * how often.
 */

import { count } from "../format";
import { isShown, laneMiddle } from "./bands";
import type { Pen } from "./pen";
import { x as pixel } from "./scale";
import type { Scale } from "./scale";
import type { Scene } from "./scene";
import type { Slot } from "./tiles";

/** More arcs than this in view are a heat matrix. */
export const MOST_ARCS = 2000;

export interface Arc {
  from: number;
  fromT: number;
  to: number;
  toT: number;
  strand: number;
  leap: boolean;
}

export interface Steals {
  /** Those in view; empty when they are too many. */
  arcs: Arc[];
  /** Number in the tiles in view (in view itself when arcs are there). */
  total: number;
  crowded: boolean;
  /** [thief row, victim row, count], most first. */
  pairs: [number, number, number][];
}

export function steals(slots: Slot[], scale: Scale): Steals {
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
  crowded ||= arcs.length > MOST_ARCS;
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

export function arcs(s: Scene, pen: Pen, all: Steals): void {
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
    // Beyond this the heads would be all there is to see.
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

/** The selected steal once more, and a dotted line from where its strand was made ready. */
export function chosen(s: Scene, pen: Pen, all: Steals): void {
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

/** Where the matrix stands; null when it isn't shown. */
export interface Matrix {
  x: number;
  y: number;
  cell: number;
  /** Rows that a cell stands for, when there are many. */
  by: number;
  n: number;
}

export function matrixAt(s: Scene, all: Steals): Matrix | null {
  if (!all.crowded || !s.layers.has("matrix") || s.bands.rows.count < 2) return null;
  const rows = s.meta.threads.length;
  const by = Math.ceil(rows / 32);
  const n = Math.ceil(rows / by);
  const room = Math.min(150, s.bands.rows.h - 60);
  const widest = Math.max(2, Math.min(24, Math.floor(room / n)));
  if (room < 40) return null;
  // Below the rows where they leave room, if need be in smaller cells that still have their names;
  // else over the last of their time.
  const area = s.bands.rows;
  const end = area.y + area.pitch * area.count - area.scroll;
  const fits = Math.min(widest, Math.floor((area.y + area.h - end - 36 - 38) / n));
  const below = fits >= Math.min(widest, 12);
  const cell = below ? fits : widest;
  return {
    x: s.bands.x0 + s.bands.plot - n * cell - 18,
    y: below ? end + 36 : area.y + 32,
    cell,
    by,
    n,
  };
}

export function matrix(s: Scene, pen: Pen, all: Steals): void {
  const m = matrixAt(s, all);
  if (!m) return;
  const t = s.tokens;
  const size = m.n * m.cell;
  const cells = new Map<number, number>();
  for (const [thief, victim, n] of all.pairs) {
    // Threads without a row have no cell.
    if (Math.max(thief, victim) >= m.n * m.by) continue;
    const key = Math.floor(thief / m.by) * 1024 + Math.floor(victim / m.by);
    cells.set(key, (cells.get(key) ?? 0) + n);
  }
  const most = Math.max(1, ...cells.values());
  const title = `${count(all.total)} steals: too many to draw`;
  const scale = `rows steal from columns, up to ${count(most)} times`;
  const name = (row: number): string => (m.by === 1 ? (s.meta.threads[row]?.label ?? "") : "");
  // Names where they have room: beside the rows, and below the columns.
  const rows = m.cell >= 11 ? Array.from({ length: m.n }, (_, i) => name(i)) : [];
  const beside = Math.max(0, ...rows.map((w) => pen.textWidth(w, 10, 400)));
  const under = m.cell >= 20 && rows.every((w) => pen.textWidth(w, 10, 400) <= m.cell) ? 14 : 0;
  const width = Math.max(
    size + beside + 36,
    pen.textWidth(title, 11, 600) + 20,
    pen.textWidth(scale, 10.5, 400) + 20,
  );
  const left = s.bands.x0 + s.bands.plot - width - 4;
  pen.rects([left, m.y - 24, width, size + 46 + under], t.panel, 6);
  pen.frame(left + 0.5, m.y - 23.5, width - 1, size + 45 + under, t.line2, 1, 6);
  pen.text(title, left + 10, m.y - 9, { size: 11, weight: 600, colour: t.fg });
  pen.rect(m.x, m.y, size, size, t.inset);
  for (const [key, n] of cells) {
    const thief = Math.floor(key / 1024);
    const victim = key % 1024;
    const gap = m.cell > 4 ? 1 : 0;
    pen.rect(
      m.x + victim * m.cell,
      m.y + thief * m.cell,
      m.cell - gap,
      m.cell - gap,
      t.leap,
      0.15 + (0.85 * Math.log2(1 + n)) / Math.log2(1 + most),
    );
  }
  rows.forEach((words, i) => {
    const middle = (i + 0.5) * m.cell;
    pen.text(words, m.x - 6, m.y + middle + 3.5, { size: 10, colour: t.fg2, align: "right" });
    if (under)
      pen.text(words, m.x + middle - pen.textWidth(words, 10, 400) / 2, m.y + size + 11, {
        size: 10,
        colour: t.fg2,
      });
  });
  pen.text(scale, left + 10, m.y + size + under + 14, { size: 10.5, colour: t.fg3 });
}

/** The cell of the matrix under the pointer: rows it stands for and the count. */
export function cellAt(
  s: Scene,
  all: Steals,
  px: number,
  py: number,
): { thief: number; victim: number; n: number } | null {
  const m = matrixAt(s, all);
  if (!m) return null;
  const victim = Math.floor((px - m.x) / m.cell);
  const thief = Math.floor((py - m.y) / m.cell);
  if (victim < 0 || thief < 0 || victim >= m.n || thief >= m.n) return null;
  let n = 0;
  for (const [a, b, k] of all.pairs)
    if (Math.floor(a / m.by) === thief && Math.floor(b / m.by) === victim) n += k;
  return { thief: thief * m.by, victim: victim * m.by, n };
}

/** The first steal after a time, among these. */
export function nextArc(all: Steals, after: number): Arc | null {
  let best: Arc | null = null;
  for (const arc of all.arcs) if (arc.toT > after && (!best || arc.toT < best.toT)) best = arc;
  return best;
}
