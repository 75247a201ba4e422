import { expect, test } from "vitest";
import { codeColour, greyCode } from "./codes";

const named = (...labels: string[]) => labels.map((label) => ({ label }));

test("the heaviest block of the root's own is grey, and no other looks like it", () => {
  const codes = named("merge", "main", "root", "sort");
  expect(greyCode(codes)).toBe(1);
  for (const dark of [false, true])
    expect(new Set(codes.map((_, i) => codeColour(codes, i, dark).fill)).size).toBe(codes.length);
});

test("without one nothing is grey, and code that nobody knows is not the root's", () => {
  const codes = named("merge", "mainly");
  expect(greyCode(codes)).toBe(-1);
  expect(codeColour(codes, null, false)).not.toEqual(codeColour(named("root"), 0, false));
});
