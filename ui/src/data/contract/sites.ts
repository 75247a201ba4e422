/** Spawn sites, sums over tasks, and source lines with heat. */

/**
 * `tasks?run&site` or `tasks?run&task`: sums over the tasks of a site, or over a task and all of
 * its descendants.
 */
export interface TasksReport {
  tasks: number;
  /** Sums over the strands; `ready`: from when each was ready until it started. */
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
    /**
     * Strands of these tasks that another worker took, and how many of those while it waited in a
     * join.
     */
    stolen: number;
    leaps: number;
    /** Strands that these tasks made ready and another worker took. */
    robbed: number;
    /** Rows of the pair with most steals, if there is more than one pair. */
    most: { thief: number; victim: number; count: number } | null;
  };
  /** Indices into `Summary.findings`: the findings whose strand belongs to these tasks. */
  findings: number[];
}

/** `sites?run`: additional data of the table of sites, and the code of its blocks in all sites. */
export interface SiteExtras {
  sites: SiteExtra[];
  codes: CodeSizes[];
}

/** Additional data of the site in the same place of `report.sites`. */
export interface SiteExtra {
  place: number;
  delay: number;
  /** Ticks for which strands were ready while their thread ran an unrelated task. */
  buried: number;
  /** Mean number of running strands of the site, in 64 equal bins of the run. */
  spark: number[];
  /** Lengths of its strands in ticks. */
  lengths: { min: number; median: number; p90: number; max: number };
  /** Parallel over serial time − 1, if a second run on one worker is open; otherwise null. */
  stretch: number | null;
  /** Longest instances, for stepping through. */
  longest: { task: number; start: number; end: number }[];
  /**
   * By code, most time first (`report.sites[].blocks` are finer): weight in ticks, the part of it
   * on the critical path, number of strands.
   */
  blocks: {
    code: number;
    work: number;
    critical: number;
    count: number;
    spark: number[];
    stretch: number | null;
  }[];
}

/** The strands of a code in all sites: sums of weights in ticks, and the strands by size. */
export interface CodeSizes {
  code: number;
  /** Number of spawn sites whose tasks have such strands. */
  sites: number;
  work: number;
  critical: number;
  count: number;
  /**
   * By the size of their tasks if all told one, otherwise by weight (nearest power of two), the
   * smallest first: the mean size, if by size, number of strands, the sum of their
   * weights, mean running strands during their runs, and ticks of free workers at that time,
   * divided equally among the strands that ran. `free` is null if some ran when records were
   * missing already.
   */
  sizes: {
    size?: number;
    strands: number;
    total: number;
    spark: number[];
    busy: number;
    free: number | null;
  }[];
}

/**
 * `source?run&file`: lines with heat. A report carries the lines around those that have heat or are
 * a place.
 */
export interface Source {
  file: string;
  /** A full sentence about why there are no lines; `lines` is empty then. */
  missing: string | null;
  /**
   * Why only some lines are known: those that the trace carries, and those with samples, without
   * their text.
   */
  part: string | null;
  /** Set if the file on disk is newer than the run. */
  changed: boolean;
  lines: { line: number; text: string; samples: number; critical: number; ticks: number }[];
}
