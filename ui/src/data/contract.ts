/**
 * What the page asks for and what it gets. The one contract between `crates/view` (which answers)
 * and the page; the server and the single-file report give the same bytes for the same request, so
 * the views know nothing of where data comes from.
 *
 * A request is a relative URL, `api/v1/<name>?<parameters in the order given here>`. The text of
 * the URL is also the key under which a single-file report carries the answer, so parameters are
 * quantised (level and index of a tile, never a free range) and written exactly as the functions in
 * `requests.ts` write them.
 *
 * Times are ticks of `RunMeta.ticks_per_second`, relative to `RunMeta.begin`, unless said
 * otherwise. Indices of tasks and strands are those of the DAG's columns (`Dag::tasks`,
 * `Dag::strands`), `null` where there is none.
 *
 * Binary answers are "planes" (see planes.ts): "WSPV", u32 length of a JSON header, the header,
 * zero padding to a multiple of 8 bytes from the start, then each plane little-endian, each padded
 * to a multiple of 8. The header is `{"planes":[{"name","type","length"}], ...facts}` with type u8
 * | u16 | u32 | f32 | f64.
 */

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
  /** Steals by the model, and those the runtime reported while its thief waited (leapfrog). */
  steals: number;
  leaps: number;
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
    samples: boolean;
    regions: boolean;
    counters: string[];
    leaps: boolean;
    /** What was folded while the trace was read can be looked into (`inside`). */ inside: boolean;
  };
  /** Full sentences. */
  warnings: string[];
  facts: [string, string][];
  /**
   * Not null while the run is still being read and only is known what ran when: `rows` and
   * `profile` are answered, at this level and coarser, nothing else; numbers of sites and code are
   * of this time alone. Ask for everything anew once `Status.ready.timeline` is true.
   */
  overview: number | null;
}

