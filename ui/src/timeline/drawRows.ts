/** Draws the rows: columns from tiles, free time by kind, exact boxes with names, CPU load. */

import { mix } from "../colors";
import { sized, sizeWords, ticks as timeOf } from "../format";
import { isShown, laneMiddle, laneTop, visibleRows } from "./verticalLayout";
import type { BoxFacts } from "./boxColours";
import { FLAG, type StrandBoxes } from "./strandBoxes";
import { undimmedItems } from "./tileStyle";
import type { Pen } from "./pen";
import { LINES, RUN_KINDS } from "./raster";
import { pixelAt as pixel, ticksPerPixel } from "./timeScale";
import type { Scene } from "./scene";
import { binsOf } from "./tiles";
import type { TileStyle } from "./tiles";

/**
 * Offset and height of the part of an image's line that is drawn. It lies between the line's two
 * copies: the full height would be smoothed with neighbouring lines.
 */
export const SAMPLE_Y = 0.99;
export const SAMPLE_H = 0.02;

/** Draws columns and free time; returns false if a tile was missing. */
export function drawColumns(s: Scene, pen: Pen, look: TileStyle): boolean {
  const { rows } = s.bands;
  const visible = visibleRows(rows);
  const isVisible = new Set(visible);
  let complete = true;
  const patterns = RUN_KINDS.map(() => [] as number[]);
  const until = new Map<number, number>();
  const wanted = [
    s.layers.has("delay"),
    s.layers.has("nowork"),
    s.layers.has("nowork"),
    true,
    true,
    true,
  ];
  if (rows.cpu)
    for (const row of visible)
      pen.rect(
        s.scale.x0,
        laneTop(rows, row) + rows.lane + 3,
        s.scale.width,
        rows.cpu,
        s.tokens.inset,
      );
  for (const slot of s.tiles.slots("rows", s.scale)) {
    const from = Math.max(slot.t0, s.scale.t0, 0);
    const to = Math.min(slot.t1, s.scale.t1, s.meta.elapsed);
    if (to <= from) continue;
    const a = pixel(s.scale, from);
    const b = pixel(s.scale, to);
    const made = slot.tile && s.tiles.image(slot.tile, look);
    if (!slot.tile && s.tiles.bare) {
      pen.text(
        NO_ROWS_MESSAGE,
        s.scale.x0 + s.scale.width / 2,
        rows.y + Math.min(rows.h, rows.total) / 2 + 4,
        { size: 12, weight: 600, align: "center", colour: s.tokens.fg2 },
      );
      return true;
    }
    if (!slot.tile || !made) {
      complete = false;
      checker(pen, s, a, b);
      continue;
    }
    const bins = binsOf(slot.tile);
    const sx = (from - bins.from) / bins.ticks;
    const sw = (to - from) / bins.ticks;
    const n = s.tiles.rowsOf(slot.tile);
    for (const row of visible) {
      if (row >= n) continue;
      const y = laneTop(rows, row);
      pen.image(made.image, sx, row * LINES + SAMPLE_Y, sw, SAMPLE_H, a, y, b - a, rows.lane);
      // A preview has no times off the CPU, and a partly read trace may lack them.
      if (rows.cpu && s.meta.overview === null && !s.meta.unread)
        pen.image(
          made.image,
          sx,
          row * LINES + 2 + SAMPLE_Y,
          sw,
          SAMPLE_H,
          a,
          y + rows.lane + 3,
          b - a,
          rows.cpu,
        );
    }
    // Runs wide enough for their pattern.
    const perBin = bins.ticks / ticksPerPixel(s.scale);
    // Compact rows are too low for a pattern: the columns have its flat colour.
    const runs = rows.compact ? [] : made.runs;
    for (let i = 0; i < runs.length; i += 4) {
      const row = runs[i]!;
      if (!isVisible.has(row) || (runs[i + 2]! - runs[i + 1]!) * perBin < 3) continue;
      const kind = runs[i + 3]!;
      if (!wanted[kind]) continue;
      const left = Math.max(a, pixel(s.scale, bins.from + runs[i + 1]! * bins.ticks));
      const right = Math.min(b, pixel(s.scale, bins.from + runs[i + 2]! * bins.ticks));
      if (right - left < 1) continue;
      // A run across the border of two tiles is one run.
      const key = kind * 65536 + row;
      const before = until.get(key);
      const list = patterns[kind]!;
      if (before !== undefined && left - (list[before]! + list[before + 2]!) < 0.75)
        list[before + 2] = right - list[before]!;
      else {
        until.set(key, list.length);
        list.push(left, laneTop(rows, row), right - left, rows.lane);
      }
    }
  }
  pen.patternShift(pixel(s.scale, 0) - s.scale.x0);
  for (const list of patterns) thin(list, MAX_RUNS);
  RUN_KINDS.forEach((kind, i) => {
    if (kind === "descheduled" || kind === "blocked") return;
    // Patterns are translucent, so the flat colour below them is cleared first.
    pen.rects(patterns[i]!, s.tokens.panel);
    pen.rects(patterns[i]!, { ground: kind });
  });
  const framed = patterns[0]!;
  if (framed.length < 4 * 300)
    for (let i = 0; i < framed.length; i += 4)
      if (framed[i + 2]! > 5)
        pen.frame(
          framed[i]! + 0.5,
          framed[i + 1]! + 0.5,
          framed[i + 2]! - 1,
          framed[i + 3]! - 1,
          s.tokens.delay,
          1,
        );
  s.offCpu.push(...patterns[3]!.map((v, i) => (i % 4 === 1 ? v + 2 : i % 4 === 3 ? v - 4 : v)));
  s.blocked.push(...patterns[4]!.map((v, i) => (i % 4 === 1 ? v + 2 : i % 4 === 3 ? v - 4 : v)));
  return complete;
}

