/** The toolbar: colour mode, a switch for each layer, the legend, the table, exports. */

import type { RunMeta } from "../data/contract";
import { count } from "../format";
import { colorBy, layers } from "../store";
import type { ColorBy, Layer } from "../store";
import { colours, dark } from "../theme/theme";
import { Glyph } from "./layerGlyphs";
import { LAYER_NAMES, hasLayer, toggleLayer } from "./layers";
import { Legend } from "./Legend";
import { RowControls } from "./RowControls";

const MODES: [ColorBy, string][] = [
  ["code", "code"],
  ["site", "spawn site"],
  ["worker", "worker"],
  ["activity", "activity"],
  ["level", "level"],
  ["critical", "critical path"],
];

/** In the order of drawing rather than of the store. */
const ORDER: Layer[] = [
  "spawns",
  "steals",
  "leaps",
  "matrix",
  "waits",
  "ready",
  "critical",
  "delay",
  "nowork",
  "cpu",
  "queue",
  "attempts",
  "regions",
];

/** Layers whose switch is hidden if a run has no such data. */
const OPTIONAL_LAYERS: Layer[] = ["matrix", "waits", "attempts"];

export function Toolbar({
  meta,
  table,
  setTable,
}: {
  meta: RunMeta;
  table: boolean;
  setTable: (on: boolean) => void;
}) {
  const t = colours.value;
  return (
    <div class="tl-bar" role="toolbar" aria-label="Timeline: colours and layers">
      <label class="tl-by">
        Colour:
        <select
          value={colorBy.value}
          onChange={(e) => (colorBy.value = e.currentTarget.value as ColorBy)}
          aria-label="Colour boxes by"
        >
          {MODES.map(([mode, name]) => (
            <option key={mode} value={mode}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <span class="tl-sep" />
      {ORDER.filter((l) => !OPTIONAL_LAYERS.includes(l) || hasLayer(meta, l)).map((layer) => {
        const there = hasLayer(meta, layer);
        const on = layers.value.has(layer) && there;
        const n =
          { steals: meta.steals, leaps: meta.leaps, waits: meta.waits }[layer as string] ?? 0;
        return (
          <button
            key={layer}
            type="button"
            class={on ? "tl-toggle on" : "tl-toggle"}
            aria-pressed={on}
            disabled={!there}
            data-layer={layer}
            title={there ? titleOf(layer) : missing(layer, meta)}
            onClick={() => toggleLayer(layer)}
          >
            <Glyph layer={layer} t={t} dark={dark.value} />
            {LAYER_NAMES[layer]}
            {n > 0 && <span class="tl-n">{count(n)}</span>}
            {layer === "critical" && <kbd>K</kbd>}
          </button>
        );
      })}
      <button
        type="button"
        class={table ? "tl-toggle on" : "tl-toggle"}
        aria-pressed={table}
        title="The strands in view as a table"
        onClick={() => setTable(!table)}
      >
        Table
      </button>
      <RowControls meta={meta} />
      <span class="tl-fill" />
      <Legend meta={meta} />
    </div>
  );
}

function titleOf(layer: Layer): string {
  switch (layer) {
    case "spawns":
      return "Where tasks were created";
    case "steals":
      return "From victim to thief, when the stolen task began";
    case "leaps":
      return "Steals while their thief waited in a join";
    case "matrix":
      return "Who stole from whom, where there are too many steals to draw";
    case "waits":
      return "Waits for locks, conditions, barriers: from the thread that ended one to the thread that waited";
    case "ready":
      return "Backwards from the end, always to what made the next strand ready last";
    case "critical":
      return "The heaviest path: the span";
    case "delay":
      return "Free workers while work was ready. Which of the free rows has the delay is a choice: the lowest ones";
    case "nowork":
      return "Free workers with nothing ready: dots, the scheduler was at fault; grey hatch, the program";
    case "cpu":
      return "Share of the time each row was on a CPU";
    case "queue":
      return "Tasks in each worker's queue, on a log scale: created there, not begun";
    case "attempts":
      return "Marks: attempts to steal that failed, as the runtime told; the line below: asleep";
    case "regions":
      return "Regions and parts that the program marked";
  }
}

function missing(layer: Layer, meta: RunMeta): string {
  if (meta.only && (layer === "delay" || layer === "nowork"))
    return "Over time it is told of the whole run alone: here only a part of it takes time. Summary has its sum";
  switch (layer) {
    case "steals":
      return meta.unread
        ? "Nothing was stolen in what could be read"
        : "Nothing was stolen in this run";
    case "leaps":
      return "No thief stole while it waited in a join";
    case "queue":
      return "Nothing waits in queues here: thieves take what follows a create, or no task is for others too";
    case "regions":
      return "The program marked no regions";
    default:
      return "This run has none";
  }
}
