import { expect, test } from "vitest";
import { labelledRows } from "./drawStacked";

test("every row is named if there is room, otherwise every n-th from the first", () => {
  expect(labelledRows(3, 20)).toEqual([0, 1, 2]);
  expect(labelledRows(2, 12)).toEqual([0, 1]);
  expect(labelledRows(5, 6)).toEqual([0, 2, 4]);
  expect(labelledRows(9, 4)).toEqual([0, 3, 6]);
  for (const pitch of [4, 5, 7.5, 11]) {
    const rows = labelledRows(40, pitch);
    rows.slice(1).forEach((row, i) => expect((row - rows[i]!) * pitch).toBeGreaterThanOrEqual(12));
  }
});

test("rows that are too thin have no names", () => expect(labelledRows(64, 1.5)).toEqual([]));
