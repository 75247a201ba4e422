import { expect, test } from "vitest";
import { splitWork } from "./workSplit";

test("the work of others is the rest, and both add up to the bin's work", () => {
  const parts = [
    { kind: "work" as const, ticks: 100 },
    { kind: "app" as const, ticks: 40 },
  ];
  expect(splitWork(parts, 30).map((p) => [p.name ?? p.kind, p.ticks])).toEqual([
    ["their work", 30],
    ["work of others", 70],
    ["app", 40],
  ]);
});

test("there is no work of others if nothing else ran", () => {
  const parts = [{ kind: "work" as const, ticks: 100 }];
  expect(splitWork(parts, 100.4).map((p) => p.ticks)).toEqual([100]);
  expect(splitWork(parts, 99.95)).toHaveLength(1);
});
