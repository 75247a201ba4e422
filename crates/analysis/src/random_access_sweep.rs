//! The sweep of MODEL.md §5 over any range of time, without a sweep over the time before it.
//!
//! A sweep from the run's start knows which ready strand each free worker serves. A sweep from
//! anywhere else knows only how many there are, which is all that the breakdown needs. The number
//! of ready strands at a time is the number that became ready before it, minus the number that have
//! started. Both are counted once, in steps.

use workspan_dag::{Dag, EdgeKind, RaggedArray, StrandId};

use crate::off_cpu_events::{OffCpuEvent, off_cpu_events};
use crate::ready::ReadyInterval;
use crate::ready_intervals::ReadyIntervals;
use crate::ready_path::{Gaps, ReadyPath};
use crate::sweep::{FreeWorkerTicks, Moment, Observer, ReadyStrands, Shares, State, extent};

/// An interval of time in which nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Start, in absolute ticks.
    pub begin: u64,
    /// End, in absolute ticks.
    pub end: u64,
    /// Number of running strands on the CPU; may exceed the number of workers.
    pub working: u64,
    /// Number of running strands, as the parallelism profile counts them.
    pub running: u64,
    /// Number of ready strands by the edge that made them ready (`EdgeKind as usize`).
    pub ready_by_kind: [u64; 7],
    /// The division of the workers.
    pub shares: Shares,
    /// Whether records of some worker are missing from here on. Strands that waited for others may
    /// then not have been ready.
    pub is_unread: bool,
    /// Whether no-work is the scheduler's: within the ready path's scheduler delay.
    pub no_work_sched: bool,
}

/// Receives the events and intervals of a range of time, in time order.
pub trait IntervalObserver {
    /// A strand that takes time starts on the thread, or runs there when the range begins.
    fn start(&mut self, _thread: usize) {}
    /// The strand on the thread ends.
    fn end(&mut self, _thread: usize) {}
    /// An interval passes; called after the changes at `now.begin`.
    fn interval(&mut self, interval: &Interval);
}

/// Number of strands from one stored count of ready strands to the next.
const STRANDS_PER_STEP: usize = 1024;

/// The data for sweeps over ranges of a run, together with the ready strands ([`ReadyIntervals`]).
/// About 8 bytes per strand.
#[derive(Debug)]
pub struct SweepIndex {
    workers: u64,
    extent: (u64, u64),
    offs: Vec<OffCpuEvent>,
    unread_from: Option<u64>,
    path: ReadyPath,
    /// Strands that take time, by thread, then start.
    by_thread: RaggedArray,
    /// The strands that were ready for some time, in the order in which they became ready.
    by_ready: Vec<u32>,
    /// By kind: the number of strands that became ready before every [`STRANDS_PER_STEP`]th one.
    became: Vec<[u64; 7]>,
    /// By kind: the number of strands that started before every [`STRANDS_PER_STEP`]th one.
    left: Vec<[u64; 7]>,
}

impl SweepIndex {
    /// An index for a run, its ready strands and its ready path. O(n log n).
    pub fn new(dag: &Dag, ready: &ReadyIntervals, path: ReadyPath) -> SweepIndex {
        let mut by_ready: Vec<u32> = (0..ready.len() as u32).collect();
        // They are almost in this order already, since most strands are ready for a short time.
        by_ready.sort_by_key(|&i| (ready.at(dag, i as usize), ready.kind(i as usize)));
        SweepIndex {
            workers: u64::from(dag.meta.workers.max(1)),
            extent: extent(dag),
            offs: off_cpu_events(dag),
            unread_from: dag.unread_from(),
            path,
            by_thread: by_thread(dag),
            became: steps(by_ready.iter().map(|&i| ready.kind(i as usize))),
            left: steps((0..ready.len()).map(|i| ready.kind(i))),
            by_ready,
        }
    }

    /// The strands of a thread that take time, by start; they do not overlap.
    pub fn strands_of(&self, thread: usize) -> &[StrandId] {
        self.by_thread.get(thread)
    }

