/** The strands of the critical path, in the panel beside the picture. */

import { useEffect, useRef } from "preact/hooks";
import { codeColour } from "../codeColours";
import { shortName } from "../timeline/names";
import { CodeLabel } from "../components/CodeLabel";
import { paintOf } from "../components/widgets";
import { count, plural, percent, plainNumber, sized, ticks, rowLabel } from "../format";
import { hover, runMeta, selection } from "../store";
import { dark } from "../theme/theme";
import { codeLabel, siteLabel } from "./nodeDrawing";
import type { Scene } from "./scene";
import { selectStrand } from "./selection";

/** Longest name of a worker that leaves room for the code. */
const MAX_WORKER_CHARS = 6;

function Swatch({ scene, code }: { scene: Scene; code: number }) {
  const c = codeColour(scene.run.codes, code, dark.value);
  return <i class="dag-swatch" style={paintOf(c)} />;
}

export function CriticalPathList({ scene }: { scene: Scene }) {
  const path = scene.critical.value;
  const box = useRef<HTMLDivElement>(null);
  // Scrolls to the heaviest strand first, as the list is about it.
  useEffect(() => {
    const list = box.current;
    const row = list?.querySelector<HTMLElement>(".dag-most");
    if (!list || !row) return;
    const foot = list.querySelector("tfoot")?.clientHeight ?? 0;
    const below = row.offsetTop + row.offsetHeight + foot - list.clientHeight;
    list.scrollTop = Math.max(0, below + row.offsetHeight);
  }, [path]);
  if (!path) return null;
  const most = Math.max(1, ...path.rows.map((r) => r.weight));
  const selected = selection.value;
  // The shortest strands matter little: the list ends with a row that sums them up.
  const told = path.rows.filter((r) => r.weight >= path.span / 2000);
  const rest = path.rows.length - told.length;
  const biggest = largest(path.rows) ?? path.rows[0]!;
  // A rank's worker has a long name, which would take the room of the code's.
  const nameOf = (row: number) => {
    const label = rowLabel(scene.run, row);
    return shortName(label, (words) => words.length <= MAX_WORKER_CHARS) || label;
  };
  return (
    <section>
      <h2>
        Critical path <span>{ticks(path.span)} of strands, root first</span>
      </h2>
      <div
        class="dag-scroll"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label="Critical path, root first"
      >
        <table class="dag-critical" aria-label="Critical path">
          <thead>
            <tr>
              <th>code</th>
              <th>
                <span class="unseen">worker</span>
              </th>
              <th>
                <span class="unseen">share</span>
              </th>
              <th class="dag-r">{runMeta()?.unread ? "time" : "on CPU"}</th>
              <th class="dag-r">busy</th>
            </tr>
          </thead>
          <tbody>
            {told.map((r) => {
              const on =
                selected?.kind === "strand" &&
                selected.run === scene.id &&
                selected.id === r.strand;
              const name = sized(codeLabel(scene.run, r.code), r.size);
              return (
                <tr
                  key={r.strand}
                  class={on ? "dag-on" : r === biggest ? "dag-most" : ""}
                  onMouseEnter={() => (hover.value = { kind: "code", run: scene.id, code: r.code })}
                  onMouseLeave={() => (hover.value = null)}
                  onClick={() => selectStrand(scene, r.strand, r.code)}
                >
                  <td class="dag-code" title={`${name}, ${siteLabel(scene.run, r.site)}`}>
                    <button
                      aria-pressed={on}
                      aria-label={`${name}${r.strands > 1 ? ` ${count(r.strands)}` : ""}, ${ticks(r.weight)} on ${rowLabel(scene.run, r.row)}, ${plainNumber(r.busy)} workers busy`}
                    >
                      <Swatch scene={scene} code={r.code} />
                      <span class="dag-name">
                        <CodeLabel label={name} />
                      </span>
                      {r.strands > 1 && <small>×{count(r.strands)}</small>}
                    </button>
                  </td>
                  <td
                    class={`dag-dim ${nameOf(r.row).length > 5 ? "dag-long" : ""}`}
                    title={rowLabel(scene.run, r.row)}
                  >
                    {nameOf(r.row)}
                  </td>
                  <td class="dag-share">
                    <i
                      class="dag-bar"
                      style={{
                        width: `${(100 * r.weight) / most}%`,
                        ...paintOf(codeColour(scene.run.codes, r.code, dark.value)),
                      }}
                    />
                  </td>
                  <td class="dag-r">{ticks(r.weight)}</td>
                  <td class="dag-r">{plainNumber(r.busy)}</td>
                </tr>
              );
            })}
          </tbody>
          <tfoot>
            {rest > 0 && (
              <tr class="dag-dim">
                <td colSpan={3}>{plural(rest, "shorter strand")}</td>
                <td class="dag-r">
                  {ticks(
                    path.rows.reduce(
                      (sum, r) => sum + (r.weight < path.span / 2000 ? r.weight : 0),
                      0,
                    ),
                  )}
                </td>
                <td />
              </tr>
            )}
            <tr>
              <td colSpan={3}>
                <b>span</b>
              </td>
              <td class="dag-r">
                <b>{ticks(path.span)}</b>
              </td>
              <td />
            </tr>
          </tfoot>
        </table>
      </div>
      <p class="dag-dim">
        <b>busy</b>: mean number of busy workers while it ran.{" "}
        <span class="dag-mono">{codeLabel(scene.run, biggest.code)}</span> is{" "}
        {percent(
          path.rows.reduce((sum, r) => sum + (r.code === biggest.code ? r.weight : 0), 0) /
            Math.max(1, path.span),
        )}{" "}
        of the span.
      </p>
    </section>
  );
}

/** The row with the largest strand, which the picture names. */
export const largest = <R extends { heaviest: number }>(rows: readonly R[]): R | undefined =>
  rows.reduce<R | undefined>((a, b) => (a && a.heaviest >= b.heaviest ? a : b), undefined);
