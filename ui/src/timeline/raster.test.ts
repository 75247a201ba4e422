import { describe, expect, it } from "vitest";
import { TILE_BINS } from "../data/contract";
import { blend, packed, rasterise, RUN_KINDS } from "./raster";
import type { RasterJob } from "./raster";

function job(rows: number, change: (job: RasterJob) => void): RasterJob {
  const n = rows * TILE_BINS;
  const made: RasterJob = {
    rows,
    by: "code",
    lut: Uint32Array.from([0xff0000, 0x00ff00]),
    marks: Uint8Array.from([0, 0]),
    bright: null,
    ground: 0xffffff,
    cpuColor: 0x0000ff,
    cpu: true,
    free: [0xd55e00, 0xf0e442, 0xeceef2],
    unreadColor: 0xe0e0e0,
    planes: {
      work: new Uint8Array(n),
      descheduled: new Uint8Array(n),
      blocked: new Uint8Array(n),
      delay: new Uint8Array(n),
      no_work_sched: new Uint8Array(n),
      no_work_app: new Uint8Array(n),
      unread: null,
      code: new Uint16Array(n),
      site: new Uint16Array(n),
      level: new Uint16Array(n),
      critical: new Uint8Array(n),
      cpu: null,
    },
  };
  change(made);
  return made;
}

const pixel = (p: Uint8ClampedArray, bin: number, line: number) => [
  ...p.slice((line * TILE_BINS + bin) * 4, (line * TILE_BINS + bin) * 4 + 4),
];

describe("rasterise", () => {
  it("gives a full bin its code's colour and leaves an empty bin transparent", () => {
    const { pixels } = rasterise(
      job(2, (j) => {
        j.planes.work[TILE_BINS + 7] = 255;
        j.planes.code[TILE_BINS + 7] = 1;
      }),
    );
    expect(pixel(pixels, 7, 4)).toEqual([0, 255, 0, 255]);
    expect(pixel(pixels, 7, 5)).toEqual([0, 255, 0, 255]);
    expect(pixel(pixels, 7, 6)).toEqual([0, 0, 255, 255]);
    expect(pixel(pixels, 7, 7)).toEqual([0, 0, 255, 255]);
    expect(pixel(pixels, 7, 0)[3]).toBe(0);
    expect(pixel(pixels, 8, 4)[3]).toBe(0);
  });

  it("a bin with little coverage is visible, and more coverage is stronger", () => {
    const { pixels } = rasterise(job(1, (j) => j.planes.work.set([1, 64, 200])));
    const alphas = [0, 1, 2].map((bin) => pixel(pixels, bin, 0)[3]!);
    expect(alphas[0]).toBeGreaterThan(80);
    expect(alphas[0]! < alphas[1]! && alphas[1]! < alphas[2]!).toBe(true);
  });

  it("keeps the code's colour, paler, for time off the CPU", () => {
    const { pixels } = rasterise(job(1, (j) => j.planes.descheduled.fill(255)));
    const [r, g, b, a] = pixel(pixels, 0, 0);
    expect([r, a]).toEqual([255, 255]);
    expect(g).toBe(b);
    expect(g).toBeGreaterThan(100);
  });

  it("dims items that are not selected", () => {
    const { pixels } = rasterise(
      job(1, (j) => {
        j.bright = { by: "site", index: 3 };
        j.planes.work.fill(255);
        j.planes.site[0] = 3;
      }),
    );
    expect(pixel(pixels, 0, 0)).toEqual([255, 0, 0, 255]);
    expect(pixel(pixels, 1, 0)[1]).toBeGreaterThan(150);
  });

  it("codes beyond the table have its last colour", () => {
    const { pixels } = rasterise(
      job(1, (j) => {
        j.planes.work[0] = 255;
        j.planes.code[0] = 0xffff;
      }),
    );
    expect(pixel(pixels, 0, 0).slice(0, 3)).toEqual([0, 255, 0]);
  });

  it("omits free time whose layer is off", () => {
    const with_ = rasterise(job(1, (j) => j.planes.delay.fill(255)));
    const without = rasterise(
      job(1, (j) => {
        j.planes.delay.fill(255);
        j.free[0] = -1;
      }),
    );
    expect(pixel(with_.pixels, 5, 0)).toEqual([0xd5, 0x5e, 0, 255]);
    expect(pixel(without.pixels, 5, 0)[3]).toBe(0);
  });

  it("draws unread time in its own colour, whatever layers are shown", () => {
    const unread = new Uint8Array(TILE_BINS);
    unread.fill(255, 3, 9);
    const { pixels, runs } = rasterise(
      job(1, (j) => {
        j.planes.unread = unread;
        j.free = [-1, -1, -1];
      }),
    );
    expect(pixel(pixels, 5, 0)).toEqual([0xe0, 0xe0, 0xe0, 255]);
    expect(pixel(pixels, 9, 0)[3]).toBe(0);
    expect([...runs]).toEqual([0, 3, 9, RUN_KINDS.indexOf("unread")]);
  });

  it("finds each run of one kind once, up to the tile's end", () => {
    const { runs } = rasterise(
      job(2, (j) => {
        j.planes.delay.fill(255, 10, 20);
        j.planes.no_work_app.fill(200, 20, 25);
        j.planes.delay[40] = 255;
        j.planes.no_work_sched.fill(255, 2 * TILE_BINS - 4);
      }),
    );
    expect([...runs]).toEqual([0, 10, 20, 0, 0, 20, 25, 2, 1, 1020, 1024, 1]);
  });
});

describe("colours", () => {
  it("parse as in CSS", () => {
    expect(packed("#0af")).toBe(0x00aaff);
    expect(packed("#cc6677")).toBe(0xcc6677);
    expect(packed("rgba(18, 22, 29, .62)")).toBe((18 << 16) | (22 << 8) | 29);
    expect(blend(0xff0000, 0x0000ff, 0.5)).toBe(0x800080);
  });
});
