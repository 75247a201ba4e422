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
const whole = (from: number, to: number, share = 1) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, i) => [from + i, share]));

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

test("a pool fits, is too large, or neither is known", () => {
  const rows = [0, 1, 2, 3];
  const both = [whole(0, 80), whole(10, 90)];
  expect(sizeVerdict(planes([...both, whole(20, 60), whole(50, 55)]), rows, 100)?.words).toBe(
    "size 4 fits",
  );
  // One bin of 100 is too short for a third and a fourth worker.
  expect(sizeVerdict(planes([...both, { 20: 1 }, { 20: 1 }]), rows, 100)).toEqual({
    words: "right size 2 of 4",
    right: 2,
  });
  // All four are in the same bins for a part: they may have worked at one time or in turns.
  const parts = [0, 1, 2, 3].map(() => whole(0, 50, 0.25));
  expect(sizeVerdict(planes(parts), rows, 100)).toBeNull();
  expect(sizeVerdict(planes([whole(0, 100)]), [0], 100)).toBeNull();
});

test("a worker inside a strand is used while it is blocked", () => {
  const { work } = planes([whole(0, 100), whole(0, 50)]);
  const blocked = planes([{}, whole(50, 100)]).work;
  expect(sizeVerdict({ work }, [0, 1], 50)?.words).toBe("size 2 fits");
  expect(sizeVerdict({ work, blocked }, [0, 1], 100)?.words).toBe("size 2 fits");
});
