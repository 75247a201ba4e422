/** Links from the DAG to the timeline. */

import { showInTab } from "../store";
import { endOf, startOf, type DagNode } from "./model";
import type { Scene } from "./scene";

/** The range of a node with some margin, within the run. */
export function rangeOf(scene: Scene, n: DagNode): { t0: number; t1: number } {
  const t0 = startOf(n),
    t1 = Math.max(endOf(n), t0 + 1);
  const rim = Math.max(1, (t1 - t0) * 0.15);
  return {
    t0: Math.max(0, Math.floor(t0 - rim)),
    t1: Math.min(Math.max(scene.run.elapsed, t1), Math.ceil(t1 + rim)),
  };
}

export function showInTimeline(scene: Scene, n: DagNode): void {
  showInTab("timeline", rangeOf(scene, n), scene.selectionOf(n));
}
