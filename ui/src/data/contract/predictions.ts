/** Predictions for the program: bounds, comparison, what-if. */

import type { RunId } from "./run";

/**
 * `scalability` (all runs): bounds of each run at 1, 2, 3, 4, 6, 8, 12, … 256 workers, at its
 * own number and at `known_to`, and measured points.
 */
export interface Scalability {
  runs: {
    run: RunId;
    work: number;
    span: number;
    burdened_span: number;
    /** The largest speedup, on any number of workers or up to `known_to` of them. */
    limit: number;
    /**
     * The number of threads that divided the work, if they did: more threads would have smaller
     * shares, so the bound on more workers is not known.
     */
    known_to: number | null;
    points: { workers: number; lower: number; upper: number }[];
    note: string | null;
  }[];
  measured: {
    run: RunId;
    workers: number;
    speedup: number;
    how: string;
    /** Computed by a model of a scheduler rather than measured. */
    simulated: boolean;
    /**
     * Measured against a run of the same program on one worker; otherwise against the run's own
     * work.
     */
    against_serial: boolean;
    /** A full sentence if the baseline run did not have the machine to itself. */
    warning: string | null;
  }[];
}

/** `compare?a&b` is the object of `workspan compare --json`; `words` are its sentences. */
export interface Compare {
  words: { title: string; lines: string[] };
  table: Record<string, any>;
  /** Of each row of `table.blocks`, its CodeIndex in both runs; null where it did not run. */
  codes: [number | null, number | null][];
}

/**
 * `whatif?run&what&factors` with what = comma-separated `site:<place>` | `code:<index>` |
 * `lines:<file>:<from>-<to>` | `region:<label>`. `critical` is the path's composition at the first
 * factor. The page asks once with the default factors (2,4,8,16,50,100,200,400: the key a report
 * carries), and once for each other factor whose composition it needs.
 */
export interface WhatIf {
  rows: {
    factor: number;
    span: number;
    parallelism: number;
    speedups: { workers: number; lower: number; upper: number }[];
  }[];
  critical: { code: number; weight: number }[];
}
