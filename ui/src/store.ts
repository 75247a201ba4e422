/**
 * The state of the page: one set of signals that all views share. A view reads them, draws, and
 * writes them; it never talks to another view. `hash.ts` keeps the location's hash equal to them.
 */

import { batch, signal } from "@preact/signals";
import type { Meta, RunId, RunMeta } from "./data/contract";
import type { DataSource } from "./data/source";

export const TABS = [
  "summary",
  "timeline",
  "dag",
  "flame",
  "scalability",
  "sites",
  "whatif",
  "compare",
  "statistics",
  "sql",
] as const;
export type Tab = (typeof TABS)[number];

/** The selection; `task`, `strand`, `site`, `code` are indices of the contract. */
export type Selection =
  /** `inner`: inside a folded strand, the strand that starts at this tick. */
  | { kind: "strand"; run: RunId; id: number; task: number; inner?: number }
  | { kind: "task"; run: RunId; id: number }
  | { kind: "site"; run: RunId; site: number }
  | { kind: "code"; run: RunId; code: number }
  | { kind: "group"; run: RunId; id: string; task: number }
  | { kind: "steal"; run: RunId; strand: number; task: number }
  /** `others`: further selected rows. */
  | { kind: "row"; run: RunId; row: number; others?: readonly number[] }
  | { kind: "range"; run: RunId; t0: number; t1: number }
  | { kind: "line"; run: RunId; file: string; line: number };

export type ColorBy = "code" | "site" | "worker" | "activity" | "level" | "critical";

/** Layers of the timeline that can be switched on and off. */
export const LAYERS = [
  "spawns",
  "steals",
  "leaps",
  "matrix",
  "waits",
  "critical",
  "ready",
  "delay",
  "nowork",
  "cpu",
  "queue",
  "attempts",
  "regions",
] as const;
export type Layer = (typeof LAYERS)[number];

export type Layout = "structure" | "linear" | "power" | "log" | "time";

/** Set once, before the first render. */
export let source: DataSource;
export function setSource(s: DataSource): void {
  source = s;
}

export const meta = signal<Meta | null>(null);
/** Opened parts of runs, each as a run. */
export const openParts = signal<readonly RunMeta[]>([]);
export const tab = signal<Tab>("summary");
/** The run of the single-run tabs, and the one it is compared with. */
export const run = signal<RunId>("a");
export const other = signal<RunId | null>(null);
/** Compare: further runs whose timelines and DAGs are below those of the two. */
export const furtherRuns = signal<readonly RunId[]>([]);
/** The timeline's window in ticks, shared with DAG and minimap. `null`: the whole run. */
export const range = signal<{ t0: number; t1: number } | null>(null);
export const selection = signal<Selection | null>(null);
/** The item under the pointer, shown like a weaker selection. */
export const hover = signal<Selection | null>(null);
export const colorBy = signal<ColorBy>("code");
export const LAYERS_AT_START: ReadonlySet<Layer> = new Set([
  "spawns",
  "steals",
  "leaps",
  "matrix",
  "waits",
  "critical",
  "ready",
  "delay",
  "nowork",
  "cpu",
  "regions",
]);
export const layers = signal<ReadonlySet<Layer>>(LAYERS_AT_START);
export const layout = signal<Layout>("time");
/** Arrangement of the timeline's rows: height, order, pinned and hidden rows. */
export interface RowsShown {
  height: "auto" | "full" | "compact";
  sort: "worker" | "busy";
  /** `auto`: by process or pool if there are several. */
  group: "auto" | "none" | "pool" | "process" | "node" | "tens";
  pinned: readonly number[];
  hidden: readonly number[];
}
export const ROWS_AT_START: RowsShown = {
  height: "auto",
  sort: "worker",
  group: "auto",
  pinned: [],
  hidden: [],
};
export const rowsShown = signal<RowsShown>(ROWS_AT_START);
/** Exponent of the layout `power`, 0.2 to 1. */
export const power = signal(0.5);
/** Node ids expanded in the DAG. */
export const expanded = signal<ReadonlySet<string>>(new Set(["t0"]));
export const theme = signal<"system" | "light" | "dark">("system");
/** Whether the drawer is open. */
export const drawer = signal<boolean>(true);
/** Whether timeline and DAG are side by side. */
export const split = signal(false);
/** The layout of a second picture of the DAG beside the first; null without one. */
export const secondLayout = signal<Layout | null>(null);
/** Whether the DAG's tasks show their sections as nodes. */
export const sections = signal(false);
/** Compare: runs on one time scale, or each as a fraction of its own length. */
export const compareBy = signal<"time" | "fraction">("time");
/** The finding whose callouts are shown, by index, from 0. */
export const finding = signal<number | null>(null);
/** What-if: the chosen code (as in the request) and the factor. */
export const whatif = signal<{ what: string[]; factor: number }>({ what: [], factor: 2 });
/** Announcement for screen readers. */
export const announcement = signal("");
/** Left part of the status line, set by the view that is shown. */
export const status = signal("");

/** Facts of a run; the current one by default. */
export function runMeta(id: RunId = run.value): RunMeta | null {
  const all = id.includes("~") ? openParts.value : (meta.value?.runs ?? []);
  return all.find((r) => r.id === id) ?? null;
}

/** The run that a part of a run belongs to; a whole run's own id. */
export const wholeRunOf = (id: RunId): RunId => id.split("~")[0]!;

/** The rows of a selection of rows; empty for other selections. */
export function rowsOf(s: Selection | null): readonly number[] {
  return s?.kind === "row" ? [s.row, ...(s.others ?? [])] : [];
}

/** Shows a range with a selection in it: the action of every "Show me". */
export function showInTab(
  to: Tab,
  at: { t0: number; t1: number } | null,
  what: Selection | null,
): void {
  batch(() => {
    tab.value = to;
    if (at) range.value = at;
    selection.value = what;
    if (what) drawer.value = true;
  });
}

/**
 * Counters for tests and the status line: primitives of the last frame, frames, requests; and
 * whether the location's hash is older than the view.
 */
export interface Stats {
  frames: number;
  primitives: number;
  mostPrimitives: number;
  requests: number;
  nodes: number;
  hashLate: boolean;
}
declare global {
  interface Window {
    __stats: Stats;
  }
}
export const stats: Stats = {
  frames: 0,
  primitives: 0,
  mostPrimitives: 0,
  requests: 0,
  nodes: 0,
  hashLate: false,
};
if (typeof window !== "undefined") window.__stats = stats;
