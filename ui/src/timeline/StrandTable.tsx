/** The visible strands as a table with the picture's facts, for screen readers and for copying. */

import { count, fileName, ticks } from "../format";
import { selection } from "../store";
import { select, selectStrand } from "./selection";
import { STRAND_COLUMNS, strandRows } from "./visibleStrands";
import type { TimelineView } from "./timelineView";

const MAX_ROWS = 500;

/** Columns with times: in seconds in a file, and in a suitable unit on the page. */
const TIMES = new Set(STRAND_COLUMNS.flatMap((h, i) => (h.endsWith("(s)") ? [i] : [])));
const SITE = STRAND_COLUMNS.indexOf("spawn site");

function tableCellText(cell: string | number, column: number, view: TimelineView): string {
  if (typeof cell === "string") return column === SITE ? fileName(cell) : cell;
  if (TIMES.has(column))
    return ticks(cell * view.meta.ticks_per_second, view.meta.ticks_per_second);
  return count(cell);
}

/** `drawn` grows with each frame, so that the table follows the window. */
export function StrandTable({ view, drawn }: { view: TimelineView; drawn: number }) {
  void drawn;
  const all = strandRows(view);
  const chosen = selection.value;
  return (
    <div class="tl-table" tabIndex={0} role="region" aria-label="Strands in view">
      <table>
        <caption>
          {all.length === 0
            ? "No strand is wide enough to be drawn as a box here. Zoom in."
            : `${count(all.length)} strands that are drawn as boxes in this window, by start${all.length > MAX_ROWS ? `; the first ${count(MAX_ROWS)}` : ""}.`}
        </caption>
        <thead>
          <tr>
            {STRAND_COLUMNS.map((h) => (
              <th key={h} scope="col">
                {h.replace(" (s)", "")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.slice(0, MAX_ROWS).map((r) => {
            const on =
              chosen?.kind === "strand" &&
              chosen.id === r.id &&
              chosen.inner === r.inner &&
              chosen.run === view.meta.id;
            const go = () =>
              r.inner === undefined
                ? void selectStrand(view, r.id)
                : select({
                    kind: "strand",
                    run: view.meta.id,
                    id: r.id,
                    task: r.task,
                    inner: r.inner,
                  });
            return (
              <tr
                key={`${r.id} ${r.inner ?? ""}`}
                class={on ? "on" : ""}
                aria-selected={on}
                tabIndex={0}
                onClick={go}
                onKeyDown={(e) => e.key === "Enter" && go()}
              >
                {r.cells.map((cell, i) => (
                  <td key={i} class={typeof cell === "number" ? "n" : ""}>
                    {tableCellText(cell, i, view)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
