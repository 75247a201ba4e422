import { expect, test } from "vitest";
import { fittingText } from "./FlameGraph";

const of = { name: "merge", place: "sort.rs:43", value: "81.2 ms" };

test("a frame shows a number completely or not at all, and prefers it to the place", () => {
  expect(fittingText(20, of)).toBeNull();
  expect(fittingText(60, of)).toEqual({ name: "merge", more: null });
  expect(fittingText(100, of)).toEqual({ name: "merge", more: "81.2 ms" });
  expect(fittingText(200, of)).toEqual({ name: "merge", more: "sort.rs:43 · 81.2 ms" });
});

test("if there is room only for the change, it is complete too", () => {
  expect(fittingText(28, { ...of, narrow: "+7.1" })).toBeNull();
  expect(fittingText(45, { ...of, narrow: "+7.1" })).toEqual({ name: "+7.1", more: null });
});
