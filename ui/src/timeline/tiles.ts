/**
 * The tiles of one run with their images: requests for a window, and substitutes to draw while they
 * load.
 */

import { TILE_BINS } from "../data/contract";
import type { RunMeta } from "../data/contract";
import type { Planes } from "../data/planes";
import type { DataSource } from "../data/source";
import { TileCache } from "./tileCache";
import type { Tile } from "./tileCache";
import type { RasterJob } from "./raster";
import type { Rasteriser, TileImage } from "./rasteriser";
import { tileIndices, levelFor, tileSpan, tileTicks, wantedTiles } from "./tileGrid";
import type { TileId, TileKind } from "./tileGrid";
import type { Span } from "./timeScale";

/** A piece of the window and the tile that it is drawn from; null without a tile. */
export interface Slot extends Span {
  tile: Tile | null;
}

/** The look of the images of rows; the key identifies it. */
export interface TileStyle {
  key: string;
  job(planes: Planes): RasterJob;
}

export class Tiles {
  readonly cache: TileCache;
  level = 0;
  /** Level of the minimap's own tiles. */
  readonly overviewLevel: number;
  private making = new Map<Tile, string>();

  constructor(
    readonly meta: RunMeta,
    source: DataSource,
    private readonly rasteriser: Rasteriser,
    private readonly changed: () => void,
  ) {
    this.cache = new TileCache(meta.id, source, changed);
    this.overviewLevel = Math.max(meta.overview ?? 0, meta.top_level - 1);
  }

  get top(): number {
    return this.meta.top_level;
  }

  /** Requests a window's tiles and drops the others. `paths`: the shown ones. */
  want(window: Span, plotDevicePixels: number, kinds: TileKind[]): void {
    const { elapsed } = this.meta;
    this.level = Math.max(
      levelFor((window.t1 - window.t0) / Math.max(1, plotDevicePixels), this.top),
      this.meta.overview ?? 0,
    );
    const lists = kinds.map((kind) => wantedTiles(kind, this.level, window, elapsed));
    const overview = wantedTiles(
      "profile",
      this.overviewLevel,
      { t0: 0, t1: elapsed },
      elapsed,
    ).map((t) => t.id);
    // Visible tiles of all kinds come first, after only the coarsest picture, which is a substitute
    // for all others.
    const top = this.top;
    const first: TileId[] =
      kinds.includes("rows") && !this.cache.get({ kind: "rows", level: top, index: 0 })
        ? [{ kind: "rows", level: top, index: 0 }]
        : [];
    const visible = lists.flatMap((list) => list.filter((t) => t.visible).map((t) => t.id));
    const skirts = lists.flatMap((list) => list.filter((t) => !t.visible).map((t) => t.id));
    this.cache.want([...first, ...overview, ...visible, ...skirts], top);
  }

  /** The window cut at the level's tiles, each with the best available tile. */
  slots(kind: TileKind, window: Span, level = this.level): Slot[] {
    const [from, to] = tileIndices(level, window, this.meta.elapsed);
    const slots: Slot[] = [];
    for (let index = from; index <= to; index++) {
      const span = tileSpan(level, index);
      const id = { kind, level, index };
      const own = this.cache.get(id);
      if (own?.data) {
        slots.push({ ...span, tile: own });
        continue;
      }
      const parts = this.cache.parts(id);
      const coarse = this.cache.substitute(id, this.top) ?? null;
      if (!parts.length) {
        slots.push({ ...span, tile: coarse });
        continue;
      }
      // Finer tiles cover what they can, and the coarser one the rest.
      let at = span.t0;
      for (const part of parts) {
        const p = tileSpan(part.level, part.index);
        if (p.t0 > at) slots.push({ t0: at, t1: p.t0, tile: coarse });
        slots.push({ ...p, tile: part });
        at = p.t1;
      }
      if (at < span.t1) slots.push({ t0: at, t1: span.t1, tile: coarse });
    }
    return slots;
  }

  /** The tile of the whole run, once it is loaded. */
  coarsest(kind: TileKind): Tile | null {
    return this.cache.get({ kind, level: this.top, index: 0 }) ?? null;
  }

  /** The image of a rows tile in this look; otherwise an older look of it, or null. */
  image(tile: Tile, look: TileStyle): TileImage | null {
    const made = tile.made.get("image") as (TileImage & { key: string }) | undefined;
    if (made?.key !== look.key && this.making.get(tile) !== look.key && tile.data) {
      this.making.set(tile, look.key);
      this.rasteriser.make(look.job(tile.data), (image) => {
        if (this.making.get(tile) === look.key) this.making.delete(tile);
        if (!image) return;
        const old = tile.made.get("image") as TileImage | undefined;
        tile.made.set("image", { ...image, key: look.key, close: () => image.close() });
        old?.close();
        this.changed();
      });
    }
    return made ?? null;
  }

  /** Number of rows in a tile of rows. */
  rowsOf(tile: Tile): number {
    return Math.floor((tile.data?.planes.work?.length ?? 0) / TILE_BINS);
  }

  /** Number of tiles and images that are still being made. */
  get loading(): number {
    return this.cache.loading + this.making.size;
  }

  /** The finest level that a report has here, or null if it has the wanted one. */
  detailLimit(window: Span): number | null {
    const finest = this.cache.detailLimitAt("rows", this.level, window.t0, window.t1, this.top);
    return finest > this.level ? finest : null;
  }

  /** True if not even the coarsest picture of the rows exists: a report that was kept too small. */
  get bare(): boolean {
    return this.cache.get({ kind: "rows", level: this.top, index: 0 })?.data === null;
  }

  close(): void {
    this.cache.close();
  }
}

/** Ticks of a tile's bin, and the tile's start. */
export function binsOf(tile: Tile): { from: number; ticks: number } {
  return { from: tile.index * tileTicks(tile.level), ticks: tileTicks(tile.level) / TILE_BINS };
}
