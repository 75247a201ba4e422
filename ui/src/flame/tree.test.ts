import { expect, test } from "vitest";
import type { Flame } from "../data/contract";
import { callTree, find, keyOf, place, treeOf } from "./tree";

const frame = (parent: number | null, site: number, code: number | null, ticks: number) => ({
  parent,
  site,
  code,
  ticks,
  strands: ticks ? 1 : 0,
  stolen: code === 1 ? ticks : 0,
});

/** root: main 10 (code 0), sort: merge 60 (code 1), leaf 30 (code 2). */
const FLAME: Flame = {
  frames: [
    frame(null, 0, null, 0),
    frame(0, 0, 0, 10),
    frame(0, 1, null, 0),
    frame(2, 1, 1, 60),
    frame(2, 1, 2, 30),
  ],
  total: 100,
  left_out: 0,
};

test("a frame has the sum of its children, and its heaviest code", () => {
  const root = treeOf(FLAME)!;
  expect(root.total).toBe(100);
  expect(root.heaviest).toBe(1);
  const sort = root.children[0]!;
  expect([sort.total, sort.own, sort.stolen]).toEqual([90, 0, 60]);
  expect(sort.children.map((n) => n.code)).toEqual([1, 2]);
  expect(treeOf({ frames: [frame(null, 0, null, 0)], total: 0, left_out: 0 })).toBeNull();
});

test("omitted frames count in the frame above them, so that a graph of them alone has its width", () => {
  const below = { ticks: 90, strands: 7, stolen: 30 };
  const frames = [frame(null, 0, null, 0), { ...frame(0, 1, null, 0), omitted: below }];
  const root = treeOf({ frames, total: 90, left_out: 90 })!;
  expect([root.total, root.strands, root.stolen]).toEqual([90, 7, 30]);
  expect(root.children[0]!.total).toBe(90);
});

test("widths add up to those of the frame below, and a zoomed frame takes all", () => {
  const root = treeOf(FLAME)!;
  const { placed, rows } = place(root, root, 1000);
  expect(rows).toBe(3);
  const widths = (row: number) => placed.filter((p) => p.row === row).map((p) => p.width);
  expect(widths(1)).toEqual([900, 100]);
  expect(widths(2)).toEqual([600, 300]);
  const zoomed = place(root, root.children[0]!, 1000).placed;
  expect(zoomed.map((p) => p.width)).toEqual([1000, 1000, 1000 * (60 / 90), 1000 * (30 / 90)]);
});

test("frames that are too narrow are counted", () => {
  const root = treeOf(FLAME)!;
  expect(place(root, root, 10).hidden).toBe(1);
});

test("the call tree hides the children of a closed frame, and a frame is found by its stack", () => {
  const root = treeOf(FLAME)!;
  const sort = root.children[0]!;
  expect(callTree(root, new Set())).toHaveLength(5);
  expect(callTree(root, new Set([keyOf(sort)]))).toHaveLength(3);
  expect(find(root, keyOf(sort.children[1]!))).toBe(sort.children[1]);
  expect(find(root, "0/9")).toBeNull();
});
