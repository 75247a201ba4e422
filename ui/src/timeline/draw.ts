/** Draws one frame, from the background up. */

import { partsOf, rowsEnd } from "./bands";
import { attempts } from "./attempts";
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
import { matrix } from "./matrix";
import { arcs, chosen, steals } from "./steals";
import type { Steals } from "./steals";
import { strip } from "./strip";
import type { Look } from "./tiles";
import { drawWaits, waits } from "./waits";
import type { Wait } from "./waits";

/** Results of drawing a frame that hit tests need. */
export interface Drawn {
  complete: boolean;
  columns: Columns;
  dots: Dot[];
  steals: Steals;
  /** Waits with a curve. */
  waits: Wait[];
}

export function frame(s: Scene, pen: Pen, look: Look, lanes: number[]): Drawn {
  const { bands } = s;
  pen.rect(0, 0, bands.width, bands.height, s.tokens.panel);
  axis(s, pen);
  minimap(s, pen);
  const columns = strip(s, pen);
  regions(s, pen, lanes);
  // Pinned rows are higher than compact ones.
  const parts = partsOf(bands.rows).map((part) => ({
    ...s,
    bands: { ...bands, rows: part },
    offCpu: [],
    blocked: [],
  }));
  for (const part of parts) rows.labels(part, pen);
  if (bands.rows.queue && s.layers.has("queue")) rows.queueScale(s, pen);
  let complete = true;
  const dots: Dot[] = [];
  let shownWaits: Wait[] = [];
  const all = steals(
    s.layers.has("steals") || s.layers.has("leaps") || s.layers.has("matrix")
      ? s.tiles.slots("arcs", s.scale)
      : [],
    s.scale,
  );
  pen.clip(bands.x0, bands.rows.y, bands.plot, bands.rows.h, () => {
    for (const part of parts) {
      complete = rows.columns(part, pen, look) && complete;
      rows.boxes(part, pen);
      rows.inner(part, pen);
      rows.buried(part, pen);
      if (part.bands.rows.queue && s.layers.has("queue")) rows.queues(part, pen);
      if (part.bands.rows.queue && s.layers.has("attempts")) attempts(part, pen);
      if (s.layers.has("spawns")) dots.push(...spawns(part, pen));
    }
    if (!all.crowded) arcs(s, pen, all);
    if (s.layers.has("ready")) path(s, pen, "ready");
    if (s.layers.has("critical")) path(s, pen, "critical");
    if (s.layers.has("waits") && s.meta.waits > 0)
      shownWaits = drawWaits(s, pen, waits(s.tiles.slots("waits", s.scale), s.scale));
    for (const part of parts) {
      rows.names(part, pen);
      rows.names(part, pen, s.inner);
    }
    chosen(s, pen, all);
    marks.outline(s, pen, s.hover, true);
    marks.outline(s, pen, s.selection, false);
  });
  pen.rect(bands.x0, bands.rows.y, 1, Math.min(bands.rows.h, bands.rows.total), s.tokens.line);
  rows.heads(s, pen);
  matrix(s, pen, all);
  marks.range(s, pen);
  marks.userMarks(s, pen);
  marks.callouts(s, pen);
  marks.stops(s, pen, s.meta.elapsed > 0 && !s.tiles.bare ? s.tiles.stops(s.scale) : null);
  scrollbar(s, pen);
  return { complete, columns, dots, steals: all, waits: shownWaits };
}

function scrollbar(s: Scene, pen: Pen): void {
  const { rows } = s.bands;
  const width = rowsEnd(s.bands);
  if (rows.most <= 0) return;
  const h = Math.max(16, (rows.h * rows.h) / rows.total);
  const y = rows.y + ((rows.h - h) * rows.scroll) / rows.most;
  pen.rects([width - 8, y, 5, h], s.tokens.line2, 2.5);
}