    /// The ready path.
    pub fn ready_path(&self) -> &ReadyPath {
        &self.path
    }

    /// Number of off-CPU intervals that begin or end in `[from, to)`.
    pub fn off_events_in(&self, from: u64, to: u64) -> usize {
        let before = |t: u64| self.offs.partition_point(|off| off.0 < t);
        before(to).saturating_sub(before(from))
    }

    /// Number of strands that become ready in `[from, to)`; `ready` must be the one given to
    /// [`SweepIndex::new`].
    pub fn ready_in(&self, dag: &Dag, ready: &ReadyIntervals, (from, to): (u64, u64)) -> usize {
        let before = |t: u64| {
            let is_before = |&i: &u32| ready.at(dag, i as usize) < t;
            self.by_ready.partition_point(is_before)
        };
        before(to).saturating_sub(before(from))
    }

    /// Reports `[from, to)` of the run, clamped to it, to `observer`. `ready` must be the one given
    /// to [`SweepIndex::new`]. O(threads · log n + k log threads) for k events inside.
    pub fn each(
        &self,
        dag: &Dag,
        ready: &ReadyIntervals,
        (from, to): (u64, u64),
        observer: &mut impl IntervalObserver,
    ) {
        let (from, to) = (from.max(self.extent.0), to.min(self.extent.1));
        if from >= to {
            return;
        }
        let starts = &dag.strands.start;
        let running = (0..self.by_thread.len()).filter_map(|thread| {
            let strands = self.strands_of(thread);
            let started = strands.partition_point(|&s| starts[s as usize] <= from);
            let last = *strands.get(started.checked_sub(1)?)?;
            (dag.strands.end[last as usize] > from).then_some(last)
        });
        let mut adapter = ObserverAdapter {
            workers: self.workers,
            gaps: Gaps::from(dag, &self.path, from),
            observer,
        };
        let queue = ReadyCounts::at(self, dag, ready, from);
        let mut state = State::at(
            dag,
            (&self.offs, self.unread_from),
            queue,
            from,
            running,
            &mut adapter,
        );
        let mut time = from;
        loop {
            let next = state.next_time();
            let until = next.unwrap_or(to).min(to);
            let moment = state.moment(time, until);
            adapter.moment(&moment);
            match next {
                Some(next) if next < to => state.events_at(next, &mut adapter),
                _ => break,
            }
            time = until;
        }
    }
}

/// The strands that take time, by thread, then start.
fn by_thread(dag: &Dag) -> RaggedArray {
    let strands = &dag.strands;
    let takes_time = |s: &StrandId| strands.start[*s as usize] < strands.end[*s as usize];
    let timed = (0..strands.len() as StrandId).filter(takes_time);
    let pairs = timed.map(|s| (strands.thread[s as usize], s));
    RaggedArray::from_pairs(dag.meta.threads as usize, pairs)
}

fn steps(kinds: impl Iterator<Item = EdgeKind>) -> Vec<[u64; 7]> {
    let mut sums = [0; 7];
    let mut steps = Vec::new();
    for (i, kind) in kinds.enumerate() {
        if i % STRANDS_PER_STEP == 0 {
            steps.push(sums);
        }
        sums[kind as usize] += 1;
    }
    steps.push(sums);
    steps
}

/// By kind: the number among the first `count` strands.
fn first(
    steps: &[[u64; 7]],
    count: usize,
    len: usize,
    kind: impl Fn(usize) -> EdgeKind,
) -> [u64; 7] {
    if count == len {
        return steps.last().copied().unwrap_or_default();
    }
    let mut sums = steps[count / STRANDS_PER_STEP];
    for i in count / STRANDS_PER_STEP * STRANDS_PER_STEP..count {
        sums[kind(i) as usize] += 1;
    }
    sums
}

