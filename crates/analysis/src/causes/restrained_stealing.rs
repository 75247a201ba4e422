//! Decides whether ready tasks had to wait because the runtime did not let free workers take them:
//! threads that wait in a task may run only descendants of that task (OpenMP's task scheduling
//! constraint, [`StealingDuringWaits`]).

use std::collections::VecDeque;

use workspan_dag::{Dag, EndKind, NONE, OffCpuReason, StealingDuringWaits, StrandId, TaskId};

use crate::ready::ReadyInterval;

/// Maximum number of a thread's last stretches of free time that are kept. A task that was ready
/// for longer is judged by these.
const MAX_STRETCHES: usize = 32;
/// Maximum number of generations that are searched. A more distant task counts as a descendant.
const MAX_DESCENT: usize = 4096;

/// A stretch in which a thread ran nothing and was not preempted.
#[derive(Debug, Clone, Copy)]
struct FreeTime {
    begin: u64,
    /// `u64::MAX` until the stretch ends.
    end: u64,
    /// The innermost task that waits on the thread; [`NONE`] if none does.
    waits: TaskId,
}

/// A task that waits on a thread, and the time until which it does.
#[derive(Debug, Clone, Copy)]
struct WaitingTask {
    task: TaskId,
    until: u64,
}

/// The free time of all workers, as the sweep goes.
pub(super) struct RestrainedWaits<'a> {
    dag: &'a Dag,
    /// Strands that end in a wait, each with the strand after it; ascending.
    after: Vec<(StrandId, StrandId)>,
    /// By thread: its last stretches of free time.
    free: Vec<VecDeque<FreeTime>>,
    waiting: Vec<Vec<WaitingTask>>,
    /// By thread: whether it runs a strand.
    running: Vec<bool>,
}

impl<'a> RestrainedWaits<'a> {
    /// `None` if a waiting thread may run any task.
    pub(super) fn new(dag: &'a Dag) -> Option<RestrainedWaits<'a>> {
        if dag.meta.run.tasks_in_waits == StealingDuringWaits::Any {
            return None;
        }
        let before = |&after: &StrandId| {
            let before = dag.strands.prev[after as usize];
            (before != NONE).then_some((before, after))
        };
        let mut after: Vec<_> = dag.waits.after.iter().filter_map(before).collect();
        after.sort_unstable();
        let threads = dag.meta.threads as usize;
        let whole_run = FreeTime {
            begin: 0,
            end: u64::MAX,
            waits: NONE,
        };
        Some(RestrainedWaits {
            dag,
            after,
            free: vec![VecDeque::from([whole_run]); threads],
            waiting: vec![Vec::new(); threads],
            running: vec![false; threads],
        })
    }

    /// Called when a strand starts on `thread`.
    pub(super) fn start(&mut self, thread: usize, time: u64) {
        self.running[thread] = true;
        self.close(thread, time);
    }

    /// Called when `thread` goes off the CPU at `time`, or comes back. A preempted thread could
    /// take nothing, whatever its runtime allows.
    pub(super) fn off(&mut self, thread: usize, time: u64, why: Option<OffCpuReason>) {
        if why == Some(OffCpuReason::Preempted) {
            return self.close(thread, time);
        }
        if let (Some(&last), false) = (self.free[thread].back(), self.running[thread])
            && last.end <= time
        {
            self.open(thread, time, last.waits);
        }
    }

    fn close(&mut self, thread: usize, time: u64) {
        if let Some(free) = self.free[thread].back_mut() {
            free.end = free.end.min(time);
        }
    }

    fn open(&mut self, thread: usize, begin: u64, waits: TaskId) {
        let free = &mut self.free[thread];
        if free.len() == MAX_STRETCHES {
            free.pop_front();
        }
        free.push_back(FreeTime {
            begin,
            end: u64::MAX,
            waits,
        });
    }

    /// Called when `strand` ends on `thread`.
    pub(super) fn end(&mut self, strand: StrandId, thread: usize, time: u64) {
        self.running[thread] = false;
        let strands = &self.dag.strands;
        let waiting = &mut self.waiting[thread];
        while waiting.last().is_some_and(|w| w.until <= time) {
            waiting.pop();
        }
        if strands.end_kind[strand as usize] == EndKind::Wait
            && let Ok(at) = self.after.binary_search_by_key(&strand, |w| w.0)
        {
            waiting.push(WaitingTask {
                task: strands.task[strand as usize],
                until: strands.start[self.after[at].1 as usize],
            });
        }
        let waits = waiting.last().map_or(NONE, |w| w.task);
        self.open(thread, time, waits);
    }

    /// Whether workers were free while the task of `ready`, a task's first strand, was ready, and
    /// could not take it for most of that time.
    pub(super) fn is_restrained(&self, ready: &ReadyInterval) -> bool {
        let strands = &self.dag.strands;
        let start = strands.start[ready.strand as usize];
        let task = strands.task[ready.strand as usize];
        let (mut all, mut restrained) = (0, 0);
        for thread in (0..self.dag.meta.threads).filter(|&t| self.dag.is_worker(t)) {
            for free in self.free[thread as usize].iter().rev() {
                if free.end <= ready.ready {
                    break;
                }
                let (from, to) = (free.begin.max(ready.ready), free.end.min(start));
                let ticks = u128::from(to.saturating_sub(from));
                all += ticks;
                if free.waits != NONE && !self.may_run(free.waits, task) {
                    restrained += ticks;
                }
            }
        }
        restrained > 0 && restrained * 2 >= all
    }

    /// Whether a thread on which task `waits` waits may take `task`.
    fn may_run(&self, waits: TaskId, task: TaskId) -> bool {
        let parents = &self.dag.tasks.parent;
        if self.dag.meta.run.tasks_in_waits == StealingDuringWaits::OwnChildren {
            return parents[task as usize] == waits;
        }
        let mut above = task;
        for _ in 0..MAX_DESCENT {
            if above == waits {
                return true;
            }
            above = match parents[above as usize] {
                NONE => return false,
                parent => parent,
            };
        }
        true
    }
}
