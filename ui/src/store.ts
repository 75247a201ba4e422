/**
 * What is looked at: one set of signals that all views share. A view reads them, draws, and writes
 * them; it never talks to another view. `hash.ts` keeps the location's hash equal to them.
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

/** What is selected; `task`, `strand`, `site`, `code` are indices of the contract. */
export type Selection =
  /** `inner`: inside a folded strand, the one that starts at this tick. */
  | { kind: "strand"; run: RunId; id: number; task: number; inner?: number }
  | { kind: "task"; run: RunId; id: number }
  | { kind: "site"; run: RunId; site: number }
  | { kind: "code"; run: RunId; code: number }
  | { kind: "group"; run: RunId; id: string; task: number }
  | { kind: "steal"; run: RunId; strand: number; task: number }
  /** `others`: more rows, selected with it. */
  | { kind: "row"; run: RunId; row: number; others?: readonly number[] }
  | { kind: "range"; run: RunId; t0: number; t1: number }
  | { kind: "line"; run: RunId; file: string; line: number };

export type ColorBy = "code" | "site" | "worker" | "activity" | "level" | "critical";

/** Layers of the timeline that can be switched. */
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
/** Parts of runs that were looked at alone, each as a run. */
export const parts = signal<readonly RunMeta[]>([]);
export const tab = signal<Tab>("summary");
/** The run the single-run tabs show, and the one it is compared with. */
export const run = signal<RunId>("a");
export const other = signal<RunId | null>(null);
/** Compare: runs whose timelines and DAGs stand below those of the two. */
export const beside = signal<readonly RunId[]>([]);
/** The timeline's window in ticks, shared with DAG and minimap. `null`: the whole run. */
export const range = signal<{ t0: number; t1: number } | null>(null);
export const selection = signal<Selection | null>(null);
/** A weaker selection, under the pointer. */
export const hover = signal<Selection | null>(null);
export const colorBy = signal<ColorBy>("code");
export const layers = signal<ReadonlySet<Layer>>(
  new Set([
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
  ]),
);
export const layout = signal<Layout>("time");
/** How the timeline's rows stand: their height, their order, which are on top or hidden. */
export interface RowsShown {
  height: "auto" | "full" | "compact";
  sort: "worker" | "busy";
  group: "none" | "pool" | "process" | "tens";
  pinned: readonly number[];
  hidden: readonly number[];
}
export const ROWS_AT_START: RowsShown = {
  height: "auto",
  sort: "worker",
  group: "none",
  pinned: [],
  hidden: [],
};
export const rowsShown = signal<RowsShown>(ROWS_AT_START);
/** Exponent of the layout `power`, 0.2 to 1. */
export const power = signal(0.5);
/** Node ids expanded in the DAG. */
export const expanded = signal<ReadonlySet<string>>(new Set(["t0"]));
export const theme = signal<"system" | "light" | "dark">("system");
/** The drawer is open; which of its pages. */
export const drawer = signal<boolean>(true);
/** Timeline and DAG side by side. */
export const split = signal(false);
/** The layout of a second picture of the DAG beside the first; null: there is none. */
export const secondLayout = signal<Layout | null>(null);
/** The DAG's tasks show their sections as nodes. */
export const sections = signal(false);
/** Compare: runs on one time scale, or each as a fraction of itself. */
export const compareBy = signal<"time" | "fraction">("time");
/** The finding whose callouts are shown, by index, from 0. */
export const finding = signal<number | null>(null);
/** What-if: what is looked at (as in the request) and the factor. */
export const whatif = signal<{ what: string[]; factor: number }>({ what: [], factor: 2 });
/** What screen readers are told. */
export const announcement = signal("");
/** Left part of the status line, set by the view that is shown. */
export const status = signal("");

/** Facts of a run; the current one by default. */
export function runMeta(id: RunId = run.value): RunMeta | null {
  const all = id.includes("~") ? parts.value : (meta.value?.runs ?? []);
  return all.find((r) => r.id === id) ?? null;
}

/** The run that a part of a run belongs to; of a whole run itself. */
export const wholeOf = (id: RunId): RunId => id.split("~")[0]!;

/** The rows of a selection of rows; of any other, none. */
export function rowsOf(s: Selection | null): readonly number[] {
  return s?.kind === "row" ? [s.row, ...(s.others ?? [])] : [];
}

/** Looks at a range with something selected there: what every "Show me" does. */
export function show(to: Tab, at: { t0: number; t1: number } | null, what: Selection | null): void {
  batch(() => {
    tab.value = to;
    if (at) range.value = at;
    selection.value = what;
    if (what) drawer.value = true;
  });
}

/**
 * Counted for tests and the status line: primitives of the last frame, frames, requests; whether
 * the location's hash is older than the view.
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
