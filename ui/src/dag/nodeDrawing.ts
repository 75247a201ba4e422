/**
 * Drawing of strands and of collapsed tasks and groups, from a sliver to a card with all details.
 */

import { codeColour, greyCode } from "../codeColours";
import { alpha, colour, mix, type Colour, type Item, type Tokens } from "../colors";
import {
  count,
  fileName,
  percent,
  plainNumber,
  shortCount,
  sized,
  ticks,
  rowLabel,
} from "../format";
import type { ColorBy } from "../store";
import type { RunMeta } from "../data/contract";
import type { DagNode } from "./model";
import type { View } from "./camera";
import { shorten, type TextStyle, type Pen } from "./pen";
import type { Box } from "./routes";

export interface DrawingStyle {
  /** The visible part of the scene: text stays inside it. */
  view: View;
  t: Tokens;
  dark: boolean;
  mode: ColorBy;
  meta: RunMeta;
  critical: boolean;
  ready: boolean;
  slack: boolean;
}

export function itemOf(n: DagNode, look: DrawingStyle): Item {
  const s = n.strand,
    f = n.folded;
  const code = s?.code ?? f?.code ?? null;
  return {
    code,
    site: s?.site ?? f?.site ?? null,
    row: s?.row ?? f?.rows[0]?.[0] ?? null,
    level: n.level,
    critical: (s ?? f)?.critical ?? false,
    readyPath: n.ready,
    activity: "work",
    root: code !== null && code === greyCode(look.meta.codes),
  };
}

export function colourOf(n: DagNode, look: DrawingStyle): Colour {
  const item = itemOf(n, look);
  return look.mode === "code"
    ? codeColour(look.meta.codes, item.code ?? null, look.dark)
    : colour(look.mode, item, look.dark);
}

export const codeLabel = (meta: RunMeta, code: number): string => meta.codes[code]?.label ?? "?";
export const siteLabel = (meta: RunMeta, site: number): string => meta.sites[site]?.label ?? "?";

/**
 * The name of a node. A strand has its code's name; a task with others below it the name of the
 * function that creates it; a section that of the function that creates its tasks; a stretch of a
 * task that of the code that ran longest in it. The size that a task told follows.
 */
export function nameOf(n: DagNode, meta: RunMeta): string {
  if (n.strand) return sized(codeLabel(meta, n.strand.code), n.strand.size);
  const tells = n.folded?.section || (n.folded?.kind === "task" && n.folded.expandable);
  const site = tells ? meta.sites[n.folded!.site] : null;
  const size = n.folded?.size;
  if (site) return sized(site.function ?? fileName(site.label), size);
  if (!n.folded) return meta.name;
  return sized(n.folded.label || codeLabel(meta, n.folded.code), size);
}

/** The steps of its task that a group holds, from the group's id; empty for other nodes. */
export function stepsOf(n: DagNode): string {
  const range = n.kind === "group" ? /\.(\d+)\.(\d+)$/.exec(n.key) : null;
  if (n.folded?.section) return "section";
  return range ? `steps ${count(Number(range[1]) + 1)}–${count(Number(range[2]))}` : "";
}

export const parallelism = (work: number, span: number): string =>
  span > 0 ? plainNumber(work / span) : "–";

/**
 * The form of a node: a fork without length, a strand, a task with others below it, steps of a
 * task, a section, and an expanded node.
 */
export type Shape = "dot" | "box" | "card" | "stack" | "section" | "frame";

export function shapeOf(n: DagNode, dot: boolean): Shape {
  if (n.inside) return "frame";
  if (dot) return "dot";
  const f = n.folded;
  if (!f?.expandable) return "box";
  if (f.section) return "section";
  return f.kind === "group" ? "stack" : "card";
}

