/** The report's statistics (docs/REPORT: `statistics`), in the form that the page uses. */

export interface LengthSpread {
  count: number;
  sum: number;
  mean: number;
  min: number;
  median: number;
  p90: number;
  p99: number;
  max: number;
  /** Counts by powers of two of ticks. */
  histogram: number[];
}

export interface SiteLengths {
  id: number;
  site: string;
  tasks: number;
  strand_lengths: LengthSpread;
  task_lengths: LengthSpread;
  ready: { starts: number; steals: number; times: LengthSpread };
}

export interface ReportStatistics {
  sites: SiteLengths[];
  more_sites: number;
  folded_strands: number;
  ready_by_edge: { edge: string; starts: number; steals: number; times: LengthSpread }[];
  ready: { mean: number; max: number; bin_mean: number[] };
  steals: {
    count: number;
    per_second: number;
    leapfrogs: number;
    failed: number;
    workers: {
      worker: number;
      steals: number;
      leapfrogs: number;
      stolen: number;
      first_steal: number | null;
      failed: number;
      asleep: number;
    }[];
    /** Number of further workers, which have no row. */
    more_workers: number;
    /** By `workers`: rows are thieves, columns victims. */
    matrix: number[][];
    /** Number of steals in which a worker without a row took part. */
    beyond: number;
  };
  /** Rows are the workers an edge leads from, columns those it leads to. */
  dag: { edges: { edge: string; matrix: number[][]; beyond: number }[] } | null;
}

/** Names of the kinds of edges. */
export const EDGES: Record<string, string> = {
  all: "steals",
  create: "spawn",
  create_continuation: "after a spawn",
  wait_continuation: "after a wait",
  yield_continuation: "after a yield",
  end: "a child's end",
  depend: "dependence",
  signal: "signal",
};

/** Steals by worker, of one kind of edge or of all: rows are thieves, columns victims. */
export interface StealPairs {
  edge: string;
  /** The thread of each row and column. */
  workers: number[];
  thieves: number[][];
  /** Number of further workers, which have no row. */
  further: number;
  /**
   * Number of strands that a thread without a row took, or that were taken from one; null if only
   * known together with strands that stayed on their thread.
   */
  beyond: number | null;
}

/**
 * The matrix of all steals, and one for each kind of edge that led to another worker. An edge goes
 * from the worker that made a strand ready to the one that ran it, which is the thief, so its
 * matrix is transposed. Edges within a worker are not steals.
 */
export function stealMatrices(s: Pick<ReportStatistics, "steals" | "dag">): StealPairs[] {
  const workers = s.steals.workers.map((w) => w.worker);
  const { matrix: thieves, more_workers: further, beyond } = s.steals;
  const all: StealPairs[] = [];
  if (thieves.length > 0) all.push({ edge: "all", workers, thieves, further, beyond });
  for (const { edge, matrix, beyond: others } of s.dag?.edges ?? []) {
    const turned = workers.map((thief) =>
      workers.map((victim) => (thief === victim ? 0 : (matrix[victim]?.[thief] ?? 0))),
    );
    const moved = matrix.reduce((sum, row, from) => sum + total(row) - (row[from] ?? 0), 0);
    const shown = total(turned.map(total));
    if (shown === 0) continue;
    const without = others > 0 ? null : moved - shown;
    all.push({ edge, workers, thieves: turned, further, beyond: without });
  }
  return all;
}

export const total = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

/** The rows `[from, to)` of a matrix, or its columns. */
export type Range = readonly [from: number, to: number];

/** Maximum number of rows and columns whose cells are large enough for a name and a number. */
export const READABLE = 20;

/** The readable part of `n` rows around one of them. */
export function readableAround(at: number, n: number): Range {
  const from = Math.max(0, Math.min(n - READABLE, at - READABLE / 2));
  return [from, Math.min(n, from + READABLE)];
}

/** The readable parts of `n` rows. */
export function readableParts(n: number): Range[] {
  return Array.from({ length: Math.ceil(n / READABLE) }, (_, i): Range => [
    i * READABLE,
    Math.min(n, (i + 1) * READABLE),
  ]);
}

/** Sites with tasks, most time first. */
export const siteRows = (s: Pick<ReportStatistics, "sites">): SiteLengths[] =>
  s.sites
    .filter((w) => w.task_lengths.count > 0)
    .sort((a, b) => b.task_lengths.sum - a.task_lengths.sum);
