import { describe, expect, test } from "vitest";
import {
  workerSeconds,
  axisTime,
  bytes,
  signedPercent,
  count,
  labelEnd,
  percent,
  plainNumber,
  shortCount,
  roundSteps,
  sized,
  ticks,
  time,
  multiple,
  pageUnits,
} from "./format";

const plainSpace = (s: string) => s.replaceAll("\u00a0", " ");

describe("times have three digits and a fitting unit", () => {
  test.each([
    [1.9, "1.90 s"],
    [12.34, "12.3 s"],
    [123.4, "123 s"],
    [0.548, "548 ms"],
    [0.0898, "89.8 ms"],
    [0.00463, "4.63 ms"],
    [963e-6, "963 µs"],
    [2.1e-6, "2.10 µs"],
    [51e-9, "51 ns"],
    [0.136e-9, "0.14 ns"],
    [0, "0 s"],
    [-0.000317, "−317 µs"],
    // At the edges between units nothing has four digits or a zero before the point.
    [0.9999, "1.00 s"],
    [0.9994, "999 ms"],
    [0.00099999, "1.00 ms"],
    [9.999, "10.0 s"],
    [99.99, "100 s"],
    [0.09999, "100 ms"],
    [999.7e-9, "1.00 µs"],
    [Number.NaN, "–"],
    [Infinity, "–"],
  ])("%s s is %s", (seconds, text) => expect(plainSpace(time(seconds))).toBe(text));
  test("the space before a unit does not break", () => expect(time(1)).toContain("\u00a0"));
  test("ticks depend on the clock's rate", () =>
    expect(plainSpace(ticks(2_500_000, 2.5e9))).toBe("1.00 ms"));
  test("areas have the unit worker·s", () =>
    expect(plainSpace(workerSeconds(7.49))).toBe("7.49 worker·s"));
});

test("a name has the size of its task, or of the smallest and the largest one", () => {
  expect(plainSpace(sized("merge", 1_250_000))).toBe("merge 1.25 M");
  expect(plainSpace(sized("msort", [625_000, 1_250_000]))).toBe("msort 625 k–1.25 M");
  // Sizes that look alike are one.
  expect(plainSpace(sized("msort", [1_250_000, 1_250_001]))).toBe("msort 1.25 M");
  expect([undefined, null, NaN].map((size) => sized("main", size))).toEqual([
    "main",
    "main",
    "main",
  ]);
});

test("percentages keep a useful digit", () => {
  expect([0.5, 0.0952, 0.0995, 0.007, 0.0003, 0, 1].map((x) => plainSpace(percent(x)))).toEqual([
    "50 %",
    "9.5 %",
    "10 %",
    "0.7 %",
    "<0.1 %",
    "0 %",
    "100 %",
  ]);
});
test("changes have a sign", () => {
  expect([0.08, -0.46, 0.0001, 20.4].map((x) => plainSpace(signedPercent(x)))).toEqual([
    "+8.0 %",
    "−46 %",
    "±0 %",
    "+2040 %",
  ]);
});
test("ratios", () => {
  expect([1.21, 5.8, 124.6, 8, 1, 12, 0].map(plainNumber)).toEqual([
    "1.21",
    "5.80",
    "125",
    "8.00",
    "1.00",
    "12.0",
    "0",
  ]);
  expect(multiple(3.91)).toBe("3.91×");
});
test("counts and sizes", () => {
  expect(count(7649)).toBe("7,649");
  expect([999, 1250, 312_500, 1_250_000, 999_900].map((x) => plainSpace(shortCount(x)))).toEqual([
    "999",
    "1.25 k",
    "313 k",
    "1.25 M",
    "1.00 M",
  ]);
  expect(plainSpace(bytes(412_000))).toBe("412 KB");
});

describe("axes", () => {
  test("steps are round and inside the interval", () => {
    const { step, at } = roundSteps(0, 1.9, 10);
    expect(step).toBeCloseTo(0.2);
    expect(at.length).toBe(10);
    expect(at.at(-1)).toBeCloseTo(1.8);
  });
  test("an empty interval has no steps and ends", () => {
    expect(roundSteps(1, 1, 5).at).toEqual([]);
    expect(roundSteps(0, 1, 0).at).toEqual([]);
    expect(roundSteps(1e15, 1e15 + 0.001, 5).at.length).toBeLessThan(1001);
  });
  test("all marks of an axis have one unit", () => {
    expect([0, 0.2, 1.8].map((t) => plainSpace(axisTime(t, 0.2)))).toEqual(["0", "0.2 s", "1.8 s"]);
    expect([0.58, 0.6].map((t) => plainSpace(axisTime(t, 0.02)))).toEqual(["580 ms", "600 ms"]);
    expect(plainSpace(axisTime(1.0000005, 1e-7))).toBe("1000000.5 µs");
  });
});

test("the report's words have the page's units", () => {
  expect(plainSpace(pageUnits("583 us a strand, 2.1 us a steal; thus 3 users"))).toBe(
    "583 µs a strand, 2.1 µs a steal; thus 3 users",
  );
});

test("words of the report have the page's units", () => {
  expect(pageUnits("12 us, 57.4x as fast, at 0x557b66")).toBe(
    "12\u00a0µs, 57.4× as fast, at 0x557b66",
  );
});

test("labels of code end with what tells them apart", () => {
  expect(labelEnd("after msort:56")).toBe(":56");
  expect(labelEnd("libm.so.6+0x8f")).toBe("+0x8f");
  expect(labelEnd("merge")).toBe("");
  expect(labelEnd(sized("merge", 1_250_000))).toBe(" 1.25\u00a0M");
  expect(labelEnd(sized("msort", [1, 1e4]))).toBe(" 1–10.0\u00a0k");
});
