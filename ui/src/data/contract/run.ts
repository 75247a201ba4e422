/** The runs: their names, their data, and the progress of reading them. */

/** Bins of a tile. A tile of level L and index I covers ticks [I·1024·2^L, (I+1)·1024·2^L). */
export const TILE_BINS = 1024;

export type RunId = string;

/** `meta` */
export interface Meta {
  workspan_view: 1;
  /** Version of workspan. */
  version: string;
  /** A server answers every request; a report only those it has answers for. */
  mode: "server" | "report";
  /** One or more; the first is "a". */
  runs: RunMeta[];
  /** Finest tile level that a report carries for the whole run; 0 from a server. */
  finest_level: number;
}

export interface RunMeta {
  id: RunId;
  /** Short name of the program, as in the report's title. */
  name: string;
  /** File name, without folders. */
  file: string;
  bytes: number;
  runtime: string | null;
  command: string | null;
  host: string | null;
  /** Time of the recording, if the trace has it. */
  recorded: string | null;
  cpus: number | null;
  /** Number of workers: W of MODEL.md §5. */
  workers: number;
  /**
   * One row each, pool workers first; there are more than `threads.length` if `more_threads` > 0.
   */
  threads: ThreadMeta[];
  more_threads: number;
  /** Empty if there was only one pool at a time; `built`: the place where the program made it. */
  pools: { size: number; built: string | null }[];
  /** Names of the processes of a run with several: `rank 3`. */
  processes?: string[];
  /** The NUMA nodes of the machine if it has several, with their CPUs: `0-3,8`. */
  nodes?: { node: number; cpus: string }[];
  /** Absolute tick of the run's start; the report's own JSON has absolute ticks. */
  begin: number;
  elapsed: number;
  ticks_per_second: number;
  /** Level at which one tile holds the whole run. */
  top_level: number;
  tasks: number;
  /**
   * Number of tasks with an index of their own; the others are inside folded strands
   * (`s<strand>.<index there>`). 0 in an overview.
   */
  numbered_tasks: number;
  strands: number;
  /**
   * Number of steals by the model, and how many of them were made while their thief waited
   * (leapfrogs).
   */
  steals: number;
  leaps: number;
  /** Time of the first task that other workers can take; null if there is none. */
  first_spawn: number | null;
  /** Number of waits inside strands for which the trace has the thread that ended them. */
  waits: number;
  folded_strands: number;
  samples: number;
  /**
   * Spawn sites, the target of `SiteIndex`: by critical percent, the root first, as in the report.
   */
  sites: SiteName[];
  /**
   * Number of sites beyond the first thousands. No answer lists them, but all sums include them.
   */
  more_sites: number;
  /** Code, most time first, the target of `CodeIndex`. Boxes are coloured and labelled by it. */
  codes: CodeName[];
  /** Layers with data. */
  has: {
    cpu: boolean;
    queue: boolean;
    /** The runtime reports failed attempts to steal, and workers that went to sleep. */
    attempts: boolean;
    sleeps: boolean;
    samples: boolean;
    regions: boolean;
    counters: string[];
    leaps: boolean;
    /** Strands folded during reading can be opened (`inside`). */ inside: boolean;
    /** Tasks told their sizes. */ sizes: boolean;
  };
  /** Full sentences. */
  warnings: string[];
  /** Only a part of the trace could be read: counts are lower bounds. */
  unread: boolean;
  facts: [string, string][];
  /**
   * Not null while the run is still being read and only the times of strands are known: `rows` and
   * `profile` are answered, at this level and coarser, nothing else; site and code indices are
   * valid only during this time. Ask for everything again once `Status.ready.timeline` is true.
   */
  overview: number | null;
  /**
   * Parts that can be viewed alone, as runs of their own that `only?run=<id>` makes: those the
   * program marked, and the spawn sites with most of the critical path. A report has no parts.
   */
  parts: PartMeta[];
  /**
   * Set if this is such a part: nothing else takes time in it. Tiles, details and DAG keep the
   * run's times and have no delay. `report`, `summary` and their derivatives equal `workspan report
   * --only`, whose clock stands still while the part is not open.
   */
  only: {
    of: RunId;
    kind: "region" | "part" | "site";
    label: string;
    count: number;
    /** Tasks inside; further ones exist only as ancestors of these. */
    tasks: number;
    /** Ticks in which it was open: the elapsed time of its report. */
    elapsed: number;
    /** Its argument of `--only`: `region:solve`. */
    argument: string;
  } | null;
}

export interface PartMeta {
  id: RunId;
  kind: "region" | "part" | "site";
  label: string;
  /** Number of times it was opened; for a site, the number of its tasks. */
  count: number;
}

export interface ThreadMeta {
  thread: number;
  /** "W0", or the name of the row for a thread outside the pool. */
  label: string;
  worker: boolean;
  /** The thread's name in the program. */
  name: string | null;
  /** Share of the elapsed time in which it ran a strand on the CPU; null if unknown. */
  busy: number | null;
  /** Index into `RunMeta.pools`: the pool of which it was a worker for the longest time. */
  pool: number | null;
  /** Index into `processes`. */
  process?: number;
  /** The NUMA node on which it ran the longest, where known, and the part of its CPU time there. */
  node?: number;
  on_node?: number;
}

export interface SiteName {
  place: number;
  /** As in the report: `src/sort.rs:37`, `root`, a symbol. */
  label: string;
  function: string | null;
  file: string | null;
  line: number | null;
}

/**
 * Code blocks with the same name: the function that most of the block's samples are in, or
 * otherwise the function in which it starts.
 */
export interface CodeName {
  label: string;
  function: string | null;
  file: string | null;
  line: number | null;
  /** Sum of its strands' time. */
  ticks: number;
}

/**
 * `status`: server-sent events while loading (server only). POST `stop` ends loading for all pages
 * at its next stage; POST `go` resumes it.
 */
export interface Status {
  run: RunId;
  stage: string;
  done: number;
  of: number;
  stopped: boolean;
  ready: { overview: boolean; timeline: boolean; rest: boolean };
  error: string | null;
}

/**
 * An answer of status 4xx/5xx is `{"error": "one sentence", "remedy": "one sentence" | null}`; an
 * answer of status 202, while a run loads, has `loading: true` in addition.
 */
export interface Failure {
  error: string;
  remedy: string | null;
  loading?: boolean;
}
