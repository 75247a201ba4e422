import { describe, expect, it } from "vitest";
import { LIGHT } from "../colors";
import { TILE_BINS } from "../data/contract";
import type { RunMeta } from "../data/contract";
import type { Planes } from "../data/planes";
import { LAYERS } from "../store";
import type { Layer } from "../store";
import { layOutBands } from "./verticalLayout";
import { StrandBoxes, MAX_INNER_BOXES } from "./strandBoxes";
import type { Tile } from "./tileCache";
import { drawFrame } from "./drawFrame";
import { tileStyle } from "./tileStyle";
import { BoxColours } from "./boxColours";
import type { Pen } from "./pen";
import { rasterise } from "./raster";
import type { Scene } from "./scene";
import type { Tiles } from "./tiles";
import type { TileKind } from "./tileGrid";

/** Counts shapes as the other pens do, and draws nothing. */
class CountingPen implements Pen {
  readonly dark = false;
  primitives = 0;
  by = new Map<string, number>();
  private add(what: string, n: number) {
    this.primitives += n;
    this.by.set(what, (this.by.get(what) ?? 0) + n);
  }
  rect() {
    this.add("rect", 1);
  }
  rects(b: readonly number[]) {
    this.add("rects", b.length / 4);
  }
  frame() {
    this.add("frame", 1);
  }
  line(p: readonly number[]) {
    let lines = 0;
    for (let i = 2; i < p.length; i += 2)
      if (!Number.isNaN(p[i]!) && !Number.isNaN(p[i - 2]!)) lines++;
    this.add("line", lines);
  }
  area() {
    this.add("area", 1);
  }
  curves(p: readonly number[]) {
    this.add("curves", p.length / 8);
  }
  dots(p: readonly number[]) {
    this.add("dots", p.length / 2);
  }
  text() {
    this.add("text", 1);
  }
  textWidth(text: string) {
    return text.length * 6;
  }
  image() {
    this.add("image", 1);
  }
  clip(_x: number, _y: number, _w: number, _h: number, draw: () => void) {
    draw();
  }
  patternShift() {}
}

