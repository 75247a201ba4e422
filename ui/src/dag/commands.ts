/** Keys of the DAG; the palette and the `?` page list them too. */

import type { Command } from "../commands";
import {
  colorBy,
  drawer,
  layers,
  layout,
  split,
  type ColorBy,
  type Layer,
  type Layout,
} from "../store";
import { announcement } from "../store";
import { pan } from "./camera";
import { COLOUR_OPTIONS, dagDrawer, LAYOUT_OPTIONS } from "./toolbarOptions";
import { asTable } from "./DagView";
import { expandable } from "./model";
import type { Scene } from "./scene";
import { toggleSecond } from "./SecondView";
import { showInTimeline } from "./timelineLink";
import { collapse, expand, collapseLevel, expandLevel } from "./expandCollapse";
import { stepAlongPath, selectNeighbour } from "./selection";

export function toggleLayer(layer: Layer): void {
  const on = new Set(layers.peek());
  if (!on.delete(layer)) on.add(layer);
  layers.value = on;
}

function next<T>(list: readonly { id: T; title: string }[], now: T): { id: T; title: string } {
  return list[(list.findIndex((c) => c.id === now) + 1) % list.length]!;
}

export function dagCommands(scene: Scene): Command[] {
  const at = (id: string, title: string, keys: string[], run: () => void): Command => ({
    id: `dag.${id}`,
    title,
    keys,
    tabs: ["dag"],
    group: "DAG",
    run,
  });
  const middle = (f: number) =>
    scene.zoomAt(f, f, scene.view.x + scene.view.w / 2, scene.view.y + scene.view.h / 2);
  const selected =
    (then: (n: NonNullable<ReturnType<typeof scene.selected.peek>>) => void) => () => {
      const n = scene.selected.peek();
      if (n) then(n);
      else announcement.value = "Nothing is selected. Press an arrow key to select a node.";
    };
  return [
    at(
      "expand",
      "Expand the selected node",
      ["Enter"],
      selected((n) => expand(scene, n)),
    ),
    at(
      "collapse",
      "Collapse the selected node, or the one around it",
      ["Shift+Enter"],
      selected((n) => collapse(scene, n)),
    ),
    at(
      "toggle",
      "Expand or collapse the selected node",
      ["Space"],
      selected((n) => (expandable(n) ? expand(scene, n) : collapse(scene, n))),
    ),
    at("more", "Expand one level everywhere", ["x"], () => expandLevel(scene)),
    at("less", "Collapse one level everywhere", ["c"], () => collapseLevel(scene)),
    at("down", "Follow the edge to the next node", ["ArrowDown"], () =>
      selectNeighbour(scene, "down"),
    ),
    at("up", "Follow the edge to the previous node", ["ArrowUp"], () =>
      selectNeighbour(scene, "up"),
    ),
    at("left", "To the node on the left", ["ArrowLeft"], () => selectNeighbour(scene, "left")),
    at("right", "To the node on the right", ["ArrowRight"], () => selectNeighbour(scene, "right")),
    at("next", "Next strand of the critical path", ["."], () => stepAlongPath(scene, 1)),
    at("previous", "Previous strand of the critical path", [","], () => stepAlongPath(scene, -1)),
    at("fit", "Fit everything", ["f", "0"], () => scene.fitNow("full")),
    at("fit-width", "Fit the width", ["h"], () => scene.fitNow("horizontal")),
    at("fit-height", "Fit the height", ["v"], () => scene.fitNow("vertical")),
    at(
      "focus",
      "Fit the selected node",
      ["Shift+f"],
      selected((n) => scene.focus(n)),
    ),
    at("zoom-in", "Zoom in", ["+", "=", "w"], () => middle(1.3)),
    at("zoom-out", "Zoom out", ["-", "s"], () => middle(1 / 1.3)),
    at("pan-left", "Pan left", ["a", "Shift+ArrowLeft"], () =>
      scene.moveByUser(pan(scene.camera, 90, 0)),
    ),
    at("pan-right", "Pan right", ["d", "Shift+ArrowRight"], () =>
      scene.moveByUser(pan(scene.camera, -90, 0)),
    ),
    at("pan-up", "Pan up", ["Shift+ArrowUp"], () => scene.moveByUser(pan(scene.camera, 0, 90))),
    at("pan-down", "Pan down", ["Shift+ArrowDown"], () =>
      scene.moveByUser(pan(scene.camera, 0, -90)),
    ),
    at("critical", "Critical path on or off", ["k"], () => toggleLayer("critical")),
    at("ready", "Ready path on or off", ["r"], () => toggleLayer("ready")),
    at("slack", "Slack on or off", ["l"], () => (scene.slack.value = !scene.slack.peek())),
    at(
      "timeline",
      "Show the selected node in the timeline",
      ["t"],
      selected((n) => showInTimeline(scene, n)),
    ),
    at("layout", "Next layout", ["y"], () => {
      const to = next<Layout>(LAYOUT_OPTIONS, layout.peek());
      layout.value = to.id;
      announcement.value = `Layout: ${to.title}`;
    }),
    at("colour", "Next colour", ["u"], () => {
      const to = next<ColorBy>(COLOUR_OPTIONS, colorBy.peek());
      colorBy.value = to.id;
      announcement.value = `Colour by ${to.title}`;
    }),
    at("details", "Stack and source of the selection", ["q"], () => {
      const open = split.peek() ? drawer : dagDrawer;
      open.value = !open.peek();
    }),
    at("second", "Second picture of the DAG on or off", ["b"], toggleSecond),
    at("table", "Table of the shown nodes", ["Shift+t"], () => (asTable.value = !asTable.peek())),
  ];
}
