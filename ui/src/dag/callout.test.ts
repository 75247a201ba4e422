import { expect, test } from "vitest";
import type { DagFolded, DagStrand } from "../data/contract";
import { criticalStrand } from "./paint";

const strand = (critical: boolean) => ({ critical, weight: 5, start: 1, end: 9, row: 2 });
const task = (of: Partial<DagFolded>) => ({
  kind: "task",
  expandable: false,
  critical: true,
  work: 7,
  start: 0,
  end: 8,
  rows: [[3, 8]],
  ...of,
});
const of = (strand: unknown, folded: unknown) =>
  criticalStrand({ strand: strand as DagStrand | null, folded: folded as DagFolded | null });

test("a task of one strand is a strand of the critical path as well", () => {
  expect(of(strand(true), null)?.weight).toBe(5);
  expect(of(strand(false), null)).toBeNull();
  expect(of(null, task({}))).toEqual({ weight: 7, start: 0, end: 8, row: 3 });
  expect(of(null, task({ critical: false }))).toBeNull();
  expect(of(null, task({ expandable: true }))).toBeNull();
  expect(of(null, task({ kind: "group" }))).toBeNull();
});
