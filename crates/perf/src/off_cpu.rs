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
/// order. A thread that ended has no last interval (see [`thread_ends`]); of two successive
/// switches in the same direction (one was lost), the later one counts.
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

/// When threads ended, by the kernel's id, which several may have had one after the other, in time
/// order. `switches` must be in time order.
pub fn thread_ends(switches: &[Switch]) -> BTreeMap<u32, Vec<u64>> {
    let mut ends: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for switch in switches.iter().filter(|switch| switch.ended) {
        ends.entry(switch.tid).or_default().push(switch.ns);
    }
    ends
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
    fn a_thread_that_ended_stays_away() {
        let ended = |tid, ns| Switch {
            ended: true,
            ..switch(tid, ns, true, false)
        };
        let switches = [
            switch(1, 0, false, false),
            ended(1, 20),
            switch(2, 30, false, false),
            ended(2, 40),
            // Another thread with the id of the first one.
            switch(1, 50, false, false),
            ended(1, 60),
        ];
        assert_eq!(off_cpu_intervals(&switches), []);
        let ends = thread_ends(&switches);
        assert_eq!(ends, BTreeMap::from([(1, vec![20, 60]), (2, vec![40])]));
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
