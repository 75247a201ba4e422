import { expect, it } from "vitest";
import { largest } from "./CriticalPathList";

it("marks the largest strand of the critical path, or strands that are much longer together", () => {
  const row = (weight: number, strands: number) => ({ weight, strands });
  const [eight, one, many] = [row(88, 8), row(79, 1), row(400, 20)];
  expect(largest([row(1, 1), eight, one])).toBe(one);
  expect(largest([eight, one, many])).toBe(many);
  expect(largest([eight])).toBe(eight);
  expect(largest([])).toBeUndefined();
});
