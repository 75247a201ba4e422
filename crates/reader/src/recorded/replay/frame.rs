//! A task on a thread's stack, the data of its open strand, and the handling of tasks that are
//! still open at the end.

use super::{Replay, ReplayThread, State};
use workspan_dag::NONE;
use workspan_dag::folded::Folded;
use workspan_dag::raw::{RawEnd, RawStrand};
use workspan_dag::skipped::SkippedBounds;

/// A task on a thread's stack.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub task: u32,
    /// The start of the open strand.
    pub start: u64,
    /// Whether it waits or yielded, so that no strand is open.
    pub stopped: bool,
    /// Whether it stopped because another task began on top of it. It goes on when that one is
    /// gone.
    pub interrupted: bool,
    /// Whether there are pending data for the open strand.
    pub pending: bool,
    /// Whether it waits for all its children.
    pub all: bool,
    /// Whether it has waited for all its children, but not yet for those of its chunks.
    pub due: bool,
    /// The deferred child of the join that it waits for.
    pub next: Option<u32>,
    /// The skipped subtree that it is in, or `NONE`.
    pub skipped: u32,
    /// The number of tasks counted in that subtree since its open strand began; `None` if they were
    /// not counted.
    pub inside: Option<u64>,
}

impl Frame {
    pub(super) fn new(task: u32, start: u64) -> Frame {
        Frame {
            task,
            start,
            stopped: false,
            interrupted: false,
            pending: false,
            all: false,
            due: false,
            next: None,
            skipped: NONE,
            inside: None,
        }
    }
}

/// Data of a strand that are known before the strand ends, and so before it has an index.
#[derive(Debug, Clone)]
pub(super) enum Pending {
    /// The strand opens this scope.
    Scope(u32),
    /// The strand begins this region (or part).
    Open { part: bool, index: usize },
    /// The strand ends this region (or part).
    Shut { part: bool, index: usize },
    /// A counter increased by this amount.
    Counter(u32, u64),
    /// The strand stands for this folded subtree.
    Folded(Box<Folded>),
    /// The strand stands for this skipped subtree.
    SkippedSubtrees(Box<(Folded, SkippedBounds)>),
}

