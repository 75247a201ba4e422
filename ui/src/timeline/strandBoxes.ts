/** Strands wide enough to be boxes of their own, gathered once per frame from the visible tiles. */

import { tileTicks } from "./tileGrid";
import type { Slot } from "./tiles";
import type { Scale } from "./timeScale";
import { visibleRows } from "./verticalLayout";
import type { Rows } from "./verticalLayout";

export const FLAG = {
  critical: 1,
  ready: 2,
  stolen: 4,
  folded: 8,
  buried: 16,
  first: 32,
  sums: 64,
} as const;

/** Width in pixels below which a strand is part of its column. */
export const MIN_BOX_WIDTH = 1.6;
/**
 * Maximum number of boxes in a frame: with everything drawn below and over them, a frame stays
 * under 25,000 shapes.
 */
export const MAX_BOXES = 4000;

/** Maximum number of boxes inside folded strands. */
export const MAX_INNER_BOXES = 2000;

/** Stored as columns, so that thousands of boxes per frame make no garbage. */
export class StrandBoxes {
  n = 0;
  private room = 0;
  id = new Uint32Array(0);
  task = new Uint32Array(0);
  row = new Uint16Array(0);
  code = new Uint16Array(0);
  site = new Uint16Array(0);
  level = new Uint16Array(0);
  flags = new Uint8Array(0);
  creates = new Uint16Array(0);
  endKind = new Uint8Array(0);
  start = new Float64Array(0);
  end = new Float64Array(0);
  ready = new Float64Array(0);
  /** The size that the strand's task told; NaN if it did not. */
  size = new Float64Array(0);
  /** In pixels. */
  x0 = new Float64Array(0);
  x1 = new Float64Array(0);
  /** Width below which boxes were left to the columns. */
  narrowest = MIN_BOX_WIDTH;
  /** Number of visible strands; estimated from the tiles' counts if tiles omit strands. */
  total = 0;
  /** True if tiles omit strands. */
  truncated = false;
  /** Folded strands with boxes inside, and the width of those boxes in pixels. */
  readonly folded = new Map<number, number>();

  /** `inside`: the boxes are strands inside folded ones, and have those strands' indices. */
  constructor(
    private readonly most = MAX_BOXES,
    readonly inside = false,
  ) {}

  private grow(): void {
    this.room = Math.max(4096, this.room * 2);
    const more = <T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(
      old: T,
      make: new (n: number) => T,
    ): T => {
      const bigger = new make(this.room);
      bigger.set(old as never);
      return bigger;
    };
    this.id = more(this.id, Uint32Array);
    this.task = more(this.task, Uint32Array);
    this.row = more(this.row, Uint16Array);
    this.code = more(this.code, Uint16Array);
    this.site = more(this.site, Uint16Array);
    this.level = more(this.level, Uint16Array);
    this.flags = more(this.flags, Uint8Array);
    this.creates = more(this.creates, Uint16Array);
    this.endKind = more(this.endKind, Uint8Array);
    this.start = more(this.start, Float64Array);
    this.end = more(this.end, Float64Array);
    this.ready = more(this.ready, Float64Array);
    this.size = more(this.size, Float64Array);
    this.x0 = more(this.x0, Float64Array);
    this.x1 = more(this.x1, Float64Array);
  }

