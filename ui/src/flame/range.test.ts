import { expect, test } from "vitest";
import { dragged, nudged } from "./range";

const old = { t0: 200, t1: 400 };

test("a drag makes a range in either direction, inside of the run", () => {
  expect(dragged(null, "new", 0.1, 0.3, 1000)).toEqual({ t0: 100, t1: 300 });
  expect(dragged(old, "new", 0.9, 0.5, 1000)).toEqual({ t0: 500, t1: 900 });
  expect(dragged(null, "new", 0.5, 1.4, 1000)).toEqual({ t0: 500, t1: 1000 });
});

test("an end is moved, past the other one too; the middle keeps its length", () => {
  expect(dragged(old, "start", 0.2, 0.3, 1000)).toEqual({ t0: 300, t1: 400 });
  expect(dragged(old, "start", 0.2, 0.6, 1000)).toEqual({ t0: 400, t1: 600 });
  expect(dragged(old, "middle", 0.3, 0.9, 1000)).toEqual({ t0: 800, t1: 1000 });
  expect(dragged(old, "middle", 0.3, 0, 1000)).toEqual({ t0: 0, t1: 200 });
});

test("keys move an end by a hundredth or a tenth of the run and never past the other", () => {
  expect(nudged(old, "end", "ArrowRight", false, 1000)).toEqual({ t0: 200, t1: 410 });
  expect(nudged(old, "start", "ArrowLeft", true, 1000)).toEqual({ t0: 100, t1: 400 });
  expect(nudged({ t0: 200, t1: 205 }, "start", "ArrowRight", false, 1000)).toEqual({
    t0: 204,
    t1: 205,
  });
  expect(nudged(null, "end", "ArrowLeft", false, 1000)).toEqual({ t0: 0, t1: 990 });
  expect(nudged(old, "end", "End", false, 1000)).toEqual({ t0: 200, t1: 1000 });
  expect(nudged(old, "end", "x", false, 1000)).toBeNull();
});
