/** Tiles of the timeline, which are planes, and the paths. */

/**
 * `profile?run&level&index`, planes f32 of TILE_BINS: running, ready_create,
 * ready_create_continuation, ready_wait_continuation, ready_yield_continuation, ready_end,
 * ready_depend, ready_signal (mean numbers), delay, no_work_sched, no_work_app, descheduled,
 * blocked, unread (mean workers; with running they add up to W unless oversubscribed; unread are
 * workers without a strand while a damaged trace lacks their records).
 */

/**
 * `rows?run&level&index`, a timeline tile of all rows of `threads`, in that order. Planes of rows ×
 * TILE_BINS, row by row: work, descheduled, blocked (u8, 255 = the whole bin), strands (u16, the
 * number that touch the bin, saturating), creates (u16), strand (u32, the longest in the bin,
 * 0xffffffff none), code, site (u16, index into RunMeta, 0xffff none), level (u16), queue (f32,
 * only if has.queue), failed (u16, only if has.attempts: attempts to steal that failed in the
 * bin), asleep (u8, only if has.sleeps), cpu (u8, only if has.cpu), critical, ready_path (u8,
 * 255 = the whole bin), delay, no_work_sched, no_work_app (u8: the row's free time by kind; which
 * free row is "delay" is a choice, the lowest first), unread (u8: records are missing).
 */

/**
 * `strands?run&level&index`: exact boxes of a tile. Header: {total, truncated}. If total is more
 * than 8192, truncated is true and only the longest 8192 are there (of more than 65,536 the longest
 * of those that are longest in some bin of their row). Planes, one value per strand, by start: id
 * u32, row u16 (index into threads), start f64, end f64, task u32, code u16, site u16, level u16,
 * flags u8 (1 critical path, 2 ready path, 4 starts after a steal, 8 folded, 16 buried, 32 first of
 * its task, 64 folded, and the trace has only sums of its inside), creates u16, end_kind u8 (as
 * EndKind: 0 create, 1 wait, 2 yield, 3 signal, 4 end), ready f64 (NaN when it started at once),
 * and only if has.sizes size f64 (that its task told, NaN unknown).
 */

/**
 * `inside?run&level&index`, only if has.inside: strands, at least a bin wide, inside the folded
 * strands of a tile that are wide enough to open, read from the trace. Planes as those of
 * `strands`, except that `id` and `task` are the folded strand's, only flags 8 and 64 are used, and
 * there are no creates and ready. Header: {total, truncated}.
 */

/**
 * `arcs?run&level&index`: steals whose time is in the tile. Header: {total, truncated, pairs:
 * [thief row, victim row, count][]}. Planes: from_row u16, from_t f64 (when it was made ready),
 * to_row u16, to_t f64, strand u32, leap u8. At most 2000 steals; if there are more, only the
 * pairs.
 */

/**
 * `waits?run&level&index`: waits inside strands that touch the tile, for locks, condition
 * variables, barriers. Header: {total, truncated, kinds: names}. Planes: row u16 (of the waiting
 * thread), start f64, end f64, kind u8 (index into kinds), strand u32 (the waiting strand), by_row
 * u16 (of the thread that ended it, 0xffff unknown), released f64 (when), by_strand u32 (the strand
 * that thread ran, 0xffffffff unknown), critical u8 (both strands are on the critical path). At
 * most 2000; if there are more, the longest.
 */

/**
 * `path?run&kind=critical|ready&level&index`: pieces merged at the tile's resolution, by time.
 * Planes: row u16, start f64, end f64, strand u32 (the longest in it), gap u8 (1 = the path waits
 * or changes worker between the previous piece and this one).
 */

/**
 * `critical?run`: the critical path, root first, with consecutive strands of the same code and size
 * joined;
 * at most 500 rows, for which the shortest are joined further.
 */
export interface CriticalPath {
  span: number;
  rows: {
    code: number;
    site: number;
    row: number;
    /** The size that the tasks of its strands told, if it is the same. */
    size?: number;
    strands: number;
    weight: number;
    start: number;
    end: number;
    busy: number;
    /** The heaviest strand of the row, and its weight. */
    strand: number;
    heaviest: number;
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
 * `spawned?run&row&level&bin`: tasks that a row created in [bin·2^level, (bin + 1)·2^level). A
 * report carries no such answer.
 */
export interface Spawned {
  /** Number of earlier tasks of the row that other workers can take. */
  before: number;
  /** Number of tasks created in the bin, and the spawn sites of most of them with their counts. */
  total: number;
  sites: [number, number][];
  more_sites: number;
}
