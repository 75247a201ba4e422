/** The visible strands as rows of text, for the table and for CSV. */

import { FLAG } from "./strandBoxes";
import type { TimelineView } from "./timelineView";

export const STRAND_COLUMNS = [
  "strand",
  "task",
  "worker",
  "code",
  "spawn site",
  "start (s)",
  "duration (s)",
  "ready before (s)",
  "level",
  "critical path",
  "ready path",
  "stolen",
  "folded",
];

export interface VisibleStrand {
  id: number;
  task: number;
  start: number;
  end: number;
  /** For a strand inside a folded strand: its start. */
  inner?: number;
  cells: (string | number)[];
}

/** By start; only strands with boxes of their own, so that the table equals the picture. */
export function strandRows(view: TimelineView): VisibleStrand[] {
  const { scene, meta } = view;
  if (!scene) return [];
  const seconds = (ticks: number) => Number((ticks / meta.ticks_per_second).toPrecision(9));
  const yes = (flags: number, flag: number) => (flags & flag ? "yes" : "");
  const lines: VisibleStrand[] = [];
  for (const b of [scene.boxes, scene.inner])
    for (let i = 0; i < b.n; i++) {
      const flags = b.flags[i]!;
      lines.push({
        id: b.id[i]!,
        task: b.task[i]!,
        start: b.start[i]!,
        end: b.end[i]!,
        ...(b.inside ? { inner: b.start[i]! } : {}),
        cells: [
          b.id[i]!,
          b.task[i]!,
          meta.threads[b.row[i]!]?.label ?? String(b.row[i]!),
          meta.codes[b.code[i]!]?.label ?? "",
          meta.sites[b.site[i]!]?.label ?? "",
          seconds(b.start[i]!),
          seconds(b.end[i]! - b.start[i]!),
          Number.isNaN(b.ready[i]!) ? 0 : seconds(b.start[i]! - b.ready[i]!),
          b.level[i]!,
          yes(flags, FLAG.critical),
          yes(flags, FLAG.ready),
          yes(flags, FLAG.stolen),
          [b.inside ? "inside" : "", yes(flags, FLAG.folded)].filter(Boolean).join(", "),
        ],
      });
    }
  return lines.sort((x, y) => x.start - y.start || x.id - y.id);
}
