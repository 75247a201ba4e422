import { describe, expect, it } from "vitest";
import type { Estimated, Report } from "../data/contract";
import { errorMargin, estimateSentences, spanInterval } from "./estimates";

const of: Estimated = {
  unrecorded_work: 930,
  unrecorded_strands: 5,
  tasks_low: 900,
  tasks_high: 1100,
  span_low: 100,
  span_high: 125,
};
const report: Report = { metric: "time", work: 1000, span: 100, tasks: 1000 };
const spaces = (text: string) => text.replace(/\u00a0/g, " ");

describe("a run within the overhead budget", () => {
  it("shows the error margins of its numbers", () => {
    expect(spaces(errorMargin(1000, 900, 1100))).toBe("± 10 %");
    expect(errorMargin(1000, 1000, 1000)).toBe("");
    const between = spanInterval(of, report, 1e9);
    expect([spaces(between.span), between.parallelism]).toEqual([
      "100 ns to 125 ns",
      "8.00 to 10.0",
    ]);
  });

  it("shows no margin for counted tasks", () => {
    expect(
      spaces(estimateSentences({ ...of, tasks_low: 1000, tasks_high: 1000 }, report, 1e9)),
    ).toMatch(/tasks are counted\. The span is between 100 ns and 125 ns\.$/);
  });

  it("describes the estimates in sentences", () => {
    expect(spaces(estimateSentences(of, report, 1e9))).toMatch(
      /^93 % of the work ran unrecorded.* 1,000 ± 10 %\. The span is between 100 ns and 125 ns\.$/,
    );
  });
});
