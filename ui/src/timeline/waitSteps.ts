/** Steps between waits, and from a wait to the thread that ended it. */

import type { StrandDetail } from "../data/contract";
import { requests } from "../data/requests";
import { count } from "../format";
import { announcement, selection } from "../store";
import { selectStrand } from "./selection";
import { visibleWaits } from "./waits";
import type { TimelineView } from "./timelineView";

/** Selects the strand that ended the longest wait of the selected strand. */
export async function selectHolder(view: TimelineView): Promise<void> {
  const now = selection.value;
  const id = now?.kind === "strand" ? now.id : now?.kind === "steal" ? now.strand : null;
  const s =
    id === null ? null : await view.facts.later<StrandDetail>(requests.strand(view.meta.id, id));
  const known = s?.waits.find((wait) => wait.by?.strand != null);
  if (known?.by?.strand != null) return selectStrand(view, known.by.strand, true);
  announcement.value = !s
    ? "Select a strand first."
    : s.all_waits.count
      ? "The threads that ended its waits are unknown."
      : "This strand did not wait for another thread.";
}

/** Selects the next wait with a known holder, in the window or to its right. */
export async function selectNextWait(view: TimelineView): Promise<void> {
  const { meta } = view;
  if (meta.waits === 0) {
    announcement.value = "It is unknown which threads ended the waits of this run.";
    return;
  }
  const now = selection.value;
  const s =
    now?.kind === "strand" && now.run === meta.id
      ? await view.facts.later<StrandDetail>(requests.strand(meta.id, now.id))
      : null;
  const after = s?.waits.length
    ? Math.max(...s.waits.map((wait) => wait.start))
    : view.window.t0 - 1;
  let level = Math.max(0, Math.ceil(Math.log2((view.window.t1 - view.window.t0) / 1024)));
  for (let t = Math.max(0, after + 1); t < meta.elapsed;) {
    level = Math.min(level, meta.top_level);
    const size = 1024 * 2 ** level;
    const index = Math.floor(t / size);
    const data = await view.source.planes(requests.waits(meta.id, level, index)).catch(() => null);
    const span = { t0: index * size, t1: (index + 1) * size };
    const tile = data && {
      kind: "waits" as const,
      level,
      index,
      data,
      made: new Map(),
      used: 0,
    };
    const found = visibleWaits([{ ...span, tile }], { t0: t, t1: meta.elapsed, x0: 0, width: 1 });
    const next = found.list.find((wait) => wait.start > after && wait.by !== null);
    if (next) return selectStrand(view, next.strand, true);
    t = span.t1;
    level++;
  }
  announcement.value = `No more waits; the run has ${count(meta.waits)}.`;
}
