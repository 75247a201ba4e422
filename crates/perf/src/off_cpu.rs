//! Turns context switches into off-CPU intervals.

use std::collections::BTreeMap;

use crate::switch_file::Switch;

/// An interval in which a thread was off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OffCpuInterval {
    /// The kernel's id of the thread.
    pub tid: u32,
    /// Start, `CLOCK_MONOTONIC_RAW` in ns.
    pub begin_ns: u64,
    /// End, `CLOCK_MONOTONIC_RAW` in ns.
    pub end_ns: u64,
    /// True if it could have run on; false if it gave up the CPU itself.
    pub preempted: bool,
}

/// Pairs each switch off a CPU with the same thread's next onto one. `switches` must be in time
/// order. A thread that never came back (it ended) has no last interval; of two successive switches
/// in the same direction (one was lost), the later one counts.
pub fn off_cpu_intervals(switches: &[Switch]) -> Vec<OffCpuInterval> {
    let mut gone: BTreeMap<u32, Switch> = BTreeMap::new();
    let mut intervals = Vec::new();
    for switch in switches {
        if switch.ended {
            gone.remove(&switch.tid);
        } else if switch.out {
            gone.insert(switch.tid, *switch);
        } else if let Some(out) = gone.remove(&switch.tid)
            && switch.ns > out.ns
        {
            intervals.push(OffCpuInterval {
                tid: switch.tid,
                begin_ns: out.ns,
                end_ns: switch.ns,
                preempted: out.preempted,
            });
        }
    }
    intervals.sort_unstable();
    intervals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(tid: u32, ns: u64, out: bool, preempted: bool) -> Switch {
        Switch {
            tid,
            ns,
            out,
            preempted,
            ended: false,
            cpu: None,
        }
    }

    #[test]
    fn pairs_by_thread_and_survives_lost_records() {
        let switches = [
            switch(1, 0, false, false),
            switch(1, 10, true, true),
            switch(2, 11, true, false),
            switch(1, 15, false, false),
            switch(2, 30, false, false),
            switch(1, 40, true, false),
            switch(1, 50, true, true),
            switch(1, 60, false, false),
            switch(2, 70, true, false),
        ];
        let off = |tid, begin_ns, end_ns, preempted| OffCpuInterval {
            tid,
            begin_ns,
            end_ns,
            preempted,
        };
        assert_eq!(
            off_cpu_intervals(&switches),
            [
                off(1, 10, 15, true),
                off(1, 50, 60, true),
                off(2, 11, 30, false)
            ]
        );
    }
}
