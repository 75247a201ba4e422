import { describe, expect, it } from "vitest";
import { layOutBands, isShown, laneTop, rowAt, scrollTo, visibleRows } from "./verticalLayout";
import { StrandBoxes, MAX_BOXES, MIN_BOX_WIDTH } from "./strandBoxes";
import type { Slot } from "./tiles";
import type { Scale } from "./timeScale";

const SCALE: Scale = { t0: 0, t1: 1000, x0: 100, width: 1000 };
const rows = layOutBands({
  width: 1440,
  height: 600,
  rows: 8,
  scroll: 0,
  cpu: true,
  queue: false,
  regionLanes: 0,
}).rows;

function slot(
  t0: number,
  t1: number,
  strands: [id: number, row: number, start: number, end: number][],
  truncated = false,
): Slot {
  const planes = {
    id: Uint32Array.from(strands, (s) => s[0]),
    row: Uint16Array.from(strands, (s) => s[1]),
    start: Float64Array.from(strands, (s) => s[2]),
    end: Float64Array.from(strands, (s) => s[3]),
    task: Uint32Array.from(strands, (s) => s[0] * 10),
    ready: Float64Array.from(strands, () => NaN),
  };
  return {
    t0,
    t1,
    tile: {
      kind: "strands",
      level: 0,
      index: 0,
      data: { facts: { total: strands.length, truncated }, planes },
      made: new Map(),
      used: 0,
    },
  };
}

describe("Boxes", () => {
  it("has a strand across a tile border once, with its full extent", () => {
    const boxes = new StrandBoxes();
    const long: [number, number, number, number] = [7, 2, 300, 700];
    boxes.gather([slot(0, 500, [long]), slot(500, 1000, [long, [8, 2, 700, 900]])], SCALE, rows);
    expect([...boxes.id.slice(0, boxes.n)]).toEqual([7, 8]);
    expect([boxes.x0[0], boxes.x1[0], boxes.task[0]]).toEqual([400, 800, 70]);
    expect(boxes.total).toBe(2);
    expect(boxes.at(2, 699)).toBe(0);
    expect(boxes.at(2, 700)).toBe(1);
    expect(boxes.at(3, 500)).toBe(-1);
  });

  it("takes a strand that began before the window", () => {
    const boxes = new StrandBoxes();
    boxes.gather([slot(0, 1000, [[1, 0, -5000, 20]])], SCALE, rows);
    expect(boxes.n).toBe(1);
  });

  it("leaves strands narrower than a column to the columns", () => {
    const boxes = new StrandBoxes();
    boxes.gather(
      [
        slot(0, 1000, [
          [1, 0, 10, 10 + MIN_BOX_WIDTH * 0.9],
          [2, 0, 20, 20 + MIN_BOX_WIDTH * 1.1],
          [3, 0, 30, 30],
        ]),
      ],
      SCALE,
      rows,
    );
    expect([...boxes.id.slice(0, boxes.n)]).toEqual([2]);
  });

  it("takes from a coarser substitute only the strands that begin in its slot", () => {
    const boxes = new StrandBoxes();
    const all: [number, number, number, number][] = [
      [1, 0, 100, 200],
      [2, 0, 600, 700],
    ];
    boxes.gather([slot(0, 500, all), slot(500, 1000, all)], SCALE, rows);
    expect(boxes.n).toBe(2);
  });

  it("keeps the widest boxes if there are too many", () => {
    const boxes = new StrandBoxes();
    const scale = { t0: 0, t1: 1e6, x0: 0, width: 1e6 };
    const many = Array.from({ length: MAX_BOXES * 2 }, (_, i): [number, number, number, number] => [
      i,
      i % 8,
      i * 10,
      i * 10 + 2 + (i % 7),
    ]);
    boxes.gather([slot(0, 1e6, many)], scale, rows);
    expect(boxes.n).toBeLessThanOrEqual(MAX_BOXES);
    expect(boxes.n).toBeGreaterThan(MAX_BOXES / 8);
    const least = Math.min(
      ...Array.from({ length: boxes.n }, (_, i) => boxes.x1[i]! - boxes.x0[i]!),
    );
    expect(least).toBeGreaterThanOrEqual(boxes.narrowest);
  });

  it("takes tiles whose planes are missing or of other lengths", () => {
    const boxes = new StrandBoxes();
    boxes.gather(
      [
        {
          t0: 0,
          t1: 1,
          tile: {
            kind: "strands",
            level: 0,
            index: 0,
            data: { facts: {}, planes: {} },
            made: new Map(),
            used: 0,
          },
        },
      ],
      SCALE,
      rows,
    );
    expect(boxes.n).toBe(0);
  });
});

