import { expect, test } from "vitest";
import { linesOf, mergeRanges, nearestFactor, toggleTarget } from "./targets";

test("lines are parsed, also of files with colons in their names", () => {
  expect(linesOf("lines:C:\\a:b.rs:3-9")).toEqual({ file: "C:\\a:b.rs", from: 3, to: 9 });
  expect(linesOf("code:1")).toBeNull();
});
test("overlapping and adjacent ranges are merged", () => {
  const f = "a";
  expect(
    mergeRanges([
      { file: f, from: 10, to: 12 },
      { file: f, from: 1, to: 3 },
      { file: f, from: 4, to: 5 },
      { file: f, from: 11, to: 20 },
    ]),
  ).toEqual([
    { file: f, from: 1, to: 5 },
    { file: f, from: 10, to: 20 },
  ]);
});
test("choosing a target twice removes it", () => {
  expect(toggleTarget(toggleTarget(["code:1"], "site:2"), "site:2")).toEqual(["code:1"]);
});
test("a factor from a link becomes the nearest default factor", () => {
  expect([1.1, 2, 3, 30, 1000].map(nearestFactor)).toEqual([2, 2, 4, 50, 400]);
});
