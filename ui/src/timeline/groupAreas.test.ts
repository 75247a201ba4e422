import { expect, test } from "vitest";
import { TILE_BINS, type RunMeta } from "../data/contract";
import { meanOf, runningOf, sizeVerdict } from "./groupAreas";

/** Rows that work in these bins, for the given parts of each. */
function planes(rows: Record<number, number>[]) {
  const work = new Uint8Array(rows.length * TILE_BINS);
  rows.forEach((bins, row) => {
    for (const [bin, share] of Object.entries(bins))
      work[row * TILE_BINS + Number(bin)] = Math.round(share * 255);
  });
  return { work };
}

test("the area of a group is the sum of its rows' work alone", () => {
  const p = planes([{ 0: 1, 1: 0.2 }, { 0: 1 }, { 0: 1, 1: 0.6 }]);
  const running = runningOf(p, { title: "Pool 1", rows: [0, 2] })!;
  expect(running[0]).toBe(2);
  expect(running[1]).toBeCloseTo(0.8, 2);
  expect(running[2]).toBe(0);
  // Rows that are hidden meanwhile do not count any more.
  expect(runningOf(p, { title: "Pool 1", rows: [2] })![0]).toBe(1);
});

test("the mean is known if it is known of every row", () => {
  const meta = { threads: [{ busy: 0.5 }, { busy: 0.55 }, { busy: null }] } as RunMeta;
  expect(meanOf(meta, { rows: [0, 1] })).toBe("1.05 of 2");
  expect(meanOf(meta, { rows: [0, 2] })).toBe("");
});

test("a pool fits or is too large, as the report says", () => {
  expect(sizeVerdict(4, 4)).toEqual({ words: "size 4 fits", right: null });
  expect(sizeVerdict(4, 2)).toEqual({ words: "right size 2 of 4", right: 2 });
  expect(sizeVerdict(1, 1)).toBeNull();
});
