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
    /** Rows are thieves, columns victims; if there are many workers, only the first. */
    matrix: number[][];
  };
  /** Rows are the workers an edge leads from, columns those it leads to. */
  dag: { edges: { edge: string; matrix: number[][] }[] } | null;
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
  thieves: number[][];
}

/**
 * The matrix of all steals, and one for each kind of edge that led to another worker. An edge goes
 * from the worker that made a strand ready to the one that ran it, which is the thief, so its
 * matrix is transposed. Edges within a worker are not steals.
 */
export function stealMatrices(s: Pick<ReportStatistics, "steals" | "dag">): StealPairs[] {
  const n = s.steals.matrix.length;
  const all: StealPairs[] = n ? [{ edge: "all", thieves: s.steals.matrix }] : [];
  for (const { edge, matrix } of s.dag?.edges ?? []) {
    const turned = Array.from({ length: n }, (_, thief) =>
      Array.from({ length: n }, (_, victim) =>
        thief === victim ? 0 : (matrix[victim]?.[thief] ?? 0),
      ),
    );
    if (turned.some((row) => row.some((v) => v > 0))) all.push({ edge, thieves: turned });
  }
  return all;
}

/** Sites with tasks, most time first. */
export const siteRows = (s: Pick<ReportStatistics, "sites">): SiteLengths[] =>
  s.sites
    .filter((w) => w.task_lengths.count > 0)
    .sort((a, b) => b.task_lengths.sum - a.task_lengths.sum);
