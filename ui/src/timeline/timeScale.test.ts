import { describe, expect, it } from "vitest";
import {
  withMargin,
  axis,
  interpolate,
  clamp,
  minWindow,
  pan,
  timeAt,
  pixelAt,
  zoom,
} from "./timeScale";
import type { Scale } from "./timeScale";

const RUN = 2_000_000_000;
const NARROWEST = minWindow(1e9);

describe("zoom", () => {
  it("keeps the time under the pointer at its pixel, from the whole run to nanoseconds and back", () => {
    const pointer = 700;
    let w: Scale = { t0: 0, t1: RUN, x0: 136, width: 1290 };
    const held = timeAt(w, pointer);
    while (w.t1 - w.t0 > NARROWEST * 1.01) {
      const before = timeAt(w, pointer);
      w = { ...w, ...zoom(w, 0.7, before, RUN, NARROWEST) };
      expect(Math.abs(pixelAt(w, before) - pointer)).toBeLessThan(0.01);
    }
    expect(w.t1 - w.t0).toBeCloseTo(20, 0);
    while (w.t1 - w.t0 < RUN * 0.5)
      w = { ...w, ...zoom(w, 1 / 0.7, timeAt(w, pointer), RUN, NARROWEST) };
    expect(Math.abs(pixelAt(w, held) - pointer)).toBeLessThan(1);
  });

  it("ends at the whole run, around any time", () => {
    expect(zoom({ t0: 10, t1: 1000 }, 1e9, 20, RUN, NARROWEST)).toEqual({ t0: 0, t1: RUN });
  });

  it("never leaves the run", () => {
    for (const at of [0, 1, RUN / 2, RUN - 1, RUN]) {
      const w = zoom({ t0: RUN * 0.4, t1: RUN * 0.6 }, 3, at, RUN, NARROWEST);
      expect(w.t0).toBeGreaterThanOrEqual(0);
      expect(w.t1).toBeLessThanOrEqual(RUN);
    }
  });
});

describe("clamp and pan", () => {
  it("keeps the width at the run's ends", () => {
    expect(pan({ t0: 100, t1: 300 }, -500, RUN, NARROWEST)).toEqual({ t0: 0, t1: 200 });
    expect(pan({ t0: RUN - 300, t1: RUN - 100 }, 500, RUN, NARROWEST)).toEqual({
      t0: RUN - 200,
      t1: RUN,
    });
  });

  it("accepts runs without length", () => {
    expect(clamp({ t0: 0, t1: 0 }, 0, NARROWEST)).toEqual({ t0: 0, t1: 1 });
  });

  it("shows an instant with a margin", () => {
    const w = withMargin(500, 500, RUN, NARROWEST);
    expect(w.t0).toBeLessThan(500);
    expect(w.t1).toBeGreaterThan(500);
    expect(w.t1 - w.t0).toBeGreaterThanOrEqual(NARROWEST);
  });
});

describe("between", () => {
  it("starts and ends at the given windows, and narrows by equal ratios", () => {
    const a = { t0: 0, t1: 1000 };
    const b = { t0: 400, t1: 410 };
    expect(interpolate(a, b, 0).t1 - interpolate(a, b, 0).t0).toBeCloseTo(1000);
    expect(interpolate(a, b, 1)).toEqual(b);
    const half = interpolate(a, b, 0.5);
    expect(half.t1 - half.t0).toBeCloseTo(100);
    expect(half.t0).toBeLessThan(400);
    expect(half.t1).toBeGreaterThan(410);
  });
});

describe("axis", () => {
  it("counts from a base if labels would be too long", () => {
    const deep = axis({ t0: 1_234_567_890, t1: 1_234_567_990 }, 1e9, 8);
    expect(deep.base).toMatch(/^1\.23456\d*\u00a0s$/);
    expect(deep.ticks.every((t) => /^\+\d+\u00a0ns$/.test(t.label))).toBe(true);
    const base = Number(deep.base!.split("\u00a0")[0]) * 1e9;
    for (const t of deep.ticks)
      expect(base + Number(t.label.slice(1).split("\u00a0")[0])).toBeCloseTo(t.t, 0);
  });

  it("has distinct ticks, all inside the window", () => {
    for (const span of [20, 333, 1e4, 7.7e6, 2e9]) {
      const w = { t0: 123_456_789, t1: 123_456_789 + span };
      const ticks = axis(w, 1e9, 10).ticks;
      expect(ticks.length).toBeGreaterThanOrEqual(3);
      expect(ticks.length).toBeLessThan(25);
      expect(new Set(ticks.map((t) => t.label)).size).toBe(ticks.length);
      for (const t of ticks) expect(t.t >= w.t0 - 1e-3 && t.t <= w.t1 + span * 1e-6).toBe(true);
    }
  });
});
