import { expect, test } from "vitest";
import type { Planes } from "../data/planes";
import { regionPlaces, strandPlaces } from "./searchPlaces";

const tile: Planes = {
  facts: { truncated: false },
  planes: {
    id: Uint32Array.of(5, 6, 7, 8),
    task: Uint32Array.of(1, 1, 2, 3),
    start: Float64Array.of(30, 10, 20, 40),
    code: Uint16Array.of(2, 2, 0, 2),
    site: Uint16Array.of(1, 0, 0, 1),
  },
};
const ids = (list: ReturnType<typeof strandPlaces>) =>
  list.map((h) => (h.selection.kind === "strand" ? h.selection.id : -1));

test("strands of a code or site are places in order of time", () => {
  expect(ids(strandPlaces(tile, { code: 2 }, "a"))).toEqual([6, 5, 8]);
  expect(ids(strandPlaces(tile, { site: 0 }, "a"))).toEqual([6, 7]);
  expect(strandPlaces(tile, { code: 9 }, "a")).toEqual([]);
});

test("regions of one name are places with their range", () => {
  const region = (label: string, start: number) => ({
    label,
    task: start,
    row: 0,
    start,
    end: start + 5,
    tree: false,
    part: false,
  });
  const list = regionPlaces(
    [region("load", 20), region("sort", 0), region("load", 3)],
    "load",
    "a",
  );
  expect(list.map((h) => h.range)).toEqual([
    { t0: 3, t1: 8 },
    { t0: 20, t1: 25 },
  ]);
});
