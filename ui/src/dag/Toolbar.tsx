/** The controls above the picture; each toggle shows the mark that it switches. */

import { codeColour } from "../codeColours";
import { colour, type Item } from "../colors";
import type { CodeName } from "../data/contract";
import {
  colorBy,
  expanded,
  layers,
  layout,
  meta,
  power,
  secondLayout,
  sections,
  type ColorBy,
  type Layout,
} from "../store";
import { fileName, rowLabel } from "../format";
import { fillOf } from "../patterns";
import { dark } from "../theme/theme";
import { codeLabel, itemOf, siteLabel } from "./nodeDrawing";
import { COLOUR_OPTIONS, LAYOUT_OPTIONS } from "./toolbarOptions";
import { asTable } from "./DagView";
import { toggleSecond } from "./SecondView";
import { toggleLayer } from "./commands";
import type { Scene } from "./scene";
import { depthOf, collapseLevel, MAX_DEPTH, expandLevel, expandToDepth } from "./expandCollapse";
import { CodeLabel } from "../components/CodeLabel";
import { paintOf } from "../components/widgets";

export function Toolbar({ scene }: { scene: Scene }) {
  const on = layers.value;
  return (
    <div class="dag-toolbar" role="toolbar" aria-label="DAG">
      <label>
        Layout{" "}
        <select
          value={layout.value}
          onChange={(e) => (layout.value = e.currentTarget.value as Layout)}
        >
          {LAYOUT_OPTIONS.map((l) => (
            <option value={l.id}>{l.title}</option>
          ))}
        </select>
      </label>
      {layout.value === "power" && (
        <label class="dag-power">
          height = time<sup>{power.value.toFixed(2)}</sup>{" "}
          <input
            type="range"
            min="0.2"
            max="1"
            step="0.05"
            value={power.value}
            aria-label="Exponent of the duration"
            onInput={(e) => (power.value = Number(e.currentTarget.value))}
          />
        </label>
      )}
      <label>
        Colour{" "}
        <select
          value={colorBy.value}
          onChange={(e) => (colorBy.value = e.currentTarget.value as ColorBy)}
        >
          {COLOUR_OPTIONS.map((c) => (
            <option value={c.id}>{c.title}</option>
          ))}
        </select>
      </label>
      <span class="dag-sep" />
      <button onClick={() => expandLevel(scene)} title="Expand every node shown">
        Expand <kbd>X</kbd>
      </button>
      <button onClick={() => collapseLevel(scene)} title="Collapse the innermost nodes">
        Contract <kbd>C</kbd>
      </button>
      <label>
        Depth{" "}
        <select
          value={String(Math.min(MAX_DEPTH, depthOf(scene)))}
          onChange={(e) => expandToDepth(scene, Number(e.currentTarget.value))}
        >
          {Array.from({ length: MAX_DEPTH + 1 }, (_, i) => (
            <option value={String(i)}>{i}</option>
          ))}
        </select>
      </label>
      <button
        onClick={() => scene.fitNow("full")}
        title="Fit everything (H: the width, V: the height)"
      >
        Fit <kbd>F</kbd>
      </button>
      {meta.value?.mode === "server" && (
        <button
          aria-pressed={sections.value}
          title="Show sections as nodes: a section lasts from the first task that a task creates to the wait for all of them"
          onClick={() => {
            // Nodes have other ids when sections are nodes.
            expanded.value = new Set(["t0"]);
            sections.value = !sections.value;
          }}
        >
          Sections
        </button>
      )}
      <button
        aria-pressed={secondLayout.value !== null}
        title="Show the same DAG a second time, in another layout and with its own zoom"
        onClick={toggleSecond}
      >
        Two scales <kbd>B</kbd>
      </button>
      <span class="dag-sep" />
      <button
        aria-pressed={on.has("critical")}
        title="Critical path: the heaviest chain of strands"
        onClick={() => toggleLayer("critical")}
      >
        <svg width="16" height="8" aria-hidden="true">
          <path d="M0 4H16" stroke="currentColor" stroke-width="3" />
        </svg>
        Critical <kbd>K</kbd>
      </button>
      <button
        aria-pressed={on.has("ready")}
        title="Ready path: the chain that the run waited for, from its last strand back to the start"
        onClick={() => toggleLayer("ready")}
      >
        <svg width="16" height="8" aria-hidden="true">
          <path d="M0 4H16" stroke="currentColor" stroke-width="2" stroke-dasharray="2 3" />
        </svg>
        Ready
      </button>
      <button
        aria-pressed={scene.slack.value}
        onClick={() => (scene.slack.value = !scene.slack.value)}
      >
        <svg width="16" height="8" aria-hidden="true">
          <path d="M0 4H16" stroke="currentColor" stroke-width="1.2" stroke-dasharray="1.5 3" />
        </svg>
        Slack
      </button>
      <button aria-pressed={asTable.value} onClick={() => (asTable.value = !asTable.value)}>
        Table
      </button>
    </div>
  );
}

