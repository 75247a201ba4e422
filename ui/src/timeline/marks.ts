/**
 * Marks above everything: the selection's outline, the range, the user's marks, a finding's
 * callouts.
 */

import { ticks as timeOf } from "../format";
import type { Selection } from "../store";
import { laneHeight, laneMiddle, laneTop } from "./verticalLayout";
import type { Pen } from "./pen";
import { pixelAt as pixel } from "./timeScale";
import type { Scene } from "./scene";

/** Outlines of the selection or, weaker, of the hovered item. */
export function drawOutline(s: Scene, pen: Pen, what: Selection | null, weak: boolean): void {
  if (!what || what.run !== s.meta.id) return;
  const { rows } = s.bands;
  const colour = s.tokens.accent;
  const width = weak ? 1.2 : 2;
  const box = (row: number, start: number, end: number) => {
    const a = Math.max(pixel(s.scale, start), s.scale.x0 - 6);
    const b = Math.min(pixel(s.scale, end), s.scale.x0 + s.scale.width + 6);
    if (b < s.scale.x0 - 6 || a > s.scale.x0 + s.scale.width + 6) return;
    pen.frame(
      a - 1.5,
      laneTop(rows, row) - 1.5,
      Math.max(3, b - a + 2),
      laneHeight(rows, row) + 3,
      colour,
      width,
      4,
    );
  };
  switch (what.kind) {
    case "strand":
    case "steal": {
      const id = what.kind === "strand" ? what.id : what.strand;
      if (what.kind === "strand" && what.inner !== undefined) {
        const k = s.inner.findInside(id, what.inner);
        if (k >= 0) box(s.inner.row[k]!, s.inner.start[k]!, s.inner.end[k]!);
        else if (s.inside?.strand === id && s.inside.start === what.inner)
          box(s.inside.row, s.inside.start, s.inside.end);
        break;
      }
      const i = s.boxes.find(id);
      if (i >= 0) box(s.boxes.row[i]!, s.boxes.start[i]!, s.boxes.end[i]!);
      else if (s.strand?.id === id) box(s.strand.row, s.strand.start, s.strand.end);
      break;
    }
    case "task": {
      let shown = 0;
      for (let i = 0; i < s.boxes.n && shown < 300; i++) {
        if (s.boxes.task[i] !== what.id) continue;
        box(s.boxes.row[i]!, s.boxes.start[i]!, s.boxes.end[i]!);
        shown++;
      }
      // Too small for boxes: its place comes from the task's facts.
      const first = s.task?.stack[0];
      if (!shown && s.task?.task === what.id && first) box(first.row, s.task.start, s.task.end);
      break;
    }
    case "group":
      // Only for nodes inside a folded strand; others are spread over the run.
      if (what.id.startsWith("s") && s.inside?.strand === Number(/^s(\d+)/.exec(what.id)?.[1]))
        box(s.inside.row, s.inside.start, s.inside.end);
      break;
    default:
      break;
  }
}

/** The selected or currently drawn range, with its length. */
export function drawRange(s: Scene, pen: Pen): void {
  const span =
    s.dragged ??
    (s.selection?.kind === "range" && s.selection.run === s.meta.id ? s.selection : null);
  if (!span) return;
  const { strip, rows, x0, plot } = s.bands;
  const t = s.tokens;
  const a = pixel(s.scale, Math.min(span.t0, span.t1));
  const b = pixel(s.scale, Math.max(span.t0, span.t1));
  if (b < x0 || a > x0 + plot) return;
  const top = strip.y;
  const h = rows.y + rows.h - top;
  pen.rect(
    Math.max(a, x0),
    top,
    Math.min(b, x0 + plot) - Math.max(a, x0),
    h,
    t.accent,
    s.dark ? 0.16 : 0.1,
  );
  for (const edge of [a, b])
    if (edge >= x0 && edge <= x0 + plot) pen.rect(edge - 0.5, top, 1, h, t.accent);
  const label = timeOf(Math.abs(span.t1 - span.t0), s.meta.ticks_per_second);
  const w = pen.textWidth(label, 11, 600) + 12;
  const middle = Math.min(
    Math.max((Math.max(a, x0) + Math.min(b, x0 + plot)) / 2, x0 + w / 2),
    x0 + plot - w / 2,
  );
  pen.rects([middle - w / 2, top + 2, w, 17], t.accent, 4);
  pen.text(label, middle, top + 14.5, { size: 11, weight: 600, align: "center", colour: t.panel });
}

