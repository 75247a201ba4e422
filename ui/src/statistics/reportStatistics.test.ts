import { expect, test } from "vitest";
import { readableAround, readableParts, stealMatrices } from "./reportStatistics";

const worker = (thread: number) => ({
  worker: thread,
  steals: 0,
  leapfrogs: 0,
  stolen: 0,
  first_steal: null,
  failed: 0,
  asleep: 0,
});

const steals = (matrix: number[][], threads = matrix.map((_, i) => i)) => ({
  count: 3,
  per_second: 1,
  leapfrogs: 0,
  failed: 0,
  workers: threads.map(worker),
  more_workers: 0,
  matrix,
  beyond: 0,
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
      beyond: 0,
    },
    {
      edge: "wait_continuation",
      matrix: [
        [284, 0],
        [0, 245],
      ],
      beyond: 0,
    },
  ];
  const rest = { workers: [0, 1], further: 0, beyond: 0 };
  expect(stealMatrices({ steals: steals(matrix), dag: { edges } })).toEqual([
    { edge: "all", thieves: matrix, ...rest },
    { edge: "create", thieves: matrix, ...rest },
  ]);
});

test("rows of a matrix are the workers that took part, whatever their numbers", () => {
  const matrix = [
    [0, 2],
    [0, 0],
  ];
  // Thread 3 took two from thread 1, and one from thread 0, which has no row.
  const edges = [
    {
      edge: "create",
      matrix: [
        [5, 0, 0, 1],
        [0, 5, 0, 2],
        [0, 0, 0, 0],
        [0, 0, 0, 5],
      ],
      beyond: 0,
    },
  ];
  const turned = stealMatrices({ steals: steals(matrix, [3, 1]), dag: { edges } })[1];
  expect(turned).toMatchObject({ workers: [3, 1], thieves: matrix, beyond: 1 });
});

test("of many workers, parts are chosen that are readable", () => {
  expect(readableParts(70)).toEqual([
    [0, 20],
    [20, 40],
    [40, 60],
    [60, 70],
  ]);
  expect(readableAround(3, 96)).toEqual([0, 20]);
  expect(readableAround(50, 96)).toEqual([40, 60]);
  expect(readableAround(95, 96)).toEqual([76, 96]);
});

test("a run without workers has no matrix", () => {
  expect(stealMatrices({ steals: steals([]), dag: null })).toEqual([]);
});
