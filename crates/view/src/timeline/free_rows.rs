//! Assigns lost time to free rows. The model only counts free workers (MODEL.md §5), but a picture
//! must choose rows.
//!
//! The lowest free rows show *delay*, those after them no-work. If records are missing (a damaged
//! trace) they show neither. Sets of rows are bit sets, so an event takes a few words per 64 rows.

use workspan_analysis::Interval;

use super::window::Grid;
use crate::run::RunModel;
use crate::run::rows::NO_ROW;

/// The kinds of free rows, over the time of a window.
pub(super) struct FreeRows {
    /// Number of rows of pool workers; they come first.
    workers: usize,
    bins: usize,
    /// The set of free rows.
    free: Vec<u64>,
    changed: bool,
    /// The values at the last event: the number of rows with delay, the number with no-work,
    /// whether the no-work is the scheduler's, and whether records are missing.
    last: (u64, u64, bool, bool),
    /// The sets of rows with delay, no-work of the scheduler, no-work of the program, and not read;
    /// and since when each row has its kind.
    what: [Vec<u64>; KINDS],
    since: [Vec<u64>; KINDS],
    /// Ticks row by row and bin by bin, for each kind.
    sums: Vec<[u64; KINDS]>,
}

/// Number of kinds of free rows.
const KINDS: usize = 4;

impl FreeRows {
    pub(super) fn new(model: &RunModel, bins: usize) -> FreeRows {
        let is_worker = |&&thread: &&u32| model.dag.is_worker(thread);
        let workers = model.rows.threads.iter().take_while(is_worker).count();
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
            sums: vec![[0; KINDS]; model.rows.len() * bins],
        }
    }

    /// Notes that a row begins to run strands (`busy`), or stops.
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

    /// Adds the time up to `time` for which `row` was of `kind`.
    fn flush(&mut self, grid: &Grid, row: usize, kind: usize, time: u64) {
        let since = self.since[kind][row];
        let sums = &mut self.sums[row * self.bins..];
        grid.each(since, time, |bin, a, b| sums[bin][kind] += b - a);
    }

    /// The sums, for a window or a run that ends at `end`.
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

/// The lowest `n` of the bits, or all if there are fewer; reduces `n` by their number.
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
