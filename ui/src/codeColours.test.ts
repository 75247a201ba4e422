import { expect, test } from "vitest";
import { codeColour, greyCode, colourNumbers } from "./codeColours";

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

test("what is called the same in two runs has one number, and codes of one run never do", () => {
  const run = (...labels: string[]) => ({
    codes: labels.map((label) => ({ label, function: null, file: "a.rs", line: 1, ticks: 1 })),
  });
  const numbers = colourNumbers([
    run("merge", "sort", "merge"),
    run("sort", "split", "merge", "merge"),
  ]);
  expect(numbers).toEqual([
    [0, 1, 2],
    [1, 3, 0, 2],
  ]);
});
