import { describe, expect, it } from "vitest";
import { interpolate, fit, clampToView, largestFit, reveal, zoom, type Camera } from "./camera";
import { timeScale } from "./timeScale";
import { buildModel } from "./model";
import { folded, strand } from "./syntheticDag.test-help";
import { shorten, SvgPen } from "./pen";
import type { DagInside } from "../data/contract";

const VIEW = { x: 20, y: 10, w: 800, h: 600 };
const IDENTITY: Camera = { kx: 1, ky: 1, tx: 0, ty: 0 };

describe("camera", () => {
  it("fits everything, the width or the height", () => {
    const size = { width: 4000, height: 1000 };
    const most = { x: 1.15, y: Infinity };
    const full = fit("full", size, VIEW, IDENTITY, most);
    expect([full.kx, full.ky]).toEqual([0.2, 0.6]);
    expect([full.tx, full.ty]).toEqual([expect.closeTo(VIEW.x), expect.closeTo(VIEW.y)]);
    expect(fit("vertical", size, VIEW, IDENTITY, most).kx).toBe(1);
    expect(fit("horizontal", size, VIEW, IDENTITY, most).ky).toBe(1);
    const small = fit("full", { width: 100, height: 100 }, VIEW, IDENTITY, { x: 1.15, y: 1.15 });
    expect([small.kx, small.ky]).toEqual([1.15, 1.15]);
  });

  it("scales a few cards up until they use most of a wide window", () => {
    const wide = { x: 0, y: 0, w: 2000, h: 1200 };
    const used = (width: number) => {
      const size = { width, height: 500 };
      const camera = fit("full", size, wide, IDENTITY, largestFit(size, wide, false));
      return { share: (width * camera.kx) / wide.w, left: camera.tx };
    };
    for (const width of [160, 350, 700]) {
      expect(used(width).share).toBeGreaterThan(0.55);
      expect(used(width).share).toBeLessThan(0.75);
      expect(used(width).left).toBeCloseTo((wide.w * (1 - used(width).share)) / 2);
    }
    expect(used(100).share).toBeCloseTo(0.4);
    expect(used(1600).share).toBeCloseTo(1);
    const both = largestFit({ width: 100, height: 100 }, wide, true);
    expect(both.x).toBe(both.y);
    expect(both.x).toBeGreaterThan(1.15);
  });

  it("zooms around a fixed point", () => {
    const c = zoom({ kx: 2, ky: 3, tx: 7, ty: -4 }, 1.5, 0.5, 300, 200);
    const was = [(300 - 7) / 2, (200 + 4) / 3];
    expect([(300 - c.tx) / c.kx, (200 - c.ty) / c.ky]).toEqual([
      expect.closeTo(was[0]!),
      expect.closeTo(was[1]!),
    ]);
  });

  it("interpolates between two cameras along a straight path", () => {
    const a = { kx: 1, ky: 1, tx: 0, ty: 0 },
      b = { kx: 4, ky: 2, tx: -300, ty: 50 };
    expect(interpolate(a, b, 0)).toEqual(a);
    expect(interpolate(a, b, 1)).toBe(b);
    const m = interpolate(a, b, 0.5);
    expect(m.kx).toBeCloseTo(2);
    // The point that both cameras show at the same place stays there in between.
    const fixed = -300 / (1 - 4);
    expect(fixed * m.kx + m.tx).toBeCloseTo(fixed);
  });

  it("reveals a node with the least movement, and keeps the scene in view", () => {
    const c = reveal(IDENTITY, { x: 900, y: 20, w: 50, h: 50 }, VIEW);
    expect(900 * c.kx + c.tx + 50).toBeLessThanOrEqual(VIEW.x + VIEW.w - 39);
    expect(c.ty).toBeGreaterThanOrEqual(0);
    const lost = clampToView({ ...IDENTITY, tx: 1e6, ty: -1e6 }, { width: 100, height: 100 }, VIEW);
    expect(lost.tx).toBeLessThan(VIEW.x + VIEW.w);
    expect(lost.ty).toBeGreaterThan(VIEW.y - 100);
  });
});

describe("time scale", () => {
  const forks: Map<string, DagInside> = new Map([
    ["r", { items: [folded(0, 0, 1000)] }],
    [
      "t0",
      {
        items: [
          strand(0, 0, 0, 100, { creates: ["t1", "t2"], end_kind: 0 }),
          folded(1, 100, 900),
          folded(2, 101, 800),
          strand(1, 0, 900, 1000, { joins: ["t1", "t2"] }),
        ],
      },
    ],
    [
      "t1",
      {
        items: [
          strand(2, 1, 100, 101, { creates: ["t3", "t4"], end_kind: 0 }),
          folded(3, 101, 700),
          folded(4, 103, 600),
          strand(3, 1, 700, 900, { joins: ["t3", "t4"] }),
        ],
      },
    ],
  ]);

  it("has breaks at nested forks without length, and is monotone", () => {
    const s = timeScale(buildModel(forks, new Set(["r", "t0", "t1"])), 0, 1000);
    expect(s.breaks.length).toBe(1);
    expect(s.breaks[0]).toMatchObject({ from: 100, to: 101, levels: 2 });
    let last = -1;
    for (let t = 0; t <= 1000; t += 0.5) {
      expect(s.y(t)).toBeGreaterThanOrEqual(last);
      last = s.y(t);
    }
    for (const t of [0, 50, 99, 102, 500, 1000]) expect(s.t(s.y(t))).toBeCloseTo(t, 6);
  });

  it("has no break at a single fork", () => {
    const s = timeScale(buildModel(forks, new Set(["r", "t0"])), 0, 1000);
    expect(s.breaks).toEqual([]);
    expect(s.y(500)).toBeCloseTo(800);
  });
});

describe("pens", () => {
  it("write hostile names as text", () => {
    const pen = new SvgPen(false);
    pen.text('<script>alert("x")</script>\u0000&', 1, 2, { size: 11, colour: "#000" });
    const svg = pen.finish(10, 10, "#fff", "", "a<b");
    expect(svg).not.toContain("<script");
    expect(svg).not.toContain("\u0000");
    expect(svg).toContain("a&#60;b");
  });

  it("shorten texts to the available room", () => {
    const pen = new SvgPen(false);
    const how = { size: 10, colour: "#000" };
    expect(shorten(pen, "abc", 1000, how)).toBe("abc");
    const short = shorten(pen, "a very long name of a function", 60, how);
    expect(short.endsWith("…")).toBe(true);
    expect(pen.measure(short, how)).toBeLessThanOrEqual(60);
    expect(shorten(pen, "abcdefgh", 4, how)).toBe("");
  });
});
