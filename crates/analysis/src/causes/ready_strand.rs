//! The cause of a strand's delay: it was ready, a worker was free for it, and it did not start.

use workspan_dag::{Dag, EdgeKind, NONE, OffCpuReason, Steals, StrandId, TaskKind};

use super::book::Entry;
use super::gaps_by_parent::GapsByParent;
use super::grain::Grain;
use super::restrained_stealing::RestrainedWaits;
use super::spawn_loop::SpawnLoops;
use super::{Cause, Costs};
use crate::blocks::CodeBlock;
use crate::off_cpu::off_between;
use crate::ready::ReadyInterval;

/// Maximum time in steals that still counts as the price of stealing. A thief that is looking for
/// work takes a task within one steal.
const MAX_STEALS_TO_START: u64 = 4;

/// Classifies strands in the order of their starts.
pub(super) struct ReadyStrands<'a> {
    dag: &'a Dag,
    costs: Costs,
    /// Strands whose thread ran a child just created instead, with that child; in the order of
    /// their starts.
    paused: &'a [(u32, u32)],
    next_paused: usize,
    /// `None` if a waiting thread may run any task.
    restrained: Option<RestrainedWaits<'a>>,
}

impl<'a> ReadyStrands<'a> {
    pub(super) fn new(dag: &'a Dag, costs: Costs, paused: &'a [(u32, u32)]) -> Self {
        ReadyStrands {
            dag,
            costs,
            paused,
            next_paused: 0,
            restrained: RestrainedWaits::new(dag),
        }
    }

    /// The cause of the delay of `waiting`, for which a worker was free for `served` ticks.
    pub(super) fn cause(
        &mut self,
        waiting: &ReadyInterval,
        served: u64,
        (grain, siblings): (&Grain, &GapsByParent),
        loops: &SpawnLoops,
    ) -> Entry {
        let (dag, s) = (self.dag, waiting.strand as usize);
        let strands = &dag.strands;
        let task = strands.task[s];
        let site = dag.tasks.site[task as usize];
        let starts = CodeBlock {
            from: dag.starts_at(waiting.strand),
            from_kind: strands.start_kind[s],
            ..CodeBlock::whole_site(site)
        };
        if waiting.buried {
            return Entry::new(Cause::BuriedWait, starts);
        }
        if let Some(child) = self.below(waiting.strand) {
            let key = CodeBlock::whole_site(dag.tasks.site[child as usize]);
            match dag.tasks.kind[child as usize] {
                // No other thread could take the child, so its creator counts as running while the
                // child runs.
                TaskKind::Inline => return Entry::new(Cause::GrainCoarse, key),
                _ if dag.meta.steals == Steals::Child => {
                    return Entry::new(Cause::BoundedQueue, key);
                }
                _ => {}
            }
        }
        let start = strands.start[s];
        if !dag.offs.is_empty() {
            let off = off_between(dag, waiting.strand, waiting.ready, start);
            if u128::from(off.descheduled) * 2 >= u128::from(start - waiting.ready) {
                return Entry::new(Cause::Descheduled, CodeBlock::whole_site(NONE));
            }
        }
        let is_new = matches!(waiting.kind, EdgeKind::Create | EdgeKind::Depend);
        if is_new && dag.is_thread_task(task) {
            let waited = u128::from(dag.start_wait(task));
            if waited * 2 >= u128::from(start - waiting.ready) {
                return Entry::new(Cause::Descheduled, CodeBlock::whole_site(NONE));
            }
            return Entry::new(Cause::ThreadStart, CodeBlock::whole_site(site));
        }
        // Inline tasks are not stolen: if another thread is to run one (a region's), its size does
        // not matter.
        let is_put = is_new && dag.tasks.kind[task as usize] == TaskKind::Inline;
        let is_small = (is_new && grain.is_not_worth_a_steal(task)) || grain.is_dust(task);
        if is_small && !is_put {
            return Entry::new(Cause::GrainFine, CodeBlock::whole_site(site));
        }
        let few_steals = u128::from(self.costs.steal) * u128::from(MAX_STEALS_TO_START);
        if u128::from(served) <= few_steals || dag.meta.workers == 1 {
            let creator = dag.tasks.creator[task as usize];
            return match loops.of(dag, creator) {
                Some(spawn) if is_new && dag.meta.workers > 1 => spawn.entry(),
                _ => Entry::new(Cause::None, CodeBlock::whole_site(NONE)),
            };
        }
        if !is_new {
            return Entry::new(Cause::SlowThief, starts);
        }
        // A thief hardly gets hold of a queue that other threads lock for every small task.
        let is_congested = dag.meta.run.shared_queue && siblings.are_small(dag, task);
        if is_congested && !is_put {
            return Entry::new(Cause::GrainFine, CodeBlock::whole_site(site));
        }
        let restrained = self.restrained.as_ref();
        let cause = match restrained.is_some_and(|waits| waits.is_restrained(waiting)) {
            true => Cause::RestrainedStealing,
            false => Cause::SlowThief,
        };
        Entry::new(cause, CodeBlock::whole_site(site))
    }

    /// Called when `strand` starts on `thread`.
    pub(super) fn start(&mut self, strand: StrandId, thread: usize) {
        if let Some(restrained) = &mut self.restrained {
            restrained.start(thread, self.dag.strands.start[strand as usize]);
        }
    }

    /// Called when `strand` ends on `thread`.
    pub(super) fn end(&mut self, strand: StrandId, thread: usize, time: u64) {
        if let Some(restrained) = &mut self.restrained {
            restrained.end(strand, thread, time);
        }
    }

    /// Called when `thread` goes off the CPU, or comes back.
    pub(super) fn off(&mut self, thread: usize, time: u64, why: Option<OffCpuReason>) {
        if let Some(restrained) = &mut self.restrained {
            restrained.off(thread, time, why);
        }
    }

    /// The child just created that the thread of `strand` ran before it.
    fn below(&mut self, strand: u32) -> Option<u32> {
        while let Some(&(paused, child)) = self.paused.get(self.next_paused)
            && paused <= strand
        {
            self.next_paused += 1;
            if paused == strand {
                return Some(child);
            }
        }
        None
    }
}
