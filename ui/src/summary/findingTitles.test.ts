import { expect, test } from "vitest";
import type { FindingWords, RunMeta } from "../data/contract";
import { plainWords } from "../components/widgets";
import { findingTitle, lineOf, type FindingPlace } from "./findingTitles";

const run = {
  codes: [{ label: "merge" }, { label: "after msort:55" }, { label: "after libm.so+0x8f" }],
  sites: [
    { label: "root", function: null },
    { label: "src/sort.rs:55", function: "msort" },
  ],
} as unknown as RunMeta;

function finding(id: string, show: Partial<FindingWords["show"]>): FindingWords {
  return {
    id,
    index: 0,
    title: [{ text: "What happened" }],
    evidence: [],
    share: 0.5,
    lost: 1,
    gain: 1,
    show: { t0: 0, t1: 1, strand: null, site: null, code: null, ...show },
    source: { file: "src/sort.rs", line: 43 },
  };
}
const afterJoin: FindingPlace = {
  function: "msort",
  from: { kind: "after_wait", primitive: "join", function: "msort" },
  to: { kind: "end", primitive: null, function: null },
};
const said = (f: FindingWords, place?: FindingPlace) => plainWords(findingTitle(f, place, run));

test("a title is an instruction with the function and the line", () => {
  expect(said(finding("serial-strand", { code: 0 }))).toBe("Split merge — sort.rs:43");
  expect(said(finding("grain-fine", { site: 1 }))).toBe(
    "Give more work to each of the tasks of msort — sort.rs:43",
  );
});

test("code without samples is named after the calls around it", () => {
  expect(said(finding("serial-strand", { code: 1 }), afterJoin)).toBe(
    "Split the code after the join in msort — sort.rs:43",
  );
});

test("causes of the machine have no line, and unknown causes keep the report's sentence", () => {
  expect(said(finding("descheduled", { code: 0 }))).toBe("Run it alone on the machine");
  expect(said(finding("something-new", {}))).toBe("What happened");
});

test("code after a call in a library without symbols is named by its address", () => {
  const nowhere = {
    ...afterJoin,
    from: { kind: "after_wait", primitive: "parallel", function: null },
  };
  expect(said({ ...finding("serial-strand", { code: 2 }), source: null }, nowhere)).toBe(
    "Split the code after libm.so+0x8f",
  );
});

test("what limits a run is the line of the finding's title, and none of the machine", () => {
  expect(lineOf(finding("serial-strand", { code: 0 }))).toEqual({ file: "src/sort.rs", line: 43 });
  expect(lineOf(finding("descheduled", { code: 0 }))).toBeNull();
});
