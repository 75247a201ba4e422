import { expect, test } from "vitest";
import { planesOf } from "../data/mock";
import { segmentBoxes } from "../components/StackedBar";
import { columns, constantStretches } from "./RunningWorkers";

const tile = (running: (i: number) => number) =>
  planesOf({
    running: Float32Array.from({ length: 1024 }, (_, i) => running(i)),
    delay: new Float32Array(1024),
  });

test("columns cover exactly the run, and the clipped last one has its own mean", () => {
  const c = columns([tile(() => 4), tile(() => 2)], 3, 8 * 1500 + 4);
  expect(c.running.length).toBe(1501);
  expect(c.running[0]).toBe(4);
  expect(c.running[1499]).toBe(2);
  // Half of the last bin is in the run: its mean over the bin is half of that over the run.
  expect(c.running[1500]).toBeCloseTo(4);
});
test("a missing plane counts as zeros", () => {
  expect(columns([tile(() => 1)], 0, 10).at.sched).toEqual(new Array(10).fill(0));
});
test("stretches are the longest ones with a constant number of workers", () => {
  const c = columns([tile((i) => (i < 100 ? 8 : i < 700 ? 1 : 4))], 0, 1024);
  expect(constantStretches(c, 2)).toEqual([
    { from: 100, to: 700, running: 1 },
    { from: 700, to: 1024, running: 4 },
  ]);
});
test("slivers have a visible width and the bar keeps its own", () => {
  const parts = [
    { kind: "work" as const, label: "work", ticks: 1e6 },
    { kind: "delay" as const, label: "delay", ticks: 1 },
    { kind: "descheduled" as const, label: "descheduled", ticks: 1 },
  ];
  const list = segmentBoxes(parts, 1e6 + 2, 900, (p) => p.label);
  expect(list.map((b) => b.width >= 2)).toEqual([true, true, true]);
  expect(list.reduce((n, b) => n + b.width, 0)).toBeCloseTo(900);
  expect(list[0]!.inside).toBe("work");
  expect(list[1]!.below).toBe("delay");
});
