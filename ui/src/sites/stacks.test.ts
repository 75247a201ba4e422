import { expect, test } from "vitest";
import type { Flame } from "../data/contract";
import { stacksOf } from "./stacks";

const frame = (parent: number | null, site: number, code: number | null, ticks = 0) => ({
  parent,
  site,
  code,
  ticks,
  strands: 1,
  stolen: 0,
});

// root (0) creates sort (1), which creates itself; both run code 7, and sort runs code 8.
const flame: Flame = {
  frames: [
    frame(null, 0, null),
    frame(0, 0, 7, 10),
    frame(0, 1, null),
    frame(2, 1, 7, 20),
    frame(2, 1, 8, 5),
    frame(2, 1, null),
    frame(5, 1, 7, 30),
  ],
  total: 65,
  left_out: 0,
};

test("levels of a recursion are one stack", () => {
  expect(stacksOf(flame, 1, null)).toEqual([
    { sites: [0, 1], code: 7, ticks: 50 },
    { sites: [0, 1], code: 8, ticks: 5 },
  ]);
});

test("a code of another site is another stack", () => {
  expect(stacksOf(flame, 0, 7)).toEqual([{ sites: [0], code: 7, ticks: 10 }]);
  expect(stacksOf(flame, 0, 8)).toEqual([]);
  expect(stacksOf(flame, null, 7).map((s) => s.ticks)).toEqual([50, 10]);
});
