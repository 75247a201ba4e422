import { expect, test } from "vitest";
import type { RunMeta } from "../data/contract";
import type { ChangedPlace } from "./changes";
import { headline } from "./headline";

const CODES = [
  { label: "merge", file: "src/sort.rs", line: 43 },
  { label: "after sort:55", file: "src/sort.rs", line: 55 },
  { label: "merge_parallel:80", file: "src/sort.rs", line: 80 },
];
const run = (id: string, workers = 8) => ({ id, workers, codes: CODES }) as unknown as RunMeta;

type Pair = [number, number];
const MS = 1e6;

function table(quantities: Record<string, Pair>, noise = "unknown") {
  const all = Object.entries(quantities).map(([key, [a, b]]) => [
    key,
    { values: [{ mean: a * MS }, { mean: b * MS }], differences: [{ noise }] },
  ]);
  return { quantities: Object.fromEntries(all) };
}

const row = (code: number, critical: Pair, work: Pair = critical) =>
  ({
    name: CODES[code]!.label,
    code: { run: "a", code },
    critical: critical.map((x) => x * MS),
    work: work.map((x) => x * MS),
  }) as ChangedPlace;

function words(quantities: Record<string, Pair>, rows: ChangedPlace[], b = run("b")) {
  const h = headline(table(quantities), rows, run("a"), b)!;
  return h.change + (h.cause && `: ${h.code ? `${h.code.name} ` : ""}${h.cause}`);
}

const MERGED: Record<string, Pair> = {
  elapsed: [1900, 1000],
  work: [7400, 7800],
  span: [1280, 60],
  no_work_app: [7500, 200],
};

test("code that left the critical path is the cause if it explains most of the change", () => {
  const rows = [row(0, [700, 10]), row(0, [500, 5]), row(2, [0, 20])];
  expect(words(MERGED, rows)).toBe("runs 1.90× as fast: merge at sort.rs:43 no longer holds it");
  const back: Record<string, Pair> = {};
  for (const [key, [a, b]] of Object.entries(MERGED)) back[key] = [b, a];
  expect(words(back, [row(1, [10, 1200])])).toBe(
    "takes 1.90× as long: the code after sort:55 now holds it",
  );
  expect(words(MERGED, [row(2, [1000, 200])])).toBe(
    "runs 1.90× as fast: merge_parallel at sort.rs:80 is on its critical path for " +
      "200\u00a0ms instead of 1.00\u00a0s",
  );
});

test("otherwise the cause is a kind of worker time, or none", () => {
  const kind = "runs 1.90× as fast: 7.30\u00a0worker·s less “no work, program”";
  // Two codes share the change; one code took the place of another.
  expect(words(MERGED, [row(0, [450, 0]), row(1, [440, 0])])).toBe(
    "runs 1.90× as fast: 7.30\u00a0worker·s less “no work, program”",
  );
  expect(words(MERGED, [row(0, [1200, 0]), row(2, [0, 800])])).toBe(kind);
  // The path of a run that its work holds explains nothing.
  const busy: Record<string, Pair> = {
    elapsed: [4000, 3700],
    work: [31000, 28900],
    span: [500, 200],
  };
  const rows = [row(0, [400, 100], [3000, 2900]), row(1, [0, 0], [28000, 26000])];
  expect(words(busy, rows)).toBe(
    "takes 7.5\u00a0% less time: the code after sort:55 does 2.00\u00a0s less work",
  );
  // The other way round: faster with more work, and no kind explains half of it.
  const none: Record<string, Pair> = {
    elapsed: [1000, 800],
    work: [1000, 1300],
    delay: [3000, 2400],
    no_work_app: [3000, 2400],
  };
  expect(words(none, [])).toBe("runs 1.25× as fast");
});

test("no cause for small changes, noise and other numbers of workers", () => {
  expect(words({ ...MERGED, elapsed: [1000, 980] }, [row(0, [700, 10])])).toBe(
    "takes 2.0\u00a0% less time",
  );
  expect(words({ ...MERGED, elapsed: [1000, 1000] }, [])).toBe("takes as long");
  expect(words(MERGED, [row(0, [1200, 5])], run("b", 4))).toBe(
    "runs 1.90× as fast on 4 instead of 8 workers",
  );
  const noisy = headline(table(MERGED, "within"), [row(0, [1200, 5])], run("a"), run("b"))!;
  expect(noisy).toEqual({
    change: "takes 1.00\u00a0s, no other time within the noise",
    code: null,
    cause: "",
  });
  expect(headline(table({ elapsed: [0, 0] }), [], run("a"), run("b"))).toBeNull();
});
