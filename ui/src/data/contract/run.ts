/** The runs: what they are called, what there is of them, and how far reading them has come. */

/** Bins of a tile. A tile of level L and index I covers ticks [I·1024·2^L, (I+1)·1024·2^L). */
export const TILE_BINS = 1024;

export type RunId = string;

/** `meta` */
export interface Meta {
  workspan_view: 1;
  /** Version of workspan. */
  version: string;
  /** A server answers everything; a report answers what it carries. */
  mode: "server" | "report";
  /** One or more; the first is "a". */
  runs: RunMeta[];
  /** Report: finest tile level carried for the whole run; server: 0. */
  finest_level: number;
}

export interface RunMeta {
  id: RunId;
  /** Short name of the program, as the report's title has it. */
  name: string;
  /** File name, without folders. */
  file: string;
  bytes: number;
  runtime: string | null;
  command: string | null;
  host: string | null;
  /** When it was recorded, as the trace tells it. */
  recorded: string | null;
  cpus: number | null;
  /** W of MODEL.md §5. */
  workers: number;
  /** One row each, pool workers first; more than `threads.length` exist when `more_threads` > 0. */
  threads: ThreadMeta[];
  more_threads: number;
  /** Empty where there was one pool at a time; `built`: where the program made it. */
  pools: { size: number; built: string | null }[];
  /** What people call the processes of a run of several: `rank 3`. */
  processes?: string[];
  /** Absolute tick of the run's start; the report's own JSON has absolute ticks. */
  begin: number;
  elapsed: number;
  ticks_per_second: number;
  /** Level at which one tile holds the whole run. */
  top_level: number;
  tasks: number;
  /**
   * Tasks that have a number of their own, from 0; the others are inside of folded strands
   * (`s<strand>.<number there>`). 0 in an overview.
   */
  numbered_tasks: number;
  strands: number;
  /** Steals by the model, and how many of them were made while their thief waited (leapfrogs). */
  steals: number;
  leaps: number;
  /** When the first task for others too was created; null where none was. */
  first_spawn: number | null;
  /** Waits inside of strands of which the trace tells which thread ended them. */
  waits: number;
  folded_strands: number;
  samples: number;
  /**
   * Spawn sites; `SiteIndex` points in here. By critical percent, the root first, as the report has
   * them.
   */
  sites: SiteName[];
  /**
   * Sites behind the first thousands, which no answer tells of one by one; they are in all numbers.
   */
  more_sites: number;
  /** Code, most time first; `CodeIndex` points in here. What boxes are coloured and labelled by. */
  codes: CodeName[];
  /** Which layers have data. */
  has: {
    cpu: boolean;
    queue: boolean;
    /** The runtime told of failed attempts to steal, and of workers that went to sleep. */
    attempts: boolean;
    sleeps: boolean;
    samples: boolean;
    regions: boolean;
    counters: string[];
    leaps: boolean;
    /** What was folded while the trace was read can be looked into (`inside`). */ inside: boolean;
  };
  /** Full sentences. */
  warnings: string[];
  /** Only a part of the trace could be read: counts are at least what is told. */
  unread: boolean;
  facts: [string, string][];
  /**
   * Not null while the run is still being read and only is known what ran when: `rows` and
   * `profile` are answered, at this level and coarser, nothing else; numbers of sites and code are
   * of this time alone. Ask for everything anew once `Status.ready.timeline` is true.
   */
  overview: number | null;
  /**
   * Parts that can be looked at alone, as runs of their own that `only?run=<id>` makes: what the
   * program marked, and the spawn sites with most of the critical path. None in a report.
   */
  parts: PartMeta[];
  /**
   * Set where this is such a part: nothing else takes time in it. Tiles, details and DAG keep the
   * run's times and tell no delay; `report`, `summary` and what is made from them are those of
   * `workspan report --only`, whose clock stands still while the part is not open.
   */
  only: {
    of: RunId;
    kind: "region" | "part" | "site";
    label: string;
    count: number;
    /** Tasks inside; further ones are there because these are below them. */
    tasks: number;
    /** Ticks in which it was open: the elapsed time of its report. */
    elapsed: number;
    /** What `--only` is given for it: `region:solve`. */
    argument: string;
  } | null;
}

export interface PartMeta {
  id: RunId;
  kind: "region" | "part" | "site";
  label: string;
  /** How often it was opened; of a site, its tasks. */
  count: number;
}

export interface ThreadMeta {
  thread: number;
  /** "W0", or what the row of a thread outside of the pool is called. */
  label: string;
  worker: boolean;
  /** The name that the program gave it. */
  name: string | null;
  /** Share of the elapsed time in which it ran a strand on the CPU; null where it is not known. */
  busy: number | null;
  /** Index into `RunMeta.pools`: the pool that it was a worker of for the longest time. */
  pool: number | null;
  /** Index into `processes`. */
  process?: number;
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
 * Code blocks that show the same: the function the block's samples were in most, else the function
 * it starts in.
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
 * at its next stage, POST `go` loads after all what is not there yet.
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
 * An answer of state 4xx/5xx is `{"error": "one sentence", "remedy": "one sentence" | null}`; 202
 * with the same and `loading: true` while a run loads.
 */
export interface Failure {
  error: string;
  remedy: string | null;
  loading?: boolean;
}
