import { expect, it } from "vitest";
import { largest } from "./CriticalPathList";

it("marks the row with the largest strand, not that of the largest sum", () => {
  const [eight, one] = [
    { weight: 88, heaviest: 30 },
    { weight: 79, heaviest: 78 },
  ];
  expect(largest([eight, one])).toBe(one);
  expect(largest([])).toBeUndefined();
});