impl<'a> Replay<'a, '_> {
    /// Keeps data for the end of the open strand.
    pub(super) fn pend(&mut self, lane: &mut ReplayThread<'a>, frame: usize, what: Pending) {
        let frame = &mut lane.stack[frame];
        frame.pending = true;
        lane.pending.push((frame.task, what));
    }

    /// Handles the pending data of `task`, whose open strand has become strand `index`. Returns
    /// true if it must stay a separate strand.
    pub(super) fn settle(
        &mut self,
        pending: &mut Vec<(u32, Pending)>,
        task: u32,
        index: u32,
    ) -> bool {
        let mut keep = false;
        // Only the task on top has an open strand, so all pending data belong to it.
        for (owner, what) in pending.drain(..) {
            if owner != task {
                continue;
            }
            match what {
                Pending::Scope(scope) => self.raw.scopes[scope as usize].strand = index,
                Pending::Open {
                    part: false,
                    index: region,
                } => self.raw.regions[region].begin.0 = index,
                Pending::Open {
                    part: true,
                    index: region,
                } => self.raw.parts[region].begin.0 = index,
                Pending::Shut {
                    part: false,
                    index: region,
                } => self.raw.regions[region].end.0 = index,
                Pending::Shut {
                    part: true,
                    index: region,
                } => self.raw.parts[region].end.0 = index,
                Pending::Folded(folded) => {
                    keep = true;
                    self.raw.folded.push(index, &folded);
                }
                Pending::SkippedSubtrees(estimate) => {
                    keep = true;
                    let (folded, bounds) = *estimate;
                    self.raw.folded.push(index, &folded);
                    self.raw.skipped.push((index, bounds));
                }
                Pending::Counter(label, value) => {
                    keep = true;
                    self.count(label, index, value);
                }
            }
        }
        keep
    }

    fn count(&mut self, label: u32, strand: u32, value: u64) {
        let Some(name) = self.chunks.labels.get(label as usize) else {
            self.log.repair("Counters without a name, left out");
            return;
        };
        let counters = &mut self.raw.counters;
        let at = *self.counters.entry(label).or_insert_with(|| {
            counters.push((name.clone(), Vec::new()));
            counters.len() - 1
        });
        let values = &mut counters[at].1;
        match values.last_mut() {
            Some((last, sum)) if *last == strand => *sum = sum.saturating_add(value),
            _ => values.push((strand, value)),
        }
    }

    /// Ends all open tasks. Tasks that run or wait end at the last moment of the trace. Tasks that
    /// stopped without waiting end where they stopped. Tasks that never began get no length, at
    /// their creation, so that no task seems to have waited for them in vain.
    pub(super) fn close(&mut self, lanes: &mut [ReplayThread<'a>]) {
        let last = (self.counts.last - self.origin).min(super::LATEST);
        let mut open = 0u64;
        for (number, lane) in lanes.iter_mut().enumerate() {
            // A thread with missing records counts as seen until its last known record. In a
            // damaged trace that may be any thread, because a missing last chunk leaves no gap.
            let damaged = self.chunks.damaged > 0;
            let cut = damaged || self.chunks.threads[number].cut || lane.bad;
            while let Some(frame) = lane.stack.len().checked_sub(1) {
                let (task, stopped) = (lane.stack[frame].task, lane.stack[frame].stopped);
                let state = self.states[task as usize];
                let alive = if stopped {
                    state == State::Stopped
                } else {
                    state == State::Running
                };
                if alive {
                    open += 1;
                    let t = if cut { lane.now } else { last };
                    if stopped {
                        lane.stack[frame].start = t;
                    }
                    let strand = self.strand(lane, frame, t, RawEnd::End, NONE);
                    self.states[task as usize] = State::Ended;
                    self.shut_all(task, strand, t);
                }
                lane.stack.pop();
            }
        }
        for (number, lane) in lanes.iter().enumerate() {
            let from = self.counts.yields[number] as usize;
            for at in from..from + lane.yields as usize {
                let task = self.yielded[at];
                if task != NONE && self.states[task as usize] == State::Stopped {
                    open += 1;
                    self.end_at_once(task, lane.log.index, lane.now);
                }
            }
            for nth in self.counts.tasks[number]..self.counts.tasks[number + 1] {
                let task = self.counts.index[nth as usize];
                if self.states[task as usize] == State::Created {
                    self.log.never_began += 1;
                    let t = self.counts.created[task as usize] - self.origin;
                    self.end_at_once(task, lane.log.index, t.min(super::LATEST));
                }
            }
        }
        self.log.open = open;
        // Opened in a strand that turned out to belong to no task.
        self.raw.regions.retain(|r| r.begin.0 != NONE);
        self.raw.parts.retain(|r| r.begin.0 != NONE);
        self.join_parts();
        self.lend_scopes();
        self.drop_unopened_scopes();
    }

    /// Adds a strand of no length, and the task's end. `t` may be before the task's last strand;
    /// the builder corrects that.
    fn end_at_once(&mut self, task: u32, thread: u32, t: u64) {
        let index = self.raw.strands.len() as u32;
        let end_op = RawEnd::End;
        self.raw.strands.push(RawStrand {
            task,
            thread,
            start: t,
            end: t,
            end_op,
            at: NONE,
            keep: false,
        });
        self.states[task as usize] = State::Ended;
        self.shut_all(task, index, t);
    }

    /// Removes scopes without an opener, which a worker opened outside of any task.
    fn drop_unopened_scopes(&mut self) {
        if self.raw.scopes.iter().all(|s| s.opener != NONE) {
            return;
        }
        let mut new = Vec::with_capacity(self.raw.scopes.len());
        let mut next = 0;
        for scope in &self.raw.scopes {
            new.push(if scope.opener == NONE { NONE } else { next });
            next += u32::from(scope.opener != NONE);
        }
        self.raw.scopes.retain(|s| s.opener != NONE);
        for task in self.raw.tasks.iter_mut().filter(|t| t.scope != NONE) {
            task.scope = new[task.scope as usize];
        }
        for end_op in &mut self.raw.strands.end_op {
            // Only the opener's own waits name a scope, so this one has an opener.
            if let RawEnd::WaitScope(scope) = end_op {
                *scope = new[*scope as usize];
            }
        }
    }
}
