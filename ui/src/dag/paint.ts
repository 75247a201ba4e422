/** Draws the scene: links, boxes over them, then the selection and labels. */

import { time as seconds, rowLabel } from "../format";
import { ticks } from "../format";
import type { Camera, View } from "./camera";
import {
  colourOf,
  drawCard,
  drawDot,
  drawStrand,
  itemOf,
  nameOf,
  shapeOf,
  stepsOf,
  type DrawingStyle,
} from "./nodeDrawing";
import { hasFrame } from "./layout";
import type { Rect } from "./morph";
import { criticalOf, entryBox, exitBox, type Link, type Model, type DagNode } from "./model";
import { shorten, type TextStyle, type Pen, type Stroke } from "./pen";
import { onScreen, route, type Box, type Route, type BoxOf } from "./routes";

export interface Picture {
  model: Model;
  at: (n: DagNode) => Rect;
  camera: Camera;
  view: View;
  look: DrawingStyle;
  timed: boolean;
  gap: number;
  dot: (n: DagNode) => boolean;
  selected: DagNode | null;
  hovered: DagNode | null;
  /** Nodes for which it is false are drawn faintly; null draws all normally. */
  highlighted: ((n: DagNode) => boolean) | null;
  /** Span in ticks, for the label of the path's biggest strand. */
  span: number;
}

/** How a node is drawn: 0 not at all, 1 as one mark for all that is in it, 2 in full. */
type DetailLevel = 0 | 1 | 2;

/** Draws the scene, and returns the positions. */
export function paintDag(pen: Pen, p: Picture): BoxOf {
  const where = onScreen(p.at, p.camera, p.dot);
  pen.clip(p.view.x, p.view.y, p.view.w, p.view.h, () => {
    const seen = visible(p, where);
    const marked = new Set<number>();
    const titles = groups(pen, p, where, seen);
    const thick = links(pen, p, where, seen);
    for (const n of p.model.boxes) {
      if (!inView(p, n, seen)) continue;
      const b = where(n);
      if (
        b.x > p.view.x + p.view.w ||
        b.x + b.w < p.view.x ||
        b.y > p.view.y + p.view.h + 6 ||
        b.y + b.h < p.view.y - 6
      )
        continue;
      if ((b.w < 2 || b.h <= 2) && n !== p.selected) {
        // Many nodes on one spot are a single mark.
        const spot = (Math.floor(b.x / 2) & 0xffff) * 65536 + (Math.floor(b.y / 2) & 0xffff);
        if (marked.has(spot)) continue;
        marked.add(spot);
      }
      const shape = shapeOf(n, p.dot(n));
      const draw = () =>
        shape === "dot"
          ? drawDot(pen, n, b, p.look)
          : shape === "box"
            ? drawStrand(pen, n, b, p.look)
            : drawCard(pen, n, b, p.look);
      if (p.highlighted && !p.highlighted(n)) pen.fade(0.3, draw);
      else draw();
    }
    for (const f of p.model.frames) {
      if (seen.get(f) !== 1) continue;
      const b = where(f);
      pen.box(
        b.x,
        b.y,
        Math.max(2, b.w),
        Math.max(2, b.h),
        0,
        criticalOf(f) && p.look.critical ? p.look.t.path : colourOf(f, p.look).fill,
      );
    }
    for (const title of titles) title(thick);
    names(pen, p, where, seen, thick);
    callout(pen, p, where);
    if (p.hovered && p.hovered !== p.selected)
      ring(pen, p, p.hovered, where, 2.5, { colour: p.look.t.accentLine, width: 2 });
    if (p.selected) ring(pen, p, p.selected, where, 4.5, { colour: p.look.t.accent, width: 2 });
  });
  return where;
}

