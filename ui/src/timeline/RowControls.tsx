/** Height and order of the rows, and which of them are pinned or hidden. */

import type { RunMeta } from "../data/contract";
import { count, plural } from "../format";
import { ROWS_AT_START, rowsShown, type RowsShown } from "../store";
import { groupingOf, GROUPINGS, hasNodes, NO_NODES } from "./rowGroups";
import { setRows } from "./rowOrder";

/** Number of rows from which on height and sorting are offered. */
const MIN_ROWS = 16;

const HEIGHTS: [RowsShown["height"], string][] = [
  ["auto", "automatic"],
  ["full", "full"],
  ["compact", "compact"],
];

export function RowControls({ meta }: { meta: RunMeta }) {
  const shown = rowsShown.value;
  const grouping = groupingOf(meta, shown);
  const { pinned, hidden } = shown;
  const changed = shown.height !== "auto" || shown.sort !== "worker";
  return (
    <>
      {(meta.threads.length >= MIN_ROWS || changed) && (
        <>
          <label class="tl-by">
            Rows:
            <select
              aria-label="Height of the rows"
              value={shown.height}
              onChange={(e) =>
                setRows(
                  { height: e.currentTarget.value as RowsShown["height"] },
                  `Rows ${e.currentTarget.value}`,
                )
              }
            >
              {HEIGHTS.map(([height, name]) => (
                <option key={height} value={height}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label class="tl-by">
            Sort:
            <select
              aria-label="Order of the rows"
              value={shown.sort}
              onChange={(e) =>
                setRows(
                  { sort: e.currentTarget.value as RowsShown["sort"] },
                  `Rows by ${e.currentTarget.value}`,
                )
              }
            >
              <option value="worker">worker</option>
              <option value="busy">busy ↓</option>
            </select>
          </label>
        </>
      )}
      {(meta.threads.length >= MIN_ROWS ||
        meta.pools.length > 0 ||
        (meta.processes?.length ?? 0) > 1 ||
        hasNodes(meta) ||
        grouping !== "none") && (
        <label class="tl-by">
          Group:
          <select
            aria-label="Groups of rows"
            value={grouping}
            onChange={(e) => {
              const chosen = e.currentTarget.value as RowsShown["group"];
              // The link has no grouping that the run would have without it.
              const group = chosen === groupingOf(meta, ROWS_AT_START) ? "auto" : chosen;
              setRows({ group }, `Rows grouped by ${chosen}`);
            }}
          >
            {GROUPINGS.map(([group, name]) => {
              const missing = group === "node" && !hasNodes(meta);
              return (
                <option key={group} value={group} disabled={missing}>
                  {missing ? NO_NODES : name}
                </option>
              );
            })}
          </select>
        </label>
      )}
      {pinned.length > 0 && (
        <button
          type="button"
          class="tl-toggle on"
          title="Unpin all rows"
          onClick={() => setRows({ pinned: [] }, "No row is pinned")}
        >
          {count(pinned.length)} pinned <span aria-hidden="true">×</span>
        </button>
      )}
      {hidden.length > 0 && (
        <button
          type="button"
          class="tl-toggle on"
          title="Show all rows again"
          onClick={() => setRows({ hidden: [] }, "All rows are shown")}
        >
          {plural(hidden.length, "row")} hidden <span aria-hidden="true">×</span>
        </button>
      )}
    </>
  );
}
