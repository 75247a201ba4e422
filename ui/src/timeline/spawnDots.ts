/**
 * Creations of tasks: dots on the lanes' top edge, or, if they would touch, a line whose opacity is
 * their density.
 */

import { contrast, mix } from "../colors";
import { TILE_BINS } from "../data/contract";
import { laneTop, visibleRows } from "./verticalLayout";
import type { Pen } from "./pen";
import { pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";
import { binsOf } from "./tiles";

/** Width in pixels in which more than `MAX_SEPARATE_DOTS` dots become a line. */
const PITCH = 7;
const MAX_SEPARATE_DOTS = 6;
/** Maximum number of dots in a frame. */
const MAX_DOTS = 800;

/** A dot that can be hovered. */
export interface Dot {
  x: number;
  y: number;
  row: number;
  t: number;
  /** The strand that creates the task, if the tile has it. */
  strand: number | null;
  creates: number;
  /** Binary logarithm of a bin's ticks, and the bin's index in the run. */
  level: number;
  bin: number;
}

const inks = { light: new Map<string, string>(), dark: new Map<string, string>() };

/** The box's colour, darkened or lightened to be visible as a dot on the panel. */
function ink(fill: string, panel: string, dark: boolean): string {
  const known = dark ? inks.dark : inks.light;
  let found = known.get(fill);
  if (!found) {
    found = fill;
    for (let k = 0; k < 8 && contrast(found, panel) < 4.5; k++)
      found = mix(found, dark ? "#ffffff" : "#000000", 0.18);
    known.set(fill, found);
  }
  return found;
}

export function drawSpawns(s: Scene, pen: Pen): Dot[] {
  const { rows } = s.bands;
  if (rows.compact) return [];
  const visible = visibleRows(rows);
  const t = s.tokens;
  const dots: Dot[] = [];
  const circles = new Map<string, number[]>();
  const lines = new Map<string, number[]>();
  const buckets = Math.ceil(s.scale.width / PITCH) + 2;
  const facts = { code: 0, site: 0, row: 0, level: 0, critical: false, readyPath: false };
  const slots = s.tiles.slots("rows", s.scale);
  const all: {
    row: number;
    bucket: number;
    x: number;
    t: number;
    n: number;
    at: number;
    slot: number;
  }[] = [];
  const placeOf = new Map(visible.map((row, i) => [row, i]));
  const amount = new Uint32Array(visible.length * buckets);
  slots.forEach((slot, k) => {
    const p = slot.tile?.data?.planes;
    if (!slot.tile || !p?.creates) return;
    const bins = binsOf(slot.tile);
    const from = Math.max(0, Math.floor((Math.max(slot.t0, s.scale.t0) - bins.from) / bins.ticks));
    const to = Math.min(
      TILE_BINS,
      Math.ceil((Math.min(slot.t1, s.scale.t1) - bins.from) / bins.ticks),
    );
    for (const row of visible) {
      const base = row * TILE_BINS;
      for (let bin = from; bin < to; bin++) {
        const n = p.creates[base + bin]!;
        if (!n) continue;
        const t = bins.from + (bin + 0.5) * bins.ticks;
        const x = pixel(s.scale, t);
        const bucket = Math.floor((x - s.scale.x0) / PITCH) + 1;
        if (bucket < 0 || bucket >= buckets) continue;
        const cell = placeOf.get(row)! * buckets + bucket;
        amount[cell]! += n;
        if (amount[cell]! <= MAX_SEPARATE_DOTS * 4 || amount[cell] === n)
          all.push({ row, bucket, x, t, n, at: base + bin, slot: k });
      }
    }
  });
  const of = (mark: { row: number; bucket: number }) =>
    placeOf.get(mark.row)! * buckets + mark.bucket;
  // Either dots for all single spawns or only lines: rows must look alike.
  const single = all.reduce((n, mark) => n + (amount[of(mark)]! <= MAX_SEPARATE_DOTS ? 1 : 0), 0);
  const crowd = single > MAX_DOTS ? 0 : MAX_SEPARATE_DOTS;
  const lined = new Set<number>();
  for (const mark of all) {
    const tile = slots[mark.slot]!.tile!;
    const planes = tile.data!.planes;
    facts.code = planes.code?.[mark.at] ?? 0xffff;
    facts.site = planes.site?.[mark.at] ?? 0xffff;
    facts.row = mark.row;
    facts.level = planes.level?.[mark.at] ?? 0;
    const colour = ink(s.palette.of(facts).fill, t.panel, s.dark);
    const y = laneTop(rows, mark.row);
    const cell = of(mark);
    const n = amount[cell]!;
    if (n > crowd) {
      if (lined.has(cell)) continue;
      lined.add(cell);
      // Five opacities are enough to distinguish, and few to draw.
      const key = `${colour} ${Math.min(5, 1 + Math.floor(Math.log2(n / MAX_SEPARATE_DOTS + 1)))}`;
      let list = lines.get(key);
      if (!list) lines.set(key, (list = []));
      const x = s.scale.x0 + (mark.bucket - 1) * PITCH;
      // Adjacent lines are joined.
      const end = list.length - 4;
      if (end >= 0 && list[end + 1] === y - 3 && list[end]! + list[end + 2]! >= x - 0.01)
        list[end + 2] = x + PITCH - list[end]!;
      else list.push(x, y - 3, PITCH, 1.6);
      continue;
    }
    let list = circles.get(colour);
    if (!list) circles.set(colour, (list = []));
    list.push(mark.x, y - 1);
    const strand = planes.strand?.[mark.at] ?? 0xffffffff;
    dots.push({
      x: mark.x,
      y: y - 1,
      row: mark.row,
      t: mark.t,
      strand: strand === 0xffffffff ? null : strand,
      creates: mark.n,
      level: tile.level,
      bin: tile.index * TILE_BINS + (mark.at % TILE_BINS),
    });
  }
  for (const [key, list] of lines) {
    const [colour, strength] = key.split(" ") as [string, string];
    pen.rects(list, colour, 0, 0.3 + 0.14 * Number(strength));
  }
  for (const list of circles.values()) pen.dots(list, 3.1, t.panel);
  for (const [colour, list] of circles) pen.dots(list, 2.1, colour);
  return dots;
}
