/** One frame, from the ground up. */

import * as marks from "./marks";
import { axis, minimap } from "./minimap";
import { path } from "./paths";
import type { Pen } from "./pen";
import type { Columns } from "./profile";
import { regions } from "./regions";
import * as rows from "./rows";
import type { Scene } from "./scene";
import { spawns } from "./spawns";
import type { Dot } from "./spawns";
import { arcs, chosen, matrix, steals } from "./steals";
import type { Steals } from "./steals";
import { strip } from "./strip";
import type { Look } from "./tiles";

/** What a frame found out on the way, for pointing at it. */
export interface Drawn {
  complete: boolean;
  columns: Columns;
  dots: Dot[];
  steals: Steals;
}

export function frame(s: Scene, pen: Pen, look: Look, lanes: number[]): Drawn {
  const { bands } = s;
  pen.rect(0, 0, bands.width, bands.height, s.tokens.panel);
  axis(s, pen);
  minimap(s, pen);
  const columns = strip(s, pen);
  regions(s, pen, lanes);
  rows.labels(s, pen);
  if (bands.rows.queue) rows.queueScale(s, pen);
  let complete = false;
  let dots: Dot[] = [];
  const all = steals(
    s.layers.has("steals") || s.layers.has("leaps") || s.layers.has("matrix")
      ? s.tiles.slots("arcs", s.scale)
      : [],
    s.scale,
  );
  pen.clip(bands.x0, bands.rows.y, bands.plot, bands.rows.h, () => {
    complete = rows.columns(s, pen, look);
    rows.boxes(s, pen);
    rows.inner(s, pen);
    rows.buried(s, pen);
    if (bands.rows.queue) rows.queues(s, pen);
    if (s.layers.has("spawns")) dots = spawns(s, pen);
    if (!all.crowded) arcs(s, pen, all);
    if (s.layers.has("ready")) path(s, pen, "ready");
    if (s.layers.has("critical")) path(s, pen, "critical");
    rows.names(s, pen);
    rows.names(s, pen, s.inner);
    chosen(s, pen, all);
    marks.outline(s, pen, s.hover, true);
    marks.outline(s, pen, s.selection, false);
  });
  pen.rect(bands.x0, bands.rows.y, 1, Math.min(bands.rows.h, bands.rows.total), s.tokens.line);
  rows.heads(s, pen);
  if (all.crowded) matrix(s, pen, all);
  marks.range(s, pen);
  marks.userMarks(s, pen);
  marks.callouts(s, pen);
  marks.stops(s, pen, s.meta.elapsed > 0 && !s.tiles.bare ? s.tiles.stops(s.scale) : null);
  scrollbar(s, pen);
  return { complete, columns, dots, steals: all };
}

function scrollbar(s: Scene, pen: Pen): void {
  const { rows, width } = s.bands;
  if (rows.most <= 0) return;
  const h = Math.max(16, (rows.h * rows.h) / rows.total);
  const y = rows.y + ((rows.h - h) * rows.scroll) / rows.most;
  pen.rects([width - 8, y, 5, h], s.tokens.line2, 2.5);
}
