/**
 * Numbers of steals by thief and victim: beside the rows if there is room, otherwise over them if
 * the visible steals are too many to draw.
 */

import { count, percent } from "../format";
import type { RunMeta } from "../data/contract";
import type { Layer } from "../store";
import { hasLayer } from "./layers";
import { shortName } from "./names";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import type { Steals } from "./steals";

/** Width of the matrix beside the rows, and minimum width of a canvas with it. */
const DOCK_WIDTH = 312;
const NARROW_DOCK_WIDTH = 236;
const MIN_DOCKED = 1200;
/** Below it, the matrix is over the rows. */
const MIN_NARROW_DOCKED = 960;
/** Margin around its cells. */
const MARGIN = 18;
const NAMES_WIDTH = 30;

/** Width that the matrix takes from the time axis, equal at every zoom. */
export function dockWidth(meta: RunMeta, layers: ReadonlySet<Layer>, width: number): number {
  const there = layers.has("matrix") && hasLayer(meta, "matrix") && meta.threads.length > 1;
  if (!there || width < MIN_NARROW_DOCKED) return 0;
  return width >= MIN_DOCKED ? DOCK_WIDTH : NARROW_DOCK_WIDTH;
}

/** Position of the matrix; null if it is not shown. */
export interface MatrixPosition {
  x: number;
  y: number;
  cell: number;
  /** Number of rows per cell, if there are many rows. */
  by: number;
  n: number;
  docked: boolean;
}

export function matrixAt(s: Scene, all: Steals): MatrixPosition | null {
  const rows = s.meta.threads.length;
  const dock = dockWidth(s.meta, s.layers, s.bands.width);
  if (dock > 0) {
    const most = Math.min(dock - MARGIN - NAMES_WIDTH, s.bands.height - 120);
    const by = Math.max(1, Math.ceil((rows * 2.5) / most));
    const n = Math.ceil(rows / by);
    const cell = Math.min(28, most / n);
    if (most < 60) return null;
    const x = s.bands.x0 + s.bands.plot + MARGIN + NAMES_WIDTH;
    return { x, y: s.bands.minimap.y + 40, cell, by, n, docked: true };
  }
  if (!all.crowded || !s.layers.has("matrix") || s.bands.rows.count < 2) return null;
  const by = Math.ceil(rows / 32);
  const n = Math.ceil(rows / by);
  const room = Math.min(150, s.bands.rows.h - 60);
  const widest = Math.max(2, Math.min(24, Math.floor(room / n)));
  if (room < 40) return null;
  // Below the rows if they leave room, with smaller cells (but large enough for names) if
  // necessary; otherwise over the end of the rows.
  const area = s.bands.rows;
  const end = area.y + area.total - area.scroll;
  const fits = Math.min(widest, Math.floor((area.y + area.h - end - 36 - 38) / n));
  const below = fits >= Math.min(widest, 12);
  const cell = below ? fits : widest;
  return {
    x: s.bands.x0 + s.bands.plot - n * cell - 18,
    y: below ? end + 36 : area.y + 32,
    cell,
    by,
    n,
    docked: false,
  };
}

/** Thief, victim, count: of the visible steals, or of the visible tiles if there are too many. */
function pairsOf(all: Steals): [number, number, number][] {
  if (all.crowded) return all.pairs;
  const pairs = new Map<number, number>();
  for (const arc of all.arcs) {
    const key = arc.to * 65536 + arc.from;
    pairs.set(key, (pairs.get(key) ?? 0) + 1);
  }
  return [...pairs]
    .map(([key, n]): [number, number, number] => [Math.floor(key / 65536), key % 65536, n])
    .sort((a, b) => b[2] - a[2] || a[0] - b[0] || a[1] - b[1]);
}

