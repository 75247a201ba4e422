/** The toolbar's choices. */

import { signal } from "@preact/signals";
import type { ColorBy, Layout } from "../store";

export const LAYOUT_OPTIONS: readonly { id: Layout; title: string }[] = [
  { id: "structure", title: "structure" },
  { id: "linear", title: "duration, linear" },
  { id: "power", title: "duration, power" },
  { id: "log", title: "duration, log" },
  { id: "time", title: "absolute time" },
];

export const COLOUR_OPTIONS: readonly { id: ColorBy; title: string }[] = [
  { id: "code", title: "code" },
  { id: "worker", title: "worker" },
  { id: "site", title: "site" },
  { id: "activity", title: "activity" },
  { id: "critical", title: "critical path" },
  { id: "level", title: "level" },
];

/** The drawer is open below the DAG. */
export const dagDrawer = signal(false);
