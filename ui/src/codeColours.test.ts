import { expect, test } from "vitest";
import { codeColour, greyCode, colourNumbers } from "./codeColours";

const named = (...labels: string[]) => labels.map((label) => ({ label }));

test("only the root's heaviest block is grey", () => {
  const codes = named("merge", "main", "root", "sort");
  expect(greyCode(codes)).toBe(1);
  for (const dark of [false, true])
    expect(new Set(codes.map((_, i) => codeColour(codes, i, dark).fill)).size).toBe(codes.length);
});

test("without root code nothing is grey, and unknown code is not the root's", () => {
  const codes = named("merge", "mainly");
  expect(greyCode(codes)).toBe(-1);
  expect(codeColour(codes, null, false)).not.toEqual(codeColour(named("root"), 0, false));
});

test("codes with one name in two runs share a number, codes of one run never do", () => {
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