/** Message for a report that was kept so small that it has no rows. */
export const NO_ROWS_MESSAGE =
  "This report does not contain the rows. Make it with a larger --budget.";

/**
 * Maximum number of rectangles of one pattern in a frame; narrower ones keep their flat colour from
 * the columns.
 */
const MAX_RUNS = 450;

/** Omits the narrowest boxes until few enough remain. */
function thin(boxes: number[], most: number): void {
  for (let least = 4; boxes.length > most * 4; least *= 1.5) {
    let k = 0;
    for (let i = 0; i < boxes.length; i += 4) {
      if (boxes[i + 2]! < least) continue;
      for (let j = 0; j < 4; j++) boxes[k++] = boxes[i + j]!;
    }
    boxes.length = k;
  }
}

/** A checkerboard where data is missing. */
function checker(pen: Pen, s: Scene, a: number, b: number): void {
  const { rows } = s.bands;
  const boxes: number[] = [];
  const cell = 8;
  for (const row of visibleRows(rows)) {
    if (boxes.length >= 4 * 4000) break;
    const y = laneTop(rows, row);
    for (let i = 0, px = a; px < b; px += cell, i++)
      boxes.push(
        px,
        y + ((i + row) % 2 ? rows.lane / 2 : 0),
        Math.min(cell, b - px),
        rows.lane / 2,
      );
  }
  pen.rects(boxes, s.tokens.inset);
}

/**
 * Height of the bottom part of a folded strand's lane that stays visible below its inside, in
 * pixels.
 */
const FOLDED_EDGE_PX = 6;

/** Draws the inside of folded strands over them, except their two lines at the bottom. */
export function drawInnerBoxes(s: Scene, pen: Pen): void {
  if (!s.inner.n || s.bands.rows.compact) return;
  const { rows } = s.bands;
  drawBoxes(
    {
      ...s,
      boxes: s.inner,
      offCpu: [],
      blocked: [],
      bands: { ...s.bands, rows: { ...rows, lane: Math.max(4, rows.lane - FOLDED_EDGE_PX) } },
    },
    pen,
  );
}

