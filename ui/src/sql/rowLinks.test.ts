import { expect, test } from "vitest";
import { linkOf } from "./rowLinks";

const RUN = { id: "a", elapsed: 2_000_000, ticks_per_second: 2e9, tasks: 10, strands: 20 };

test("a row with a strand links to it, at its time in ticks", () => {
  const link = linkOf(["strand", "task", "start", "time"], [7, 3, 100_000, 50_000], RUN)!;
  expect(link.selection).toEqual({ kind: "strand", run: "a", id: 7, task: 3 });
  // 100 to 150 us of a clock with two ticks per nanosecond, with half of that as margin on each
  // side.
  expect(link.at).toEqual({ t0: 150_000, t1: 350_000 });
});

test("a row with a task only, or a time only, has a link", () => {
  expect(linkOf(["task"], [3], RUN)).toEqual({
    selection: { kind: "task", run: "a", id: 3 },
    at: null,
  });
  expect(linkOf(["start", "end"], [0, 1000], RUN)?.selection.kind).toBe("range");
});

test("rows of sums, unknown tasks and text have no link", () => {
  expect(linkOf(["level", "sum"], [3, 4], RUN)).toBeNull();
  expect(linkOf(["task"], [10], RUN)).toBeNull();
  expect(linkOf(["task"], ["x"], RUN)).toBeNull();
});
