import { describe, expect, it } from "vitest";
import { leftOut } from "./export";
import { layOutBands } from "./verticalLayout";

/** A page of A4 in portrait format, at the width of the layout for paper. */
const PAGE = { width: 1240, height: 1700, scroll: 0, cpu: true, queue: true, regionLanes: 0 };
const rowsOf = (rows: number) => layOutBands({ ...PAGE, rows, rowHeight: "paper" }).rows;

describe("rows on a page of paper", () => {
  it("are all there, with textures up to 128 of them", () => {
    for (const n of [48, 96, 128]) {
      const rows = rowsOf(n);
      expect(rows.most).toBe(0);
      expect(rows.compact).toBe(false);
      expect(rows.total).toBeGreaterThan(0.75 * rows.h);
      expect(rows.total).toBeLessThanOrEqual(rows.h);
    }
  });

  it("get lower if there are more, until they do not fit", () => {
    expect(rowsOf(256).compact).toBe(true);
    expect(rowsOf(256).most).toBe(0);
    expect(rowsOf(400).most).toBe(0);
    expect(rowsOf(900).most).toBeGreaterThan(0);
  });

  it("have words for what they lack", () => {
    expect(leftOut(rowsOf(48), ["spawns", "cpu"])).toBe(
      "All 48 rows on one page, without spawns and CPU time. Hide rows in the timeline to print fewer in full.",
    );
    expect(leftOut(rowsOf(48))).toMatch(/^All 48 rows on one page\. /);
    expect(leftOut(rowsOf(128))).toContain("All 128 rows on one page, without names of strands. ");
    expect(leftOut(rowsOf(256), [], 44)).toContain(
      "without textures, names of strands and 44 threads that have no row.",
    );
    expect(leftOut(rowsOf(900))).toMatch(/^The first \d+ of 900 rows, without /);
  });
});