/** Draws a strand, or a task that consists of a single strand. */
export function drawStrand(pen: Pen, n: DagNode, b: Box, look: DrawingStyle): void {
  const f = n.folded;
  const s = n.strand ?? {
    start: f!.start,
    end: f!.end,
    weight: f!.work,
    row: f!.rows[0]?.[0] ?? 0,
    critical: f!.critical,
  };
  const c = colourOf(n, look);
  const { t } = look;
  const bold = look.critical && s.critical;
  if (b.w < 9 || b.h < 4) {
    pen.box(b.x, b.y, Math.max(b.w, 2), b.h, 0, bold ? t.path : c.fill);
    return;
  }
  const r = Math.min(4, b.h / 3);
  if (bold) drawOutline(pen, b, r, look);
  pen.box(b.x, b.y, b.w, b.h, r, c.fill, null, c.texture);
  const length = s.end - s.start;
  // Time off the CPU has a tint of the colour.
  const ground = mix(c.fill, t.panel, 0.78);
  const striped = length > 0 && s.weight < length * 0.98 && b.h > 6;
  if (striped) drawOffCpu(pen, n, b, r, c, ground, look);
  // Marked as in the timeline: it stands for more tasks, which cannot be opened.
  if (n.strand && n.strand.folded > 0 && b.h >= 10)
    for (const up of [3.5, 6])
      pen.line([b.x + 3, b.y + b.h - up, b.x + b.w - 3, b.y + b.h - up], {
        colour: alpha(c.ink, 0.6),
        width: 1,
      });
  if (bold) pen.box(b.x, b.y, b.w, b.h, r, null, { colour: t.path, width: 2.6 });
  else if (look.ready && n.ready)
    pen.box(b.x + 1, b.y + 1, b.w - 2, b.h - 2, r, null, {
      colour: t.path,
      width: 1.5,
      dash: [2, 2.5],
    });
  // Centred in the visible part.
  const v = look.view;
  const x0 = Math.max(b.x, v.x),
    x1 = Math.min(b.x + b.w, v.x + v.w),
    y0 = Math.max(b.y, v.y),
    y1 = Math.min(b.y + b.h, v.y + v.h);
  const room = x1 - x0 - 10;
  if (room < 22 || y1 - y0 < 13) return;
  const mid = (y0 + y1) / 2,
    cx = (x0 + x1) / 2;
  // On a ground of its own where it would lie on lines, crosses or a texture.
  const below = striped ? ground : c.texture === "none" ? null : c.fill;
  const text = (words: string, y: number, style: TextStyle) => {
    const w = pen.measure(words, style);
    if (below) pen.box(cx - w / 2 - 3, y - 10.5, w + 6, 14, 3, below);
    pen.text(words, cx, y, style);
  };
  const ink = striped ? t.fg : c.ink;
  const name: TextStyle = { size: 11.5, weight: 650, colour: ink, align: "center" };
  const sub: TextStyle = { size: 10.5, colour: ink, align: "center" };
  // The clock time alone would be mistaken for the weight on the path.
  const took = striped ? `${ticks(s.weight)} of ${ticks(length)}` : ticks(length);
  const facts = `${took} · ${rowLabel(look.meta, s.row)}`;
  if (y1 - y0 >= 32) {
    text(shorten(pen, nameOf(n, look.meta), room, name), mid - 2, name);
    const words = [facts, took, striped ? ticks(s.weight) : ""].find(
      (w) => pen.measure(w, sub) <= room,
    );
    // A truncated number would be another number.
    if (words) text(words, mid + 12, sub);
  } else {
    const both = `${nameOf(n, look.meta)} · ${took}`;
    const one: TextStyle = { ...sub, size: 11, weight: 600 };
    text(
      pen.measure(both, one) <= room ? both : shorten(pen, nameOf(n, look.meta), room, one),
      mid + 4,
      one,
    );
  }
}

/**
 * The bottom part of a strand's box that is not weight: crosses where it was blocked, lines where
 * it was preempted or recorded.
 */
function drawOffCpu(
  pen: Pen,
  n: DagNode,
  b: Box,
  r: number,
  c: Colour,
  ground: string,
  { t }: DrawingStyle,
): void {
  const s = n.strand ?? { ...n.folded!, weight: n.folded!.work };
  const length = s.end - s.start;
  const off = b.h * (1 - s.weight / length);
  const blocked = Math.min(off, (b.h * (s.blocked ?? 0)) / length);
  const y = b.y + b.h - off;
  pen.box(b.x, y, b.w, off, Math.min(r, off / 2), ground);
  if (blocked > 1) pen.ground(b.x + 0.5, b.y + b.h - blocked, b.w - 1, blocked, "blocked");
  pen.box(b.x, y, b.w, off, Math.min(r, off / 2), null, { colour: c.fill, width: 1 });
  for (let at = y + 4; at < b.y + b.h - blocked - 1; at += 4)
    pen.line([b.x, at, b.x + b.w, at], { colour: alpha(t.desch, 0.55), width: 1 });
}

