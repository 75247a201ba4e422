/** The view as a file: a picture, or the visible strands as CSV (export/export.ts saves them). */

import { hasLayer, layersOf } from "./layers";
import { STRAND_COLUMNS, strandRows } from "./visibleStrands";
import { CanvasPen } from "./pen";
import { SvgPen } from "./svg";
import type { PaperPage } from "../export/export";
import { count, plural } from "../format";
import { dark } from "../theme/theme";
import type { TimelineView } from "./timelineView";
import type { Rows } from "./verticalLayout";

/** Height of a lane from which strands in it have names. */
const MIN_NAMED_LANE = 11;

/**
 * All rows on a page of paper of this height, and in words what is left out for that; null if the
 * usual picture fits.
 */
export function paperPage(view: TimelineView, height: number): PaperPage | null {
  let rows: Rows | null = null;
  const svg = drawn((pen) => {
    const made = view.paperPicture(pen, height);
    rows = made?.rows ?? null;
    return made ?? { width: 1, height: 1 };
  });
  const shown = layersOf(view.meta);
  const layers = (["spawns", "cpu", "queue", "attempts"] as const).filter(
    (l) => shown.has(l) && hasLayer(view.meta, l),
  );
  return rows && { svg, note: leftOut(rows, layers, view.meta.more_threads) };
}

const LAYERS_LEFT_OUT = {
  spawns: "spawns",
  cpu: "CPU time",
  queue: "queues",
  attempts: "attempts to steal",
} as const;

/** What rows of a page do not show: of the switched-on layers, and threads without a row. */
export function leftOut(
  rows: Pick<Rows, "count" | "lane" | "compact" | "most" | "h">,
  layers: readonly (keyof typeof LAYERS_LEFT_OUT)[] = [],
  moreThreads = 0,
): string {
  const all = plural(rows.count, "row");
  const some = Math.floor(rows.h / (rows.lane + 1));
  const without = [
    ...(rows.compact ? ["textures"] : []),
    ...(rows.lane < MIN_NAMED_LANE ? ["names of strands"] : []),
    ...layers.map((l) => LAYERS_LEFT_OUT[l]),
    ...(moreThreads > 0 ? [`${plural(moreThreads, "thread")} that have no row`] : []),
  ];
  return [
    rows.most > 0 ? `The first ${count(some)} of ${all}` : `All ${all} on one page`,
    without.length > 0 ? `, without ${listed(without)}` : "",
    ". Hide rows in the timeline to print fewer in full.",
  ].join("");
}

const listed = (words: string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

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