function visible(p: Picture, where: BoxOf): Map<DagNode, DetailLevel> {
  const seen = new Map<DagNode, DetailLevel>();
  for (const f of p.model.frames) {
    const up = f.parent ? seen.get(f.parent)! : 2;
    if (up !== 2) {
      seen.set(f, 0);
      continue;
    }
    const b = where(f);
    const out =
      b.x > p.view.x + p.view.w + 20 ||
      b.x + b.w < p.view.x - 20 ||
      b.y > p.view.y + p.view.h + 20 ||
      b.y + b.h < p.view.y - 20;
    seen.set(f, f.kind === "run" ? 2 : out ? 0 : b.w < 2 || b.h < 2 ? 1 : 2);
  }
  return seen;
}

const inView = (_p: Picture, n: DagNode, seen: Map<DagNode, DetailLevel>): boolean =>
  !n.parent || seen.get(n.parent) === 2;

/** Minimum height of a frame with a title, in pixels. */
const MIN_TITLED = 22;

/**
 * Frames of expanded groups, and a faint frame around an expanded node that is selected or hovered.
 */
function groups(
  pen: Pen,
  p: Picture,
  where: BoxOf,
  seen: Map<DagNode, DetailLevel>,
): ((thick: readonly Route[]) => void)[] {
  const { t } = p.look;
  const written: Room[] = [];
  // Drawn after the links, where no thick one crosses them.
  const titles: ((thick: readonly Route[]) => void)[] = [];
  for (const f of p.model.frames) {
    if (!hasFrame(f) || seen.get(f) !== 2) continue;
    const b = where(f);
    pen.box(b.x, b.y, b.w, b.h, Math.min(8, b.h / 3), t.panel2, {
      colour: t.line2,
      width: 1,
      dash: [4, 3],
    });
    const how: TextStyle = { size: 10.5, colour: t.fg3, halo: t.panel };
    // The titles of lower frames would overlap.
    if (b.h < MIN_TITLED) continue;
    const words = shorten(
      pen,
      [nameOf(f, p.look.meta), stepsOf(f)].filter(Boolean).join(", "),
      b.w,
      how,
    );
    const w = pen.measure(words, how);
    const right = b.x + b.w - w - 2;
    const spots: [number, number][] = [
      [b.x + 2, b.y - 4],
      [right, b.y - 4],
      [right, b.y + 13],
      [b.x + 4, b.y + b.h - 5],
      [right, b.y + b.h - 5],
    ];
    titles.push((thick) => {
      const at = ([x, y]: [number, number]): Room => ({ x, y: y - 9, w, h: 11 });
      const apart = spots.filter((spot) => written.every((other) => areApart(at(spot), other)));
      const free = apart.find(
        (spot) =>
          !isCrossed(at(spot), thick) &&
          (spots.indexOf(spot) < 2 || p.model.boxes.every((n) => areApart(where(n), at(spot)))),
      );
      // Two titles on one spot could not be read; the tooltip has both.
      const spot = free ?? apart[0];
      if (!spot) return;
      pen.text(words, ...spot, how);
      written.push(at(spot));
    });
  }
  return titles;
}

