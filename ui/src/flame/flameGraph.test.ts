import { expect, test } from "vitest";
import { fittingText } from "./FlameGraph";

const of = { name: "merge", place: "sort.rs:43", value: "81.2 ms" };

test("a number stands in a frame whole or not at all, and before its place", () => {
  expect(fittingText(20, of)).toBeNull();
  expect(fittingText(60, of)).toEqual({ name: "merge", more: null });
  expect(fittingText(100, of)).toEqual({ name: "merge", more: "81.2 ms" });
  expect(fittingText(200, of)).toEqual({ name: "merge", more: "sort.rs:43 · 81.2 ms" });
});

test("where there is room for a change alone, that is whole too", () => {
  expect(fittingText(28, { ...of, narrow: "+7.1" })).toBeNull();
  expect(fittingText(45, { ...of, narrow: "+7.1" })).toEqual({ name: "+7.1", more: null });
});
