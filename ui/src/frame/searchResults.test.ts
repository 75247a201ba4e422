import { expect, test } from "vitest";
import type { Meta, RunMeta } from "../data/contract";
import { MockSource } from "../data/mock";
import { requests } from "../data/requests";
import { selection, tab } from "../store";
import { matching, score } from "../palette/Palette";
import { search } from "./searchResults";

const run = (await new MockSource().json<Meta>(requests.meta())).runs[0] as RunMeta;

test("a number finds the task with that number, if it exists", () => {
  expect(search("12", run, [])[0]).toMatchObject({ kind: "task", title: "task 12" });
  expect(search("task #12", run, [])[0]?.kind).toBe("task");
  expect(search("#12", run, [])[0]?.kind).toBe("task");
  expect(search("99999999", run, []).some((f) => f.kind === "task")).toBe(false);
});
test("if subtrees are folded, the result says which tasks are counted", () => {
  const folded = { ...run, tasks: 11_405_774, numbered_tasks: 2_000 };
  expect(search("12", folded, [])[0]?.where).toBe("of the 2,000 tasks that are not folded");
  expect(search("2000", folded, [])).toEqual([]);
});
test("names that start with the query come first, and every kind is found", () => {
  const found = search("sort", run, [
    { label: "sorting", task: 0, row: 0, start: 5, end: 9, tree: true, part: false },
  ]);
  expect(found[0]!.title).toBe("sort_unstable");
  expect(new Set(found.map((f) => f.kind))).toEqual(
    new Set(["site", "code", "region", "function"]),
  );
});
test("a result is selected on a tab that can show it", () => {
  tab.value = "summary";
  search("msort", run, [])
    .find((f) => f.kind === "site")!
    .go();
  expect(tab.value).toBe("sites");
  expect(selection.value).toMatchObject({ kind: "site", run: "a", site: 1 });
  tab.value = "dag";
  search("msort", run, [])
    .find((f) => f.kind === "site")!
    .go();
  expect(tab.value).toBe("dag");
});
test("the palette prefers the starts of words", () => {
  expect(score("zz", "Zoom")).toBeNull();
  const c = (title: string) => ({ id: title, title, keys: [], group: "", run: () => {} });
  expect(
    matching("cl", [c("Colour by site"), c("Copy link"), c("Cycle")]).map((x) => x.title)[0],
  ).toBe("Copy link");
});
