/**
 * All data of a frame. The drawing functions only read it; they make no requests and keep no state.
 */

import type { Tokens } from "../colors";
import type { InsideDetail, RegionSpan, RunMeta, StrandDetail, TaskDetail } from "../data/contract";
import type { ColorBy, Layer, Selection } from "../store";
import type { Bands } from "./verticalLayout";
import type { StrandBoxes } from "./strandBoxes";
import type { BoxColours } from "./boxColours";
import type { Scale, Span } from "./timeScale";
import type { Tiles } from "./tiles";

export interface Callout {
  /** The finding's number in the report, from 1. */
  number: number;
  title: string;
  detail: string;
  t0: number;
  t1: number;
  row: number | null;
}

export interface Scene {
  meta: RunMeta;
  dark: boolean;
  tokens: Tokens;
  bands: Bands;
  /** The scale of the window, then that of the whole run on the minimap. */
  scale: Scale;
  overview: Scale;
  layers: ReadonlySet<Layer>;
  colorBy: ColorBy;
  palette: BoxColours;
  selection: Selection | null;
  hover: Selection | null;
  tiles: Tiles;
  boxes: StrandBoxes;
  /** Strands inside folded ones. */
  inner: StrandBoxes;
  regions: RegionSpan[];
  /** Facts of the selected strand and task, once they are known. */
  strand: StrandDetail | null;
  task: TaskDetail | null;
  /** Facts of the selected strand inside a folded one. */
  inside: InsideDetail | null;
  callouts: Callout[];
  /** By pool: how many workers are enough; empty until the report is there. */
  poolSizes: readonly number[];
  /** Marks the user set, in ticks. */
  marks: number[];
  /** A range or minimap window while it is being drawn. */
  dragged: Span | null;
  /** The row with the keyboard cursor. */
  cursorRow: number | null;
  /** Rows that are marked as pinned. */
  pinned: ReadonlySet<number>;
  /** Rectangles of time off the CPU inside strands, found by `columns` and drawn over the boxes. */
  offCpu: number[];
  blocked: number[];
}
