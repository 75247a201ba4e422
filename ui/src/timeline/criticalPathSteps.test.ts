import { expect, test } from "vitest";
import { nextPart } from "./criticalPathSteps";

const part = (strand: number, start: number) => ({ strand, start, end: start + 10 });
const PATH = [part(0, 0), part(5, 20), part(9, 50)];

test("steps from part to part, up to the ends of the path", () => {
  expect(nextPart(PATH, { strand: 0, start: 0 }, 1, 0)?.strand).toBe(5);
  expect(nextPart(PATH, { strand: 5, start: 20 }, -1, 0)?.strand).toBe(0);
  expect(nextPart(PATH, { strand: 9, start: 50 }, 1, 0)).toBeNull();
  expect(nextPart(PATH, { strand: 0, start: 0 }, -1, 0)).toBeNull();
});

test("steps from outside the path to the nearest part in that direction", () => {
  expect(nextPart(PATH, { strand: 7, start: 30 }, 1, 0)?.strand).toBe(9);
  expect(nextPart(PATH, { strand: 7, start: 30 }, -1, 0)?.strand).toBe(5);
});

test("steps from no selection to the first visible part", () => {
  expect(nextPart(PATH, null, 1, 15)?.strand).toBe(5);
  expect(nextPart(PATH, null, -1, 60)?.strand).toBe(9);
});
