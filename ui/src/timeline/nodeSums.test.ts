import { expect, it } from "vitest";
import type { RunMeta } from "../data/contract";
import { nodeSums } from "./stealMatrix";

const rowsOn = (...nodes: (number | undefined)[]) =>
  ({ threads: nodes.map((node) => ({ node })) }) as unknown as RunMeta;

it("adds the steals up within and between NUMA nodes", () => {
  const pairs = [
    [0, 1, 5],
    [0, 2, 3],
    [3, 1, 2],
    [4, 0, 9],
  ] as const;
  // The last row's node is not known.
  expect(nodeSums(rowsOn(0, 0, 1, 1, undefined), pairs)).toEqual({
    nodes: [0, 1],
    counts: [
      [5, 3],
      [2, 0],
    ],
    total: 10,
    between: 5,
  });
  expect(nodeSums(rowsOn(0, 0, 0), pairs)).toBeNull();
  expect(nodeSums(rowsOn(undefined, undefined), pairs)).toBeNull();
});
