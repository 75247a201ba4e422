//! The size of tasks: the running time and the number of tasks in each task with all its
//! descendants.

use workspan_dag::cancel::checked;
use workspan_dag::{Dag, Folded, StrandId, TaskId};

use super::Costs;
use crate::off_cpu::{OffCpu, OffCpuCursor};
use crate::weight::{on_cpu, probe_ticks};

/// A task that takes less than this many steals, with all its descendants, is not worth stealing: a
/// thief would spend a third of its time or more on getting it.
const MIN_STEALS_PER_TASK: u128 = 2;
/// Average tasks of less than one steal divided by this number are dust: what a runtime does for
/// such a task even on its own thread (memory, push and pop on a queue, a latch) is a sizeable part
/// of it.
const DUST_TASKS_PER_STEAL: u128 = 4;

pub(crate) struct Grain {
    /// Time in strands of the task and its descendants, in ticks. Blocked time is included,
    /// preempted time and probes are left out: this is what a thief would gain, however busy the
    /// machine is and however the trace is read.
    work: Vec<u64>,
    /// Number of tasks: the task and its descendants.
    tasks: Vec<u32>,
    steal: u128,
}

impl Grain {
    pub(crate) fn new(dag: &Dag, costs: Costs) -> Grain {
        let count = dag.tasks.len();
        let mut grain = Grain {
            work: vec![0; count],
            tasks: vec![1; count],
            steal: u128::from(costs.steal),
        };
        let strands = &dag.strands;
        let mut offs = OffCpuCursor::new(dag);
        let mut records = dag.folded.cursor();
        for s in checked(0..strands.len()) {
            let own = match records.record(s as StrandId) {
                None => {
                    let off = offs.inside(s as StrandId);
                    own_time(dag, s, off, costs.probe).saturating_add(off.blocked)
                }
                Some(fold) => {
                    let off = offs.in_tasks(s as StrandId, fold).descheduled;
                    folded_time(dag, s, fold, costs.probe).saturating_sub(off)
                }
            };
            let sum = &mut grain.work[strands.task[s] as usize];
            *sum = sum.saturating_add(own);
        }
        let mut folds = dag.folded.sums().rev().peekable();
        // In descending order, all strands of a task's descendants come before the task's first
        // strand.
        for s in checked((0..strands.len()).rev()) {
            let task = strands.task[s] as usize;
            if let Some((_, fold)) = folds.next_if(|f| f.0 as usize == s) {
                let more = u32::try_from(fold.tasks).unwrap_or(u32::MAX);
                grain.tasks[task] = grain.tasks[task].saturating_add(more);
            }
            let parent = dag.tasks.parent[task] as usize;
            if dag.tasks.first[task] == s as StrandId && parent < count {
                grain.work[parent] = grain.work[parent].saturating_add(grain.work[task]);
                grain.tasks[parent] = grain.tasks[parent].saturating_add(grain.tasks[task]);
            }
        }
        grain
    }

    /// True for a task that created no task.
    pub(crate) fn is_leaf(&self, task: TaskId) -> bool {
        self.tasks[task as usize] == 1
    }

    pub(crate) fn work(&self, task: TaskId) -> u64 {
        self.work[task as usize]
    }

    pub(crate) fn tasks(&self, task: TaskId) -> u64 {
        u64::from(self.tasks[task as usize])
    }

    /// True if a thief gains nothing by taking `task`.
    pub(crate) fn is_not_worth_a_steal(&self, task: TaskId) -> bool {
        Self::too_small(u128::from(self.work(task)), 1, self.steal)
    }

    /// True if `count` tasks that take `work` in all are on average not worth a steal each.
    pub(crate) fn too_small(work: u128, count: u128, steal: u128) -> bool {
        work < MIN_STEALS_PER_TASK * steal * count
    }

    /// True if an average task of `task` and its descendants is small compared with the time that a
    /// runtime needs for it.
    pub(crate) fn is_dust(&self, task: TaskId) -> bool {
        let (work, tasks) = (u128::from(self.work(task)), u128::from(self.tasks(task)));
        work * DUST_TASKS_PER_STEAL < self.steal * tasks
    }
}

/// Ticks of strand `s` on the CPU in its task's own code, without probes at `probe` each. `off` is
/// its time off the CPU.
pub(super) fn own_time(dag: &Dag, s: usize, off: OffCpu, probe: u64) -> u64 {
    on_cpu(dag, s, off).saturating_sub(probe_ticks(dag, s, None, probe))
}

/// The same of a folded strand, with its time off the CPU.
pub(super) fn folded_time(dag: &Dag, s: usize, fold: &Folded, probe: u64) -> u64 {
    match fold.probes {
        0 => {
            let probes = probe_ticks(dag, s, Some(fold), probe);
            fold.work.saturating_sub(probes)
        }
        // The work in the record is without probes already, unless a recorder made the record.
        _ => fold.work,
    }
}