/** The user's marks: a line and its time. */
export function drawUserMarks(s: Scene, pen: Pen): void {
  const { axis, rows, x0, plot } = s.bands;
  const t = s.tokens;
  s.marks.forEach((mark, i) => {
    const at = pixel(s.scale, mark);
    if (at < x0 || at > x0 + plot) return;
    pen.line([at, axis + 4, at, rows.y + rows.h], t.accent, { width: 1.2, dash: [2, 3] });
    const label = String.fromCharCode(65 + (i % 26));
    pen.rects([at - 7, axis + 1, 14, 13], t.accent, 3);
    pen.text(label, at, axis + 11, { size: 10, weight: 700, align: "center", colour: t.panel });
  });
}

/** The selected finding's text at its place. */
export function drawCallouts(s: Scene, pen: Pen): void {
  const { rows, x0, plot } = s.bands;
  const t = s.tokens;
  for (const c of s.callouts) {
    const a = Math.max(pixel(s.scale, c.t0), x0);
    const b = Math.min(pixel(s.scale, c.t1), x0 + plot);
    if (b < a) continue;
    const size = 13;
    const most = Math.min(plot - 16, 720);
    const title = shorten(pen, c.title, most - 46, size, 650);
    const detail = shorten(pen, c.detail, most - 46, 12, 400);
    const w = Math.max(pen.textWidth(title, size, 650) + 32, pen.textWidth(detail, 12) + 32) + 14;
    const h = detail ? 46 : 30;
    const middle = Math.min(Math.max((a + b) / 2, x0 + w / 2 + 4), x0 + plot - w / 2 - 4);
    const below =
      c.row !== null
        ? laneTop(rows, c.row) + laneHeight(rows, c.row) + 10
        : rows.y + Math.min(rows.h, rows.total) * 0.55 - h / 2;
    const y = Math.min(Math.max(below, rows.y + 4), rows.y + rows.h - h - 4);
    // A bracket over the finding's time.
    pen.line([a, y - 2, a, y - 6, b, y - 6, b, y - 2], t.fg2, { width: 1 });
    if (c.row !== null) pen.line([middle, y, middle, laneMiddle(rows, c.row)], t.fg2, { width: 1 });
    pen.rects([middle - w / 2, y, w, h], t.panel, 7);
    pen.frame(middle - w / 2, y, w, h, t.line2, 1, 7);
    pen.dots([middle - w / 2 + 16, y + 15], 8.5, t.fg);
    pen.text(String(c.number), middle - w / 2 + 16, y + 19, {
      align: "center",
      weight: 700,
      colour: t.panel,
    });
    pen.text(title, middle - w / 2 + 30, y + 19.5, { size, weight: 650, colour: t.fg });
    if (detail) pen.text(detail, middle - w / 2 + 30, y + 36, { size: 12, colour: t.fg2 });
  }
}

function shorten(pen: Pen, text: string, room: number, size: number, weight: number): string {
  if (pen.textWidth(text, size, weight) <= room) return text;
  let n = text.length;
  while (n > 1 && pen.textWidth(`${text.slice(0, n)}…`, size, weight) > room)
    n -= Math.max(1, Math.floor(n / 20));
  return `${text.slice(0, n).trimEnd()}…`;
}

/** The line below the axis, if a report has no finer detail. */
export function drawDetailLimit(s: Scene, pen: Pen, level: number | null): void {
  if (level === null) return;
  const { axis, x0, plot } = s.bands;
  const text = `report: no detail below ${timeOf(2 ** level, s.meta.ticks_per_second)} here`;
  const w = pen.textWidth(text, 11, 600) + 16;
  const at = x0 + plot / 2;
  pen.rects([at - w / 2, axis + 10, w, 18], s.tokens.panel, 5);
  pen.frame(at - w / 2, axis + 10, w, 18, s.tokens.line2, 1, 5);
  pen.text(text, at, axis + 23, { size: 11, weight: 600, align: "center", colour: s.tokens.fg2 });
}
