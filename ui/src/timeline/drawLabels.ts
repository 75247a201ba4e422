/** Draws the names of rows and the heads of their groups. */

import { percent } from "../format";
import { rowsOf } from "../store";
import { drawRunning, drawVerdict, meanOf, poolVerdict } from "./groupAreas";
import type { Pen } from "./pen";
import type { Scene } from "./scene";
import { headTop, laneMiddle, rowsEnd, rowTop, visibleRows } from "./verticalLayout";

/** Height of a row's name, in pixels. */
const MIN_LABEL_PX = 14;
/** Length of the bar of an always busy compact row, in pixels. */
const BUSY_PX = 40;
/** Distance between a row's name and its busy share, in pixels. */
const GAP_PX = 6;

export function drawLabels(s: Scene, pen: Pen): void {
  const { rows, x0 } = s.bands;
  const width = rowsEnd(s.bands);
  const t = s.tokens;
  const visible = visibleRows(rows);
  // Only some compact rows are named.
  const named = Math.ceil(MIN_LABEL_PX / rows.pitch);
  const alone = rowsOf(s.selection).length <= 1;
  pen.clip(0, rows.y, width, rows.h, () => {
    for (const row of visible) {
      const thread = s.meta.threads[row];
      if (!thread) continue;
      const y = rowTop(rows, row);
      const chosen = rowsOf(s.selection).includes(row) || s.cursorRow === row;
      if (chosen) {
        pen.rect(0, y, x0 - 4, rows.pitch, t.accentBg);
        pen.rect(0, y, 3, rows.pitch, t.accent);
      }
      if (rows.compact) {
        if (thread.busy !== null)
          pen.rect(x0 - 8 - thread.busy * BUSY_PX, y, thread.busy * BUSY_PX, rows.lane, t.work);
        // Names of several adjacent selected rows would overlap.
        if (!(chosen && alone) && rows.since[rows.place[row]!]! % named !== 0) continue;
      } else pen.rect(0, y, width, 1, t.line);
      // The first compact row is lower than its name.
      const first = rows.compact && rows.since[rows.place[row]!] === 0;
      const baseline = Math.max(Math.round(laneMiddle(rows, row)) + (first ? 8 : 4), rows.y + 10);
      const small = rows.pitch < 20;
      const low = rows.compact ? 11 : Math.min(11, Math.max(9, rows.pitch - 1));
      const size = small ? low : 12;
      // An overview has no times off the CPU, so the busy share is unknown.
      const share = thread.busy === null ? "" : percent(thread.busy, 0);
      const end = rows.compact ? x0 - 12 - BUSY_PX : x0 - 10;
      const label = s.pinned.has(row) ? `◆ ${thread.label}` : thread.label;
      // A long name, such as that of a rank's worker, takes the room of the word.
      const needs = pen.textWidth(label, size, 650) + GAP_PX;
      const long = end - 16 - pen.textWidth(`${share} busy`, Math.min(11, size)) < needs;
      const busy = share && !small && !long ? `${share} busy` : share;
      const room = end - 16 - pen.textWidth(busy, Math.min(11, size)) - GAP_PX;
      pen.text(shorten(pen, label, room, size, 650), 16, baseline, {
        size,
        weight: 650,
        colour: t.fg,
      });
      pen.text(busy, end, baseline, { align: "right", colour: t.fg3, size: Math.min(11, size) });
    }
    const bottom = rows.y + rows.total - rows.scroll;
    if (bottom < rows.y + rows.h) pen.rect(0, bottom, width, 1, t.line);
  });
}

/** Heads of the groups of rows. */
export function drawHeads(s: Scene, pen: Pen): void {
  const { rows, x0 } = s.bands;
  const width = rowsEnd(s.bands);
  const t = s.tokens;
  if (rows.heads.length === 0) return;
  const hasAreas = rows.areas && !s.tiles.bare && s.meta.elapsed > 0;
  const slots = hasAreas ? s.tiles.slots("rows", s.scale) : [];
  pen.clip(0, rows.y, width, rows.h, () => {
    rows.heads.forEach(({ group }, i) => {
      const y = headTop(rows, i);
      if (y + rows.head < rows.y || y > rows.y + rows.h) return;
      pen.rect(0, y, width, rows.head, t.inset);
      if (!rows.areas) {
        pen.text(group.title, 16, y + 14, { size: 12, weight: 650, colour: t.fg });
        const x = 24 + pen.textWidth(group.title, 12, 650);
        pen.text(group.note, x, y + 14, { size: 11.5, colour: t.fg2 });
        return;
      }
      const end = x0 - 10;
      const mean = meanOf(s.meta, group);
      pen.text(mean, end, y + 14, { size: 11.5, weight: 600, align: "right", colour: t.fg2 });
      const room = end - 16 - ((mean && pen.textWidth(mean, 11.5, 600) + GAP_PX) || 0);
      const title = shorten(pen, group.title, room, 12, 650);
      pen.text(title, 16, y + 14, { size: 12, weight: 650, colour: t.fg });
      const short = shorten(pen, group.short, end - 16, 11, 400);
      pen.text(short, 16, y + 27, { size: 11, colour: t.fg3 });
      if (!hasAreas) return;
      const area = [y + 3, rows.head - 4] as const;
      drawRunning(s, pen, slots, group, ...area);
      const verdict = poolVerdict(s, group);
      if (verdict) drawVerdict(s, pen, verdict, group, ...area);
    });
  });
}

function shorten(pen: Pen, text: string, room: number, size: number, weight: number): string {
  if (pen.textWidth(text, size, weight) <= room) return text;
  let n = text.length;
  while (n > 1 && pen.textWidth(`${text.slice(0, n)}…`, size, weight) > room) n--;
  return `${text.slice(0, n)}…`;
}
