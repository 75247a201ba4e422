import { describe, expect, it } from "vitest";
import type { DagFolded, DagStrand, RunMeta } from "../data/contract";
import { nameOf } from "./nodeDrawing";
import type { DagNode } from "./model";

const meta = {
  name: "sort",
  codes: [{ label: "merge" }],
  sites: [
    { label: "src/sort.rs:19", function: "msort" },
    { label: "src/sort.rs:30", function: null },
  ],
} as unknown as RunMeta;

const collapsed = (of: Partial<DagFolded>) =>
  ({ strand: null, folded: { site: 0, code: 0, label: "merge", ...of } }) as unknown as DagNode;

describe("names of nodes", () => {
  it("are the code of a strand", () => {
    const strand = { code: 0, site: 0 } as DagStrand;
    expect(nameOf({ strand, folded: null } as unknown as DagNode, meta)).toBe("merge");
  });

  it("are the function that creates a task, however heavy the code in it", () => {
    expect(nameOf(collapsed({ kind: "task", expandable: true }), meta)).toBe("msort");
    const unnamed = collapsed({ kind: "task", expandable: true, site: 1 });
    expect(nameOf(unnamed, meta)).toBe("sort.rs:30");
  });

  it("are the code of a task that is one strand, and of a stretch of a task", () => {
    expect(nameOf(collapsed({ kind: "task", expandable: false }), meta)).toBe("merge");
    expect(nameOf(collapsed({ kind: "group", expandable: true }), meta)).toBe("merge");
  });
});
