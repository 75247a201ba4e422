/** Spawn sites, sums over tasks, and source with heat. */

/**
 * `tasks?run&site` or `tasks?run&task`: sums over the tasks of a site, or over a task and all that
 * it created.
 */
export interface TasksReport {
  tasks: number;
  /** Over the strands; `ready`: from when each was ready until it started. */
  sums: {
    strands: number;
    /** First start and last end. */
    start: number;
    end: number;
    work: number;
    recording: number;
    descheduled: number;
    blocked: number;
    /** Work on the critical path. */
    critical: number;
    ready: number;
  };
  /** Ticks in which at least one of the strands ran. */
  active: number;
  /** Most work first. */
  codes: { code: number; work: number; strands: number }[];
  more_codes: number;
  steals: {
    /** Strands of theirs that another worker took, and of these while it waited in a join. */
    stolen: number;
    leaps: number;
    /** Strands that theirs made ready and another worker took. */
    robbed: number;
    /** Rows of the pair with most steals, where that is more than one. */
    most: { thief: number; victim: number; count: number } | null;
  };
  /** Indices into `Summary.findings`: those whose strand is among them. */
  findings: number[];
}

/** `sites?run`: what the table has beside `report.sites` (same order). */
export interface SiteExtra {
  place: number;
  delay: number;
  buried: number;
  /** Time in 64 equal bins of the run, mean running strands of the site. */
  spark: number[];
  /** Lengths of its strands in ticks. */
  lengths: { min: number; median: number; p90: number; max: number };
  /** Parallel over serial − 1, with a second run on one worker beside; null without. */
  stretch: number | null;
  /** Longest instances, for stepping through. */
  longest: { task: number; start: number; end: number }[];
  /**
   * By code, most time first (`report.sites[].blocks` are finer): weight in ticks, what of it is on
   * the critical path, strands.
   */
  blocks: {
    code: number;
    work: number;
    critical: number;
    count: number;
    spark: number[];
    stretch: number | null;
    /**
     * Its strands by weight (nearest power of two), the lightest first: how many, the sum of their
     * weights, mean running strands while they ran, and ticks of free workers meanwhile, shared
     * equally among what ran.
     */
    sizes: { strands: number; total: number; spark: number[]; busy: number; free: number }[];
  }[];
}

/**
 * `source?run&file`: lines with heat. The report carries the lines around what has heat or is a
 * place.
 */
export interface Source {
  file: string;
  /** Why there are no lines, a full sentence; lines is empty then. */
  missing: string | null;
  /**
   * Why there are only lines that the trace carries, and lines that samples fell into, without
   * their text.
   */
  part: string | null;
  /** Set when the file on disk is newer than the run. */
  changed: boolean;
  lines: { line: number; text: string; samples: number; critical: number; ticks: number }[];
}
