/** Nodes of the DAG, and which of them to open. */

/**
 * `dag?run&ids=<comma-separated node ids, at most 64>`: what expanding those nodes shows. A node id
 * is `t<task>` (a task), or `g<task>.<from>.<to>` (a stretch of the task's inside: its strands and
 * children from..to in program order, folded because there are too many to show one by one),
 * `gr.<from>.<to>` (some of the roots), or `r` (the run: its items are the root tasks, collapsed,
 * the main one first; their own facts come from here), or, inside of a folded strand, `s<strand>`
 * (the strand itself, opened), `s<strand>.<k>` (its k-th task by creation) or
 * `s<strand>.<k>.<from>.<to>` (a stretch of one's inside). A report carries answers for one id
 * each, and the page asks a report for one id at a time.
 * With `&sections=1`, of a server alone, the sections of a task are groups; so it is with the two
 * requests below.
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
  /** A group that is a section: from a task's first create to where it has waited for all. */
  section: boolean;
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