/** Draws the links, and returns the thick ones, which labels must avoid. */
function links(pen: Pen, p: Picture, where: BoxOf, seen: Map<DagNode, DetailLevel>): Route[] {
  const { t } = p.look;
  const thin: Stroke = { colour: t.fg3, width: 1 };
  // Where hundreds of links meet, they matter less than the nodes.
  const faint: Stroke = { colour: t.line2, width: 1 };
  const dotted: Stroke = { colour: t.fg3, width: 1.1, dash: [1.5, 3] };
  const later: [Link, Route][] = [];
  const drawn = new Set<string>();
  for (const l of p.model.links) {
    const inner =
      l.kind === "signal"
        ? inView(p, l.from, seen) && inView(p, l.to, seen)
        : seen.get(l.to.parent!) === 2;
    if (!inner) continue;
    const r = route(l, where, p.camera, p.timed, p.gap);
    if (!r || outside(r.points, p)) continue;
    if (extent(r.points) < 1.5) continue;
    const bold = (l.critical && p.look.critical) || (l.ready && p.look.ready);
    if (bold) {
      later.push([l, r]);
      continue;
    }
    // Hundreds of children share most of their route: the common part is drawn once.
    const key = `${l.kind[0]}${r.points.map((v) => v | 0).join()}`;
    if (drawn.has(key)) continue;
    drawn.add(key);
    if (l.kind === "depend" || l.kind === "signal")
      arrow(pen, r.points, {
        colour: t.accent,
        width: 1.3,
        dash: l.kind === "signal" ? [4, 3] : undefined,
      });
    else if (l.kind === "end" && l.slack > 0 && p.look.slack) slack(pen, p, l, r, thin, dotted);
    else
      pen.line(
        r.points,
        (l.kind === "end"
          ? l.to.strand!.joins.length
          : l.kind === "create"
            ? l.to.parent!.inside!.length / 2
            : 0) > 20
          ? faint
          : thin,
        6,
      );
  }
  later.sort((a, b) => Number(a[0].critical) - Number(b[0].critical));
  for (const [l, r] of later) {
    if (l.critical && p.look.critical) {
      pen.line(r.points, { colour: t.halo, width: 6 }, 6);
      pen.line(r.points, { colour: t.path, width: 3 }, 6);
      if (l.kind === "depend" || l.kind === "signal") head(pen, r.points, t.path, 5);
    } else {
      pen.line(r.points, { colour: t.halo, width: 4 }, 6);
      pen.line(r.points, { colour: t.path, width: 2, dash: [2, 3] }, 6);
    }
  }
  return later.map(([, r]) => r);
}

/** A side of a join that ended early: its wait is dotted, with its time beside the line. */
function slack(pen: Pen, p: Picture, l: Link, r: Route, thin: Stroke, dotted: Stroke): void {
  const cutAt = r.slackTo;
  pen.line(cutAt >= r.points.length ? r.points : r.points.slice(0, cutAt), dotted, 6);
  if (cutAt < r.points.length) pen.line(r.points.slice(cutAt - 2), p.timed ? dotted : thin, 6);
  const words = `slack ${ticks(l.slack)}`;
  const how: TextStyle = {
    size: 10.5,
    colour: p.look.t.fg2,
    halo: p.look.t.panel,
    align: "center",
    up: true,
  };
  if (r.label && r.label.length > pen.measure(words, how) + 8)
    pen.text(words, r.label.x - 4, r.label.y, how);
  else if (r.label && r.label.length > pen.measure(ticks(l.slack), how) + 6)
    pen.text(ticks(l.slack), r.label.x - 4, r.label.y, how);
}

function outside(points: readonly number[], p: Picture): boolean {
  let x0 = Infinity,
    x1 = -Infinity,
    y0 = Infinity,
    y1 = -Infinity;
  for (let i = 0; i < points.length; i += 2) {
    x0 = Math.min(x0, points[i]!);
    x1 = Math.max(x1, points[i]!);
    y0 = Math.min(y0, points[i + 1]!);
    y1 = Math.max(y1, points[i + 1]!);
  }
  return x1 < p.view.x || x0 > p.view.x + p.view.w || y1 < p.view.y || y0 > p.view.y + p.view.h;
}

function extent(points: readonly number[]): number {
  let most = 0;
  for (let i = 2; i < points.length; i += 2)
    most = Math.max(most, Math.abs(points[i]! - points[0]!), Math.abs(points[i + 1]! - points[1]!));
  return most;
}

function arrow(pen: Pen, points: readonly number[], stroke: Stroke): void {
  pen.line(points, stroke, 6);
  head(pen, points, stroke.colour, 4);
}

/** An arrow head, pointing down: links end at the top of their target. */
function head(pen: Pen, points: readonly number[], colour: string, size: number): void {
  const x = points[points.length - 2]!,
    y = points[points.length - 1]!;
  pen.area([x, y, x - size, y - size * 1.5, x + size, y - size * 1.5], colour);
}

