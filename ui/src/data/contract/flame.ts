/** Logical stacks, and questions in SQL. */

/** Time on the CPU; of the critical path alone; time of free workers, shared by what ran. */
export type FlameOf = "all" | "critical" | "free";

/**
 * `flame?run&of[&t0&t1][&recursion=1]`: frames of the stacks from the root through the spawn sites
 * of a task's ancestors to the code. Without `recursion` a site stands in a stack once.
 */
export interface Flame {
  /** Parents stand before their children; the first is the root. */
  frames: {
    parent: number | null;
    site: number;
    /** Null for the tasks of a site; else what they run themselves. */
    code: number | null;
    /** Own ticks, without those of frames above. */
    ticks: number;
    strands: number;
    /** Ticks of strands of stolen tasks. */
    stolen: number;
  }[];
  total: number;
  /** Ticks of frames that are not told. */
  left_out: number;
}

/** `queries`: the ready questions; `schema` is the SQL that makes the tables. */
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
