//! Computes any stretch of the run in bins from the strands.

use workspan_analysis::{
    Column, Interval, IntervalObserver, Marks, SweepIndex, off_between, share_within,
};
use workspan_dag::{Dag, EdgeKind, NONE, StrandId};

use super::cell::{Cell, kind};
use super::free_rows::FreeRows;
use crate::run::RunModel;

/// Number of means of a bin: running, ready by edge kind, delay, no-work of the scheduler, no-work
/// of the program, descheduled, blocked, and workers of which nothing was read.
pub(super) const PROFILE: usize = 14;
/// Indices of running strands, of those that a create made ready, and of the delay.
const WORKING: usize = 0;
const READY_BY_CREATE: usize = 1;
const DELAY: usize = 8;
/// The first kind of edge (`EdgeKind as usize`) that makes a strand ready when others have ended.
const READY_AFTER_OTHERS: usize = EdgeKind::WaitContinuation as usize;

/// The data that windows are computed from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(super) index: SweepIndex,
    /// Strands without length, by thread and then by start; and where those of each thread begin.
    instants: Vec<StrandId>,
    threads: Vec<u32>,
    /// Number of tasks created at the end of each strand.
    creates: Column,
    on_ready_path: Marks,
}

/// A range of bins of all rows.
#[derive(Debug)]
pub(super) struct Window {
    /// The number of the first bin, and the number of bins.
    pub first: u64,
    pub bins: usize,
    /// Each bin has 2^level ticks.
    pub level: u32,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
    /// Sums of each bin, in strand-ticks and worker-ticks.
    pub profile: Vec<[u128; PROFILE]>,
}

impl Source {
    pub(super) fn new(model: &RunModel) -> Source {
        let dag = &*model.dag;
        let path = workspan_analysis::ready_path(dag);
        let mut creates = vec![0u16; dag.strands.len()];
        for &creator in &dag.tasks.creator {
            if let Some(n) = creates.get_mut(creator as usize) {
                *n = n.saturating_add(1);
            }
        }
        let on_ready_path = Marks::new(path.strands.iter().map(|s| s.0));
        let (instants, threads) = instants(dag);
        Source {
            index: SweepIndex::new(dag, &model.facts.ready, path),
            instants,
            threads,
            creates: Column::new(|| creates.iter().map(|&n| n.into())),
            on_ready_path,
        }
    }

    /// Number of tasks created at the end of strand `s`, capped at 65,535.
    pub(crate) fn creates(&self, s: StrandId) -> u16 {
        self.creates.get(s as usize) as u16
    }

    /// Whether strand `s` is on the ready path.
    pub(crate) fn on_ready_path(&self, s: StrandId) -> bool {
        self.on_ready_path.has(s)
    }

    /// The strands of a thread that take time, by start.
    pub(crate) fn strands_of(&self, thread: u32) -> &[StrandId] {
        self.index.strands_of(thread as usize)
    }

    /// The strands of a thread without length, by start.
    pub(crate) fn instants_of(&self, thread: u32) -> &[StrandId] {
        let thread = thread as usize;
        match (self.threads.get(thread), self.threads.get(thread + 1)) {
            (Some(&a), Some(&b)) => &self.instants[a as usize..b as usize],
            _ => &[],
        }
    }

    /// Approximate number of events between two absolute ticks.
    pub(super) fn load(&self, model: &RunModel, from: u64, to: u64) -> usize {
        let dag = &*model.dag;
        let before = |t: u64| dag.strands.start.partition_point(|&start| start < t);
        let strands = before(to).saturating_sub(before(from));
        let stood = &model.facts.ready;
        let ready = self.index.ready_in(dag, stood, (from, to));
        strands + ready + self.index.off_events_in(from, to)
    }

