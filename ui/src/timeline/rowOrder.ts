/** The timeline's rows from top to bottom: pinned ones first, then sorted, without hidden ones. */

import type { ThreadMeta } from "../data/contract";
import { announcement, ROWS_AT_START, rowsShown, type RowsShown } from "../store";

/** Row numbers from top to bottom. Rows that are equally busy keep their order. */
export function rowOrder(threads: readonly ThreadMeta[], shown: RowsShown): number[] {
  const there = (row: number) => row < threads.length;
  const pinned = shown.pinned.filter(there);
  const apart = new Set([...pinned, ...shown.hidden]);
  const others = threads.map((_, row) => row).filter((row) => !apart.has(row));
  if (shown.sort === "busy")
    others.sort((a, b) => (threads[b]!.busy ?? 0) - (threads[a]!.busy ?? 0));
  const order = [...pinned, ...others];
  // At least one row must be visible.
  return order.length ? order : threads.map((_, row) => row);
}

export function setRows(change: Partial<RowsShown>, words: string): void {
  rowsShown.value = { ...rowsShown.value, ...change };
  announcement.value = words;
}

export function toggleSort(): void {
  const sort = rowsShown.value.sort === "busy" ? "worker" : "busy";
  setRows(
    { sort },
    sort === "busy" ? "Rows sorted by busy, most first" : "Rows in the workers' order",
  );
}

export function togglePin(row: number, label: string): void {
  const { pinned, hidden } = rowsShown.value;
  if (pinned.includes(row))
    setRows({ pinned: pinned.filter((r) => r !== row) }, `${label} is no longer pinned`);
  else
    setRows(
      { pinned: [...pinned, row], hidden: hidden.filter((r) => r !== row) },
      `${label} is pinned on top`,
    );
}

export function hideRow(row: number, label: string): void {
  const { pinned, hidden } = rowsShown.value;
  setRows(
    { pinned: pinned.filter((r) => r !== row), hidden: [...new Set([...hidden, row])] },
    `${label} is hidden`,
  );
}

/** Hides all rows that were less busy than this one, except pinned ones. */
export function hideLessBusy(threads: readonly ThreadMeta[], row: number): void {
  const { pinned, hidden } = rowsShown.value;
  const least = threads[row]?.busy ?? 0;
  const less = threads.map((_, r) => r).filter((r) => (threads[r]!.busy ?? 0) < least);
  const gone = less.filter((r) => !pinned.includes(r));
  setRows({ hidden: [...new Set([...hidden, ...gone])] }, `${gone.length} rows are hidden`);
}

export function showAllRows(): void {
  setRows(ROWS_AT_START, "All rows, in the workers' order");
}