/** Names beside the forks that begin expanded tasks, if there is room. */
function names(
  pen: Pen,
  p: Picture,
  where: BoxOf,
  seen: Map<DagNode, DetailLevel>,
  thick: readonly Route[],
): void {
  const { t, meta } = p.look;
  const how: TextStyle = { size: 11, weight: 600, colour: t.fg, halo: t.panel, align: "right" };
  const sub: TextStyle = { size: 10.5, colour: t.fg3, halo: t.panel };
  const written: Room[] = [];
  for (const f of p.model.frames) {
    if ((f.kind !== "task" && !f.strand) || seen.get(f) !== 2) continue;
    const first = entryBox(f);
    if (!first.strand || first.parent !== f) continue;
    const b = where(first),
      frame = where(f);
    if (!p.dot(first)) {
      // A strand too flat for its text has it beside it.
      if (b.h >= 13 || b.w < 40) continue;
      const words = shorten(
        pen,
        nameOf(first, meta),
        Math.min(140, frame.x + frame.w - (b.x + b.w) - 6),
        { ...how, align: "left" },
      );
      if (words) {
        const y = p.timed ? b.y - 3 : b.y + b.h / 2 + 4;
        pen.text(words, b.x + b.w + 6, y, { ...how, align: "left" });
        const took = `${ticks(first.strand.end - first.strand.start)} · ${rowLabel(meta, first.strand.row)}`;
        const x = b.x + b.w + 12 + pen.measure(words, how);
        if (x + pen.measure(took, sub) < frame.x + frame.w) pen.text(took, x, y, sub);
      }
      continue;
    }
    const name = nameOf(f, meta);
    const right = b.cx - 9,
      wanted = Math.min(150, pen.measure(name, how));
    // A name may begin outside its frame if nothing else is there.
    const room: Room = { x: right - wanted, y: b.y + b.h / 2 - 15, w: wanted, h: 20 };
    const beyond =
      room.x > p.view.x &&
      written.every((other) => areApart(room, other)) &&
      isFree(p, where, room, first);
    const words = shorten(pen, name, beyond ? 150 : Math.min(150, right - frame.x - 3), how);
    if (!words || frame.h <= 30) continue;
    // Above the bar to the fork's children (at the fork's own height if heights are times), unless
    // a thick line is there; otherwise beside the fork, or below the bar.
    const w = pen.measure(words, how);
    const y = b.y + b.h / 2;
    const spots: [number, number][] = [
      [right, y + (p.timed ? -4 : 1)],
      [right, y + (p.timed ? -7 : -3)],
      [b.cx + 9 + w, y - 5],
      [right, y + 14],
      [b.cx + 9 + w, y + 14],
    ];
    const at = ([x, y]: [number, number]): Room => ({ x: x - w, y: y - 9, w, h: 11 });
    const free = spots.find(
      (spot, i) =>
        !isCrossed(at(spot), thick) &&
        (i < 2 ||
          (isFree(p, where, at(spot), first) && written.every((o) => areApart(at(spot), o)))),
    );
    // A crossed label would be unreadable; the tooltip has the name.
    if (!free) continue;
    const [x, line] = free;
    pen.text(words, x, line, how);
    written.push(at(free));
  }
}

/** A rectangle on the screen that a text takes. */
type Room = Omit<Rect, "spine">;

/** Whether a line crosses a rectangle; routes consist of horizontal and vertical parts. */
export function isCrossed(room: Room, lines: readonly Pick<Route, "points">[]): boolean {
  const half = 2;
  return lines.some(({ points: v }) => {
    for (let i = 2; i < v.length; i += 2) {
      const [x0, x1] = [Math.min(v[i - 2]!, v[i]!), Math.max(v[i - 2]!, v[i]!)];
      const [y0, y1] = [Math.min(v[i - 1]!, v[i + 1]!), Math.max(v[i - 1]!, v[i + 1]!)];
      if (
        x0 - half < room.x + room.w &&
        x1 + half > room.x &&
        y0 - half < room.y + room.h &&
        y1 + half > room.y
      )
        return true;
    }
    return false;
  });
}

