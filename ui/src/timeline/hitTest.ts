/** Hit testing on the canvas. */

import { TILE_BINS } from "../data/contract";
import type { RegionSpan } from "../data/contract";
import type { Planes } from "../data/planes";
import { headAt, laneHeight, laneTop, rowAt, styleOf } from "./verticalLayout";
import type { HitTargets } from "./drawFrame";
import type { RowGroup } from "./rowGroups";
import { regionAt } from "./regions";
import { ticksPerPixel, timeAt, pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";
import type { Dot } from "./spawnDots";
import { cellAt } from "./stealMatrix";
import { curve } from "./steals";
import type { Arc } from "./steals";
import { binsOf } from "./tiles";
import { waitAt } from "./waits";
import type { Wait } from "./waits";

export type Hit =
  | { kind: "minimap"; t: number; part: "start" | "end" | "middle" | "outside" }
  | { kind: "strip"; t: number }
  | { kind: "region"; region: RegionSpan }
  | { kind: "label"; row: number }
  | { kind: "head"; group: RowGroup }
  /** `inside`: the index refers to a box inside a folded strand. */
  | { kind: "box"; index: number; row: number; t: number; inside?: boolean }
  /** A column of several strands: the longest of them, and their number. */
  | {
      kind: "column";
      strand: number;
      strands: number;
      code: number;
      site: number;
      row: number;
      t: number;
    }
  | { kind: "free"; row: number; t: number; what: "delay" | "sched" | "app" | "unread" | null }
  | { kind: "arc"; arc: Arc; t: number }
  /** The CPU's load line or the queue's area below a lane. */
  | { kind: "load"; of: "cpu" | "queue"; row: number; t: number }
  | { kind: "wait"; wait: Wait; t: number }
  | { kind: "dot"; dot: Dot; t: number }
  | { kind: "matrix"; thief: number; victim: number; by: number; n: number };

export function hitTest(
  s: Scene,
  drawn: HitTargets,
  lanes: number[],
  px: number,
  py: number,
): Hit | null {
  const { minimap, strip, rows, x0, plot } = s.bands;
  const inPlot = px >= x0 - 5 && px <= x0 + plot + 5;
  if (py >= minimap.y - 3 && py <= minimap.y + minimap.h + 3 && inPlot) {
    const a = pixel(s.overview, s.scale.t0);
    const b = pixel(s.overview, s.scale.t1);
    const t = timeAt(s.overview, px);
    const near = Math.min(6, Math.max(2, (b - a) / 3));
    const part =
      Math.abs(px - a) <= near
        ? "start"
        : Math.abs(px - b) <= near
          ? "end"
          : px > a && px < b
            ? "middle"
            : "outside";
    return { kind: "minimap", t, part };
  }
  const t = timeAt(s.scale, Math.min(Math.max(px, x0), x0 + plot));
  const cell = cellAt(s, drawn.steals, px, py);
  if (cell) return { kind: "matrix", ...cell };
  if (py > minimap.y + minimap.h + 3 && py <= strip.base && inPlot) return { kind: "strip", t };
  const region = inPlot ? regionAt(s, lanes, px, py) : null;
  if (region) return { kind: "region", region };
  const group = headAt(rows, py);
  if (group) return { kind: "head", group };
  const row = rowAt(rows, py);
  if (row === null) return null;
  if (px < x0) return { kind: "label", row };
  if (!inPlot) return null;
  const dot = s.layers.has("spawns") ? nearest(drawn.dots, px, py) : null;
  if (dot) return { kind: "dot", dot, t };
  const arc = arcAt(s, drawn, px, py);
  if (arc) return { kind: "arc", arc, t };
  const wait = waitAt(s, drawn.waits, px, py);
  if (wait) return { kind: "wait", wait, t };
  const y = laneTop(rows, row);
  const load = loadAt(s, row, py);
  if (load) return { kind: "load", of: load, row, t };
  const inside = s.inner.at(row, t);
  if (inside >= 0 && py >= y - 4 && py <= y + laneHeight(rows, row) - 5)
    return { kind: "box", index: inside, row, t, inside: true };
  const index = s.boxes.at(row, t);
  if (index >= 0 && py >= y - 4 && py <= y + laneHeight(rows, row) + 6)
    return { kind: "box", index, row, t };
  return bin(s, row, t);
}

/** The line below the lane at this height. */
function loadAt(s: Scene, row: number, py: number): "cpu" | "queue" | null {
  const rows = styleOf(s.bands.rows, row);
  const below = py - laneTop(rows, row) - rows.lane;
  if (rows.cpu && s.meta.has.cpu && below >= 2 && below < 3 + rows.cpu + 1) return "cpu";
  const from = 3 + (rows.cpu ? rows.cpu + 1 : 0);
  return rows.queue && below >= from && below <= from + rows.queue + 6 ? "queue" : null;
}

/** A row's planes at a moment, and the index in them. */
export function binAt(
  s: Scene,
  row: number,
  t: number,
): { planes: Planes["planes"]; at: number; ticks: number } | null {
  for (const slot of s.tiles.slots("rows", { t0: t, t1: t + ticksPerPixel(s.scale) })) {
    const planes = slot.tile?.data?.planes;
    if (!slot.tile || !planes || t < slot.t0 || t >= slot.t1) continue;
    const bins = binsOf(slot.tile);
    const bin = Math.min(TILE_BINS - 1, Math.max(0, Math.floor((t - bins.from) / bins.ticks)));
    return { planes, at: row * TILE_BINS + bin, ticks: bins.ticks };
  }
  return null;
}

function nearest(dots: Dot[], px: number, py: number): Dot | null {
  let best: Dot | null = null;
  let least = 25;
  for (const dot of dots) {
    const d = (dot.x - px) ** 2 + (dot.y - py) ** 2;
    if (d < least) [least, best] = [d, dot];
  }
  return best;
}

function arcAt(s: Scene, drawn: HitTargets, px: number, py: number): Arc | null {
  let best: Arc | null = null;
  let least = 3.5;
  for (const arc of drawn.steals.arcs) {
    if (!s.layers.has(arc.leap ? "leaps" : "steals")) continue;
    const q = pixel(s.scale, arc.toT);
    if (px > q + 6 || px < q - 60) continue;
    const c = curve(arc, s);
    const low = Math.min(c[1]!, c[7]!) - 4;
    if (py < low || py > Math.max(c[1]!, c[7]!) + 4) continue;
    for (let k = 0; k <= 16; k++) {
      const u = k / 16;
      const v = 1 - u;
      const cx = v ** 3 * c[0]! + 3 * v * v * u * c[2]! + 3 * v * u * u * c[4]! + u ** 3 * c[6]!;
      const cy = v ** 3 * c[1]! + 3 * v * v * u * c[3]! + 3 * v * u * u * c[5]! + u ** 3 * c[7]!;
      const d = Math.hypot(cx - px, (cy - py) * 0.5);
      if (d < least) [least, best] = [d, arc];
    }
  }
  return best;
}

function bin(s: Scene, row: number, t: number): Hit {
  const found = binAt(s, row, t);
  if (found) {
    const { planes: p, at } = found;
    const strand = p.strand?.[at] ?? 0xffffffff;
    if (strand !== 0xffffffff) {
      return {
        kind: "column",
        strand,
        strands: p.strands?.[at] ?? 1,
        code: p.code?.[at] ?? 0xffff,
        site: p.site?.[at] ?? 0xffff,
        row,
        t,
      };
    }
    const delay = p.delay?.[at] ?? 0;
    const sched = p.no_work_sched?.[at] ?? 0;
    const app = p.no_work_app?.[at] ?? 0;
    const unread = p.unread?.[at] ?? 0;
    const most = Math.max(delay, sched, app, unread);
    const known = most === delay ? "delay" : most === sched ? "sched" : "app";
    return {
      kind: "free",
      row,
      t,
      what: most === 0 ? null : unread > 0 && most === unread ? "unread" : known,
    };
  }
  return { kind: "free", row, t, what: null };
}