function drawOutline(pen: Pen, b: Box, r: number, look: DrawingStyle): void {
  pen.box(b.x, b.y, b.w, b.h, r, null, { colour: look.t.halo, width: 6 });
}

/** Draws a fork that takes almost no time. */
export function drawDot(pen: Pen, n: DagNode, b: Box, look: DrawingStyle): void {
  const bold = look.critical && n.strand!.critical;
  const r = Math.max(1.5, b.w / 2 - (bold ? 0.4 : 1.6));
  pen.dot(b.cx, b.y + b.h / 2, r, bold ? look.t.path : look.t.panel, {
    colour: bold ? look.t.halo : look.t.fg3,
    width: bold ? 1.6 : 1.3,
  });
}

export function drawCard(pen: Pen, n: DagNode, b: Box, look: DrawingStyle): void {
  const f = n.folded!;
  const shape = shapeOf(n, false);
  const { t } = look;
  const c = colourOf(n, look);
  const bold = look.critical && f.critical;
  if (b.w < 16 || b.h < 5) {
    // There may be very many, so each is a single mark.
    pen.box(b.x, b.y, Math.max(b.w, 2), b.h, 0, bold ? t.path : alpha(c.fill, 0.55));
    return;
  }
  const r = Math.min(6, b.h / 3, b.w / 4);
  if (b.w > 34 && b.h > 20) {
    pen.box(b.x + 4, b.y + 4, b.w, b.h, r, t.panel2, { colour: t.line2, width: 1 });
    if (shape === "stack")
      pen.box(b.x + 2, b.y + 2, b.w, b.h, r, t.panel2, { colour: t.line2, width: 1 });
  }
  if (bold) drawOutline(pen, b, r, look);
  pen.box(b.x, b.y, b.w, b.h, r, t.panel);
  drawProfile(pen, n, b, look, c);
  pen.box(
    b.x,
    b.y,
    b.w,
    b.h,
    r,
    null,
    bold
      ? { colour: t.path, width: 2.6 }
      : {
          colour: look.ready && n.ready ? t.path : t.line2,
          width: look.ready && n.ready ? 1.5 : 1,
          dash: look.ready && n.ready ? [2, 2.5] : shape === "section" ? [4, 3] : [],
        },
  );
  if (b.w < 40 || b.h < 18) return;
  const bar = b.h > 66 && b.w >= 64;
  const lines: [string, TextStyle][] = [
    [nameOf(n, look.meta), { size: 11.5, weight: 650, colour: t.fg, align: "right" }],
    // A group of steps without children says which steps it has.
    ...(f.kind === "group" && f.children === 0
      ? []
      : [
          [
            f.kind === "group"
              ? `▸ ${shortCount(f.children)} ${f.children === 1 ? "child" : "children"}`
              : `▸ ${shortCount(f.tasks)} ${f.tasks === 1 ? "task" : "tasks"}`,
            { size: 10.5, colour: t.fg2, align: "right" },
          ] as [string, TextStyle],
        ]),
    ...(f.kind === "group"
      ? [[stepsOf(n), { size: 10.5, colour: t.fg2, align: "right" }] as [string, TextStyle]]
      : []),
    [`work ${ticks(f.work)}`, { size: 10.5, colour: t.fg2, align: "right" }],
    [`span ${ticks(f.span)}`, { size: 10.5, colour: t.fg2, align: "right" }],
    [`par. ${parallelism(f.work, f.span)}`, { size: 10.5, colour: t.fg2, align: "right" }],
  ];
  const room = b.w - 14;
  // A truncated number would be another number: lines without room are omitted.
  for (let i = lines.length - 1; i > 0; i--)
    if (pen.measure(...lines[i]!) > room) lines.splice(i, 1);
  lines.length = Math.max(1, Math.min(lines.length, Math.floor((b.h - (bar ? 40 : 6)) / 15)));
  const texts = lines.map(([words, how], i) =>
    i === 0 ? shorten(pen, words, room, how) : pen.measure(words, how) <= room ? words : "",
  );
  const width = Math.max(...texts.map((w, i) => pen.measure(w, lines[i]![1])));
  const top = b.h < 26 ? b.y + (b.h - 15) / 2 : b.y + 6;
  pen.box(
    b.x + b.w - width - 11,
    top - 1,
    width + 9,
    lines.length * 15 + 3,
    4,
    alpha(t.panel, 0.88),
  );
  texts.forEach((w, i) => pen.text(w, b.x + b.w - 7, top + 11 + i * 15, lines[i]![1]));
  if (bar) drawWorkerShares(pen, n, b, look);
}