  /** Gathers visible boxes, by slot and start. */
  gather(slots: Slot[], scale: Scale, rows: Rows): void {
    this.n = 0;
    this.total = 0;
    this.truncated = false;
    this.folded.clear();
    const visible = new Set(visibleRows(rows));
    const perTick = scale.width / (scale.t1 - scale.t0);
    const right = scale.x0 + scale.width;
    // Strands across the border of two slots are in both tiles.
    const crossing = new Set<number>();
    for (const slot of slots) {
      const data = slot.tile?.data;
      if (!data) continue;
      const p = data.planes as Record<string, Float64Array>;
      const {
        id,
        row,
        start,
        end,
        task,
        code,
        site,
        level,
        flags,
        creates,
        end_kind,
        ready,
        size,
      } = p;
      if (!id || !row || !start || !end) continue;
      const cut = data.facts.truncated === true;
      this.truncated ||= cut;
      if (cut) {
        // The tile omits strands: estimate their number by the slot's share of the tile.
        const tile = slot.tile ? tileTicks(slot.tile.level) : Infinity;
        this.total +=
          (Math.max(0, Math.min(slot.t1, scale.t1) - Math.max(slot.t0, scale.t0)) / tile) *
          Number(data.facts.total ?? id.length);
      }
      for (let i = 0; i < id.length; i++) {
        const s = start[i]!;
        const e = end[i]!;
        if (s >= slot.t1 || (e <= slot.t0 && s < slot.t0)) continue;
        if (!cut && s < scale.t1 && e > scale.t0 && (s >= slot.t0 || slot === slots[0]))
          this.total++;
        if ((e - s) * perTick < MIN_BOX_WIDTH) continue;
        const r = row[i]!;
        if (!visible.has(r)) continue;
        const a = scale.x0 + (s - scale.t0) * perTick;
        const b = scale.x0 + (e - scale.t0) * perTick;
        if (b < scale.x0 || a > right) continue;
        if (s < slot.t0 || e > slot.t1) {
          // Inside folded strands, a row and a time identify a strand.
          const name = this.inside ? s * 65536 + r : id[i]!;
          if (crossing.has(name)) continue;
          crossing.add(name);
        }
        if (this.n === this.room) this.grow();
        const n = this.n++;
        this.id[n] = id[i]!;
        this.task[n] = task?.[i] ?? 0;
        this.row[n] = r;
        this.code[n] = code?.[i] ?? 0xffff;
        this.site[n] = site?.[i] ?? 0xffff;
        this.level[n] = level?.[i] ?? 0;
        this.flags[n] = flags?.[i] ?? 0;
        this.creates[n] = creates?.[i] ?? 0;
        this.endKind[n] = end_kind?.[i] ?? 0;
        this.start[n] = s;
        this.end[n] = e;
        this.ready[n] = ready?.[i] ?? NaN;
        this.size[n] = size?.[i] ?? NaN;
        this.x0[n] = a;
        this.x1[n] = b;
      }
    }
    this.narrowest = MIN_BOX_WIDTH;
    if (this.n > this.most) this.thin();
    if (this.inside)
      for (let i = 0; i < this.n; i++)
        this.folded.set(
          this.id[i]!,
          (this.folded.get(this.id[i]!) ?? 0) + this.x1[i]! - this.x0[i]!,
        );
  }

  /** Leaves the narrowest boxes to the columns until few enough remain. */
  private thin(): void {
    const width = (i: number) => this.x1[i]! - this.x0[i]!;
    for (let least = 2; this.n > this.most; least *= 1.25) {
      let k = 0;
      for (let i = 0; i < this.n; i++) {
        if (width(i) < least) continue;
        if (k !== i) this.move(i, k);
        k++;
      }
      this.n = k;
      this.narrowest = least;
    }
  }

  private move(from: number, to: number): void {
    for (const column of [
      this.id,
      this.task,
      this.row,
      this.code,
      this.site,
      this.level,
      this.flags,
      this.creates,
      this.endKind,
      this.start,
      this.end,
      this.ready,
      this.size,
      this.x0,
      this.x1,
    ]) {
      column[to] = column[from]!;
    }
  }

  /** The box inside a folded strand that starts at a tick, or -1. */
  findInside(strand: number, start: number): number {
    for (let i = 0; i < this.n; i++) if (this.id[i] === strand && this.start[i] === start) return i;
    return -1;
  }

  /** The box of a strand, or -1. */
  find(strand: number): number {
    for (let i = 0; i < this.n; i++) if (this.id[i] === strand) return i;
    return -1;
  }

  /** The box at a row and time, or -1; rows have one strand at a time. */
  at(row: number, t: number): number {
    for (let i = 0; i < this.n; i++)
      if (this.row[i] === row && this.start[i]! <= t && t < this.end[i]!) return i;
    return -1;
  }
}