export interface ThreadMeta {
  thread: number;
  /** "W0", or what the row of a thread outside of the pool is called. */
  label: string;
  worker: boolean;
  /** Share of the elapsed time in which it ran a strand on the CPU. */
  busy: number | null;
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
 * `report?run` is the object of `workspan report --json --statistics` (docs/TEXT_TRACE.md), with
 * the sites of `RunMeta.sites` alone.
 */
export type Report = Record<string, any>;

/**
 * `report.estimated`: what ran unrecorded, to stay inside the overhead budget; null where all was
 * recorded.
 */
export interface Estimated {
  /** Work that was measured but not looked into, in units of the metric. */
  unrecorded_work: number;
  unrecorded_strands: number;
  /** All tasks of the run, at least and at most; the same of the span. */
  tasks_low: number;
  tasks_high: number;
  span_low: number;
  span_high: number;
}

/** `summary?run`: the words of `workspan report`, so that page and terminal say the same. */
export interface Summary {
  verdict: string;
  /** Sentences under it; the words of one are text, code (monospace) or strong. */
  why: Words[];
  findings: FindingWords[];
  /** "Also checked": one line each. */
  checked: { state: "good" | "bad" | "absent"; what: string; value: string }[];
}
export type Words = {
  text: string;
  as?: "code" | "strong" | "place";
  file?: string;
  line?: number;
}[];
export interface FindingWords {
  /** As in `report.findings[].id`. */
  id: string;
  title: Words;
  evidence: Words;
  /** Share of the lost time, 0 to 1, and worker-ticks. */
  share: number;
  lost: number;
  /** What to show for it: a range of the timeline and what is selected there. */
  show: { t0: number; t1: number; strand: number | null; site: number | null; code: number | null };
  /** Source around its place with heat, when there is a source and there are samples. */
  source: { file: string; line: number } | null;
}

/**
 * `profile?run&level&index`, planes f32 of TILE_BINS: running, ready_create,
 * ready_create_continuation, ready_wait_continuation, ready_yield_continuation, ready_end,
 * ready_depend, ready_signal (mean numbers), delay, no_work_sched, no_work_app, descheduled,
 * blocked (mean workers; with running they add up to W where not oversubscribed).
 */

/**
 * `rows?run&level&index`, a timeline tile of all rows of `threads`, in that order. Planes of rows ×
 * TILE_BINS, row by row: work, descheduled, blocked (u8, 255 = the whole bin), strands (u16, how
 * many touch the bin, saturating), creates (u16), strand (u32, the one that is longest in the bin,
 * 0xffffffff none), code, site (u16, index into RunMeta, 0xffff none), level (u16), queue (f32,
 * only where has.queue), cpu (u8, only where has.cpu), critical, ready_path (u8, 255 = the whole
 * bin), delay, no_work_sched, no_work_app (u8: the row's free time by kind; which free row is
 * "delay" is a choice, the lowest first).
 */

/**
 * `strands?run&level&index`: exact boxes of a tile. Header: {total, truncated}. When total is more
 * than 8192, truncated is true and only the longest 8192 are there (of more than 65,536 the longest
 * of those that are longest in some bin of their row). Planes, one value each strand, by start: id
 * u32, row u16 (index into threads), start f64, end f64, task u32, code u16, site u16, level u16,
 * flags u8 (1 critical path, 2 ready path, 4 starts after a steal, 8 folded, 16 buried, 32 first of
 * its task, 64 folded, and the trace has sums alone of what is inside), creates u16, end_kind u8
 * (as EndKind: 0 create, 1 wait, 2 yield, 3 signal, 4 end), ready f64 (NaN when it started at
 * once).
 */

/**
 * `inside?run&level&index`, only where has.inside: strands of a bin and more inside the folded
 * strands of a tile that are wide enough to look into, read from the trace. Planes as those of
 * `strands`, `id` and `task` being the folded strand's, flags 8 and 64 alone, without creates and
 * ready. Header: {total, truncated}.
 */

/**
 * `arcs?run&level&index`: steals whose time is in the tile. Header: {total, truncated, pairs:
 * [thief row, victim row, count][]}. Planes: from_row u16, from_t f64 (where it was made ready),
 * to_row u16, to_t f64, strand u32, leap u8. At most 2000, else none but pairs.
 */

/**
 * `path?run&kind=critical|ready&level&index`: pieces merged at the tile's resolution, by time.
 * Planes: row u16, start f64, end f64, strand u32 (the longest in it), gap u8 (1 = the path waits
 * or changes worker between the previous piece and this one).
 */

/**
 * `critical?run`: the critical path, consecutive strands of the same code joined, root first; at
 * most 500 rows, the shortest joined further.
 */
export interface CriticalPath {
  span: number;
  rows: {
    code: number;
    site: number;
    row: number;
    strands: number;
    weight: number;
    start: number;
    end: number;
    busy: number;
    strand: number;
  }[];
  joined: number;
}

/** `regions?run` */
export interface RegionSpan {
  label: string;
  task: number;
  row: number;
  start: number;
  end: number;
  tree: boolean;
  part: boolean;
}

/**
 * `dag?run&ids=<comma-separated node ids, at most 64>`: what expanding those nodes shows. A node id
 * is `t<task>` (a task), or `g<task>.<from>.<to>` (a stretch of the task's inside: its strands and
 * children from..to in program order, folded because there are too many to show one by one),
 * `gr.<from>.<to>` (some of the roots), or `r` (the run: its items are the root tasks, collapsed,
 * the main one first; their own facts come from here), or, inside of a folded strand, `s<strand>`
 * (the strand itself, opened), `s<strand>.<k>` (its k-th task by creation) or
 * `s<strand>.<k>.<from>.<to>` (a stretch of one's inside). A report carries answers for one id
 * each, and the page asks a report for one id at a time.
 */
export interface DagAnswer {
  nodes: Record<string, DagInside>;
}
/**
 * The inside of an expanded node, in program order. A task is a series of strands and forks. At
 * most 200 items: the rest is folded into groups by the server. An answer that holds 5000 items has
 * no further nodes: ask for them again. `ancestors` ends after 2000 ids, of a deeper task before
 * the task itself.
 */
export interface DagInside {
  items: DagItem[];
}
export type DagItem = DagStrand | DagFolded;
export interface DagStrand {
  kind: "strand";
  id: number;
  task: number;
  row: number;
  start: number;
  end: number;
  weight: number;
  code: number;
  site: number;
  critical: boolean;
  ready_path: boolean;
  ready: number | null;
  /** Node ids of the children created at its end that are shown in this inside, in order. */
  creates: string[];
  /** Node ids whose end it waited for (among those shown), and strands it waited for by signal. */
  joins: string[];
  signals: number[];
  /** What ended it. */
  end_kind: number;
  /** Tasks that it stands for, of a subtree that was folded; else 0. */
  folded: number;
  /**
   * What it adds up to, when it can be opened as node `s<id>`; else there is nothing inside or no
   * more than `folded` is known.
   */
  inside?: {
    tasks: number;
    strands: number;
    work: number;
    span: number;
    critical_work: number;
  } | null;
  /** Inside of a folded strand, whose `id` and `task` it has: which strand it is there. */
  inner?: number | null;
}
/** A task or a group with all below it, collapsed. */
export interface DagFolded {
  kind: "task" | "group";
  id: string;
  site: number;
  code: number;
  label: string;
  task: number;
  tasks: number;
  strands: number;
  children: number;
  work: number;
  span: number;
  start: number;
  end: number;
  ready: number | null;
  critical: boolean;
  critical_work: number;
  /** Busy time by row, longest first, at most 8. */
  rows: [number, number][];
  /** Running strands inside, mean per 24 equal bins of [start, end). */
  running: number[];
  /** Node ids it depends on (depend edges), among those of the same parent. */
  depends: string[];
  /** False when there is nothing inside but one strand. */
  expandable: boolean;
}

/**
 * `ancestors?run&task`: node ids from the root down to the task, each of which must be expanded to
 * see the next.
 */
export type Ancestors = string[];

/**
 * `way?run&id`: node ids from the root down, each of which must be expanded to see strand `id`;
 * with `&at` (a tick) to see the one that runs then inside of folded strand `id`, which is its
 * strand `inner`; with `&node` to see that node inside of it.
 */
export interface Way {
  open: string[];
  inner: number | null;
}

/** `strand?run&id` and `task?run&id`: for the drawer. */
export interface StrandDetail {
  id: number;
  task: number;
  of: number;
  row: number;
  start: number;
  end: number;
  weight: number;
  descheduled: number;
  blocked: number;
  recording: number;
  between: number;
  code: number;
  site: number;
  from: PlaceWords;
  to: PlaceWords;
  critical: boolean;
  ready_path: boolean;
  ready: number | null;
  made_ready_by: { strand: number; task: number; row: number; edge: string } | null;
  stolen: { victim: number | null; leap: boolean } | null;
  /** Mean number of running strands while it ran. */
  meanwhile: number;
  counters: [string, number][];
  functions: { function: string; file: string | null; line: number | null; samples: number }[];
  previous: number | null;
  next: number | null;
  previous_on_row: number | null;
  next_on_row: number | null;
  /** As DagStrand.folded; nothing but sums of those is in the trace. */
  folded: number;
  sums_alone: boolean;
}
/**
 * `inside_strand?run&id&at`: the strand that runs at tick `at` inside folded strand `id`.
 * `inside_task?run&id=<node id>`: the task of a node there.
 */
export interface InsideDetail {
  strand: number;
  task: number;
  row: number;
  start: number;
  end: number;
  code: number;
  site: number;
  level: number;
  from: PlaceWords;
  to: PlaceWords;
  /**
   * The tasks inside that it is below, innermost first, up to the folded strand's own task; `more`
   * further ones are left out.
   */
  stack: {
    site: number;
    created: number;
    begun: number;
    at: string | null;
    function: string | null;
    file: string | null;
    line: number | null;
  }[];
  more: number;
  /** The folded strand. */
  folded: {
    start: number;
    end: number;
    tasks: number;
    strands: number;
    work: number;
    span: number;
  };
  /**
   * Of a strand that was folded while it was recorded: sums of what it stands for, of which no more
   * is known.
   */
  stands_for: { tasks: number; strands: number; work: number; span: number } | null;
  /**
   * Of a task: its number among those inside (0: the folded strand's own), and what it adds up to
   * with all below it.
   */
  all: {
    number: number;
    children: number;
    tasks: number;
    strands: number;
    work: number;
    span: number;
  } | null;
}
export interface PlaceWords {
  kind: string;
  at: string | null;
  file: string | null;
  line: number | null;
  function: string | null;
}
export interface TaskDetail {
  task: number;
  number: number;
  kind: "root" | "deferred" | "inline" | "detached";
  level: number;
  site: number;
  code: number;
  first: number;
  last: number;
  start: number;
  end: number;
  strands: number[];
  more_strands: number;
  children: number;
  first_children: number[];
  work: number;
  span: number;
  tasks: number;
  /** The logical stack, innermost first, across steals; the first is the task itself. */
  stack: {
    task: number;
    site: number;
    code: number;
    row: number;
    start: number;
    spawned_on: number | null;
    stolen_by: number | null;
    function: string | null;
    file: string | null;
    line: number | null;
  }[];
  joined_by: number | null;
  waits: { at: PlaceWords; from: number; to: number; tasks: number }[];
  depends: number[];
  longest: boolean;
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

/**
 * `scalability` (all runs): bounds of each run at 1, 2, 3, 4, 6, 8, 12, … 128 workers, and measured
 * points.
 */
export interface Scalability {
  runs: {
    run: RunId;
    work: number;
    span: number;
    burdened_span: number;
    points: { workers: number; lower: number; upper: number }[];
    note: string | null;
  }[];
  measured: { run: RunId; workers: number; speedup: number; how: string }[];
}

/** `compare?a&b` is the object of `workspan compare --json`; `words` are its sentences. */
export interface Compare {
  words: { title: string; lines: string[] };
  table: Record<string, any>;
}

/**
 * `whatif?run&what&factors` with what = comma-separated `site:<place>` | `code:<index>` |
 * `lines:<file>:<from>-<to>` | `region:<label>`. `critical` is the path's composition at the first
 * factor. The page asks once with the default factors (2,4,8,16,50,100,200,400: the key a report
 * carries), and for the composition at another factor with that one alone.
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
