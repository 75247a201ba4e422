/**
 * Tiles that are loaded, in flight, or known to be missing. Requests no longer wanted are aborted.
 * A missing tile is replaced by a coarser tile or by finer ones meanwhile.
 */

import type { RunId } from "../data/contract";
import type { Planes } from "../data/planes";
import type { DataSource } from "../data/source";
import { ancestorIndex, tileTicks, tileUrl } from "./tileGrid";
import type { TileId, TileKind } from "./tileGrid";

export interface Tile extends TileId {
  /** Null if the source lacks it (a report whose detail ends above this level). */
  data: Planes | null;
  /** Derived data of the code that draws it. */
  made: Map<string, unknown>;
  used: number;
}

interface TileRequest {
  abort: AbortController;
  wanted: boolean;
}

/** Maximum number of requests in flight, as many as a browser sends to one host. */
const MAX_REQUESTS = 6;
/**
 * Maximum size of kept tiles with their derived data, in bytes; tiles of rows grow with the
 * threads.
 */
const MAX_BYTES = 192 << 20;

export class TileCache {
  private tiles = new Map<string, Tile>();
  private requests = new Map<string, TileRequest>();
  private failures = new Map<string, { again: number; times: number }>();
  private clock = 0;
  private bytes = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** Reason why the last request failed, until one succeeds. */
  failure: Error | null = null;
  requested = 0;

  constructor(
    readonly run: RunId,
    private readonly source: DataSource,
    private readonly arrived: () => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  private key = (id: TileId): string => tileUrl(this.run, id);

  /** The tile if it was answered; `data` is null if it is known to be missing. */
  get(id: TileId): Tile | undefined {
    const tile = this.tiles.get(this.key(id));
    if (tile) tile.used = ++this.clock;
    return tile;
  }

  get loading(): number {
    return this.requests.size;
  }

  /**
   * Sets the wanted tiles, most urgent first; all other requests are aborted. A tile known to be
   * missing is replaced by the next coarser one that may exist.
   */
  want(list: TileId[], top: number): void {
    for (const flight of this.requests.values()) flight.wanted = false;
    const queue: [string, TileId][] = [];
    const seen = new Set<string>();
    let waitUntil = Infinity;
    for (let id of list) {
      let key = this.key(id);
      while (this.tiles.get(key)?.data === null && id.level < top) {
        id = {
          kind: id.kind,
          level: id.level + 1,
          index: ancestorIndex(id.level, id.index, id.level + 1),
        };
        key = this.key(id);
      }
      if (seen.has(key)) continue;
      seen.add(key);
      if (this.tiles.has(key)) continue;
      const flight = this.requests.get(key);
      if (flight) {
        flight.wanted = true;
        continue;
      }
      const failed = this.failures.get(key);
      if (failed && failed.again > this.now()) {
        waitUntil = Math.min(waitUntil, failed.again);
        continue;
      }
      queue.push([key, id]);
    }
    for (const [key, flight] of [...this.requests]) {
      if (flight.wanted) continue;
      this.requests.delete(key);
      flight.abort.abort();
    }
    for (const [key, id] of queue.slice(0, Math.max(0, MAX_REQUESTS - this.requests.size)))
      this.send(key, id);
    if (waitUntil < Infinity && !this.timer) {
      this.timer = setTimeout(
        () => {
          this.timer = null;
          this.arrived();
        },
        waitUntil - this.now() + 1,
      );
    }
  }

  private send(key: string, id: TileId): void {
    const flight: TileRequest = { abort: new AbortController(), wanted: true };
    this.requests.set(key, flight);
    this.requested++;
    this.source.planes(key, flight.abort.signal).then(
      (data) => this.land(key, flight, id, data),
      (error: unknown) => {
        if (this.requests.get(key) !== flight) return;
        const why = (error as { why?: string }).why;
        if (why === "absent" || why === "refused") {
          this.land(key, flight, id, null);
          return;
        }
        this.requests.delete(key);
        const times = (this.failures.get(key)?.times ?? 0) + 1;
        this.failures.set(key, {
          times,
          again: this.now() + Math.min(250 * 2 ** (times - 1), 5000),
        });
        if (why !== "loading") this.failure = error as Error;
        this.arrived();
      },
    );
  }

  private land(key: string, flight: TileRequest, id: TileId, data: Planes | null): void {
    // An aborted request may still be answered, and the answer is valid.
    if (this.requests.get(key) === flight) this.requests.delete(key);
    this.failures.delete(key);
    if (data) this.failure = null;
    this.bytes += bytesOf(data);
    this.tiles.set(key, { ...id, data, made: new Map(), used: ++this.clock });
    this.evict();
    this.arrived();
  }

  private evict(): void {
    if (this.bytes <= MAX_BYTES) return;
    // The least recently used tiles go, down to three quarters; never those of the last few frames.
    for (const [key, tile] of [...this.tiles].sort((a, b) => a[1].used - b[1].used).slice(0, -48)) {
      if (this.bytes <= MAX_BYTES * 0.75) break;
      this.bytes -= bytesOf(tile.data);
      for (const made of tile.made.values()) (made as { close?: () => void } | null)?.close?.();
      this.tiles.delete(key);
    }
  }

  /** The tile itself, or the nearest coarser one that is loaded. */
  substitute(
    id: TileId,
    top: number,
    good: (tile: Tile) => boolean = () => true,
  ): Tile | undefined {
    for (let level = id.level; level <= top; level++) {
      const tile = this.get({
        kind: id.kind,
        level,
        index: ancestorIndex(id.level, id.index, level),
      });
      if (tile?.data && good(tile)) return tile;
    }
    return undefined;
  }

  /** Finer tiles inside a missing one, as left over from zooming out. At most two levels down. */
  parts(id: TileId, good: (tile: Tile) => boolean = () => true): Tile[] {
    for (let down = 1; down <= 2 && id.level - down >= 0; down++) {
      const n = 2 ** down;
      const found: Tile[] = [];
      for (let k = 0; k < n; k++) {
        const tile = this.get({ kind: id.kind, level: id.level - down, index: id.index * n + k });
        if (tile?.data && good(tile)) found.push(tile);
      }
      if (found.length) return found;
    }
    return [];
  }

  /**
   * The finest level in the source for a window's tiles of a kind, if the source is known to lack
   * `level`; otherwise `level` itself.
   */
  detailLimitAt(kind: TileKind, level: number, t0: number, t1: number, top: number): number {
    let finest = level;
    const size = tileTicks(level);
    for (let index = Math.max(0, Math.floor(t0 / size)); index * size < t1; index++) {
      let at = level;
      while (
        at < top &&
        this.get({ kind, level: at, index: ancestorIndex(level, index, at) })?.data === null
      )
        at++;
      finest = Math.max(finest, at);
    }
    return finest;
  }

  /** Forgets everything and aborts all requests. */
  close(): void {
    for (const flight of this.requests.values()) flight.abort.abort();
    this.requests.clear();
    if (this.timer) clearTimeout(this.timer);
    for (const tile of this.tiles.values())
      for (const made of tile.made.values()) (made as { close?: () => void } | null)?.close?.();
    this.tiles.clear();
  }
}

/** Size of a tile's planes and of its image, which is about as large. */
function bytesOf(data: Planes | null): number {
  let sum = 256;
  for (const plane of Object.values(data?.planes ?? {})) sum += 2 * plane.byteLength;
  return sum;
}
