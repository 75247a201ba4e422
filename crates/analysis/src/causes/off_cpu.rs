//! Descheduled and blocked time by strand, as the sweep goes.
//!
//! Where more strands run than there are workers, the breakdown leaves part of this time out
//! (MODEL.md §5 clamps at every moment). The places then share the rest in proportion. Sleep of
//! threads that the program started itself comes last: a thread that only wakes now and then to
//! look for something to do is not a worker that the program lacks.

use workspan_dag::{NONE, OffCpuReason, StrandId};

use super::Cause;
use super::book::Book;
use super::undisturbed::{Undisturbed, counted_part_of_wait};
use super::wait_causes::WaitCauses;
use crate::blocks::CodeBlock;
use workspan_dag::Dag;

/// The current state of a thread.
#[derive(Debug, Clone, Copy)]
struct ThreadState {
    strand: StrandId,
    off: Option<OffCpuReason>,
    /// The time since which both fields hold.
    since: u64,
    /// [`Undisturbed::weighted`] at that time.
    undisturbed_before: f64,
}

/// Follows the state of all threads.
pub(super) struct OffCpu<'a> {
    dag: &'a Dag,
    now: Vec<ThreadState>,
    waits: WaitCauses,
    pub(super) undisturbed: Undisturbed,
    /// Ticks by place.
    pub(super) descheduled: Book,
    pub(super) blocked: Book,
    /// Sleep of threads that the program started itself.
    pub(super) asleep: Book,
}

impl<'a> OffCpu<'a> {
    pub(super) fn new(dag: &'a Dag) -> OffCpu<'a> {
        let idle = ThreadState {
            strand: NONE,
            off: None,
            since: 0,
            undisturbed_before: 0.0,
        };
        OffCpu {
            dag,
            now: vec![idle; dag.meta.threads as usize],
            waits: WaitCauses::new(dag),
            undisturbed: Undisturbed::new(dag),
            descheduled: Book::new(),
            blocked: Book::new(),
            asleep: Book::new(),
        }
    }

    /// Whether and why `thread` is off the CPU.
    pub(super) fn why(&self, thread: usize) -> Option<OffCpuReason> {
        self.now[thread].off
    }

    /// The cause of the time that `thread`, which has given up the CPU, spends from `time` on.
    pub(super) fn blocked_on(&self, thread: usize, time: u64) -> Cause {
        self.waits.during(thread as u32, time, time + 1)
    }

    /// The strand that `thread` runs; [`NONE`] if it runs none.
    pub(super) fn strand(&self, thread: usize) -> StrandId {
        self.now.get(thread).map_or(NONE, |now| now.strand)
    }

    pub(super) fn change(&mut self, thread: usize, time: u64, why: Option<OffCpuReason>) {
        self.settle(thread, time);
        self.now[thread].off = why;
    }

    pub(super) fn start(&mut self, thread: usize, strand: StrandId) {
        let time = self.dag.strands.start[strand as usize];
        self.settle(thread, time);
        self.now[thread].strand = strand;
    }

    pub(super) fn end(&mut self, thread: usize, time: u64) {
        self.settle(thread, time);
        self.now[thread].strand = NONE;
    }

    fn settle(&mut self, thread: usize, time: u64) {
        let now = &mut self.now[thread];
        let (since, ticks) = (now.since, time - now.since);
        let undisturbed = self.undisturbed.weighted - now.undisturbed_before;
        (now.since, now.undisturbed_before) = (time, self.undisturbed.weighted);
        if now.strand == NONE || ticks == 0 {
            return;
        }
        let (book, cause, key) = match now.off {
            None => return,
            Some(OffCpuReason::Preempted) => (
                &mut self.descheduled,
                Cause::Descheduled,
                CodeBlock::whole_site(NONE),
            ),
            // Outside the pool this is not worker time.
            Some(OffCpuReason::Blocked) if !self.dag.is_worker(thread as u32) => return,
            Some(OffCpuReason::Blocked) => {
                let cause = self.waits.during(thread as u32, since, time);
                let key = match cause {
                    Cause::None => CodeBlock::whole_site(NONE),
                    _ => CodeBlock::from_strand(self.dag, now.strand),
                };
                let task = self.dag.strands.task[now.strand as usize];
                let book = match cause == Cause::Sleep && self.dag.is_thread_task(task) {
                    true => &mut self.asleep,
                    false => &mut self.blocked,
                };
                (book, cause, key)
            }
        };
        let group = book.add(cause, key, u128::from(ticks), now.strand, ticks);
        group.undisturbed += counted_part_of_wait(undisturbed, ticks);
    }
}
