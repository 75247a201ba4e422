import { expect, test } from "vitest";
import type { RunMeta, SiteExtra } from "../data/contract";
import { blockRows, codeOf, regionRows, type Side } from "./changes";

const side = (id: string, labels: string[], blocks: [number, number][]): Side => ({
  run: {
    id,
    ticks_per_second: 2e9,
    sites: [{ label: "root" }, { label: "sort.rs:55" }],
    codes: labels.map((label) => ({ label, function: label, file: "sort.rs", line: 86 })),
  } as unknown as RunMeta,
  extras: [
    { blocks: [] },
    { blocks: blocks.map(([code, work]) => ({ code, work })) },
  ] as unknown as SiteExtra[],
});

const A = side("a", ["main", "merge"], [[1, 2000]]);
const B = side("b", ["merge_parallel", "merge"], [[0, 500]]);

test("a block's code is the code of its site with exactly its work", () => {
  // 2000 ticks of a clock with two ticks per nanosecond.
  expect(codeOf("sort.rs:55", 1000, A)).toBe(1);
  expect(codeOf("sort.rs:55", 1500, A)).toBeNull();
  expect(codeOf(null, 1000, A)).toBeNull();
});

test("code has the same names as in other tabs, and a colour even if only the second run has it", () => {
  const block = (a: number, b: number) => ({
    site: { at: "sort.rs:55", file: "sort.rs", line: 55, function: "sort" },
    block: {
      from: { at: "sort.rs:55", file: "sort.rs", line: 55 },
      from_kind: "after_wait",
      to_kind: "end",
    },
    work: [{ mean: a }, { mean: b }],
  });
  const rows = blockRows({ blocks: [block(1000, 0), block(0, 250)] }, A, B);
  const named = Object.fromEntries(rows.map((r) => [r.name, r.code]));
  expect(named).toEqual({
    merge: { run: "a", code: 1 },
    merge_parallel: { run: "b", code: 0 },
  });
});

test("marked regions are rows by label, largest change first", () => {
  const region = (label: string, a: number, b: number) => ({
    region: label,
    work: [{ mean: a }, { mean: b }],
    work_differences: [{ absolute: b - a, relative: b / a - 1, interval: null, noise: "unknown" }],
  });
  const rows = regionRows({ regions: [region("read", 100, 90), region("merge", 200, 800)] });
  expect(rows.map((r) => [r.name, ...r.work])).toEqual([
    ["merge", 200, 800],
    ["read", 100, 90],
  ]);
  expect(regionRows({})).toEqual([]);
});
