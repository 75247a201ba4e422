import { describe, expect, it } from "vitest";
import type { Layout } from "../store";
import { place, type Options } from "./layout";
import { buildModel, endOf, startOf, type Model, type DagNode } from "./model";
import { folded, syntheticDag, strand } from "./syntheticDag.test-help";

const LAYOUTS: Layout[] = ["structure", "linear", "power", "log", "time"];

/** Pairs of boxes that overlap by more than their rims. */
function overlaps(boxes: DagNode[]): string[] {
  const out: string[] = [];
  const sorted = [...boxes].sort((a, b) => a.y - b.y);
  for (let i = 0; i < sorted.length; i++) {
    for (let k = i + 1; k < sorted.length && sorted[k]!.y < sorted[i]!.y + sorted[i]!.h; k++) {
      const [a, b] = [sorted[i]!, sorted[k]!];
      const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x),
        h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
      if (w > 0.5 && h > 0.5) out.push(`${a.key} and ${b.key}`);
    }
  }
  return out;
}

function laid(model: Model, o: Options) {
  const placed = place(model, o);
  return { placed, model };
}

describe.each(LAYOUTS)("layout %s", (layout) => {
  it("overlaps no boxes, and puts a wait below the tasks it waited for", () => {
    for (let seed = 1; seed <= 25; seed++) {
      const run = syntheticDag(seed, 3);
      const expanded = new Set(
        [...run.loaded.keys()].filter((_, i) => (i + seed) % 3 !== 0).concat("r", "t0"),
      );
      const { model, placed } = laid(buildModel(run.loaded, expanded), {
        layout,
        power: 0.5,
        elapsed: run.elapsed,
      });
      expect(overlaps(model.boxes), `seed ${seed}`).toEqual([]);
      const wrong: string[] = [];
      for (const n of [...model.boxes, ...model.frames]) {
        if (!(
          n.x >= -0.01 &&
          n.x + n.w <= placed.width + 0.01 &&
          n.y >= -0.01 &&
          n.y + n.h <= placed.height + 0.01
        ))
          wrong.push(`${n.key} is outside: ${n.x} ${n.y} ${n.w} ${n.h}`);
      }
      for (const l of model.links) {
        // By time, a child may begin in the tick in which its creator ends.
        if (l.kind !== "signal" && l.kind !== "order" && l.to.y < l.from.y + l.from.h - 0.02)
          wrong.push(`${l.kind} ${l.from.key} ${l.to.key}: ${l.to.y} above ${l.from.y + l.from.h}`);
      }
      expect(wrong, `seed ${seed}`).toEqual([]);
    }
  });
});

