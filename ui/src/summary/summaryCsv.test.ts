import { expect, test } from "vitest";
import type { Report } from "../data/contract";
import { numbersCsv } from "./summaryCsv";

const report = (metric: string) =>
  ({
    metric,
    ticks_per_second: 2e9,
    elapsed: 3e9,
    work: 4e9,
    span: 1e9,
    parallelism: 4,
    tasks: 7,
    breakdown: { work: 4e9, delay: 5e8 },
  }) as unknown as Report;

test("times are in seconds, of workers in the breakdown", () => {
  const lines = numbersCsv(report("time")).trim().split("\n");
  expect(lines[0]).toBe("what,value,unit");
  for (const line of [
    "elapsed,1.5,s",
    "work,2,s",
    "span,0.5,s",
    "parallelism,4,",
    "tasks,7,",
    "steals,,",
    "breakdown.work,2,worker s",
    "breakdown.delay,0.25,worker s",
  ])
    expect(lines).toContain(line);
});

test("quantities of another metric stay counts", () => {
  const lines = numbersCsv(report("instructions")).trim().split("\n");
  for (const line of [
    "work,4000000000,instructions",
    "elapsed,1.5,s",
    "breakdown.delay,0.25,worker s",
  ])
    expect(lines).toContain(line);
});
