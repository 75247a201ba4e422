import { expect, test } from "vitest";
import type { Flame } from "../data/contract";
import { difference, points, signed, type FrameNames } from "./difference";
import { place, treeOf, type FlameNode } from "./tree";

const frame = (parent: number | null, site: number, code: number | null, ticks: number) => ({
  parent,
  site,
  code,
  ticks,
  strands: 1,
  stolen: 0,
});
const flame = (...frames: Flame["frames"]): FlameNode => treeOf({ frames, total: 0, left_out: 0 })!;
const names = (code: string[]): FrameNames => ({
  nameOf: (n) => (n.code === null ? `site ${n.site}` : code[n.code]!),
  placeOf: () => "",
});

/** A: merge 60 of 100, sort 40. B: merge 20, sort 40, a new split 40; other indices and ticks. */
const A = flame(frame(null, 0, null, 0), frame(0, 0, 0, 60), frame(0, 0, 1, 40));
const B = flame(
  frame(null, 0, null, 0),
  frame(0, 0, 0, 80),
  frame(0, 0, 1, 40),
  frame(0, 0, 2, 80),
);
const BOTH = difference([A, names(["merge", "sort"])], [B, names(["sort", "merge", "split"])])!;
const found = (name: string) => [...BOTH.both.values()].find((f) => f.name === name)!;

test("frames of the same name are one, with the share of each run", () => {
  expect(BOTH.both.size).toBe(4);
  expect([found("merge").a, found("merge").b]).toEqual([0.6, 0.2]);
  expect([found("split").a, found("split").b]).toEqual([null, 0.4]);
  expect(points(found("merge"))).toBeCloseTo(-40);
});

test("the sign is printed, and half a point counts as the same", () => {
  expect(signed(found("merge"))).toBe("−40.0");
  expect(signed(found("split"))).toBe("+40.0");
  expect(signed(found("sort"))).toBe("same");
  expect(signed(found("site 0"))).toBe("same");
});

test("the width of a frame is the mean of its shares, so children fit on their parent", () => {
  const { placed } = place(BOTH.root, BOTH.root, 1000);
  expect(placed.map((p) => Math.round(p.width))).toEqual([1000, 400, 400, 200]);
});

test("adjacent frames of one name are matched in order", () => {
  const twice = flame(frame(null, 0, null, 0), frame(0, 0, 0, 70), frame(0, 0, 1, 30));
  const same = names(["merge", "merge"]);
  const { both } = difference([twice, same], [twice, same])!;
  expect([...both.values()].map((f) => signed(f))).toEqual(["same", "same", "same"]);
  expect(difference([null, same], [null, same])).toBeNull();
});
