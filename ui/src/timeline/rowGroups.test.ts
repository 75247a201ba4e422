import { expect, test } from "vitest";
import type { ThreadMeta } from "../data/contract";
import { ROWS_AT_START } from "../store";
import {
  layOutBands,
  headAt,
  headTop,
  laneHeight,
  laneMiddle,
  partsOf,
  rowAt,
  rowTop,
  visibleRows,
  type Rows,
} from "./verticalLayout";
import { arrangeRows, groupingOf } from "./rowGroups";

const thread = (i: number, pool: number | null, worker = true): ThreadMeta => ({
  thread: i,
  label: worker ? `W${i}` : `T${i}`,
  worker,
  name: null,
  busy: (i % 4) / 4,
  pool,
});
const pools = [
  { size: 2, built: "src/main.rs:9" },
  { size: 2, built: null },
];
const run = {
  threads: [thread(0, 0), thread(1, 1), thread(2, 0), thread(3, 1), thread(4, null, false)],
  pools,
  name: "p",
};

test("rows are sorted below the head of their pool, and other threads come last", () => {
  const { order, heads } = arrangeRows(run, { ...ROWS_AT_START, group: "pool", sort: "busy" });
  expect(order).toEqual([2, 0, 3, 1, 4]);
  expect(heads.map((h) => [h.at, h.group.title])).toEqual([
    [0, "Pool 1"],
    [2, "Pool 2"],
    [4, "Threads"],
  ]);
  expect(heads[2]!.group.note).toMatch(/^outside the pool: T4/);
  expect(heads[0]!.group.note).toMatch(/^size 2 · built at main.rs:9 · W2, W0 · mean 25\s%/);
});

test("pinned rows have their own head, and hidden rows have none", () => {
  const shown = { ...ROWS_AT_START, group: "pool" as const, pinned: [3], hidden: [1] };
  const { order, heads } = arrangeRows(run, shown);
  expect(order).toEqual([3, 0, 2, 4]);
  expect(heads.map((h) => h.group.rows)).toEqual([[3], [0, 2], [4]]);
});

test("tens are named after their first and last worker", () => {
  const threads = Array.from({ length: 13 }, (_, i) => thread(i, null));
  const { heads } = arrangeRows(
    { threads, name: "p", pools: [] },
    { ...ROWS_AT_START, group: "tens" },
  );
  expect(heads.map((h) => h.group.title)).toEqual(["W0 to W9", "W10 to W12"]);
});

test("a head takes room above its rows, and a point is on a head or a row", () => {
  const { order, heads } = arrangeRows(run, { ...ROWS_AT_START, group: "pool" });
  const wanted = { width: 900, height: 700, rows: 5, scroll: 0, cpu: false, queue: false };
  const { rows } = layOutBands({ ...wanted, order, heads, regionLanes: 0 });
  expect(visibleRows(rows)).toEqual(order);
  for (const row of order) expect(rowAt(rows, rowTop(rows, row) + 2)).toBe(row);
  for (const [i, head] of heads.entries()) {
    const y = headTop(rows, i);
    expect(headAt(rows, y + 2)).toBe(head.group);
    expect(rowAt(rows, y + 2)).toBeNull();
    expect(y).toBeLessThan(rowTop(rows, order[head.at]!));
  }
});

test("a head with an area is higher; tens and paper have none", () => {
  const wanted = { width: 900, height: 700, rows: 5, scroll: 0, cpu: false, queue: false };
  const headsOf = (group: "pool" | "tens", rowHeight: "auto" | "paper" = "auto") => {
    const arranged = arrangeRows(run, { ...ROWS_AT_START, group });
    const { rows } = layOutBands({ ...wanted, ...arranged, rowHeight, regionLanes: 0 });
    return [rows.areas, rows.tops[0]];
  };
  expect(headsOf("pool")).toEqual([true, 32]);
  expect(headsOf("tens")).toEqual([false, 20]);
  expect(headsOf("pool", "paper")).toEqual([false, 20]);
});

test("several processes or pools are groups unless another grouping is chosen", () => {
  const start = { group: "auto" as const };
  expect(groupingOf(run, start)).toBe("pool");
  expect(groupingOf(run, { group: "none" })).toBe("none");
  expect(groupingOf({ ...run, pools: pools.slice(1) }, start)).toBe("none");
  // A head for each row would only repeat it.
  expect(groupingOf({ ...run, processes: ["a", "b", "c"] }, start)).toBe("pool");
  expect(groupingOf({ ...run, processes: ["a", "b"] }, start)).toBe("process");
});

test("without ranks, all rows belong to one process", () => {
  const { heads } = arrangeRows(run, { ...ROWS_AT_START, group: "process" });
  expect(heads.map((h) => [h.group.title, h.group.rows.length])).toEqual([["Process p", 5]]);
});

test("the rows of a run of ranks are below their ranks", () => {
  const threads = [0, 1, 2, 3].map((i) => ({ ...thread(i, null), process: i % 2 }));
  const processes = ["rank 0", "rank 1"];
  const ranks = { threads, name: "p", pools: [], processes };
  const { order, heads } = arrangeRows(ranks, { ...ROWS_AT_START, group: "process" });
  expect(order).toEqual([0, 2, 1, 3]);
  expect(heads.map((h) => h.group.title)).toEqual(["Rank 0", "Rank 1"]);
});

test("rows are below the NUMA node on which they ran the longest", () => {
  const of = [1, 0, 1, undefined];
  const threads = of.map((node, i) => ({
    ...thread(i, null),
    ...(node === undefined ? {} : { node, on_node: 1 - i / 16 }),
  }));
  const nodes = [
    { node: 0, cpus: "0-3,8" },
    { node: 1, cpus: "4-7" },
  ];
  const shown = { ...ROWS_AT_START, group: "node" as const };
  const { order, heads } = arrangeRows({ threads, name: "p", pools: [], nodes }, shown);
  expect(order).toEqual([1, 0, 2, 3]);
  expect(heads.map((h) => h.group.title)).toEqual([
    "NUMA node 0",
    "NUMA node 1",
    "NUMA node not known",
  ]);
  expect(heads[1]!.group.note).toMatch(/^CPUs 4–7 · each row at least 87\s%/);
  expect(heads[0]!.group.note).toMatch(/^CPUs 0–3, 8 · each row at least 93\s%/);
});

test("pinned rows among compact ones have full height and are hit there", () => {
  const threads = Array.from({ length: 96 }, (_, i) => thread(i, null));
  const shown = { ...ROWS_AT_START, pinned: [40, 7] };
  const wanted = { width: 900, height: 700, rows: 96, scroll: 0, cpu: true, queue: false };
  const { rows } = layOutBands({
    ...wanted,
    ...arrangeRows({ threads, name: "p", pools: [] }, shown),
    pinned: new Set(shown.pinned),
    regionLanes: 0,
  });
  expect(rows.compact).toBe(true);
  const [high, low] = partsOf(rows) as [Rows, Rows];
  expect([high.compact, low.compact]).toEqual([false, true]);
  expect([...visibleRows(high)]).toEqual([40, 7]);
  expect(visibleRows(low)).not.toContain(7);
  expect(laneHeight(rows, 40)).toBe(18);
  expect(laneHeight(rows, 0)).toBeLessThan(11);
  for (const row of [40, 7, 0, 3]) expect(rowAt(rows, laneMiddle(rows, row))).toBe(row);
});
