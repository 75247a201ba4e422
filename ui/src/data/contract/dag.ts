/** Nodes of the DAG, and the ways to a node. */

/**
 * `dag?run&ids=<comma-separated node ids, at most 64>`: the insides of those nodes. A node id is
 * `t<task>` (a task), `g<task>.<from>.<to>` (a stretch of the task's inside: its strands and
 * children from..to in program order, grouped because there are too many to show one by one),
 * `gr.<from>.<to>` (some of the roots), or `r` (the run: its items are the root tasks, collapsed,
 * the main one first; their own facts come from here). Inside a folded strand it is `s<strand>`
 * (the strand itself, opened), `s<strand>.<k>` (its k-th task by creation) or
 * `s<strand>.<k>.<from>.<to>` (a stretch of that task's inside). A report carries answers for one
 * id each, and the page asks a report for one id at a time.
 *
 * With `&sections=1`, which only a server answers, the sections of a task are groups; the two
 * requests below also take it.
 */
export interface DagAnswer {
  nodes: Record<string, DagInside>;
}
/**
 * The inside of an expanded node, in program order. A task is a series of strands and forks. It has
 * at most 200 items: the server groups the rest. An answer with 5000 items contains no further
 * nodes: ask for them again. `ancestors` ends after 2000 ids, so for a deeper task before the task
 * itself.
 */
export interface DagInside {
  items: DagItem[];
}
export type DagItem = DagStrand | DagFolded;
export interface DagStrand {
  kind: "strand";
  id: number;
  task: number;
  /** The size that its task told (MODEL.md §1). */
  size?: number;
  row: number;
  start: number;
  end: number;
  weight: number;
  /** Ticks off the CPU in which it waited, and was not preempted; 0 if missing. */
  blocked?: number;
  code: number;
  site: number;
  critical: boolean;
  ready_path: boolean;
  ready: number | null;
  /** Node ids of the children created at its end that this inside contains, in order. */
  creates: string[];
  /**
   * Node ids whose end it waited for (among the shown ones), and strands it waited for by signal.
   */
  joins: string[];
  signals: number[];
  /** Kind of the strand's end. */
  end_kind: number;
  /** Number of tasks in the folded subtree that it stands for; otherwise 0. */
  folded: number;
  /**
   * Sums of its inside if it can be opened as node `s<id>`; otherwise nothing is inside, or only
   * `folded` is known.
   */
  inside?: {
    tasks: number;
    strands: number;
    work: number;
    span: number;
    critical_work: number;
  } | null;
  /** Inside a folded strand, which gives `id` and `task`: the index of the strand in it. */
  inner?: number | null;
}
/** A collapsed task or group, with everything below it. */
export interface DagFolded {
  kind: "task" | "group";
  id: string;
  site: number;
  code: number;
  label: string;
  task: number;
  /** The size that the task told; a group has none. */
  size?: number;
  tasks: number;
  strands: number;
  children: number;
  work: number;
  span: number;
  /** As DagStrand.blocked, of a task with a single strand. */
  blocked?: number;
  start: number;
  end: number;
  ready: number | null;
  critical: boolean;
  critical_work: number;
  /** Busy time by row, longest first, at most 8. */
  rows: [number, number][];
  /** Mean number of running strands inside, per 24 equal bins of [start, end). */
  running: number[];
  /** Node ids it depends on (depend edges), among those of the same parent. */
  depends: string[];
  /** False if its inside is a single strand. */
  expandable: boolean;
  /** A group that is a section: from a task's first create to the wait for all of them. */
  section: boolean;
}

/**
 * `ancestors?run&task`: node ids from the root down to the task; each must be expanded to show the
 * next.
 */
export type Ancestors = string[];

/**
 * `way?run&id`: node ids from the root down that must be expanded, in order, to show strand `id`.
 * With `&at` (a tick): to show the strand that runs at that time inside folded strand `id`, which
 * is its strand `inner`. With `&node`: to show that node inside it.
 */
export interface Way {
  open: string[];
  inner: number | null;
}
