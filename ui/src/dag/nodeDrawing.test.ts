import { describe, expect, it } from "vitest";
import type { DagFolded, DagStrand, RunMeta } from "../data/contract";
import { LIGHT } from "../colors";
import { drawStrand, nameOf, type DrawingStyle } from "./nodeDrawing";
import type { DagNode } from "./model";
import type { Pen } from "./pen";

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

describe("a strand's time off the CPU", () => {
  const view = { x: 0, y: 0, w: 200, h: 200 };
  const style = {
    view,
    t: LIGHT,
    dark: false,
    mode: "worker",
    meta: { ...meta, threads: [], ticks_per_second: 1000 },
  } as unknown as DrawingStyle;
  /** Height of the crosses of a strand of 100 ticks, 40 of them work. */
  const crosses = (blocked: number | undefined) => {
    let height = 0;
    const pen = {
      box: () => {},
      line: () => {},
      text: () => {},
      measure: () => 1000,
      ground: (...[, , , h, kind]: Parameters<Pen["ground"]>) => {
        if (kind === "blocked") height += h;
      },
    } as unknown as Pen;
    const strand = { start: 0, end: 100, weight: 40, row: 0, code: 0, site: 0, blocked };
    const n = { kind: "strand", strand, folded: null } as unknown as DagNode;
    const box = { x: 0, y: 0, w: 100, h: 100, cx: 50 };
    drawStrand(pen, n, box as Parameters<typeof drawStrand>[2], style);
    return height;
  };
  it("has crosses for the part in which it was blocked", () => {
    expect(crosses(undefined)).toBe(0);
    expect(crosses(25)).toBe(25);
    expect(crosses(90)).toBe(60);
  });
});