/** Reads what determines a box's colour into `facts`: thousands of boxes make no garbage. */
function readFacts(b: StrandBoxes, i: number, facts: BoxFacts): void {
  facts.code = b.code[i]!;
  facts.site = b.site[i]!;
  facts.row = b.row[i]!;
  facts.level = b.level[i]!;
  facts.critical = (b.flags[i]! & FLAG.critical) !== 0;
  facts.readyPath = (b.flags[i]! & FLAG.ready) !== 0;
}

/** Width from which a strand has its texture. Narrower ones have a tint instead. */
const MIN_TEXTURED_PX = 10;

/** Draws strands of at least 1.6 pixels, over the columns. */
export function drawBoxes(s: Scene, pen: Pen): void {
  const { rows } = s.bands;
  const b = s.boxes;
  const left = s.scale.x0 - 4;
  const right = s.scale.x0 + s.scale.width + 4;
  const bright = undimmedItems(s.selection);
  const many = b.n > 2500;
  const ground: number[] = [];
  const square = new Map<string, number[]>();
  const round = new Map<string, number[]>();
  const textured = new Map<string, number[]>();
  const folded: number[] = [];
  const facts = { code: 0, site: 0, row: 0, level: 0, critical: false, readyPath: false };
  for (let i = 0; i < b.n; i++) {
    if (!isShown(rows, b.row[i]!)) continue;
    const x0 = Math.max(b.x0[i]!, left);
    const x1 = Math.min(b.x1[i]!, right);
    const y = laneTop(rows, b.row[i]!);
    readFacts(b, i, facts);
    const colour = s.palette.of(facts);
    const dimmed =
      bright !== null && (bright.by === "code" ? facts.code : facts.site) !== bright.index;
    const w = x1 - x0;
    // The inside is drawn over the box. The more of it there is, the fainter the box, so that
    // zooming in has no jump.
    const inside = b.inside ? undefined : s.inner.folded.get(b.id[i]!);
    const open = inside === undefined ? 0 : Math.ceil(Math.min(1, inside / w) * 4) / 4;
    const marked = colour.texture !== "none" && !rows.compact && w > (many ? 14 : MIN_TEXTURED_PX);
    const whole = marked ? colour.fill : s.palette.flat(colour);
    const fill = dimmed
      ? s.palette.dim(whole)
      : open
        ? mix(whole, s.tokens.panel, open * 0.8)
        : whole;
    // A gap of a pixel between two boxes, if there is room.
    const gap = w > (many ? 6 : 4) ? 1 : w > 2.5 ? 0.5 : 0;
    if (gap && (!many || gap === 1)) ground.push(x0, y, w, rows.lane);
    const into = w > 12 ? round : square;
    let list = into.get(fill);
    if (!list) into.set(fill, (list = []));
    list.push(x0, y, w - gap, rows.lane);
    if (marked) {
      let marks = textured.get(colour.texture);
      if (!marks) textured.set(colour.texture, (marks = []));
      marks.push(x0, y, w - gap, rows.lane);
    }
    if (b.flags[i]! & FLAG.folded && !rows.compact && w > 6 && folded.length < 2400)
      folded.push(
        x0 + 1,
        y + rows.lane - 5,
        w - gap - 2,
        1,
        x0 + 1,
        y + rows.lane - 3,
        w - gap - 2,
        1,
      );
  }
  pen.rects(ground, s.tokens.panel);
  for (const [fill, list] of square) pen.rects(list, fill);
  for (const [fill, list] of round) pen.rects(list, fill, 3);
  for (const [texture, list] of textured) pen.rects(list, { texture: texture as "diagonal" });
  // Two lines at the bottom mark a box into which several strands were folded.
  pen.rects(folded, s.dark ? "rgba(13,16,20,.6)" : "rgba(18,22,29,.55)");
  // The colour below stays visible.
  pen.rects(s.offCpu, { ground: "descheduled" }, 0, 0.7);
  pen.rects(s.blocked, { ground: "blocked" }, 0, 0.7);
}

