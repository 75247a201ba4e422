/**
 * Selection by clicks and by steps along a row, up to the parent, and on to the next steal. Each
 * one is announced to screen readers.
 */

import type { StrandDetail, TaskDetail } from "../data/contract";
import { requests } from "../data/requests";
import { count, plural, percent, ticks as timeOf } from "../format";
import { announcement, drawer, rowsOf, selection } from "../store";
import type { Selection } from "../store";
import type { StrandBoxes } from "./strandBoxes";
import type { Hit } from "./hitTest";
import type { Scene } from "./scene";
import { nextArc, visibleSteals } from "./steals";
import type { TimelineView } from "./timelineView";

export function select(what: Selection | null, said?: string): void {
  selection.value = what;
  if (what && what.kind !== "range" && what.kind !== "row") drawer.value = true;
  if (said) announcement.value = said;
}

type BoxHit = Extract<Hit, { kind: "box" }>;

/** The boxes that a hit's index refers to. */
export const boxesOf = (scene: Scene, hit: BoxHit): StrandBoxes =>
  hit.inside ? scene.inner : scene.boxes;

export function selectionOf(scene: Scene, hit: BoxHit): Selection {
  const boxes = boxesOf(scene, hit);
  const strand = {
    kind: "strand" as const,
    run: scene.meta.id,
    id: boxes.id[hit.index]!,
    task: boxes.task[hit.index]!,
  };
  return hit.inside ? { ...strand, inner: boxes.start[hit.index]! } : strand;
}

/** Selects what a click on a hit selects; null if nothing is there. `add`: further rows. */
export async function selectHit(view: TimelineView, hit: Hit | null, add = false): Promise<void> {
  const run = view.meta.id;
  const { scene } = view;
  switch (hit?.kind) {
    case "box":
      if (scene) {
        const boxes = boxesOf(scene, hit);
        const [row, start, end] = [
          boxes.row[hit.index]!,
          boxes.start[hit.index]!,
          boxes.end[hit.index]!,
        ];
        select(
          selectionOf(scene, hit),
          `${strandWords(view, boxes.code[hit.index]!, row, start, end)}${hit.inside ? ", inside a folded strand" : ""}`,
        );
      }
      return;
    case "column":
      return selectStrand(view, hit.strand);
    case "arc":
      return selectSteal(view, hit.arc.strand);
    case "wait":
      return selectStrand(view, hit.wait.strand);
    case "dot":
      if (hit.dot.strand !== null) return selectStrand(view, hit.dot.strand);
      return;
    case "label":
      return selectRow(view, hit.row, add);
    case "head":
      return selectRows(view, hit.group.rows);
    case "region":
      select(
        { kind: "range", run, t0: hit.region.start, t1: hit.region.end },
        `Region ${hit.region.label}, ${time(view, hit.region.end - hit.region.start)}`,
      );
      return;
    case "free":
    case "strip":
      select(null, "Nothing selected");
      return;
    default:
  }
}

/** Selects a row. With `add` it is added to the selected rows, or removed if it was selected. */
export function selectRow(view: TimelineView, row: number, add = false): void {
  view.cursorRow = row;
  const before = add ? rowsOf(selection.value) : [];
  if (before.length > 0) {
    const has = before.includes(row);
    selectRows(view, has ? before.filter((r) => r !== row) : [...before, row]);
    return;
  }
  const thread = view.meta.threads[row];
  select(
    { kind: "row", run: view.meta.id, row },
    thread
      ? `Row ${thread.label}${thread.busy === null ? "" : `, ${percent(thread.busy, 0)} busy`}`
      : undefined,
  );
  view.revealRow(row);
}

export function selectRows(view: TimelineView, rows: readonly number[]): void {
  const [row, ...others] = rows;
  if (row === undefined) select(null, "Nothing selected");
  else
    select(
      others.length
        ? { kind: "row", run: view.meta.id, row, others }
        : { kind: "row", run: view.meta.id, row },
      `${plural(rows.length, "row")} selected`,
    );
}

/** Selects a strand by number alone; shows it if it is elsewhere. */
export async function selectStrand(view: TimelineView, id: number, reveal = false): Promise<void> {
  const s = await view.facts.later<StrandDetail>(requests.strand(view.meta.id, id));
  if (!s) {
    announcement.value = "This report has no details of that strand.";
    return;
  }
  view.cursorRow = s.row;
  select(
    { kind: "strand", run: view.meta.id, id, task: s.task },
    strandWords(view, s.code, s.row, s.start, s.end),
  );
  if (reveal) {
    view.reveal(s.start, s.end);
    view.revealRow(s.row);
  }
}

export async function selectSteal(view: TimelineView, id: number, reveal = false): Promise<void> {
  const s = await view.facts.later<StrandDetail>(requests.strand(view.meta.id, id));
  if (!s) return;
  const victim = s.stolen?.victim ?? s.made_ready_by?.row ?? null;
  const from =
    victim === null ? "" : ` from ${view.meta.threads[victim]?.label ?? "another thread"}`;
  view.cursorRow = s.row;
  select(
    { kind: "steal", run: view.meta.id, strand: id, task: s.task },
    `${s.stolen?.leap ? "Leapfrog steal" : "Steal"} by ${view.meta.threads[s.row]?.label ?? "a thread"}${from} at ${time(view, s.start)}`,
  );
  if (reveal) {
    view.reveal(s.start, Math.min(s.end, s.start + (view.window.t1 - view.window.t0) / 4));
    view.revealRow(s.row);
  }
}

