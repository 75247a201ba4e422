//! How much of a wait its holder had a CPU: the thread that ended it.

use workspan_dag::{Dag, NONE, OffCpuReason, Stop, ThreadId};

/// Times in which threads were preempted.
pub(super) struct HolderTime<'a> {
    dag: &'a Dag,
    /// Preempted ticks of the first off-CPU intervals, by their number.
    sums: Vec<u64>,
}

impl<'a> HolderTime<'a> {
    /// O(n) in off-CPU intervals.
    pub(super) fn new(dag: &'a Dag) -> HolderTime<'a> {
        let mut sums = Vec::with_capacity(dag.offs.len() + 1);
        let mut sum = 0u64;
        sums.push(sum);
        for off in &dag.offs {
            if off.why == OffCpuReason::Preempted {
                sum = sum.saturating_add(off.end.saturating_sub(off.start));
            }
            sums.push(sum);
        }
        HolderTime { dag, sums }
    }

    /// The part of the wait in which the thread that ended it was not preempted; 1 if that thread
    /// is not known.
    pub(super) fn on_cpu(&self, stop: &Stop) -> f64 {
        let Some(wait) = stop.wait.filter(|wait| wait.by != NONE) else {
            return 1.0;
        };
        let held = wait.held.min(stop.ticks);
        if held == 0 {
            return 1.0;
        }
        let preempted = self.preempted(wait.by, stop.t, stop.t.saturating_add(held));
        1.0 - (preempted as f64 / held as f64).min(1.0)
    }

    fn preempted(&self, thread: ThreadId, from: u64, to: u64) -> u64 {
        let offs = &self.dag.offs;
        let first = offs.partition_point(|off| (off.thread, off.end) <= (thread, from));
        let after = offs.partition_point(|off| (off.thread, off.start) < (thread, to));
        if first >= after {
            return 0;
        }
        let outside = |off: &workspan_dag::OffCpuInterval| match off.why {
            OffCpuReason::Preempted => from.saturating_sub(off.start) + off.end.saturating_sub(to),
            OffCpuReason::Blocked => 0,
        };
        let whole = self.sums[after].saturating_sub(self.sums[first]);
        let last = match after - first {
            1 => 0,
            _ => outside(&offs[after - 1]),
        };
        whole
            .saturating_sub(outside(&offs[first]))
            .saturating_sub(last)
    }
}