    /// Computes `bins` bins; the first has number `first`.
    pub(super) fn window(&self, model: &RunModel, level: u32, first: u64, bins: usize) -> Window {
        let dag = &*model.dag;
        let grid = Grid {
            origin: model.begin,
            level,
            first,
            bins,
        };
        let rows = model.rows.len();
        let mut cells = vec![Cell::default(); rows * bins];
        let profile = vec![[0; PROFILE]; bins];
        let mut between = vec![0; bins];
        for (row, cells) in cells.chunks_mut(bins.max(1)).enumerate() {
            let thread = model.rows.threads[row];
            let strands = self.strands_of(thread);
            self.strands(model, &grid, strands, cells, &mut between);
            self.instants(model, &grid, self.instants_of(thread), cells);
        }
        let mut sweep = Sweep {
            grid,
            model,
            profile,
            free: FreeRows::new(model, bins),
        };
        let (from, to) = (grid.begin(), grid.end());
        let stood = &model.facts.ready;
        self.index.each(dag, stood, (from, to), &mut sweep);
        let mut free = sweep.free.finish(&grid, to.min(model.end));
        for (cell, free) in cells.iter_mut().zip(free.drain(..)) {
            cell.free
                .iter_mut()
                .zip(free)
                .for_each(|(sum, n)| *sum += n);
        }
        for (sums, ticks) in sweep.profile.iter_mut().zip(between) {
            sums[WORKING] -= ticks.min(sums[WORKING]);
            sums[READY_BY_CREATE] += ticks;
            sums[DELAY] += ticks;
        }
        Window {
            first,
            bins,
            level,
            cells,
            profile: sweep.profile,
        }
    }

    /// Adds what a row does in each bin. `between` receives the time in folded strands between the
    /// strands inside, in which the row's worker was free.
    fn strands(
        &self,
        model: &RunModel,
        grid: &Grid,
        strands: &[StrandId],
        cells: &mut [Cell],
        between: &mut [u128],
    ) {
        let dag = &*model.dag;
        let (starts, ends) = (&dag.strands.start, &dag.strands.end);
        let (from, to) = (grid.begin(), grid.end());
        let first = strands.partition_point(|&s| ends[s as usize] < from);
        for &s in &strands[first..] {
            let (start, end) = (starts[s as usize], ends[s as usize]);
            if start >= to {
                break;
            }
            if let Some(cell) = grid.bin(end).and_then(|bin| cells.get_mut(bin)) {
                let creates = u32::from(self.creates(s));
                cell.creates = cell.creates.saturating_add(creates);
            }
            let task = dag.strands.task[s as usize] as usize;
            let site = model.sites.of(dag.tasks.site[task]);
            let kind = kind(model.codes.of(s), site);
            let was_off = model.off(s) > 0;
            let (critical, ready_path) = (model.critical(s), self.on_ready_path(s));
            let inside = model.facts.between.get(s as usize);
            grid.each(start, end, |bin, a, b| {
                let cell = &mut cells[bin];
                let free = share_within(inside, (start, end), (a, b));
                let ticks = b - a - free;
                between[bin] += u128::from(free);
                cell.free[0] += free;
                cell.inside += ticks;
                if was_off {
                    let off = off_between(dag, s, a, b);
                    cell.descheduled += off.descheduled;
                    cell.blocked += off.blocked;
                }
                cell.critical += if critical { ticks } else { 0 };
                cell.ready_path += if ready_path { ticks } else { 0 };
                cell.strands = cell.strands.saturating_add(1);
                cell.meet(s, ticks);
                if cell.first == NONE {
                    cell.first = s;
                }
                cell.last = s;
                cell.add_kind(kind, ticks);
            });
        }
    }

    fn instants(&self, model: &RunModel, grid: &Grid, strands: &[StrandId], cells: &mut [Cell]) {
        let dag = &*model.dag;
        let starts = &dag.strands.start;
        let (from, to) = (grid.begin(), grid.end());
        let first = strands.partition_point(|&s| starts[s as usize] < from);
        for &s in &strands[first..] {
            let start = starts[s as usize];
            if start >= to {
                break;
            }
            let Some(cell) = grid.bin(start).and_then(|bin| cells.get_mut(bin)) else {
                break;
            };
            cell.strands = cell.strands.saturating_add(1);
            cell.creates = cell.creates.saturating_add(u32::from(self.creates(s)));
            cell.meet(s, 0);
            let task = dag.strands.task[s as usize] as usize;
            let site = model.sites.of(dag.tasks.site[task]);
            cell.add_kind(kind(model.codes.of(s), site), 0);
        }
    }
}

fn instants(dag: &Dag) -> (Vec<StrandId>, Vec<u32>) {
    let strands = &dag.strands;
    let is_instant = |s: &usize| strands.start[*s] >= strands.end[*s];
    let mut list: Vec<StrandId> = (0..strands.len())
        .filter(is_instant)
        .map(|s| s as StrandId)
        .collect();
    // The sort is stable, so the strands of each thread stay in the order of their starts.
    list.sort_by_key(|&s| strands.thread[s as usize]);
    let begin = |thread| list.partition_point(|&s| strands.thread[s as usize] < thread) as u32;
    let threads = (0..=dag.meta.threads).map(begin).collect();
    (list, threads)
}

