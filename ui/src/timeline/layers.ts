/** The layers that can be switched, by name, and whether a run has data for them. */

import type { RunMeta } from "../data/contract";
import { announcement, layers } from "../store";
import type { Layer } from "../store";

export const LAYER_NAMES: Record<Layer, string> = {
  spawns: "Spawns",
  steals: "Steals",
  leaps: "Leapfrog",
  matrix: "Steal matrix",
  waits: "Waits",
  ready: "Ready path",
  critical: "Critical path",
  delay: "Delay",
  nowork: "No work: scheduler, program",
  cpu: "CPU",
  queue: "Queue",
  attempts: "Steal attempts, sleep",
  regions: "Regions",
};

/** Maximum number of steals in a tile of arcs; a tile with more has only the pairs. */
const MAX_ARCS = 2000;

export function hasLayer(meta: RunMeta, layer: Layer): boolean {
  switch (layer) {
    case "steals":
      return meta.steals > 0;
    case "leaps":
      return meta.has.leaps && meta.leaps > 0;
    case "matrix":
      return meta.steals + meta.leaps > MAX_ARCS;
    case "waits":
      return meta.waits > 0;
    // Only a whole run has delay and no-work: a part has no data about its other workers.
    case "delay":
    case "nowork":
      return meta.only === null;
    case "queue":
      return meta.has.queue;
    case "attempts":
      return meta.has.attempts || meta.has.sleeps;
    case "regions":
      return meta.has.regions;
    default:
      return true;
  }
}

/** The shown layers of a run; a part of a run has no lost time. */
export function layersOf(meta: RunMeta): ReadonlySet<Layer> {
  if (!meta.only) return layers.value;
  const told = [...layers.value].filter((l) => l !== "delay" && l !== "nowork");
  return new Set(told);
}

export function toggleLayer(layer: Layer): void {
  const next = new Set(layers.value);
  const on = !next.delete(layer);
  if (on) next.add(layer);
  layers.value = next;
  announcement.value = `${LAYER_NAMES[layer]} ${on ? "on" : "off"}`;
}