describe("what is inside folded strands", () => {
  it("is identified by its start, and names the folded strands it is drawn over", () => {
    const inner = new StrandBoxes(MAX_BOXES, true);
    // Three strands in folded strand 4, one across a border, and one in folded strand 9.
    const over: [number, number, number, number] = [4, 1, 450, 550];
    inner.gather(
      [
        slot(0, 500, [[4, 1, 100, 200], over]),
        slot(500, 1000, [over, [4, 1, 600, 610], [9, 2, 700, 800]]),
      ],
      SCALE,
      rows,
    );
    expect(inner.n).toBe(4);
    expect([...inner.folded]).toEqual([
      [4, 210],
      [9, 100],
    ]);
    expect(inner.findInside(4, 600)).toBe(2);
    expect(inner.findInside(9, 600)).toBe(-1);
    expect(inner.at(1, 500)).toBe(1);
  });

  it("has a lower limit of boxes than strands have", () => {
    const inner = new StrandBoxes(100, true);
    inner.gather(
      [
        slot(
          0,
          1000,
          Array.from({ length: 300 }, (_, i): [number, number, number, number] => [
            1,
            i % 8,
            i * 3,
            i * 3 + 2 + (i % 3),
          ]),
        ),
      ],
      SCALE,
      rows,
    );
    expect(inner.n).toBeLessThanOrEqual(100);
    expect(inner.n).toBeGreaterThan(0);
  });
});

describe("bands", () => {
  it("fits few rows without scrolling and scrolls many", () => {
    expect(rows.most).toBe(0);
    const many = layOutBands({
      width: 1440,
      height: 600,
      rows: 128,
      rowHeight: "full",
      scroll: 1e9,
      cpu: true,
      queue: true,
      regionLanes: 2,
    }).rows;
    expect(many.scroll).toBe(many.most);
    expect(many.lane).toBeGreaterThanOrEqual(10);
    const visible = visibleRows(many);
    expect(visible.at(-1)).toBe(127);
    expect(visible.length).toBeLessThanOrEqual(30);
    expect(rowAt(many, laneTop(many, 127) + 3)).toBe(127);
    expect(scrollTo(many, 0)).toBe(0);
    expect(scrollTo({ ...many, scroll: 0 }, 127)).toBe(many.most);
  });

  it("makes many rows compact, so that 96 are visible at once", () => {
    const wanted = { width: 1440, height: 840, scroll: 0, cpu: true, queue: true, regionLanes: 0 };
    const many = layOutBands({ ...wanted, rows: 96 }).rows;
    expect(many.compact).toBe(true);
    expect(many.most).toBe(0);
    expect(layOutBands({ ...wanted, rows: 8 }).rows.compact).toBe(false);
    expect(layOutBands({ ...wanted, rows: 96, rowHeight: "full" }).rows.compact).toBe(false);
  });

  it("shows rows in the given order and hits them there", () => {
    const wanted = { width: 1440, height: 600, scroll: 0, cpu: true, queue: false, regionLanes: 0 };
    const r = layOutBands({ ...wanted, rows: 4, order: [3, 0, 2] }).rows;
    expect(visibleRows(r)).toEqual([3, 0, 2]);
    expect([3, 0, 2].map((row) => rowAt(r, laneTop(r, row) + 1))).toEqual([3, 0, 2]);
    expect(isShown(r, 1)).toBe(false);
    expect(laneTop(r, 1)).toBeLessThan(0);
  });

  it("keeps everything inside small windows", () => {
    const b = layOutBands({
      width: 300,
      height: 200,
      rows: 4,
      scroll: 0,
      cpu: true,
      queue: false,
      regionLanes: 0,
    });
    expect(b.rows.y).toBeLessThan(200);
    expect(b.plot).toBeGreaterThanOrEqual(40);
  });
});
