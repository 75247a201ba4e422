import { expect, test } from "vitest";
import { stealMatrices } from "./reportStatistics";

const steals = (matrix: number[][]) => ({
  count: 3,
  per_second: 1,
  leapfrogs: 0,
  failed: 0,
  workers: [],
  matrix,
});

test("an edge's matrix has thieves as rows and victims as columns, without strands that stayed", () => {
  const matrix = [
    [0, 3],
    [0, 0],
  ];
  // From worker 1 to worker 0, as worker 0 stole from worker 1.
  const edges = [
    {
      edge: "create",
      matrix: [
        [544, 0],
        [3, 472],
      ],
    },
    {
      edge: "wait_continuation",
      matrix: [
        [284, 0],
        [0, 245],
      ],
    },
  ];
  expect(stealMatrices({ steals: steals(matrix), dag: { edges } })).toEqual([
    { edge: "all", thieves: matrix },
    { edge: "create", thieves: matrix },
  ]);
});

test("a run without workers has no matrix", () => {
  expect(stealMatrices({ steals: steals([]), dag: null })).toEqual([]);
});