/** A run that fills its tiles with everything they can hold, in pieces of about `pitch` bins. */
function crowded(rows: number, pitch: number): Scene {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const n = rows * TILE_BINS;
  const u8 = () => new Uint8Array(n);
  const planes: Planes["planes"] = {
    work: u8(),
    descheduled: u8(),
    blocked: u8(),
    delay: u8(),
    no_work_sched: u8(),
    no_work_app: u8(),
    critical: u8(),
    ready_path: u8(),
    strands: new Uint16Array(n),
    creates: new Uint16Array(n),
    strand: new Uint32Array(n),
    code: new Uint16Array(n),
    site: new Uint16Array(n),
    level: new Uint16Array(n),
    queue: new Float32Array(n),
    cpu: u8(),
  };
  const strands: number[][] = [];
  for (let row = 0; row < rows; row++) {
    for (let bin = 0; bin < TILE_BINS;) {
      const long = Math.max(1, Math.round(pitch * (0.6 + random())));
      if (random() < 0.6) {
        strands.push([row, bin, Math.min(TILE_BINS, bin + long), Math.floor(random() * 12)]);
        planes.work!.fill(
          255,
          row * TILE_BINS + bin,
          row * TILE_BINS + Math.min(TILE_BINS, bin + long),
        );
      } else
        [planes.delay!, planes.no_work_sched!, planes.no_work_app!, planes.descheduled!][
          Math.floor(random() * 4)
        ]!.fill(255, row * TILE_BINS + bin, row * TILE_BINS + Math.min(TILE_BINS, bin + long));
      if (random() < 0.7) planes.creates![row * TILE_BINS + bin] = 1 + Math.floor(random() * 3);
      planes.code![row * TILE_BINS + bin] = Math.floor(random() * 12);
      bin += long;
    }
  }
  strands.sort((a, b) => a[1]! - b[1]!);
  const m = strands.length;
  const from = (f: (s: number[]) => number) => Float64Array.from(strands, f);
  const arcs = 2000;
  const path = Math.min(2000, m);
  const data: Record<TileKind, Planes> = {
    rows: { facts: {}, planes },
    profile: {
      facts: {},
      planes: Object.fromEntries(
        ["running", "ready_create", "ready_end", "delay", "no_work_sched", "no_work_app"].map(
          (k) => [k, Float32Array.from({ length: TILE_BINS }, () => random() * 40)],
        ),
      ),
    },
    strands: {
      facts: { total: m, truncated: false },
      planes: {
        id: Uint32Array.from(strands, (_, i) => i),
        row: Uint16Array.from(strands, (s) => s[0]!),
        start: from((s) => s[1]!),
        end: from((s) => s[2]!),
        task: Uint32Array.from(strands, () => 3),
        code: Uint16Array.from(strands, (s) => s[3]!),
        flags: Uint8Array.from(strands, () => 16 | 8),
        ready: from((s) => s[1]! - 5),
      },
    },
    inside: { facts: {}, planes: {} },
    arcs: {
      facts: { total: arcs, truncated: false, pairs: [] },
      planes: {
        from_row: Uint16Array.from({ length: arcs }, () => random() * rows),
        from_t: new Float64Array(arcs),
        to_row: Uint16Array.from({ length: arcs }, () => random() * rows),
        to_t: Float64Array.from({ length: arcs }, () => random() * 1024),
        strand: new Uint32Array(arcs),
        leap: Uint8Array.from({ length: arcs }, () => (random() < 0.5 ? 1 : 0)),
      },
    },
    waits: {
      facts: { total: arcs, truncated: true, kinds: ["lock"] },
      planes: {
        row: Uint16Array.from({ length: arcs }, () => random() * rows),
        start: Float64Array.from({ length: arcs }, (_, i) => i / 2),
        end: Float64Array.from({ length: arcs }, (_, i) => i / 2 + 9),
        kind: new Uint8Array(arcs),
        strand: new Uint32Array(arcs).fill(3),
        by_row: Uint16Array.from({ length: arcs }, () => random() * rows),
        released: Float64Array.from({ length: arcs }, (_, i) => i / 2 + 8),
        by_strand: new Uint32Array(arcs),
        critical: Uint8Array.from({ length: arcs }, () => (random() < 0.5 ? 1 : 0)),
      },
    },
    critical: {
      facts: {},
      planes: {
        row: Uint16Array.from({ length: path }, () => random() * rows),
        start: Float64Array.from({ length: path }, (_, i) => (i * 1024) / path),
        end: Float64Array.from({ length: path }, (_, i) => ((i + 1) * 1024) / path),
        strand: new Uint32Array(path),
        gap: new Uint8Array(path).fill(1),
      },
    },
    ready: { facts: {}, planes: {} },
  };
  data.ready = data.critical;
  // As if everything were folded and opened.
  data.inside = data.strands;
  const meta = {
    id: "a",
    workers: rows,
    waits: arcs,
    elapsed: 1024,
    ticks_per_second: 1e9,
    top_level: 0,
    more_threads: 0,
    pools: [],
    begin: 0,
    threads: Array.from({ length: rows }, (_, i) => ({
      thread: i,
      label: `W${i}`,
      worker: true,
      name: null,
      pool: null,
      busy: 0.5,
    })),
    codes: Array.from({ length: 12 }, (_, i) => ({
      label: "c" + i,
      function: null,
      file: null,
      line: null,
      ticks: 1,
    })),
    sites: [],
    has: {
      cpu: true,
      queue: true,
      samples: false,
      regions: true,
      counters: [],
      leaps: true,
      inside: true,
    },
  } as unknown as RunMeta;
  const layers: ReadonlySet<Layer> = new Set(LAYERS);
  const palette = new BoxColours("code", meta, false, LIGHT.panel);
  const tileOf = (kind: TileKind): Tile => ({
    kind,
    level: 0,
    index: 0,
    data: data[kind],
    made: new Map(),
    used: 0,
  });
  const tiles = {
    level: 0,
    overviewLevel: 0,
    slots: (kind: TileKind) => [{ t0: 0, t1: 1024, tile: tileOf(kind) }],
    coarsest: (kind: TileKind) => tileOf(kind),
    image: (tile: Tile, l: ReturnType<typeof tileStyle>) => ({
      image: null,
      runs: rasterise(l.job(tile.data!)).runs,
      close() {},
    }),
    rowsOf: () => rows,
    detailLimit: () => null,
    bare: false,
  } as unknown as Tiles;
  const b = layOutBands({
    width: 1920,
    height: 1000,
    rows,
    scroll: 0,
    cpu: true,
    queue: true,
    regionLanes: 3,
  });
  const scale = { t0: 0, t1: 1024, x0: b.x0, width: b.plot };
  const boxes = new StrandBoxes();
  boxes.gather(tiles.slots("strands", scale), scale, b.rows);
  const inner = new StrandBoxes(MAX_INNER_BOXES, true);
  inner.gather(tiles.slots("inside", scale), scale, b.rows);
  const regions = Array.from({ length: 3000 }, (_, i) => ({
    label: "r",
    task: 0,
    row: 0,
    start: i % 1000,
    end: (i % 1000) + 0.9,
    tree: false,
    part: false,
  }));
  return {
    meta,
    dark: false,
    tokens: LIGHT,
    bands: b,
    scale,
    overview: scale,
    layers,
    colorBy: "code",
    palette,
    selection: { kind: "task", run: "a", id: 3 },
    hover: null,
    tiles,
    boxes,
    inner,
    inside: null,
    regions,
    strand: null,
    task: null,
    callouts: [],
    poolSizes: [],
    marks: [100, 200],
    dragged: null,
    cursorRow: 2,
    pinned: new Set<number>(),
    offCpu: [],
    blocked: [],
  };
}

describe("a frame", () => {
  for (const [rows, pitch] of [
    [8, 1],
    [24, 1],
    [24, 2],
    [24, 3],
    [24, 4],
    [40, 2],
    [40, 5],
    [256, 3],
  ] as const) {
    it(`is at most 25,000 shapes: ${rows} rows in pieces of ${pitch} bins, every layer on`, () => {
      const s = crowded(rows, pitch);
      const pen = new CountingPen();
      drawFrame(
        s,
        pen,
        tileStyle(s.palette, s.tokens, s.layers, null, false),
        s.regions.map((_, i) => Math.floor(i / 1000)),
      );
      expect(pen.primitives, JSON.stringify([...pen.by])).toBeLessThanOrEqual(25000);
      expect(pen.primitives).toBeGreaterThan(2000);
    });
  }
});
