import { expect, test } from "vitest";
import { areas, topOf } from "./areas";

test("areas stand on each other", () => {
  const { outlines, peak } = areas([
    [1, 0],
    [2, 3],
  ]);
  expect(peak).toBe(3);
  expect(outlines[1]).toEqual([
    [0, 3],
    [0.5, 3],
    [0.5, 3],
    [1, 3],
    [1, 0],
    [0.5, 0],
    [0.5, 1],
    [0, 1],
  ]);
});

test("the scale ends at all workers, or at a round number if few ran", () => {
  expect(topOf(7.6, 8)).toBe(8);
  expect(topOf(1, 1)).toBe(1);
  expect(topOf(1, 96)).toBe(1);
  expect(topOf(2.1, 96)).toBe(4);
  expect(topOf(12, 96)).toBe(20);
  // Folded strands may count as more than the workers.
  expect(topOf(8.4, 8)).toBe(9);
});
