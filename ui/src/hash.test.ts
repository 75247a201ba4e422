import { describe, expect, test } from "vitest";
import { read, START, write, type ViewState } from "./hash";
import type { Selection } from "./store";

const plain = (s: ViewState) =>
  JSON.parse(JSON.stringify(s, (_, v: unknown) => (v instanceof Set ? [...v].sort() : v)));

test("the initial state has a short hash, which parses to the initial state", () => {
  expect(write(START)).toBe("#v=1&tab=summary");
  expect(plain(read(""))).toEqual(plain(START));
  expect(plain(read(write(START)))).toEqual(plain(START));
});

const full: ViewState = {
  tab: "timeline",
  run: "b",
  other: "a",
  furtherRuns: ["c", "d"],
  range: { t0: 1234567.25, t1: 98765432109 },
  selection: { kind: "strand", run: "b", id: 7, task: 3 },
  colorBy: "worker",
  layers: new Set(["spawns", "queue"]),
  rowsShown: { height: "compact", sort: "busy", group: "pool", pinned: [3, 0], hidden: [12] },
  layout: "power",
  power: 0.35,
  expanded: new Set(["t0", "t12", "g3.100.200"]),
  theme: "dark",
  drawer: false,
  split: true,
  secondLayout: "log",
  sections: true,
  compareBy: "fraction",
  finding: 2,
  whatif: { what: ["code:1", "lines:src/a,b&c=d.rs:10-20", "region:ä #1"], factor: 16 },
};

test("every part of the state survives a round trip", () => {
  const back = read(write(full));
  expect(plain(back)).toEqual({ ...plain(full), range: { t0: 1234567, t1: 98765432109 } });
});

const selections: Selection[] = [
  { kind: "strand", run: "a", id: 0, task: 0 },
  { kind: "strand", run: "a", id: 4, task: 2, inner: 123456 },
  { kind: "task", run: "a", id: 9 },
  { kind: "site", run: "a", site: 3 },
  { kind: "code", run: "b", code: 2 },
  { kind: "group", run: "a", id: "g0.10.20", task: 0 },
  { kind: "steal", run: "a", strand: 5, task: 6 },
  { kind: "row", run: "a", row: 1 },
  { kind: "range", run: "a", t0: 0.5, t1: 10 },
  { kind: "line", run: "a", file: "C:\\x y/ü:z.rs", line: 12 },
];
test.each(selections)("selection $kind", (selection) => {
  expect(read(write({ ...START, selection })).selection).toEqual(selection);
});

test("no layers and no expanded nodes differ from the initial state", () => {
  const s = read(write({ ...START, layers: new Set(), expanded: new Set() }));
  expect(s.layers.size).toBe(0);
  expect(s.expanded.size).toBe(0);
});

describe("any hash parses", () => {
  test.each([
    "#tab=nonsense",
    "#t=5,1",
    "#t=NaN,Infinity",
    "#sel=strand:a:x:y",
    "#sel=line:a:%E0%A4%A:1",
    "#finding=0",
    "#finding=1e9",
    "#power",
    "#layout=power:77",
    "#factor=-2",
    "#&&==&%",
    "#run=%E0%A4%A",
  ])("%s reads as the start", (hash) => {
    const s = plain(read(hash));
    const start = plain(START);
    if (hash === "#layout=power:77") start.layout = "power";
    expect(s).toEqual(start);
  });
  test("a very long list of nodes is truncated", () => {
    expect(
      read("#dag=" + Array.from({ length: 5000 }, (_, i) => `t${i}`).join(",")).expanded.size,
    ).toBe(300);
  });
});