const areApart = (a: Room, b: Room): boolean =>
  a.x >= b.x + b.w || a.x + a.w <= b.x || a.y >= b.y + b.h || a.y + a.h <= b.y;

/** Whether no node but `own` is drawn within a rectangle. */
const isFree = (p: Picture, where: BoxOf, room: Room, own: DagNode): boolean =>
  p.model.boxes.every((n) => n === own || areApart(where(n), room));

/** The single critical strand that a node stands for, itself or a task of one strand. */
export function criticalStrand(
  n: Pick<DagNode, "strand" | "folded">,
): { weight: number; start: number; end: number; row: number } | null {
  const f = n.folded;
  if (!f) return n.strand?.critical ? n.strand : null;
  if (f.kind !== "task" || f.expandable || !f.critical) return null;
  return { weight: f.work, start: f.start, end: f.end, row: f.rows[0]?.[0] ?? 0 };
}

/** Labels the strand that is most of the span, if there is room beside it. */
function callout(pen: Pen, p: Picture, where: BoxOf): void {
  if (!p.timed || !p.look.critical || p.span <= 0) return;
  let best: DagNode | null = null;
  let s: ReturnType<typeof criticalStrand> = null;
  for (const n of p.model.boxes) {
    const strand = criticalStrand(n);
    if (strand && strand.weight > (s?.weight ?? 0)) {
      best = n;
      s = strand;
    }
  }
  if (!best || !s || s.weight < p.span * 0.2) return;
  const b = where(best);
  const { t } = p.look;
  if (b.h < 60 || b.y < p.view.y - b.h / 2 || b.y + b.h > p.view.y + p.view.h + b.h / 2) return;
  // The share is of time on the CPU, so that time is next to it; the clock time is added if it
  // differs.
  const took = s.end - s.start;
  const clock = took > s.weight * 1.05 ? ` in ${ticks(took)} by the clock,` : "";
  const lines: [string, TextStyle][] = [
    [
      `${Math.round((s.weight / p.span) * 100)}\u00a0% of the span is this one strand`,
      { size: 14, weight: 650, colour: t.fg, halo: t.panel },
    ],
    [
      `${nameOf(best, p.look.meta)}, ${ticks(s.weight)} on the CPU${clock} on ${rowLabel(p.look.meta, s.row)}`,
      { size: 12, colour: t.fg2, halo: t.panel },
    ],
  ];
  const w = Math.max(...lines.map(([words, how]) => pen.measure(words, how)));
  const mid = b.y + b.h / 2;
  // Right of the strand, or otherwise left.
  const sides = [
    { edge: b.x + b.w + 16, way: 1, from: b.x + b.w + 34 },
    { edge: b.x - 16, way: -1, from: b.x - 34 - w },
  ];
  const side = sides.find(
    ({ from }) =>
      from >= p.view.x &&
      from + w <= p.view.x + p.view.w - 4 &&
      isFree(p, where, { x: from - 8, y: mid - 26, w: w + 12, h: 52 }, best!),
  );
  if (!side) return;
  const { edge, way, from } = side;
  const [top, bottom] = [b.y + 1, b.y + b.h - 1];
  pen.line([edge, top, edge + 6 * way, top, edge + 6 * way, bottom, edge, bottom], {
    colour: t.fg,
    width: 1.4,
  });
  lines.forEach(([words, how], i) => pen.text(words, from, mid - 4 + 19 * i, how));
}

/** Outlines a node, also an expanded one. */
function ring(pen: Pen, p: Picture, n: DagNode, where: BoxOf, by: number, stroke: Stroke): void {
  const b: Box = where(n);
  const d = n.inside ? by + 4 : by;
  pen.box(
    b.x - d,
    b.y - d,
    Math.max(2, b.w) + 2 * d,
    Math.max(2, b.h) + 2 * d,
    p.dot(n) ? 12 : 8,
    null,
    n.inside ? { ...stroke, dash: [5, 3] } : stroke,
  );
}

export { exitBox, itemOf, seconds };
