/** A few lines about the node under the pointer. */

import { count, percent, ticks, rowLabel } from "../format";
import { nameOf, parallelism, siteLabel, stepsOf } from "./nodeDrawing";
import type { DagNode } from "./model";
import type { Scene } from "./scene";

export interface Pointed {
  node: DagNode;
  x: number;
  y: number;
}

/** `size` is the picture's size, if it differs from the scene's. */
export function Tooltip({
  scene,
  at,
  size = scene,
}: {
  scene: Scene;
  at: Pointed;
  size?: { width: number; height: number };
}) {
  const { node: n } = at;
  const s = n.strand,
    f = n.folded;
  const meta = scene.run;
  const left = at.x > size.width - 280,
    up = at.y > size.height - 170;
  return (
    <div
      class="dag-tip"
      role="tooltip"
      style={{
        ...(left ? { right: `${size.width - at.x + 10}px` } : { left: `${at.x + 14}px` }),
        ...(up ? { bottom: `${size.height - at.y + 10}px` } : { top: `${at.y + 14}px` }),
      }}
    >
      <b>
        {nameOf(n, meta)}
        {stepsOf(n) && `, ${stepsOf(n)}`}
      </b>
      {s && !f && (
        <>
          <div>
            {ticks(s.end - s.start)} on {rowLabel(meta, s.row)}
            {s.weight < (s.end - s.start) * 0.98 ? `, ${ticks(s.weight)} of it work` : ""}
          </div>
          <div class="dag-dim">
            from {ticks(s.start)} to {ticks(s.end)}
          </div>
          {s.ready !== null && s.start > s.ready && (
            <div>ready for {ticks(s.start - s.ready)} before it ran</div>
          )}
          {s.folded > 0 && (
            <div>
              folded: {count(s.folded)} {s.folded === 1 ? "task" : "tasks"} as one strand; the trace
              has only their sums
            </div>
          )}
          {s.creates.length > 0 && (
            <div>
              creates {count(s.creates.length)} {s.creates.length === 1 ? "task" : "tasks"}
            </div>
          )}
          {s.critical && <div>on the critical path</div>}
          {n.ready && !s.critical && <div>on the ready path</div>}
          <div class="dag-dim">{siteLabel(meta, s.site)}</div>
        </>
      )}
      {f && (
        <>
          {s && (
            <div>
              folded, {ticks(s.end - s.start)} on {rowLabel(meta, s.row)}
            </div>
          )}
          <div>
            {count(f.tasks)} {f.tasks === 1 ? "task" : "tasks"}, {count(f.strands)} strands
          </div>
          <div>
            work {ticks(f.work)}, span {ticks(f.span)}, parallelism {parallelism(f.work, f.span)}
          </div>
          <div class="dag-dim">
            from {ticks(f.start)} to {ticks(f.end)}
          </div>
          {f.critical && (
            <div>
              {ticks(f.critical_work)} of the critical path
              {scene.critical.value
                ? ` (${percent(f.critical_work / Math.max(1, scene.critical.value.span))})`
                : ""}
            </div>
          )}
          <div class="dag-dim">{siteLabel(meta, f.site)}</div>
          {f.expandable && <div class="dag-hint">{"double-click or press Enter to expand"}</div>}
        </>
      )}
    </div>
  );
}
