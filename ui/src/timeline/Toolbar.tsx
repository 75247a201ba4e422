/** The toolbar: colour mode, a switch for each layer, the legend, the table, exports. */

import { useJson, valueOf } from "../answers";
import type { Report, RunMeta } from "../data/contract";
import { requests } from "../data/requests";
import { count, ticks } from "../format";
import { colorBy, layers } from "../store";
import type { ColorBy, Layer } from "../store";
import { colours, dark } from "../theme/theme";
import { LayerGlyph } from "./layerGlyphs";
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
  const report = valueOf(
    useJson<Report>(meta.overview === null && !meta.only ? requests.report(meta.id) : null),
  );
  const lost = (layer: Layer): number => {
    const b = report?.breakdown;
    if (layer === "delay") return b?.delay ?? 0;
    return layer === "nowork" ? (b?.no_work_sched ?? 0) + (b?.no_work_app ?? 0) : 0;
  };
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
            <LayerGlyph layer={layer} t={t} dark={dark.value} />
            {LAYER_NAMES[layer]}
            {n > 0 && <span class="tl-n">{count(n)}</span>}
            {lost(layer) > 0 && (
              <span class="tl-time">{ticks(lost(layer), meta.ticks_per_second)}</span>
            )}
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
      return "Lines from victim to thief, at the time when the stolen task started";
    case "leaps":
      return "Steals by workers that waited in a join";
    case "matrix":
      return "Number of steals by thief and victim, if there are too many to draw";
    case "waits":
      return "Waits for locks, conditions and barriers: from the thread that ended the wait to the one that waited";
    case "ready":
      return "The chain that the run waited for, from its last strand back to the start";
    case "critical":
      return "The heaviest path: the span";
    case "delay":
      return "Free workers while strands were ready, drawn in the lowest free rows";
    case "nowork":
      return "Free workers while no strand was ready. Dots: no work, scheduler. Grey hatch: no work, program";
    case "cpu":
      return "Share of the time each row was on a CPU";
    case "queue":
      return "Tasks in each worker's queue (created there, not started), on a log scale";
    case "attempts":
      return "Marks: failed attempts to steal, as the runtime reports them. Line below: asleep";
    case "regions":
      return "Regions and parts that the program marked";
  }
}

function missing(layer: Layer, meta: RunMeta): string {
  if (meta.only && (layer === "delay" || layer === "nowork"))
    return "Shown over time only for the whole run. Summary has the sum for this part";
  switch (layer) {
    case "steals":
      return meta.unread
        ? "Nothing was stolen in the part that could be read"
        : "Nothing was stolen in this run";
    case "leaps":
      return "No worker stole while it waited in a join";
    case "queue":
      return "No tasks wait in queues: thieves take continuations, or no task can be stolen";
    case "regions":
      return "The program marked no regions";
    default:
      return "This run has none";
  }
}