export function drawMatrix(s: Scene, pen: Pen, all: Steals): void {
  const m = matrixAt(s, all);
  if (!m) return;
  const t = s.tokens;
  const size = m.n * m.cell;
  const pairs = pairsOf(all);
  const cells = new Map<number, number>();
  for (const [thief, victim, n] of pairs) {
    // Threads without a row have no cell.
    if (Math.max(thief, victim) >= m.n * m.by) continue;
    const key = Math.floor(thief / m.by) * 1024 + Math.floor(victim / m.by);
    cells.set(key, (cells.get(key) ?? 0) + n);
  }
  const most = Math.max(1, ...cells.values());
  const steals = `${count(all.total)} ${all.total === 1 ? "steal" : "steals"}`;
  const whole = s.scale.t0 <= 0 && s.scale.t1 >= s.meta.elapsed;
  const title = !m.docked
    ? `${steals}: too many to draw`
    : whole
      ? steals
      : `${steals} ${all.crowded ? "in and around the view" : "in view"}`;
  const scale = `rows steal from columns, up to ${count(most)} times`;
  const label = (row: number): string => s.meta.threads[row]?.label ?? "";
  const fits = (words: string): boolean =>
    !m.docked || pen.textWidth(words, 10, 400) <= MARGIN + NAMES_WIDTH - 18;
  const name = (row: number): string => (m.by === 1 ? shortName(label(row), fits) : "");
  // Names if they fit: beside the rows, and below the columns.
  const rows = m.cell >= 11 ? Array.from({ length: m.n }, (_, i) => name(i)) : [];
  const beside = Math.max(0, ...rows.map((w) => pen.textWidth(w, 10, 400)));
  const under = m.cell >= 20 && rows.every((w) => pen.textWidth(w, 10, 400) <= m.cell) ? 14 : 0;
  if (m.docked) {
    const x = s.bands.x0 + s.bands.plot + MARGIN;
    pen.rect(x - 10, 0, 1, s.bands.height, t.line);
    pen.text(title, x, s.bands.minimap.y + 12, { size: 12, weight: 650, colour: t.fg });
    pen.text(scale, x, s.bands.minimap.y + 28, { size: 10.5, colour: t.fg2 });
    const [first] = pairs;
    const room = s.bands.width - x - 4;
    const pair = first?.slice(0, 2).map((row) => {
      const half = (words: string) => pen.textWidth(words, 11, 400) <= room / 2 - 62;
      return shortName(label(row), half) || label(row);
    });
    const words =
      first && pair ? `most: ${pair[0]} from ${pair[1]}, ${count(first[2])} times` : "none in view";
    const low = m.y + size + under + 18;
    pen.text(words, x, low, { size: 11, colour: t.fg2 });
    if (m.by > 1)
      pen.text(`a cell is ${count(m.by)} rows`, x, low + 16, { size: 10.5, colour: t.fg2 });
    const end = drawNodeSums(s, pen, nodeSums(s.meta, pairs), x, low + 38);
    drawSortedBusy(s, pen, x, end + 2);
  } else {
    const width = Math.max(
      size + beside + 36,
      pen.textWidth(title, 11, 600) + 20,
      pen.textWidth(scale, 10.5, 400) + 20,
    );
    const left = s.bands.x0 + s.bands.plot - width - 4;
    pen.rects([left, m.y - 24, width, size + 46 + under], t.panel, 6);
    pen.frame(left + 0.5, m.y - 23.5, width - 1, size + 45 + under, t.line2, 1, 6);
    pen.text(title, left + 10, m.y - 9, { size: 11, weight: 600, colour: t.fg });
    pen.text(scale, left + 10, m.y + size + under + 14, { size: 10.5, colour: t.fg3 });
  }
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
  // The hovered or selected row, as a thief and as a victim.
  const row =
    s.hover?.kind === "row" ? s.hover.row : s.selection?.kind === "row" ? s.selection.row : null;
  if (row !== null && Math.floor(row / m.by) < m.n) {
    const at = Math.floor(row / m.by) * m.cell;
    pen.frame(m.x - 0.5, m.y + at - 0.5, size + 1, m.cell + 1, t.accent, 1);
    pen.frame(m.x + at - 0.5, m.y - 0.5, m.cell + 1, size + 1, t.accent, 1);
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
}

/** Steals within and between NUMA nodes, `counts[thief's][victim's]`. */
export interface NodeSums {
  nodes: number[];
  counts: number[][];
  total: number;
  /** Those whose thief and victim are on different nodes. */
  between: number;
}

/** Null if the rows are of one node, or if their nodes are not known. */
export function nodeSums(
  meta: Pick<RunMeta, "threads">,
  pairs: readonly (readonly [number, number, number])[],
): NodeSums | null {
  const of = (row: number) => meta.threads[row]?.node;
  const known = meta.threads.flatMap((thread) => thread.node ?? []);
  const nodes = [...new Set(known)].sort((a, b) => a - b);
  if (nodes.length < 2) return null;
  const counts = nodes.map(() => nodes.map(() => 0));
  let [total, between] = [0, 0];
  for (const [thief, victim, n] of pairs) {
    const [by, from] = [of(thief), of(victim)];
    if (by === undefined || from === undefined) continue;
    counts[nodes.indexOf(by)]![nodes.indexOf(from)]! += n;
    total += n;
    if (by !== from) between += n;
  }
  return total > 0 ? { nodes, counts, total, between } : null;
}

/** Nodes up to which there is a table of sums, and the height and width of its cells. */
const MAX_NODE_TABLE = 3;
const ROW_PX = 18;
const CELL_PX = 56;

/** Draws the sums by node from `y` on, and returns where they end. */
function drawNodeSums(s: Scene, pen: Pen, of: NodeSums | null, x: number, y: number): number {
  if (!of) return y;
  const t = s.tokens;
  const share = percent(of.between / of.total, 0);
  const other = of.nodes.length === 2 ? "the other NUMA node" : "another NUMA node";
  pen.text(`${share} of them from ${other}`, x, y, { size: 12, weight: 650, colour: t.fg });
  if (of.nodes.length > MAX_NODE_TABLE) return y + ROW_PX + 4;
  const right = (column: number) => x + 72 + (column + 1) * CELL_PX;
  const cell = (words: string, column: number, at: number, isHead = false) =>
    pen.text(words, right(column), at, {
      size: isHead ? 10.5 : 11,
      colour: isHead ? t.fg3 : t.fg,
      align: "right",
    });
  of.nodes.forEach((node, i) => cell(`from ${node}`, i, y + ROW_PX, true));
  of.nodes.forEach((node, i) => {
    const at = y + (i + 2) * ROW_PX;
    pen.text(`by node ${node}`, x, at, { size: 11, colour: t.fg2 });
    of.counts[i]!.forEach((n, j) => cell(count(n), j, at));
  });
  return y + (of.nodes.length + 2) * ROW_PX + 8;
}

/** Number of workers from which on a chart of their busy shares is below the matrix. */
const MIN_SORTED = 16;
const SORTED_PX = 90;

/** The workers' busy shares in the whole run, most first, below the docked matrix. */
function drawSortedBusy(s: Scene, pen: Pen, x: number, y: number): void {
  const workers = s.meta.threads.slice(0, s.meta.workers);
  const shares = workers.flatMap((w) => (w.busy === null ? [] : [w.busy]));
  const room = s.bands.height - y - SORTED_PX - 44;
  if (shares.length < Math.max(MIN_SORTED, workers.length) || room < 0) return;
  const t = s.tokens;
  const width = dockWidth(s.meta, s.layers, s.bands.width) - 2 * MARGIN;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const whole = `${count(shares.length)} workers, mean ${percent(mean, 0)}`;
  const note = pen.textWidth(whole, 10.5) > width - 90 ? `mean ${percent(mean, 0)}` : whole;
  pen.text("Busy, sorted", x, y, { size: 12, weight: 650, colour: t.fg });
  pen.text(note, x + width, y, { size: 10.5, colour: t.fg2, align: "right" });
  const [top, base] = [y + 10, y + 10 + SORTED_PX];
  pen.rect(x, top, width, SORTED_PX, t.inset);
  shares.sort((a, b) => b - a);
  const points = [x, base];
  shares.forEach((share, i) => {
    const at = base - Math.min(1, share) * SORTED_PX;
    points.push(x + (i * width) / shares.length, at, x + ((i + 1) * width) / shares.length, at);
  });
  pen.area([...points, x + width, base], t.work);
  const most = workers.find((w) => w.busy === shares[0]);
  const words = `${most?.label ?? ""} ${percent(shares[0]!, 0)} to ${percent(shares.at(-1)!, 0)}`;
  pen.text(words, x, base + 15, { size: 10.5, colour: t.fg2 });
  const ofRun = "of the whole run";
  if (pen.textWidth(words, 10.5) + pen.textWidth(ofRun, 10.5) + 8 <= width)
    pen.text(ofRun, x + width, base + 15, { size: 10.5, colour: t.fg3, align: "right" });
}

/** The matrix cell under the pointer: its rows and the count. */
export function cellAt(
  s: Scene,
  all: Steals,
  px: number,
  py: number,
): { thief: number; victim: number; by: number; n: number } | null {
  const m = matrixAt(s, all);
  if (!m) return null;
  const victim = Math.floor((px - m.x) / m.cell);
  const thief = Math.floor((py - m.y) / m.cell);
  if (victim < 0 || thief < 0 || victim >= m.n || thief >= m.n) return null;
  let n = 0;
  for (const [a, b, k] of pairsOf(all))
    if (Math.floor(a / m.by) === thief && Math.floor(b / m.by) === victim) n += k;
  return { thief: thief * m.by, victim: victim * m.by, by: m.by, n };
}
