//! Which free row is what: the model only counts free workers (MODEL.md §5), and a picture has to
//! choose.
//!
//! The lowest free rows are *delay*, those after them no-work. Where records are missing
//! (a damaged trace) they are neither. Rows are bits, so that an event
//! costs a few words whatever the number of rows.

use workspan_analysis::Interval;

use super::window::Grid;
use crate::run::Picture;
use crate::run::rows::NO_ROW;

/// What free rows are, over the time of a window.
pub(super) struct FreeRows {
    /// Rows of pool workers; they come first.
    workers: usize,
    bins: usize,
    /// Free rows.
    free: Vec<u64>,
    changed: bool,
    /// Numbers of rows that are delay and no-work, and of which kind, when last looked at; whether
    /// it is not known what they are.
    last: (u64, u64, bool, bool),
    /// Rows that are delay, no-work of the scheduler, no-work of the program, not read; and since
    /// when each row is what it is.
    what: [Vec<u64>; KINDS],
    since: [Vec<u64>; KINDS],
    /// Ticks: row by row, by kind.
    sums: Vec<[u64; KINDS]>,
}

/// Kinds of free rows.
const KINDS: usize = 4;

impl FreeRows {
    pub(super) fn new(picture: &Picture, bins: usize) -> FreeRows {
        let is_worker = |&&thread: &&u32| picture.dag.is_worker(thread);
        let workers = picture.rows.threads.iter().take_while(is_worker).count();
        let mut free = vec![0u64; workers.div_ceil(64)];
        for row in 0..workers {
            free[row / 64] |= 1 << (row % 64);
        }
        let none = vec![0; free.len()];
        FreeRows {
            workers,
            bins,
            free,
            changed: true,
            last: (0, 0, false, false),
            what: std::array::from_fn(|_| none.clone()),
            since: std::array::from_fn(|_| vec![0; workers]),
            sums: vec![[0; KINDS]; picture.rows.len() * bins],
        }
    }

    /// A row begins to run strands, or ends.
    pub(super) fn busy(&mut self, row: u16, busy: bool) {
        let i = usize::from(row);
        if row == NO_ROW || i >= self.workers {
            return;
        }
        let bit = 1 << (i % 64);
        if busy {
            self.free[i / 64] &= !bit;
        } else {
            self.free[i / 64] |= bit;
        }
        self.changed = true;
    }

    pub(super) fn pass(&mut self, grid: &Grid, now: &Interval) {
        let (delay, no_work) = (now.shares.delay, now.shares.no_work);
        let wanted = (delay, no_work, now.no_work_sched, now.is_unread);
        if !self.changed && wanted == self.last {
            return;
        }
        (self.changed, self.last) = (false, wanted);
        let (mut delay, mut no_work, sched, is_unread) = wanted;
        for word in 0..self.free.len() {
            let free = self.free[word];
            let unread = if is_unread { free } else { 0 };
            let delayed = lowest(free, &mut delay);
            let idle = lowest(free & !delayed, &mut no_work);
            let (by_sched, by_app) = if sched { (idle, 0) } else { (0, idle) };
            for (kind, now_is) in [delayed, by_sched, by_app, unread].into_iter().enumerate() {
                let was = std::mem::replace(&mut self.what[kind][word], now_is);
                each_bit(was & !now_is, |bit| {
                    self.flush(grid, word * 64 + bit, kind, now.begin);
                });
                each_bit(now_is & !was, |bit| {
                    self.since[kind][word * 64 + bit] = now.begin;
                });
            }
        }
    }

    /// Adds that `row` has been of `kind` until `time`.
    fn flush(&mut self, grid: &Grid, row: usize, kind: usize, time: u64) {
        let since = self.since[kind][row];
        let sums = &mut self.sums[row * self.bins..];
        grid.each(since, time, |bin, a, b| sums[bin][kind] += b - a);
    }

    /// The sums, when the window or the run ends at `end`.
    pub(super) fn finish(mut self, grid: &Grid, end: u64) -> Vec<[u64; KINDS]> {
        for kind in 0..KINDS {
            for word in 0..self.free.len() {
                let rows = self.what[kind][word];
                each_bit(rows, |bit| self.flush(grid, word * 64 + bit, kind, end));
            }
        }
        self.sums
    }
}

/// The lowest `n` of the bits; as many as there are are taken off `n`.
fn lowest(bits: u64, n: &mut u64) -> u64 {
    let all = u64::from(bits.count_ones());
    if all <= *n {
        *n -= all;
        return bits;
    }
    let mut rest = bits;
    for _ in 0..std::mem::take(n) {
        rest &= rest - 1;
    }
    bits & !rest
}

fn each_bit(mut bits: u64, mut f: impl FnMut(usize)) {
    while bits != 0 {
        f(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
