/**
 * All that a frame is made of. The drawing functions read it and draw; none of them asks for
 * anything or keeps anything.
 */

import type { Tokens } from "../colors";
import type { InsideDetail, RegionSpan, RunMeta, StrandDetail, TaskDetail } from "../data/contract";
import type { ColorBy, Layer, Selection } from "../store";
import type { Bands } from "./bands";
import type { Boxes } from "./boxes";
import type { Palette } from "./palette";
import type { Scale, Span } from "./scale";
import type { Tiles } from "./tiles";

export interface Callout {
  /** As the report numbers findings, from 1. */
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
  /** The window, and the whole run on the minimap. */
  scale: Scale;
  overview: Scale;
  layers: ReadonlySet<Layer>;
  colorBy: ColorBy;
  palette: Palette;
  selection: Selection | null;
  hover: Selection | null;
  tiles: Tiles;
  boxes: Boxes;
  /** Strands inside folded ones. */
  inner: Boxes;
  regions: RegionSpan[];
  /** Facts of the strand and the task that are selected, once they are known. */
  strand: StrandDetail | null;
  task: TaskDetail | null;
  /** Of the strand inside a folded one that is selected. */
  inside: InsideDetail | null;
  callouts: Callout[];
  /** Marks the user set, in ticks. */
  marks: number[];
  /** A range or minimap window that is being drawn. */
  dragged: Span | null;
  /** The row the keyboard is on. */
  cursorRow: number | null;
  /** Rows that are marked as pinned. */
  pinned: ReadonlySet<number>;
  /** Rectangles of time off the CPU inside of strands, found by `columns`, drawn over the boxes. */
  offCpu: number[];
  blocked: number[];
}
