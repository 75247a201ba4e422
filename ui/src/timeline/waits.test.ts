import { expect, test } from "vitest";
import { MAX_CURVES, spreadOut, type Wait } from "./waits";

const wait = (start: number, end: number): Wait => ({
  row: 0,
  start,
  end,
  kind: "mutex",
  strand: start,
  by: 1,
  released: end,
  byStrand: null,
  critical: true,
});

test("of many waits, curves are from all over the window, the longest of each part", () => {
  const all = Array.from({ length: 1000 }, (_, i) => wait(10 * i, 10 * i + (i % 25 === 7 ? 9 : 5)));
  const shown = spreadOut(all, 0, 10_000);
  expect(shown.length).toBe(MAX_CURVES);
  expect(shown[0]!.start).toBeLessThan(250);
  expect(shown.at(-1)!.start).toBeGreaterThan(9700);
  expect(shown.every((w) => w.end - w.start === 9)).toBe(true);
});

test("a few waits all have curves", () => {
  const few = [wait(0, 5), wait(1, 4), wait(2, 3)];
  expect(spreadOut(few, 0, 10_000)).toEqual(few);
});
