/** Draws one frame, from the background up. */

import { partsOf, rowsEnd } from "./verticalLayout";
import { drawAttempts } from "./stealAttempts";
import * as marks from "./marks";
import { drawAxis, drawMinimap } from "./minimap";
import { drawPath } from "./paths";
import type { Pen } from "./pen";
import type { ProfileColumns } from "./parallelismProfile";
import { drawRegions } from "./regions";
import { drawHeads, drawLabels } from "./drawLabels";
import { drawQueues, drawQueueScale } from "./drawQueues";
import * as rows from "./drawRows";
import type { Scene } from "./scene";
import { drawSpawns } from "./spawnDots";
import type { Dot } from "./spawnDots";
import { drawMatrix } from "./stealMatrix";
import { drawArcs, drawSelectedSteal, visibleSteals } from "./steals";
import type { Steals } from "./steals";
import { drawStrip } from "./parallelismStrip";
import type { TileStyle } from "./tiles";
import { drawWaits, visibleWaits } from "./waits";
import type { Wait } from "./waits";

/** Results of drawing a frame that hit tests need. */
export interface HitTargets {
  complete: boolean;
  columns: ProfileColumns;
  dots: Dot[];
  steals: Steals;
  /** Waits with a curve. */
  waits: Wait[];
}

export function drawFrame(s: Scene, pen: Pen, look: TileStyle, lanes: number[]): HitTargets {
  const { bands } = s;
  pen.rect(0, 0, bands.width, bands.height, s.tokens.panel);
  drawAxis(s, pen);
  drawMinimap(s, pen);
  const columns = drawStrip(s, pen);
  drawRegions(s, pen, lanes);
  // Pinned rows are higher than compact ones.
  const parts = partsOf(bands.rows).map((part) => ({
    ...s,
    bands: { ...bands, rows: part },
    offCpu: [],
    blocked: [],
  }));
  for (const part of parts) drawLabels(part, pen);
  if (bands.rows.queue && s.layers.has("queue")) drawQueueScale(s, pen);
  let complete = true;
  const dots: Dot[] = [];
  let shownWaits: Wait[] = [];
  const all = visibleSteals(
    s.layers.has("steals") || s.layers.has("leaps") || s.layers.has("matrix")
      ? s.tiles.slots("arcs", s.scale)
      : [],
    s.scale,
  );
  pen.clip(bands.x0, bands.rows.y, bands.plot, bands.rows.h, () => {
    for (const part of parts) {
      complete = rows.drawColumns(part, pen, look) && complete;
      rows.drawBoxes(part, pen);
      rows.drawInnerBoxes(part, pen);
      rows.drawBuriedWaits(part, pen);
      if (part.bands.rows.queue && s.layers.has("queue")) drawQueues(part, pen);
      if (part.bands.rows.queue && s.layers.has("attempts")) drawAttempts(part, pen);
      if (s.layers.has("spawns")) dots.push(...drawSpawns(part, pen));
    }
    if (!all.crowded) drawArcs(s, pen, all);
    if (s.layers.has("ready")) drawPath(s, pen, "ready");
    if (s.layers.has("critical")) drawPath(s, pen, "critical");
    if (s.layers.has("waits") && s.meta.waits > 0)
      shownWaits = drawWaits(s, pen, visibleWaits(s.tiles.slots("waits", s.scale), s.scale));
    for (const part of parts) {
      rows.drawNames(part, pen);
      rows.drawNames(part, pen, s.inner);
    }
    drawSelectedSteal(s, pen, all);
    marks.drawOutline(s, pen, s.hover, true);
    marks.drawOutline(s, pen, s.selection, false);
  });
  pen.rect(bands.x0, bands.rows.y, 1, Math.min(bands.rows.h, bands.rows.total), s.tokens.line);
  drawHeads(s, pen);
  drawMatrix(s, pen, all);
  marks.drawRange(s, pen);
  marks.drawUserMarks(s, pen);
  marks.drawCallouts(s, pen);
  marks.drawDetailLimit(
    s,
    pen,
    s.meta.elapsed > 0 && !s.tiles.bare ? s.tiles.detailLimit(s.scale) : null,
  );
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
