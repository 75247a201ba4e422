import { describe, expect, it } from "vitest";
import { pathPieces } from "./paths";
import type { Scene } from "./scene";
import type { Slot } from "./tiles";

/** A slot of a tile with these pieces (row, start, end) and neighbours. */
function slot(
  [t0, t1]: [number, number],
  all: [number, number, number][],
  before: [number, number, number, number] | null,
  after: [number, number, number, number] | null,
): Slot {
  const column = (i: number) => Float64Array.from(all, (p) => p[i]!);
  const zeros = new Uint32Array(all.length);
  const columns = { row: column(0), start: column(1), end: column(2), strand: zeros, gap: zeros };
  const data = { facts: { before, after }, planes: columns };
  return {
    t0,
    t1,
    tile: { kind: "critical", level: 0, index: 0, data, made: new Map(), used: 0 },
  };
}

const inView = (slots: Slot[]) =>
  pathPieces(
    {
      tiles: { slots: () => slots },
      bands: { rows: { place: Int32Array.of(0, 1, 2, 3) } },
    } as unknown as Scene,
    "critical",
  ).map((p) => [p.row, p.start, p.end]);

describe("a path", () => {
  it("crosses a window in which the path only waits", () => {
    const slots = [
      slot([50, 60], [], [1, 10, 40, 0], [2, 90, 95, 1]),
      slot([60, 70], [], [1, 10, 40, 0], [2, 90, 95, 1]),
    ];
    expect(inView(slots)).toEqual([
      [1, 10, 40],
      [2, 90, 95],
    ]);
  });

  it("takes its neighbours from a coarser substitute", () => {
    const coarse = slot(
      [50, 60],
      [
        [0, 0, 5],
        [1, 10, 40],
        [2, 90, 95],
        [3, 96, 99],
      ],
      null,
      null,
    );
    expect(inView([coarse])).toEqual([
      [1, 10, 40],
      [2, 90, 95],
    ]);
  });
});
