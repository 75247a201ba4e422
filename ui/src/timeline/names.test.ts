import { expect, test } from "vitest";
import { distinct } from "./names";

test("equal names get their longer forms, then numbers", () => {
  expect(distinct([["root"], ["a.rs:1", "x/a.rs:1"], ["a.rs:1", "y/a.rs:1"]])).toEqual([
    "root",
    "x/a.rs:1",
    "y/a.rs:1",
  ]);
  expect(distinct([["root"], ["root"], ["sort", "a.rs:2"]])).toEqual(["root", "root #2", "sort"]);
  expect(distinct([])).toEqual([]);
});