/**
 * Names: label and time, label, the size of the task, or nothing. Drawn last, so that paths do not
 * cross them.
 */
export function drawNames(s: Scene, pen: Pen, b = s.boxes): void {
  const { rows } = s.bands;
  if (rows.lane < 11) return;
  const right = s.scale.x0 + s.scale.width;
  const bright = undimmedItems(s.selection);
  const fontSize = rows.lane < 15 ? 10 : 11.5;
  const facts = { code: 0, site: 0, row: 0, level: 0, critical: false, readyPath: false };
  let left = 400;
  for (let i = 0; i < b.n && left > 0; i++) {
    if (!isShown(rows, b.row[i]!)) continue;
    const x0 = Math.max(b.x0[i]!, s.scale.x0);
    const w = Math.min(b.x1[i]!, right) - x0;
    if (w < 24 || (!b.inside && s.inner.folded.has(b.id[i]!))) continue;
    const bySite = s.colorBy === "site";
    let name = (bySite ? s.meta.sites[b.site[i]!]?.label : s.meta.codes[b.code[i]!]?.label) ?? "";
    const size = sizeWords(b.size[i]);
    name = sized(name, b.size[i]);
    if (b.flags[i]! & FLAG.folded) name = `${name} (folded)`;
    const full = `${name} · ${timeOf(b.end[i]! - b.start[i]!, s.meta.ticks_per_second)}`;
    const text = hasRoom(pen, full, fontSize, w - 14)
      ? full
      : hasRoom(pen, name, fontSize, w - 10)
        ? name
        : size !== "" && hasRoom(pen, size, fontSize, w - 10)
          ? size
          : "";
    if (!text) continue;
    readFacts(b, i, facts);
    const colour = s.palette.of(facts);
    const dimmed =
      bright !== null && (bright.by === "code" ? facts.code : facts.site) !== bright.index;
    const fill = dimmed ? s.palette.dim(colour.fill) : colour.fill;
    left--;
    const y = laneMiddle(rows, b.row[i]!) + (b.inside ? 4.5 - FOLDED_EDGE_PX / 2 : 4.5);
    // Patterns of time off the CPU would cross the text.
    pen.rects(
      [x0 + 4, y - fontSize + 0.5, pen.textWidth(text, fontSize, 600) + 6, fontSize + 3],
      fill,
      3,
    );
    pen.text(text, x0 + 7, y, {
      size: fontSize,
      weight: 600,
      colour: dimmed ? s.tokens.fg3 : colour.ink,
      halo: fill,
    });
  }
}

function hasRoom(pen: Pen, text: string, size: number, room: number): boolean {
  // This cheap estimate rules out most texts without measuring them.
  return text.length * size * 0.3 < room && pen.textWidth(text, size, 600) <= room;
}

/**
 * Waits of strands that were ready while their thread ran something else: a bracket below, from
 * ready to start.
 */
export function drawBuriedWaits(s: Scene, pen: Pen): void {
  const b = s.boxes;
  const { rows } = s.bands;
  if (rows.compact) return;
  const points: number[] = [];
  for (let i = 0; i < b.n && points.length < 2400; i++) {
    if (!(b.flags[i]! & FLAG.buried) || Number.isNaN(b.ready[i]!)) continue;
    if (!isShown(rows, b.row[i]!)) continue;
    const from = Math.max(pixel(s.scale, b.ready[i]!), s.scale.x0);
    if (b.x0[i]! - from < 4) continue;
    const y = laneTop(rows, b.row[i]!) + rows.lane + (rows.cpu ? 6.5 : 1.5);
    points.push(from + 1, y - 3, from + 1, y, b.x0[i]! - 1, y, b.x0[i]! - 1, y - 3, NaN, NaN);
  }
  pen.line(points, s.tokens.delay, { width: 2 });
}
