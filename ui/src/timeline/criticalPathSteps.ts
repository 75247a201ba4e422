/**
 * Keyboard steps along the critical path, as in the DAG's list: to the heaviest strand of each
 * part.
 */

import type { CriticalPath } from "../data/contract";
import { requests } from "../data/requests";
import { announcement, selection } from "../store";
import { selectStrand } from "./selection";
import type { TimelineView } from "./timelineView";

type Row = Pick<CriticalPath["rows"][number], "strand" | "start" | "end">;

/**
 * The part after (1) or before (-1) the selected one. From a strand outside the path it is the
 * nearest in that direction, without a selection the first visible one. Null at the path's end.
 * `rows` are root first.
 */
export function nextPart<R extends Row>(
  rows: readonly R[],
  now: { strand: number; start: number } | null,
  by: 1 | -1,
  from: number,
): R | null {
  const at = now ? rows.findIndex((r) => r.strand === now.strand) : -1;
  if (at >= 0) return rows[at + by] ?? null;
  const time = now?.start ?? from;
  const after = now === null || by > 0;
  return after
    ? (rows.find((r) => r.start >= time) ?? (now ? null : (rows.at(-1) ?? null)))
    : (rows.findLast((r) => r.start < time) ?? null);
}

export async function stepAlongPath(view: TimelineView, by: 1 | -1): Promise<void> {
  const path = await view.facts.later<CriticalPath>(requests.critical(view.meta.id));
  if (!path || path.rows.length === 0) {
    announcement.value = "The critical path is unknown.";
    return;
  }
  const what = selection.value;
  const id = what?.run === view.meta.id && what.kind === "strand" ? what.id : null;
  const strand =
    id === null
      ? null
      : await view.facts.later<{ start: number }>(requests.strand(view.meta.id, id));
  const now = id !== null && strand ? { strand: id, start: strand.start } : null;
  const next = nextPart(path.rows, now, by, view.window.t0);
  if (next) await selectStrand(view, next.strand, true);
  else
    announcement.value =
      by > 0 ? "This is the end of the critical path." : "This is the start of the critical path.";
}
