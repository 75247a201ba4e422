import { expect, test } from "vitest";
import { distinct, shortName } from "./names";

test("equal names get their longer forms, then numbers", () => {
  expect(distinct([["root"], ["a.rs:1", "x/a.rs:1"], ["a.rs:1", "y/a.rs:1"]])).toEqual([
    "root",
    "x/a.rs:1",
    "y/a.rs:1",
  ]);
  expect(distinct([["root"], ["root"], ["sort", "a.rs:2"]])).toEqual(["root", "root #2", "sort"]);
  expect(distinct([])).toEqual([]);
});

test("names rows as far as there is room beside the matrix", () => {
  const upTo = (n: number) => (words: string) => words.length <= n;
  expect(shortName("rank 3 · W1", upTo(20))).toBe("rank 3 · W1");
  expect(shortName("rank 3 · W1", upTo(5))).toBe("3·W1");
  expect(shortName("solve · W1", upTo(5))).toBe("W1");
  expect(shortName("a thread's long name", upTo(5))).toBe("");
});