describe("place", () => {
  it("keeps a balanced join symmetric about its spine", () => {
    const loaded = new Map([
      ["r", { items: [folded(0, 0, 100)] }],
      [
        "t0",
        {
          items: [
            strand(0, 0, 0, 10, { creates: ["t1", "t2"] }),
            folded(1, 10, 60),
            folded(2, 10, 60),
            strand(1, 0, 60, 100, { joins: ["t1", "t2"] }),
          ],
        },
      ],
    ]);
    const { model } = laid(buildModel(loaded, new Set(["r", "t0"])), {
      layout: "structure",
      power: 1,
      elapsed: 100,
    });
    const [s0, a, b, s1] = ["s0", "t1", "t2", "s1"].map((k) => model.byKey.get(k)!) as [
      DagNode,
      DagNode,
      DagNode,
      DagNode,
    ];
    expect(s0.x + s0.spine).toBeCloseTo(s1.x + s1.spine);
    expect(s0.x + s0.spine - (a.x + a.w / 2)).toBeCloseTo(b.x + b.w / 2 - (s0.x + s0.spine));
    expect(a.y).toBe(b.y);
    expect(s1.y).toBeGreaterThan(a.y + a.h);
  });

  it("has heights by duration: proportional if linear, flatter for a power", () => {
    const loaded = new Map([
      ["r", { items: [folded(0, 0, 100)] }],
      ["t0", { items: [strand(0, 0, 0, 20, { end_kind: 2 }), strand(1, 0, 20, 100)] }],
    ]);
    const height = (layout: Layout, power: number) => {
      const { model } = laid(buildModel(loaded, new Set(["r", "t0"])), {
        layout,
        power,
        elapsed: 100,
      });
      return model.byKey.get("s1")!.h / model.byKey.get("s0")!.h;
    };
    expect(height("linear", 0.3)).toBeCloseTo(4);
    expect(height("power", 0.5)).toBeCloseTo(2);
    expect(height("power", 1)).toBeCloseTo(4);
    // 20 and 80 of 100 ticks are 5.3 and 5.9 decades above a millionth.
    expect(height("log", 1)).toBeCloseTo(5.903 / 5.301, 3);
  });

  it("has absolute time as y outside breaks", () => {
    const run = syntheticDag(7);
    const { model, placed } = laid(buildModel(run.loaded, new Set(["r", "t0"])), {
      layout: "time",
      power: 1,
      elapsed: run.elapsed,
    });
    for (const n of model.boxes) {
      if (placed.time!.breaks.some((b) => startOf(n) <= b.to && endOf(n) >= b.from)) continue;
      expect(n.y).toBeCloseTo(placed.time!.y(startOf(n)), 5);
    }
  });

  it("wraps a fork of two hundred into lanes instead of one row", () => {
    const children = Array.from({ length: 200 }, (_, i) => folded(i + 1, 10, 60));
    const ids = children.map((c) => c.id);
    const loaded = new Map([
      ["r", { items: [folded(0, 0, 100)] }],
      [
        "t0",
        {
          items: [
            strand(0, 0, 0, 10, { creates: ids }),
            ...children,
            strand(1, 0, 60, 100, { joins: ids }),
          ],
        },
      ],
    ]);
    const { model, placed } = laid(buildModel(loaded, new Set(["r", "t0"])), {
      layout: "structure",
      power: 1,
      elapsed: 100,
    });
    expect(placed.width).toBeLessThan(200 * 40);
    expect(overlaps(model.boxes)).toEqual([]);
    const last = model.byKey.get("s1")!;
    for (const c of ids)
      expect(last.y).toBeGreaterThan(model.byKey.get(c)!.y + model.byKey.get(c)!.h);
  });

  it("shows the stretches of a task with thousands of steps in program order", () => {
    const groups = Array.from({ length: 60 }, (_, i) =>
      folded(0, i * 10, i * 10 + 15, { kind: "group", id: `g0.${i * 100}.${i * 100 + 100}` }),
    );
    const loaded = new Map([
      ["r", { items: [folded(0, 0, 700)] }],
      ["t0", { items: groups }],
    ]);
    const { model, placed } = laid(buildModel(loaded, new Set(["r", "t0"])), {
      layout: "structure",
      power: 1,
      elapsed: 700,
    });
    expect(overlaps(model.boxes)).toEqual([]);
    expect(placed.width / placed.height).toBeGreaterThan(0.5);
    expect(placed.width / placed.height).toBeLessThan(4);
    expect(model.links.filter((l) => l.kind === "order").length).toBe(59);
    for (let i = 1; i < 60; i++)
      expect(model.boxes[i]!.y * 1e4 + model.boxes[i]!.x).toBeGreaterThan(
        model.boxes[i - 1]!.y * 1e4 + model.boxes[i - 1]!.x,
      );
    const timed = laid(buildModel(loaded, new Set(["r", "t0"])), {
      layout: "time",
      power: 1,
      elapsed: 700,
    });
    expect(overlaps(timed.model.boxes)).toEqual([]);
  });

  it("keeps tasks of an earlier stretch off the spine of a later one", () => {
    const g = folded(0, 0, 100, { kind: "group", id: "g0.100.200" });
    const loaded = new Map([
      ["r", { items: [g] }],
      [
        "g0.100.200",
        {
          items: [
            folded(7, 5, 60),
            strand(1, 0, 10, 11, { creates: ["t8"], end_kind: 0 }),
            folded(8, 12, 60),
            strand(2, 0, 60, 100, { joins: ["t7", "t8"] }),
          ],
        },
      ],
    ]);
    for (const layout of LAYOUTS) {
      const { model } = laid(buildModel(loaded, new Set(["r", "g0.100.200"])), {
        layout,
        power: 0.5,
        elapsed: 100,
      });
      expect(overlaps(model.boxes), layout).toEqual([]);
    }
  });

  it("puts several roots beside one another", () => {
    const loaded = new Map([
      ["r", { items: [folded(0, 0, 100), folded(1, 0, 90), folded(2, 5, 90)] }],
    ]);
    for (const layout of LAYOUTS) {
      const { model } = laid(buildModel(loaded, new Set(["r"])), {
        layout,
        power: 0.5,
        elapsed: 100,
      });
      expect(overlaps(model.boxes)).toEqual([]);
    }
  });

  it("accepts a task nested a thousand levels deep", () => {
    const loaded = new Map([["r", { items: [folded(0, 0, 4000)] }]]);
    for (let i = 0; i < 1000; i++)
      loaded.set(`t${i}`, {
        items: [
          strand(2 * i, i, i, i + 1, { creates: [`t${i + 1}`] }),
          folded(i + 1, i + 1, 4000 - i - 1),
          strand(2 * i + 1, i, 4000 - i - 1, 4000 - i, { joins: [`t${i + 1}`] }),
        ] as never,
      });
    const { model, placed } = laid(buildModel(loaded, new Set(loaded.keys())), {
      layout: "structure",
      power: 1,
      elapsed: 4000,
    });
    expect(model.boxes.length).toBe(2001);
    expect(placed.width).toBeLessThan(300);
  });
});
