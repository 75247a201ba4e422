import { expect, test } from "vitest";
import { csv, sorted, type Column } from "../components/Table";
import { parse, type RowFacts } from "./filter";

const rows: RowFacts[] = [
  {
    text: "msort src/sort.rs:37",
    numbers: { work: 6.51, critical: 0.488, count: 126, stretch: null },
  },
  {
    text: "qsort src/sort.rs:27",
    numbers: { work: 3.08, critical: 0.003, count: 7396, stretch: 0.15 },
  },
  {
    text: "fill src/gen.rs:14",
    numbers: { work: 0.000275, critical: 0.004, count: 126, stretch: 0 },
  },
];
const known = ["work", "critical", "count", "stretch"];
const of = (text: string) => {
  const f = parse(text, known);
  return "error" in f ? f.error : rows.filter(f.fits).map((r) => r.text.split(" ")[0]);
};

test.each([
  ["", ["msort", "qsort", "fill"]],
  ["SORT.rs", ["msort", "qsort"]],
  ["sort -msort", ["qsort"]],
  ["work>1ms", ["msort", "qsort"]],
  ["work > 275us", ["msort", "qsort"]],
  ["work>=275us", ["msort", "qsort", "fill"]],
  ["work<1ms", ["fill"]],
  ["crit>5%", ["msort"]],
  ["critical>=0.4% count<1k", ["msort", "fill"]],
  ["count=7,396", ["qsort"]],
  ["sort.rs, work>4s", ["msort"]],
  // Unknown values match no limit.
  ["stretch<100%", ["qsort", "fill"]],
])("%j", (text, names) => {
  const got = of(text);
  expect(got).toEqual(names);
});

test("an invalid filter says why", () => {
  expect(of("wrok>1ms")).toContain("Unknown column");
  expect(of("work>")).toContain("needs a number");
  expect(of("work>fast")).toContain("needs a number");
});

type R = { n: number; s: string };
const columns: Column<R>[] = [
  { id: "n", title: "n", cell: (r) => r.n, sort: (r) => r.n, csv: (r) => r.n },
  { id: "s", title: "the, name", cell: (r) => r.s, sort: (r) => r.s, csv: (r) => r.s },
];
test("sorting is stable, and values that are not numbers come last", () => {
  const list = [
    { n: 1, s: "b" },
    { n: NaN, s: "x" },
    { n: 2, s: "a" },
    { n: 1, s: "a" },
  ];
  expect(sorted(list, columns, { column: "n", down: true }).map((r) => r.s)).toEqual([
    "a",
    "b",
    "a",
    "x",
  ]);
  expect(sorted(list, columns, { column: "s", down: false }).map((r) => r.s)).toEqual([
    "a",
    "a",
    "b",
    "x",
  ]);
  expect(sorted(list, columns, null)).toBe(list);
});
test("CSV quotes fields if necessary, and a name never becomes a formula", () => {
  expect(
    csv(columns, [
      { n: 1.5, s: 'a "b", c' },
      { n: -2, s: "=1+1" },
    ]),
  ).toBe('n,"the, name"\n1.5,"a ""b"", c"\n-2,\'=1+1\n');
});