impl Window {
    /// Joins pairs of bins to half as many bins of twice the width. `next` has the bins that
    /// follow. Both have an even number of bins, and the first has an even number.
    pub(super) fn coarser(self, next: Window, model: &RunModel) -> Window {
        let rows = model.rows.len();
        let (level, first) = (self.level + 1, self.first / 2);
        let bins = (self.bins + next.bins) / 2;
        let grid = Grid {
            origin: model.begin,
            level,
            first,
            bins,
        };
        let mut cells = Vec::with_capacity(rows * bins);
        let mut left = self.cells.into_iter();
        let mut right = next.cells.into_iter();
        for _ in 0..rows {
            for bin in 0..bins {
                let half = if 2 * bin < self.bins {
                    &mut left
                } else {
                    &mut right
                };
                if let (Some(a), Some(b)) = (half.next(), half.next()) {
                    cells.push(a.join(b, &model.dag, grid.range(bin)));
                }
            }
        }
        let fine: Vec<[u128; PROFILE]> = self.profile.into_iter().chain(next.profile).collect();
        let pairs = fine.chunks_exact(2);
        let profile = pairs.map(|pair| std::array::from_fn(|i| pair[0][i] + pair[1][i]));
        Window {
            first,
            bins,
            level,
            cells,
            profile: profile.collect(),
        }
    }
}

/// The bins of a window, with times in absolute ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub origin: u64,
    pub level: u32,
    pub first: u64,
    pub bins: usize,
}

impl Grid {
    pub(super) fn begin(&self) -> u64 {
        self.at(0)
    }

    pub(super) fn end(&self) -> u64 {
        self.at(self.bins)
    }

    fn at(&self, bin: usize) -> u64 {
        let bins = u128::from(self.first) + bin as u128;
        let ticks = u128::from(self.origin) + (bins << self.level);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    fn range(&self, bin: usize) -> (u64, u64) {
        (self.at(bin), self.at(bin + 1))
    }

    /// The bin that contains an absolute time.
    pub(super) fn bin(&self, t: u64) -> Option<usize> {
        let bin = (t.checked_sub(self.origin)? >> self.level).checked_sub(self.first)?;
        usize::try_from(bin).ok().filter(|&bin| bin < self.bins)
    }

    /// Calls `f(bin, begin, end)` for each bin that [begin, end) touches.
    pub(super) fn each(&self, begin: u64, end: u64, mut f: impl FnMut(usize, u64, u64)) {
        let (mut a, b) = (begin.max(self.begin()), end.min(self.end()));
        let Some(mut bin) = self.bin(a) else { return };
        while a < b {
            let next = self.at(bin + 1).min(b);
            f(bin, a, next);
            a = next;
            bin += 1;
        }
    }
}

/// Sums the profile and the free rows.
struct Sweep<'a> {
    grid: Grid,
    model: &'a RunModel,
    profile: Vec<[u128; PROFILE]>,
    free: FreeRows,
}

impl IntervalObserver for Sweep<'_> {
    fn start(&mut self, thread: usize) {
        let row = self.model.rows.of(thread as u32);
        self.free.busy(row, true);
    }

    fn end(&mut self, thread: usize) {
        let row = self.model.rows.of(thread as u32);
        self.free.busy(row, false);
    }

    fn interval(&mut self, now: &Interval) {
        let shares = &now.shares;
        let (sched, app) = if now.no_work_sched {
            (shares.no_work, 0)
        } else {
            (0, shares.no_work)
        };
        let mut r = now.ready_by_kind;
        if now.is_unread {
            // Strands that became ready without the end of another strand were ready in any case.
            r[READY_AFTER_OTHERS..].fill(0);
        }
        let numbers = [
            now.working,
            r[0],
            r[1],
            r[2],
            r[3],
            r[4],
            r[5],
            r[6],
            shares.delay,
            sched,
            app,
            shares.descheduled,
            shares.blocked,
            shares.unread,
        ];
        let profile = &mut self.profile;
        self.grid.each(now.begin, now.end, |bin, a, b| {
            for (sum, n) in profile[bin].iter_mut().zip(numbers) {
                if n > 0 {
                    *sum += u128::from(n) * u128::from(b - a);
                }
            }
        });
        self.free.pass(&self.grid, now);
    }
}
