import { expect, test } from "vitest";
import type { RunMeta } from "../data/contract";
import { blockRows, regionRows, type BlockCodes } from "./changes";

const run = (id: string, labels: string[]) =>
  ({ id, codes: labels.map((label) => ({ label })) }) as unknown as RunMeta;

const A = run("a", ["main", "merge", "after sort:55"]);
const B = run("b", ["merge_parallel", "merge", "sort:55"]);

test("code has the same names as in other tabs, and a colour even if only the second run has it", () => {
  const block = (a: number, b: number, from_kind = "after_wait") => ({
    site: { at: "sort.rs:55", file: "sort.rs", line: 55, function: "sort" },
    block: { from: { at: "sort.rs:55", file: "sort.rs", line: 55 }, from_kind, to_kind: "end" },
    work: [{ mean: a }, { mean: b }],
  });
  const blocks = [block(1000, 0), block(0, 250), block(0, 70), block(0, 90, "begin"), block(0, 0)];
  const codes: BlockCodes = [
    [1, null],
    [null, 0],
    [null, 1],
    [null, 2],
    [null, null],
  ];
  const rows = blockRows({ blocks }, codes, A, B);
  const said = rows.map((r) => [r.name, r.work[0] + r.work[1], r.code]);
  // Not by the nearest position: "after sort:55" starts at the line of "sort:55".
  expect(said).toEqual([
    ["merge", 1000, { run: "a", code: 1 }],
    ["merge_parallel", 250, { run: "b", code: 0 }],
    ["merge", 70, { run: "a", code: 1 }],
    ["sort:55", 90, { run: "b", code: 2 }],
    ["sort.rs:55", 0, null],
  ]);
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
