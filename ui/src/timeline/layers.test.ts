import { describe, expect, it } from "vitest";
import { TILE_BINS } from "../data/contract";
import { MockSource } from "../data/mock";
import { requests } from "../data/requests";
import { profileColumns, steppedArea } from "./parallelismProfile";
import { regionLanes } from "./regions";
import { MAX_ARCS, nextArc, visibleSteals } from "./steals";
import { SvgPen } from "./svg";
import { TileCache } from "./tileCache";
import type { Slot } from "./tiles";

const region = (start: number, end: number) => ({
  label: "r",
  task: 0,
  row: 0,
  start,
  end,
  tree: false,
  part: false,
});

describe("regions", () => {
  it("take the first free lane", () => {
    expect(
      regionLanes([region(0, 100), region(10, 20), region(20, 30), region(15, 40), region(18, 19)]),
    ).toEqual([0, 1, 1, 2, -1]);
  });
});

function arcsSlot(n: number, pairs: [number, number, number][] = []): Slot {
  const at = Float64Array.from({ length: n }, (_, i) => i);
  const planes = {
    from_row: new Uint16Array(n),
    from_t: at,
    to_row: new Uint16Array(n).fill(1),
    to_t: at,
    strand: new Uint32Array(n),
    leap: new Uint8Array(n),
  };
  return {
    t0: 0,
    t1: 1e6,
    tile: {
      kind: "arcs",
      level: 0,
      index: 0,
      data: { facts: { total: n || 5000, truncated: n === 0, pairs }, planes },
      made: new Map(),
      used: 0,
    },
  };
}

describe("steals", () => {
  const scale = { t0: 10, t1: 1e5, x0: 0, width: 1000 };
  it("has the visible ones", () => {
    const s = visibleSteals([arcsSlot(100)], scale);
    expect(s.arcs.length).toBe(90);
    expect(s.total).toBe(90);
    expect(nextArc(s, 50)?.toT).toBe(51);
    expect(nextArc(s, 99)).toBeNull();
  });
  it("gives pairs if there are too many", () => {
    const s = visibleSteals(
      [
        arcsSlot(0, [
          [1, 0, 4000],
          [0, 1, 1000],
        ]),
        arcsSlot(0, [[0, 1, 9000]]),
      ],
      scale,
    );
    expect(s.crowded).toBe(true);
    expect(s.pairs).toEqual([
      [0, 1, 10000],
      [1, 0, 4000],
    ]);
    expect(visibleSteals([arcsSlot(MAX_ARCS + 50)], scale).crowded).toBe(true);
  });
});

describe("profile", () => {
  it("adds up to the workers in every column of the invented run, at any width", async () => {
    const source = new MockSource();
    const meta = await source.json<{
      runs: { elapsed: number; workers: number; top_level: number }[];
    }>(requests.meta());
    const run = meta.runs[0]!;
    const level = run.top_level;
    const cache = new TileCache("a", source, () => {});
    cache.want([{ kind: "profile", level, index: 0 }], level);
    await new Promise((done) => setTimeout(done, 20));
    const tile = cache.get({ kind: "profile", level, index: 0 })!;
    for (const n of [300, 1290]) {
      const scale = { t0: run.elapsed * 0.1, t1: run.elapsed * 0.9, x0: 0, width: n };
      const c = profileColumns([{ t0: 0, t1: TILE_BINS * 2 ** level, tile }], scale, n).values;
      for (let i = 0; i < n; i++) {
        const sum =
          c.running![i]! +
          c.delay![i]! +
          c.no_work_sched![i]! +
          c.no_work_app![i]! +
          c.descheduled![i]! +
          c.blocked![i]!;
        expect(sum).toBeCloseTo(run.workers, 2);
      }
    }
  });

  it("keeps missing data as unknown", () => {
    const c = profileColumns(
      [{ t0: 0, t1: 10, tile: null }],
      { t0: 0, t1: 10, x0: 0, width: 10 },
      10,
    );
    expect(Number.isNaN(c.values.running![3]!)).toBe(true);
  });

  it("merges equal columns and keeps both ends", () => {
    const flat = steppedArea(
      5,
      { t0: 0, t1: 5, x0: 10, width: 50 },
      [9, 9, 9, 9, 9],
      [3, 3, 3, 3, 3],
    );
    expect(flat).toEqual([10, 3, 20, 3, 50, 3, 60, 3, 60, 9, 50, 9, 20, 9, 10, 9]);
  });
});

describe("SvgPen", () => {
  it("writes any name as text", () => {
    const pen = new SvgPen(false, new SvgPen(false, null as never, () => ""), () => "");
    pen.text('</text><script>alert("x")</script>', 1, 2, { colour: "#000" });
    pen.rects([0, 0, 10, 10, 20, 0, 0, 5], { ground: "delay" });
    const made = pen.document(100, 50);
    expect(made).not.toContain("<script>");
    expect(made).toContain("&lt;script&gt;");
    expect(made.match(/<rect x=/g)?.length).toBe(1);
    expect(made).toContain('id="g-delay"');
  });
});
