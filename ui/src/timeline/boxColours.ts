/** Colours of boxes in each mode: one table for the rasteriser, one function for exact boxes. */

import { codeColour } from "../codeColours";
import { colour, flatOf, MARKS } from "../colors";
import type { Colour } from "../colors";
import type { RunMeta } from "../data/contract";
import type { ColorBy } from "../store";
import { blend, packed } from "./raster";
import type { RasterBy } from "./raster";

/** The properties of a box that determine its colour. */
export interface BoxFacts {
  code: number;
  site: number;
  row: number;
  level: number;
  critical: boolean;
  readyPath: boolean;
}

/** Number of levels with colours of their own; deeper ones have the last colour. */
const LEVELS = 64;

/**
 * The rasteriser's colours: a texture becomes a tint, because narrow columns have no room for
 * marks.
 */
export const lutOf = (table: readonly Colour[], dark: boolean): Uint32Array =>
  Uint32Array.from(table, (c) => packed(flatOf(c, dark)));

/** `RasterJob.marks`. */
export const marksOf = (table: readonly Colour[]): Uint8Array =>
  Uint8Array.from(table, (c) => MARKS.findIndex((m) => m === c.texture) + 1);

export class BoxColours {
  private readonly tables: Colour[];
  private readonly dimmed = new Map<string, string>();
  private readonly flats = new Map<Colour, string>();
  readonly by: RasterBy;
  readonly lut: Uint32Array;
  readonly marks: Uint8Array;

  constructor(
    readonly mode: ColorBy,
    meta: RunMeta,
    readonly dark: boolean,
    private readonly ground: string,
  ) {
    const table = (n: number, of: (i: number) => Colour) =>
      Array.from({ length: n }, (_, i) => of(i));
    switch (mode) {
      case "code":
        this.by = "code";
        this.tables = [
          ...table(meta.codes.length, (code) => codeColour(meta.codes, code, dark)),
          colour("code", { code: null }, dark),
        ];
        break;
      case "site":
        this.by = "site";
        this.tables = [
          ...table(meta.sites.length, (site) => colour("site", { site }, dark)),
          colour("site", { site: null }, dark),
        ];
        break;
      case "worker":
        this.by = "row";
        this.tables = table(Math.max(1, meta.threads.length), (row) =>
          colour("worker", { row }, dark),
        );
        break;
      case "level":
        this.by = "level";
        this.tables = table(LEVELS, (level) => colour("level", { level }, dark));
        break;
      case "critical":
        this.by = "critical";
        this.tables = [
          colour("critical", { critical: false }, dark),
          colour("critical", { critical: true }, dark),
          colour("critical", { critical: false, readyPath: true }, dark),
        ];
        break;
      case "activity":
        this.by = "plain";
        this.tables = [colour("activity", { activity: "work" }, dark)];
        break;
    }
    this.lut = lutOf(this.tables, dark);
    this.marks = marksOf(this.tables);
  }

  of(box: BoxFacts): Colour {
    const last = this.tables.length - 1;
    switch (this.by) {
      case "code":
        return this.tables[Math.min(box.code, last)]!;
      case "site":
        return this.tables[Math.min(box.site, last)]!;
      case "row":
        return this.tables[box.row % this.tables.length]!;
      case "level":
        return this.tables[Math.min(box.level, last)]!;
      case "critical":
        return this.tables[box.critical ? 1 : box.readyPath ? 2 : 0]!;
      default:
        return this.tables[0]!;
    }
  }

  /** Colour and texture as one flat colour, without room for marks. */
  flat(of: Colour): string {
    if (of.texture === "none") return of.fill;
    let found = this.flats.get(of);
    if (!found) this.flats.set(of, (found = flatOf(of, this.dark)));
    return found;
  }

  /** A fill dimmed because something else is selected. */
  dim(fill: string): string {
    let found = this.dimmed.get(fill);
    if (!found) {
      found = "#" + blend(packed(fill), packed(this.ground), 0.22).toString(16).padStart(6, "0");
      this.dimmed.set(fill, found);
    }
    return found;
  }
}
