/** Details of a strand and of a task, for the drawer. */

/** `strand?run&id` and `task?run&id`: facts for the drawer. */
export interface StrandDetail {
  id: number;
  task: number;
  /** The size that its task told (MODEL.md §1). */
  size?: number;
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
  /** Mean number of running strands during its run. */
  meanwhile: number;
  counters: [string, number][];
  functions: { function: string; file: string | null; line: number | null; samples: number }[];
  previous: number | null;
  next: number | null;
  previous_on_row: number | null;
  next_on_row: number | null;
  /** As DagStrand.folded; the trace has only sums of those tasks. */
  folded: number;
  sums_alone: boolean;
  /** Waits for other threads inside it, longest first, at most 6; and their total number. */
  waits: WaitWords[];
  all_waits: { count: number; ticks: number };
  /** Waits of other threads that this strand ended. */
  ended_waits: {
    count: number;
    ticks: number;
    longest: { row: number; strand: number; task: number; start: number; end: number } | null;
  };
}
export interface WaitWords {
  start: number;
  end: number;
  kind: string;
  at: LineWords | null;
  /** The thread that ended it; null if the trace does not say. */
  by: { row: number; strand: number | null; task: number | null } | null;
  /** Time and place of the release that the wait was for. */
  released: number | null;
  released_at: LineWords | null;
  /** Both strands are on the critical path. */
  critical: boolean;
}
export interface LineWords {
  function: string;
  file: string | null;
  line: number | null;
}
/**
 * `inside_strand?run&id&at`: the strand that runs at tick `at` inside folded strand `id`.
 * `inside_task?run&id=<node id>`: the task of a node inside a folded strand.
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
   * The ancestors inside, innermost first, up to the folded strand's own task; `more` further ones
   * are omitted.
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
  /** The surrounding folded strand. */
  folded: {
    start: number;
    end: number;
    tasks: number;
    strands: number;
    work: number;
    span: number;
  };
  /**
   * For a strand that was folded during recording: sums of the strands it stands for, which is all
   * that is known.
   */
  stands_for: { tasks: number; strands: number; work: number; span: number } | null;
  /**
   * For a task: its number among the tasks inside (0: the folded strand's own), and its sums with
   * everything below it.
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
  /** The size that it told. */
  size?: number;
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
