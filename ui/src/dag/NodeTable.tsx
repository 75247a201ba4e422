/** The shown nodes as a table, for people who read rather than look. */

import { count, ticks, rowLabel } from "../format";
import { nameOf, parallelism, siteLabel, stepsOf } from "./nodeDrawing";
import { expandable, type DagNode } from "./model";
import type { Scene } from "./scene";
import { collapse, expand } from "./expandCollapse";

/** Maximum number of rows; the CSV has all of them. */
const MAX_ROWS = 1000;

export function NodeTable({ scene }: { scene: Scene }) {
  const model = scene.model.value;
  const meta = scene.run;
  const selected = scene.selected.value;
  // In program order, each expanded node before its contents, so that the table is the tree.
  const rows: DagNode[] = [];
  const open: DagNode[] = [...(model.top.inside ?? [])].reverse();
  while (open.length > 0 && rows.length < MAX_ROWS) {
    const n = open.pop()!;
    rows.push(n);
    if (n.inside) for (let i = n.inside.length - 1; i >= 0; i--) open.push(n.inside[i]!);
  }
  const all = model.boxes.length + model.frames.length - 1;
  return (
    <div class="dag-table" tabIndex={0}>
      <table>
        <caption class="unseen">Nodes of the DAG that are shown, in program order</caption>
        <thead>
          <tr>
            <th>node</th>
            <th>site</th>
            <th class="dag-r">tasks</th>
            <th class="dag-r">work</th>
            <th class="dag-r">span</th>
            <th class="dag-r">parallelism</th>
            <th class="dag-r">start</th>
            <th class="dag-r">end</th>
            <th>ran on</th>
            <th>path</th>
            <th>
              <span class="unseen">open</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((n) => {
            const s = n.strand,
              f = n.folded;
            const item = s ?? f!;
            return (
              <tr
                key={n.key}
                class={n === selected ? "dag-on" : ""}
                onClick={() => scene.select(n)}
              >
                <td style={{ paddingLeft: `${8 + Math.min(30, n.depth - 1) * 14}px` }}>
                  <button aria-pressed={n === selected}>
                    {s && !f ? "" : n.inside ? "▾ " : expandable(n) ? "▸ " : ""}
                    {nameOf(n, meta)}
                    {stepsOf(n) && `, ${stepsOf(n)}`}
                  </button>
                </td>
                <td class="dag-mono">{siteLabel(meta, item.site)}</td>
                <td class="dag-r">{f ? count(f.tasks) : ""}</td>
                <td class="dag-r">{ticks(f ? f.work : s!.weight)}</td>
                <td class="dag-r">{ticks(f ? f.span : s!.weight)}</td>
                <td class="dag-r">{f ? parallelism(f.work, f.span) : ""}</td>
                <td class="dag-r">{ticks(item.start)}</td>
                <td class="dag-r">{ticks(item.end)}</td>
                <td>
                  {s
                    ? rowLabel(meta, s.row)
                    : f!.rows
                        .slice(0, 3)
                        .map(([r]) => rowLabel(meta, r))
                        .join(", ") + (f!.rows.length > 3 ? ", …" : "")}
                </td>
                <td>{item.critical ? "critical" : n.ready ? "ready" : ""}</td>
                <td>
                  {expandable(n) ? (
                    <button
                      onClick={(e) => {
                        e.stopPropagation();
                        expand(scene, n);
                      }}
                    >
                      Expand
                    </button>
                  ) : n.inside ? (
                    <button
                      onClick={(e) => {
                        e.stopPropagation();
                        collapse(scene, n);
                      }}
                    >
                      Collapse
                    </button>
                  ) : null}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {all > rows.length && (
        <p class="dag-dim">{count(all - rows.length)} more rows are in the CSV.</p>
      )}
    </div>
  );
}
