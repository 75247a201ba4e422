/** The view as a file: a picture, or the visible strands as CSV (export/export.ts saves them). */

import { STRAND_COLUMNS, strandRows } from "./visibleStrands";
import { CanvasPen } from "./pen";
import { SvgPen } from "./svg";
import { dark } from "../theme/theme";
import type { TimelineView } from "./timelineView";

/** Greatest number of rows on a page of paper, and of such pages. */
const ROWS_ON_PAGE = 20;
const MAX_PAGES = 16;

/**
 * Further pages for paper: rows that are too low for names and textures are there with their full
 * height.
 */
export function rowPages(view: TimelineView, height: number): { title: string; svg: string }[] {
  const rows = view.compactRows;
  if (!rows) return [];
  const pages = Math.ceil(rows.length / ROWS_ON_PAGE);
  if (pages > MAX_PAGES) return [];
  const each = Math.ceil(rows.length / pages);
  return Array.from({ length: pages }, (_, page) => {
    const part = rows.slice(page * each, (page + 1) * each);
    const name = (row: number | undefined) => view.meta.threads[row ?? -1]?.label ?? "";
    return {
      title: `rows ${name(part[0])} to ${name(part.at(-1))}, part ${page + 1} of ${pages}`,
      svg: drawn((pen) => view.pictureOf(part, height, pen)),
    };
  });
}

export const svgText = (view: TimelineView): string => drawn((pen) => view.picture(pen));

function drawn(draw: (pen: SvgPen) => { width: number; height: number }): string {
  const scratch = document.createElement("canvas");
  const context = scratch.getContext("2d");
  if (!context) return "";
  const picture = (
    image: CanvasImageSource,
    sx: number,
    sy: number,
    sw: number,
    sh: number,
  ): string => {
    scratch.width = Math.max(1, Math.min(1024, Math.ceil(sw)));
    scratch.height = 1;
    context.drawImage(image, sx, sy, sw, sh, 0, 0, scratch.width, 1);
    return scratch.toDataURL("image/png");
  };
  const measure = document.createElement("canvas").getContext("2d");
  if (!measure) return "";
  const pen = new SvgPen(dark.value, new CanvasPen(measure, dark.value), picture);
  const { width, height } = draw(pen);
  return pen.document(width, height);
}

export function csvText(view: TimelineView): string {
  const cell = (v: string | number) => {
    let text = String(v);
    // A spreadsheet would evaluate a text that begins like a formula.
    if (typeof v === "string" && /^[=+\-@\t]/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return (
    [STRAND_COLUMNS, ...strandRows(view).map((r) => r.cells)]
      .map((line) => line.map(cell).join(","))
      .join("\n") + "\n"
  );
}