/** The colours in the picture, in order of decreasing work. */
export function Legend({ scene }: { scene: Scene }) {
  const mode = colorBy.value;
  const look = scene.look();
  const of = scene.run;
  if (mode === "critical")
    return (
      <Swatches
        of={[
          ["critical path", { critical: true }],
          ["ready path", { readyPath: true }],
          ["neither", {}],
        ]}
      />
    );
  if (mode === "activity")
    return (
      <Swatches
        of={[
          ["work", { activity: "work" }],
          ["descheduled", { activity: "descheduled" }],
          ["blocked", { activity: "blocked" }],
        ]}
      />
    );
  const sums = new Map<number, { item: Item; ticks: number }>();
  for (const n of scene.model.value.boxes) {
    const item = itemOf(n, look);
    const add = (key: number | null | undefined, as: Item, ticks: number) => {
      if (key == null) return;
      const s = sums.get(key);
      if (s) s.ticks += ticks;
      else sums.set(key, { item: as, ticks });
    };
    if (mode === "worker" && n.folded)
      for (const [row, busy] of n.folded.rows) add(row, { row }, busy);
    else
      add(
        mode === "code"
          ? item.code
          : mode === "site"
            ? item.site
            : mode === "worker"
              ? item.row
              : item.level,
        item,
        n.strand?.weight ?? n.folded?.work ?? 0,
      );
  }
  const name = (k: number) =>
    mode === "code"
      ? codeLabel(of, k)
      : mode === "site"
        ? fileName(siteLabel(of, k))
        : mode === "worker"
          ? rowLabel(of, k)
          : `level ${k}`;
  const most = mode === "level" ? 6 : 5;
  const list = [...sums].sort((a, b) => b[1].ticks - a[1].ticks || a[0] - b[0]).slice(0, most);
  if (mode === "worker" || mode === "level") list.sort((a, b) => a[0] - b[0]);
  return (
    <Swatches
      of={list.map(([k, { item }]) => [name(k), item])}
      more={sums.size - list.length}
      codes={of.codes}
    />
  );
}

function Swatches({
  of,
  more = 0,
  codes = [],
}: {
  of: [string, Item][];
  more?: number;
  codes?: readonly CodeName[];
}) {
  return (
    <span class="dag-legend">
      {of.map(([name, item]) => {
        const code = item.code ?? null;
        const c =
          colorBy.value === "code"
            ? codeColour(codes, code, dark.value)
            : colour(colorBy.value, item, dark.value);
        const mark =
          item.activity === "descheduled" || item.activity === "blocked" ? (
            <svg class="dag-swatch" width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" fill={fillOf(item.activity, dark.value)} />
            </svg>
          ) : (
            <i class="dag-swatch" style={paintOf(c)} />
          );
        return (
          <span key={name} title={name}>
            {mark}
            <span class="dag-name">
              <CodeLabel label={name} />
            </span>
          </span>
        );
      })}
      {more > 0 && <span class="dag-dim">+{more}</span>}
    </span>
  );
}
