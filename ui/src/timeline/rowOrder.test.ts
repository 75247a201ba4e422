import { expect, test } from "vitest";
import { ROWS_AT_START, rowsShown, type RowsShown } from "../store";
import { hideRow, hideLessBusy, rowOrder, togglePin } from "./rowOrder";

const threads = [0.2, 0.9, 0.5, 0.5].map((busy, thread) => ({
  thread,
  label: `W${thread}`,
  worker: true,
  name: null,
  pool: null,
  busy,
}));
const order = (shown: Partial<RowsShown>) => rowOrder(threads, { ...ROWS_AT_START, ...shown });

test("rows are in the order of workers, or busiest first with ties in that order", () => {
  expect(order({})).toEqual([0, 1, 2, 3]);
  expect(order({ sort: "busy" })).toEqual([1, 2, 3, 0]);
});

test("pinned rows come first, hidden rows are left out, and at least one row is shown", () => {
  expect(order({ sort: "busy", pinned: [3], hidden: [1] })).toEqual([3, 2, 0]);
  expect(order({ hidden: [0, 1, 2, 3] })).toEqual([0, 1, 2, 3]);
  // A link from a run with more rows.
  expect(order({ pinned: [99] })).toEqual([0, 1, 2, 3]);
});

test("pinning shows a hidden row again, and a filter leaves pinned rows", () => {
  rowsShown.value = ROWS_AT_START;
  hideRow(0, "W0");
  togglePin(0, "W0");
  expect(rowsShown.value).toMatchObject({ pinned: [0], hidden: [] });
  hideLessBusy(threads, 1);
  expect(rowsShown.value.hidden).toEqual([2, 3]);
  rowsShown.value = ROWS_AT_START;
});