/** Width of a worker in a card's profile at most: beside the card's text, and in a narrow card. */
const WIDEST_WORKER = 80;
const WIDEST_WORKER_NARROW = 14;
/** Width that a wide card keeps for its text. */
const TEXT_WIDTH = 130;

function workerWidth(card: number, workers: number): number {
  const narrow = Math.min(WIDEST_WORKER_NARROW, (card * 0.6) / Math.max(1, workers));
  return Math.max(narrow, Math.min(WIDEST_WORKER, (card - TEXT_WIDTH) / Math.max(1, workers)));
}

/** The node's own running strands over time, downwards. */
function drawProfile(pen: Pen, n: DagNode, b: Box, look: DrawingStyle, c: Colour): void {
  const f = n.folded!;
  const bins = f.running.length;
  if (bins === 0) return;
  const unit = workerWidth(b.w, look.meta.workers);
  const points = [b.x + 1, b.y + 1];
  let most = 0;
  for (let i = 0; i < bins; i++) {
    const v = Math.max(0, f.running[i]!) * unit;
    most = Math.max(most, v);
    const x = b.x + 1 + Math.min(b.w - 2, v);
    points.push(x, b.y + 1 + ((b.h - 2) * i) / bins, x, b.y + 1 + ((b.h - 2) * (i + 1)) / bins);
  }
  if (most <= 0) return;
  points.push(b.x + 1, b.y + b.h - 1);
  pen.area(points, alpha(c.fill, 0.85), c.texture);
}

/** Draws the workers that ran it. */
function drawWorkerShares(pen: Pen, n: DagNode, b: Box, look: DrawingStyle): void {
  const f = n.folded!;
  const { t } = look;
  const total = f.rows.reduce((sum, [, busy]) => sum + busy, 0);
  if (!(total > 0)) return;
  const y = b.y + b.h - 14;
  const width = b.w - 14;
  const shown = f.rows.filter(([, busy]) => busy >= total * 0.004);
  const how: TextStyle = { size: 10.5, colour: t.fg2 };
  const words = `${shown.length}${f.rows.length >= 8 && look.meta.workers > 8 ? "+" : ""} ${shown.length === 1 ? "worker" : "workers"}`;
  pen.box(b.x + 4, y - 16, b.w - 8, 26, 4, alpha(t.panel, 0.9));
  pen.text(shorten(pen, words, width, how), b.x + 7, y - 4, how);
  let x = b.x + 7;
  for (const [row, busy] of shown) {
    const w = (busy / total) * width;
    const c = colour("worker", { row }, look.dark);
    pen.box(x, y, Math.max(1, w - 0.5), 6, 0, c.fill, null, c.texture);
    x += w;
  }
}

/** One line about a node, for tooltips, tables and screen readers. */
export function nodeSentence(n: DagNode, meta: RunMeta): string {
  const s = n.strand,
    f = n.folded;
  if (s && f)
    return `${nameOf(n, meta)}, a folded strand of ${ticks(s.end - s.start)} on ${rowLabel(meta, s.row)}, ${n.inside ? "expanded" : "collapsed"}: ${count(f.tasks)} ${f.tasks === 1 ? "task" : "tasks"}, work ${ticks(f.work)}, span ${ticks(f.span)}${s.critical ? ", on the critical path" : ""}`;
  if (s)
    return `${nameOf(n, meta)}, a strand of ${ticks(s.end - s.start)} on ${rowLabel(meta, s.row)}${s.critical ? ", on the critical path" : ""}${s.creates.length ? `, creates ${count(s.creates.length)}` : ""}`;
  if (f)
    return `${nameOf(n, meta)}${stepsOf(n) && `, ${stepsOf(n)}`}, ${n.inside ? "expanded" : f.expandable ? "collapsed" : "one strand"}: ${count(f.tasks)} ${f.tasks === 1 ? "task" : "tasks"}, work ${ticks(f.work)}, span ${ticks(f.span)}, parallelism ${parallelism(f.work, f.span)}${f.critical ? `, ${percent(f.span > 0 ? f.critical_work / f.span : 0)} of its span critical` : ""}`;
  return meta.name;
}
