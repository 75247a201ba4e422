/** Logical stacks, and SQL queries. */

/**
 * Time on the CPU; only that on the critical path; or time of free workers, divided among the
 * strands that ran.
 */
export type FlameOf = "all" | "critical" | "free";

/**
 * `flame?run&of[&t0&t1][&recursion=1]`: frames of the stacks from the root through the spawn sites
 * of a task's ancestors to the code. Without `recursion` a site occurs once in a stack.
 */
export interface Flame {
  /** Parents precede their children; the first frame is the root. */
  frames: {
    parent: number | null;
    site: number;
    /** Null for the tasks of a site; otherwise the code that they run themselves. */
    code: number | null;
    /** Own ticks, without those of child frames. */
    ticks: number;
    strands: number;
    /** Ticks of strands of stolen tasks. */
    stolen: number;
    /** Of a site's tasks: the smallest and the largest size that they told. */
    sizes?: [number, number];
    /** Sums over the frames below it that were omitted. */
    omitted?: { ticks: number; strands: number; stolen: number };
  }[];
  total: number;
  /** Ticks of omitted frames. */
  left_out: number;
}

/** `queries`: the prepared queries; `schema` is the SQL that makes the tables. */
export interface Queries {
  queries: { name: string; about: string; sql: string }[];
  schema: string;
}

/** `sql?run&query`: the first rows of the answer. */
export interface SqlAnswer {
  columns: string[];
  rows: (string | number | null)[][];
  more: boolean;
  note: string | null;
}
