import { expect, test } from "vitest";
import { boundKnownTo } from "./bounds";

const points = (upper: (n: number) => number) =>
  [1, 2, 4, 6, 64].map((workers) => ({ workers, upper: upper(workers) }));

test("the parallelism bounds every number of workers", () => {
  expect(
    boundKnownTo(
      points((n) => Math.min(n, 3.7)),
      3.7,
    ),
  ).toBe(null);
  expect(
    boundKnownTo(
      points((n) => n),
      100,
    ),
  ).toBe(null);
});

test("the bound of more workers than threads that divided the work is not known", () => {
  expect(
    boundKnownTo(
      points((n) => (n > 4 ? n : Math.min(n, 3.7))),
      3.7,
    ),
  ).toBe(4);
});