/** The selected strand, or the longest visible one on the cursor's row. */
async function currentStrand(view: TimelineView): Promise<StrandDetail | null> {
  const now = selection.value;
  const ask = (id: number) => view.facts.later<StrandDetail>(requests.strand(view.meta.id, id));
  if (now?.run === view.meta.id) {
    if (now.kind === "strand") return ask(now.id);
    if (now.kind === "steal") return ask(now.strand);
    if (now.kind === "task") {
      const task = await view.facts.later<TaskDetail>(requests.task(view.meta.id, now.id));
      return task ? ask(task.first) : null;
    }
  }
  return null;
}

/** The longest visible box of a row, or -1. */
function longestBox(view: TimelineView, row: number): number {
  const boxes = view.scene?.boxes;
  let best = -1;
  if (boxes)
    for (let i = 0; i < boxes.n; i++)
      if (
        boxes.row[i] === row &&
        (best < 0 || boxes.end[i]! - boxes.start[i]! > boxes.end[best]! - boxes.start[best]!)
      )
        best = i;
  return best;
}

/**
 * The next (1) or previous (-1) strand on the row; without a selection, the longest visible one.
 */
export async function stepOnRow(view: TimelineView, by: 1 | -1): Promise<void> {
  const now = await currentStrand(view);
  if (!now) {
    const best = longestBox(view, view.cursorRow ?? 0);
    if (best >= 0 && view.scene) await selectStrand(view, view.scene.boxes.id[best]!, true);
    else announcement.value = "No strand is wide enough to start from. Zoom in first.";
    return;
  }
  const id = by > 0 ? now.next_on_row : now.previous_on_row;
  if (id === null)
    announcement.value =
      by > 0 ? "This is the last strand of the row." : "This is the first strand of the row.";
  else await selectStrand(view, id, true);
}

export async function selectParent(view: TimelineView): Promise<void> {
  const now = await currentStrand(view);
  const task = now && (await view.facts.later<TaskDetail>(requests.task(view.meta.id, now.task)));
  const above = task?.stack[1];
  if (!above) {
    announcement.value = now ? "A root task has no parent." : "Select a strand first.";
    return;
  }
  const code = view.meta.codes[above.code]?.label ?? "a task";
  select(
    { kind: "task", run: view.meta.id, id: above.task },
    `Parent: ${code} on ${view.meta.threads[above.row]?.label ?? "another thread"}`,
  );
  view.cursorRow = above.row;
  view.reveal(above.start, above.start);
  view.revealRow(above.row);
}

/**
 * The row above or below: its strand at the same time if one is selected, otherwise the row itself.
 */
export async function selectRowBeside(view: TimelineView, by: 1 | -1): Promise<void> {
  const now = await currentStrand(view);
  const rows = view.scene?.bands.rows;
  if (!rows) return;
  const from = now?.row ?? view.cursorRow;
  const place = from == null ? (by > 0 ? -1 : rows.count) : (rows.place[from] ?? -1);
  const row = rows.order[Math.min(rows.count - 1, Math.max(0, place + by))];
  if (row === undefined) return;
  const boxes = view.scene?.boxes;
  if (now && boxes) {
    const index = boxes.at(row, (now.start + now.end) / 2);
    if (index >= 0) {
      view.cursorRow = row;
      view.revealRow(row);
      return selectHit(view, { kind: "box", index, row, t: now.start });
    }
  }
  selectRow(view, row);
}

/**
 * Selects the next steal after the selected one, or after the window's start; it searches to the
 * right, window by window, until there are no more.
 */
export async function selectNextSteal(view: TimelineView): Promise<void> {
  const now = await currentStrand(view);
  const { meta } = view;
  let t = now && selection.value?.kind === "steal" ? now.start : view.window.t0 - 1;
  if (meta.steals + meta.leaps === 0) {
    announcement.value = "Nothing was stolen in this run.";
    return;
  }
  const planes = (level: number, index: number) =>
    view.source.planes(requests.arcs(meta.id, level, index)).catch(() => null);
  // Starts with tiles small enough to contain single steals, and takes wider ones the further it
  // searches.
  let level = Math.min(
    meta.top_level,
    Math.max(0, Math.ceil(Math.log2((view.window.t1 - view.window.t0) / 1024))),
  );
  for (let tries = 0; tries < 40 && t < meta.elapsed; tries++) {
    const size = 1024 * 2 ** level;
    const index = Math.max(0, Math.floor((t + 1) / size));
    const data = await planes(level, index);
    if (data?.facts.truncated && level > 0) {
      level--;
      continue;
    }
    const found =
      data &&
      visibleSteals(
        [
          {
            t0: index * size,
            t1: (index + 1) * size,
            tile: { kind: "arcs", level, index, data, made: new Map(), used: 0 },
          },
        ],
        { t0: t, t1: meta.elapsed, x0: 0, width: 1 },
      );
    const next = found && nextArc(found, t);
    if (next) return selectSteal(view, next.strand, true);
    t = (index + 1) * size - 1;
    level = Math.min(meta.top_level, level + 1);
  }
  announcement.value = `No more steals; the run has ${count(meta.steals + meta.leaps)}.`;
}

function strandWords(
  view: TimelineView,
  code: number,
  row: number,
  start: number,
  end: number,
): string {
  const label = view.meta.codes[code]?.label ?? "unknown code";
  return `${label} on ${view.meta.threads[row]?.label ?? "a thread"}, ${time(view, end - start)} from ${time(view, start)}`;
}

const time = (view: TimelineView, n: number): string => timeOf(n, view.meta.ticks_per_second);
