import { expect, test } from "vitest";
import { labelled } from "./stacked";

test("every row is named while there is room, then every so many from the first", () => {
  expect(labelled(3, 20)).toEqual([0, 1, 2]);
  expect(labelled(2, 12)).toEqual([0, 1]);
  expect(labelled(5, 6)).toEqual([0, 2, 4]);
  expect(labelled(9, 4)).toEqual([0, 3, 6]);
  for (const pitch of [4, 5, 7.5, 11]) {
    const rows = labelled(40, pitch);
    rows.slice(1).forEach((row, i) => expect((row - rows[i]!) * pitch).toBeGreaterThanOrEqual(12));
  }
});

test("rows too thin to be told apart have no names", () => expect(labelled(64, 1.5)).toEqual([]));
