import { describe, expect, test } from "vitest";
import { TILE_BINS } from "../data/contract";
import type { Plane } from "../data/planes";
import { breakdownOf, codesOf, pathOf, stealsOf, tilesOf, type TileAnswer } from "./tileSums";

const tile = (planes: Record<string, Plane>, facts = {}, index = 0): TileAnswer => ({
  index,
  planes: { facts: { truncated: false, ...facts }, planes },
});
const range = (t0: number, t1: number, ...rows: number[]) => ({
  t0,
  t1,
  rows: rows.length ? rows : null,
});
const bins = (of: (bin: number) => number) =>
  Float32Array.from({ length: TILE_BINS }, (_, i) => of(i));

test("a part is covered by tiles with at least 700 bins inside it", () => {
  for (const [t0, t1] of [
    [0, 500],
    [1_000_000, 9_000_000],
    [5, 1_000_000_000],
  ] as const) {
    const { level, at } = tilesOf(range(t0, t1), 0, 30);
    const size = TILE_BINS * 2 ** level;
    if (level > 0) expect((t1 - t0) / 2 ** level).toBeGreaterThanOrEqual(700);
    expect(at.length).toBeLessThanOrEqual(3);
    expect(at[0]! * size).toBeLessThanOrEqual(t0);
    expect((at.at(-1)! + 1) * size).toBeGreaterThanOrEqual(t1);
  }
});

test("a breakdown of a range adds up to workers times its length, with cut bins by their share", () => {
  // Level 2: bins of 4 ticks. 3 of 4 workers run, one has no work.
  const planes = { running: bins(() => 3), no_work_app: bins(() => 1) };
  const parts = breakdownOf(range(2, 13), 2, [tile(planes)]);
  expect(parts).toEqual([
    { kind: "work", ticks: 33 },
    { kind: "app", ticks: 11 },
  ]);
});

test("time that was not read is a separate part", () => {
  const planes = { running: bins(() => 1), unread: bins((bin) => (bin < 5 ? 0 : 3)) };
  expect(breakdownOf(range(0, 10), 0, [tile(planes)])).toEqual([
    { kind: "work", ticks: 10 },
    { kind: "unread", ticks: 15 },
  ]);
});

test("a row's breakdown is read from its own bins", () => {
  const work = new Uint8Array(2 * TILE_BINS).fill(255, TILE_BINS);
  const delay = new Uint8Array(2 * TILE_BINS).fill(255, 0, TILE_BINS);
  const parts = breakdownOf(range(0, 10, 1), 0, [tile({ work, delay })]);
  expect(parts).toEqual([{ kind: "work", ticks: 10 }]);
});

describe("strands", () => {
  const strands = {
    id: Uint32Array.of(1, 2, 3),
    row: Uint16Array.of(0, 1, 1),
    start: Float64Array.of(0, 5, 90),
    end: Float64Array.of(50, 20, 95),
    code: Uint16Array.of(7, 8, 8),
  };
  test("are clipped to the range and counted once across tiles", () => {
    const sums = codesOf(range(10, 30), [tile(strands), tile(strands, {}, 1)]);
    expect(sums).toEqual({
      exact: true,
      strands: 2,
      codes: [
        { code: 7, ticks: 20 },
        { code: 8, ticks: 10 },
      ],
    });
  });
  test("are inexact if a tile has only the longest ones", () => {
    expect(codesOf(range(0, 9), [tile(strands, { truncated: true })]).exact).toBe(false);
  });
});

test("steals of a row are counted by direction, and are unknown if a tile has too many", () => {
  const arcs = {
    from_row: Uint16Array.of(0, 0, 1),
    to_row: Uint16Array.of(1, 1, 0),
    to_t: Float64Array.of(3, 4, 5),
    strand: Uint32Array.of(1, 2, 3),
    leap: Uint8Array.of(1, 0, 0),
  };
  const most = { thief: 1, victim: 0, count: 2 };
  expect(stealsOf(range(0, 9), [tile(arcs)], 0, 2000)).toEqual({ by: 3, from: 0, leaps: 1, most });
  expect(stealsOf(range(0, 9, 1), [tile(arcs)], 0, 2000)).toEqual({
    by: 2,
    from: 1,
    leaps: 1,
    most,
  });
  const crowded = tile(arcs, {
    truncated: true,
    pairs: [
      [1, 0, 40],
      [0, 2, 7],
    ],
  });
  expect(stealsOf(range(0, 9), [crowded], 0, 2000)).toBeNull();
  // For the whole tile, the numbers of steals between pairs of workers are known.
  const pair = { thief: 1, victim: 0, count: 40 };
  expect(stealsOf(range(0, 1024), [crowded], 0, 2000)).toEqual({
    by: 47,
    from: 0,
    leaps: null,
    most: pair,
  });
  expect(stealsOf(range(0, 900, 2), [crowded], 0, 900)).toMatchObject({ by: 0, from: 7 });
});

test("the critical path inside a range is the overlap of its pieces with the range", () => {
  const path = {
    row: Uint16Array.of(0, 1),
    start: Float64Array.of(0, 30),
    end: Float64Array.of(20, 60),
  };
  expect(pathOf(range(10, 40), [tile(path)])).toBe(20);
  expect(pathOf(range(10, 40, 1), [tile(path)])).toBe(10);
});
