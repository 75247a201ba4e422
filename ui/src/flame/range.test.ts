import { expect, test } from "vitest";
import { rangeAfterDrag, rangeAfterKey, targetsOf } from "./range";

const old = { t0: 200, t1: 400 };

test("a drag in either direction makes a range inside the run", () => {
  expect(rangeAfterDrag(null, "new", 0.1, 0.3, 1000)).toEqual({ t0: 100, t1: 300 });
  expect(rangeAfterDrag(old, "new", 0.9, 0.5, 1000)).toEqual({ t0: 500, t1: 900 });
  expect(rangeAfterDrag(null, "new", 0.5, 1.4, 1000)).toEqual({ t0: 500, t1: 1000 });
});

test("an end can move past the other one, and the middle keeps its length", () => {
  expect(rangeAfterDrag(old, "start", 0.2, 0.3, 1000)).toEqual({ t0: 300, t1: 400 });
  expect(rangeAfterDrag(old, "start", 0.2, 0.6, 1000)).toEqual({ t0: 400, t1: 600 });
  expect(rangeAfterDrag(old, "middle", 0.3, 0.9, 1000)).toEqual({ t0: 800, t1: 1000 });
  expect(rangeAfterDrag(old, "middle", 0.3, 0, 1000)).toEqual({ t0: 0, t1: 200 });
});

test("keys move an end by a hundredth or a tenth of the run and never past the other", () => {
  expect(rangeAfterKey(old, "end", "ArrowRight", false, 1000)).toEqual({ t0: 200, t1: 410 });
  expect(rangeAfterKey(old, "start", "ArrowLeft", true, 1000)).toEqual({ t0: 100, t1: 400 });
  expect(rangeAfterKey({ t0: 200, t1: 205 }, "start", "ArrowRight", false, 1000)).toEqual({
    t0: 204,
    t1: 205,
  });
  expect(rangeAfterKey(null, "end", "ArrowLeft", false, 1000)).toEqual({ t0: 0, t1: 990 });
  expect(rangeAfterKey(old, "end", "End", false, 1000)).toEqual({ t0: 200, t1: 1000 });
  expect(rangeAfterKey(old, "end", "x", false, 1000)).toBeNull();
});

test("the targets of a range's ends do not overlap, wherever it is", () => {
  expect(targetsOf(200, 400, 900, 24)).toEqual({ start: 176, end: 400 });
  expect(targetsOf(0, 900, 900, 24)).toEqual({ start: 0, end: 876 });
  // A short range at the begin, and one at the end.
  expect(targetsOf(0, 11, 900, 24)).toEqual({ start: 0, end: 24 });
  expect(targetsOf(895, 900, 900, 24)).toEqual({ start: 852, end: 876 });
});