/// Counts ready strands without identifying them.
struct ReadyCounts<'a> {
    dag: &'a Dag,
    index: &'a SweepIndex,
    ready: &'a ReadyIntervals,
    next_ready: usize,
    /// The time at which the next one becomes ready.
    next_at: Option<u64>,
    next_to_leave: usize,
    by_kind: [u64; 7],
    all: u64,
    served: u64,
}

impl<'a> ReadyCounts<'a> {
    fn at(
        index: &'a SweepIndex,
        dag: &'a Dag,
        ready: &'a ReadyIntervals,
        time: u64,
    ) -> ReadyCounts<'a> {
        let is_ready = |&i: &u32| ready.at(dag, i as usize) <= time;
        let next_ready = index.by_ready.partition_point(is_ready);
        let has_left = |&s: &StrandId| dag.strands.start[s as usize] <= time;
        let next_to_leave = ready.strands().partition_point(has_left);
        let kind = |i: usize| ready.kind(index.by_ready[i] as usize);
        let became = first(&index.became, next_ready, ready.len(), kind);
        let left = |i| ready.kind(i);
        let left = first(&index.left, next_to_leave, ready.len(), left);
        let mut by_kind = [0; 7];
        for (kind, n) in by_kind.iter_mut().enumerate() {
            *n = became[kind] - left[kind];
        }
        let mut counted = ReadyCounts {
            dag,
            index,
            ready,
            next_ready,
            next_at: None,
            next_to_leave,
            by_kind,
            all: by_kind.iter().sum(),
            served: 0,
        };
        counted.look_ahead();
        counted
    }

    fn look_ahead(&mut self) {
        let next = self.index.by_ready.get(self.next_ready);
        self.next_at = next.map(|&i| self.ready.at(self.dag, i as usize));
    }
}

impl<'a> ReadyStrands<'a> for ReadyCounts<'a> {
    fn next_time(&self) -> Option<u64> {
        self.next_at
    }

    fn append_until(&mut self, time: u64) {
        while self.next_at.is_some_and(|at| at <= time) {
            let i = self.index.by_ready[self.next_ready] as usize;
            self.by_kind[self.ready.kind(i) as usize] += 1;
            self.all += 1;
            self.next_ready += 1;
            self.look_ahead();
        }
    }

    fn remove(&mut self, s: StrandId, _: u64) -> Option<(&'a ReadyInterval, FreeWorkerTicks)> {
        if self.next_to_leave() == Some(s) {
            self.by_kind[self.ready.kind(self.next_to_leave) as usize] -= 1;
            self.next_to_leave += 1;
            self.all -= 1;
        }
        None
    }

    fn serve(&mut self, free: u64, _: u64, _: u64) {
        self.served = free.min(self.all);
    }

    fn approached(&self) -> impl Iterator<Item = StrandId> {
        std::iter::empty()
    }

    fn next_to_leave(&self) -> Option<StrandId> {
        self.ready.strands().get(self.next_to_leave).copied()
    }

    fn tell(&self, moment: &mut Moment) {
        moment.ready = self.all;
        moment.ready_by_kind = self.by_kind;
        moment.served = self.served;
    }
}

/// Translates the events of the sweep for an [`IntervalObserver`].
struct ObserverAdapter<'a, C> {
    workers: u64,
    gaps: Gaps<'a>,
    observer: &'a mut C,
}

impl<C: IntervalObserver> Observer for ObserverAdapter<'_, C> {
    fn start(&mut self, _: StrandId, thread: usize) {
        self.observer.start(thread);
    }

    fn end(&mut self, _: StrandId, thread: usize, _: u64) {
        self.observer.end(thread);
    }

    fn moment(&mut self, moment: &Moment) {
        let shares = moment.shares(self.workers);
        let in_gap = self.gaps.contain(moment.begin);
        self.observer.interval(&Interval {
            begin: moment.begin,
            end: moment.end,
            working: moment.working,
            running: moment.running(),
            ready_by_kind: moment.ready_by_kind,
            shares,
            is_unread: moment.is_unread,
            no_work_sched: in_gap && shares.free > 0,
        });
    }
}
