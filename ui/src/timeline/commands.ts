/** The timeline's commands, which the palette and `?` list. */

import type { Command } from "../commands";
import { register } from "../commands";
import { requests } from "../data/requests";
import { announcement, selection } from "../store";
import type { Layer } from "../store";
import { ticks as timeOf } from "../format";
import { selectRowBeside, selectNextSteal, selectParent, stepOnRow } from "./selection";
import { selectHolder, selectNextWait } from "./waitSteps";
import { stepAlongPath } from "./criticalPathSteps";
import { hideRow, hideLessBusy, showAllRows, togglePin, toggleSort } from "./rowOrder";
import { timeAt } from "./timeScale";
import { LAYER_NAMES, hasLayer, toggleLayer } from "./layers";
import type { TimelineView } from "./timelineView";

const GROUP = "Timeline";

export function timelineCommands(view: () => TimelineView | null, table: () => void): Command[] {
  const command = (
    id: string,
    title: string,
    keys: string[],
    run: (v: TimelineView) => unknown,
  ): Command => ({
    id: `timeline.${id}`,
    title,
    keys,
    tabs: ["timeline"],
    group: GROUP,
    run: () => {
      const v = view();
      if (v) void run(v);
    },
  });
  const layerKeys: Partial<Record<Layer, string[]>> = { critical: ["k"] };
  return [
    command("zoom-in", "Zoom in at the pointer", ["w", "+", "="], (v) => v.zoom(0.7)),
    command("zoom-out", "Zoom out", ["s", "-"], (v) => v.zoom(1 / 0.7)),
    command("pan-left", "Move left", ["a", "ArrowLeft"], (v) => v.pan(-0.2)),
    command("pan-right", "Move right", ["d", "ArrowRight"], (v) => v.pan(0.2)),
    command("row-up", "Row above", ["ArrowUp"], (v) => selectRowBeside(v, -1)),
    command("row-down", "Row below", ["ArrowDown"], (v) => selectRowBeside(v, 1)),
    command("fit", "Show the whole run", ["0"], (v) => v.show({ t0: 0, t1: v.meta.elapsed }, true)),
    command("first-spawn", "Show the run from its first spawn", ["b"], fromFirstSpawn),
    command("focus", "Fit the selection", ["f"], focus),
    command("zoom-range", "Zoom to the selected range", ["r"], focusRange),
    command("next", "Next strand of the critical path", ["."], (v) => stepAlongPath(v, 1)),
    command("previous", "Previous strand of the critical path", [","], (v) => stepAlongPath(v, -1)),
    command("row-next", "Next strand on the row", [">"], (v) => stepOnRow(v, 1)),
    command("row-previous", "Previous strand on the row", ["<"], (v) => stepOnRow(v, -1)),
    command("parent", "Parent task, or pin the selected row", ["p"], (v) =>
      withRow(v, (row, label) => togglePin(row, label), selectParent),
    ),
    command("hide-row", "Hide the selected row", ["Backspace"], (v) => withRow(v, hideRow)),
    command("hide-less-busy", "Hide rows less busy than the selected one", [], (v) =>
      withRow(v, (row) => hideLessBusy(v.meta.threads, row)),
    ),
    command("sort", "Sort rows by busy time or by worker", ["o"], toggleSort),
    command("show-rows", "Show all rows, unsorted", [], showAllRows),
    command("next-steal", "Next steal", ["n"], selectNextSteal),
    command("holder", "Go to the thread that ended the selected wait", ["h"], selectHolder),
    command("next-wait", "Next wait for another thread", ["l"], selectNextWait),
    command("mark", "Set or remove a mark at the pointer", ["m"], mark),
    ...(Object.keys(LAYER_NAMES) as Layer[]).map((layer) =>
      command(`layer-${layer}`, `${LAYER_NAMES[layer]} on or off`, layerKeys[layer] ?? [], (v) => {
        if (!hasLayer(v.meta, layer))
          announcement.value = `${LAYER_NAMES[layer]}: this run has none.`;
        else toggleLayer(layer);
      }),
    ),
    command("table", "View the timeline as a table", [], table),
  ];
}

export const registerKeys = (view: () => TimelineView | null, table: () => void): (() => void) =>
  register(...timelineCommands(view, table));

/** Before the first spawn there are no tasks for other workers, such as while reading input. */
function fromFirstSpawn(v: TimelineView): void {
  const first = v.meta.first_spawn;
  if (first === null)
    announcement.value = "This run created no task that another worker could take.";
  else v.show({ t0: first, t1: v.meta.elapsed }, true);
}

/** Applies a function to the selected row, or another one if no row is selected. */
function withRow(
  v: TimelineView,
  run: (row: number, label: string) => void,
  otherwise: (v: TimelineView) => unknown = () => {
    announcement.value = "No row is selected: click its name.";
  },
): void {
  const row = selection.value?.kind === "row" ? selection.value.row : null;
  if (row === null) void otherwise(v);
  else run(row, v.meta.threads[row]?.label ?? "row");
}

/** Fits the selection into the window. Rows, code and sites are spread over the whole run. */
async function focus(v: TimelineView): Promise<void> {
  const what = selection.value;
  if (!what || what.run !== v.meta.id) {
    announcement.value = "Nothing is selected.";
    return;
  }
  if (what.kind === "range") return focusRange(v);
  if (what.kind === "strand" || what.kind === "steal") {
    const id = what.kind === "strand" ? what.id : what.strand;
    if (what.kind === "strand" && what.inner !== undefined) {
      const inside = await v.facts.later<{ start: number; end: number }>(
        requests.insideStrand(v.meta.id, id, what.inner),
      );
      if (inside) return v.fit(inside.start, inside.end);
    }
    const i = v.scene?.boxes.find(id) ?? -1;
    if (i >= 0 && v.scene) return v.fit(v.scene.boxes.start[i]!, v.scene.boxes.end[i]!);
    const s = await v.facts.later<{ start: number; end: number; row: number }>(
      requests.strand(v.meta.id, id),
    );
    if (s) {
      v.fit(s.start, s.end);
      v.revealRow(s.row);
    }
  } else if (what.kind === "group" && what.id.startsWith("s")) {
    const inside = await v.facts.later<{ start: number; end: number }>(
      requests.insideTask(v.meta.id, what.id),
    );
    if (inside) v.fit(inside.start, inside.end);
  } else if (what.kind === "task") {
    const task = await v.facts.later<{ start: number; end: number }>(
      requests.task(v.meta.id, what.id),
    );
    if (task) v.fit(task.start, task.end);
  } else v.show({ t0: 0, t1: v.meta.elapsed }, true);
}

function focusRange(v: TimelineView): void {
  const what = selection.value;
  if (what?.kind === "range" && what.run === v.meta.id) v.fit(what.t0, what.t1, 0);
  else void focus(v);
}

function mark(v: TimelineView): void {
  const s = v.scene?.scale;
  if (!s) return;
  const inside = v.pointer && v.pointer.x >= s.x0 && v.pointer.x <= s.x0 + s.width;
  const t = inside && v.pointer ? timeAt(s, v.pointer.x) : (s.t0 + s.t1) / 2;
  const near = v.marks.findIndex((m) => Math.abs(m - t) < (4 * (s.t1 - s.t0)) / s.width);
  v.marks =
    near >= 0 ? v.marks.filter((_, i) => i !== near) : [...v.marks, t].sort((a, b) => a - b);
  announcement.value = near >= 0 ? "Mark removed" : `Mark at ${timeOf(t, v.meta.ticks_per_second)}`;
  v.invalidate();
}
