//! Turns context switches into the times in which threads ran: the CPU time of a process, by
//! thread.

use std::collections::BTreeMap;

use crate::off_cpu::OffCpuInterval;
use crate::switch_file::Switch;

/// When each thread of a process was on a CPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnCpuTimes {
    threads: BTreeMap<u32, Thread>,
}

/// A time for which a thread ran on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OnCpuInterval {
    /// In ns of `CLOCK_MONOTONIC_RAW`.
    begin: u64,
    end: u64,
    cpu: Option<u32>,
}

/// The times of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Thread {
    /// Ascending.
    ran: Vec<OnCpuInterval>,
    /// The time since which it has been running, if it runs, and the CPU.
    since: Option<(u64, Option<u32>)>,
    seen: bool,
    missing: u64,
    /// The number of times that it came onto a CPU.
    switches: u64,
}

/// Pairs each switch onto a CPU with the same thread's next off it. `switches` must be in time
/// order. The thread `main` ran when the watching began; every other thread begins with a switch
/// onto a CPU. A thread that runs at the end counts as running forever.
pub fn on_cpu_times(switches: &[Switch], main: u32) -> OnCpuTimes {
    let mut threads: BTreeMap<u32, Thread> = BTreeMap::new();
    threads.entry(main).or_default().since = Some((0, None));
    for switch in switches {
        let thread = threads.entry(switch.tid).or_default();
        match (switch.out, thread.since.take()) {
            (true, Some((begin, cpu))) => thread.ran.push(OnCpuInterval {
                begin,
                end: switch.ns,
                cpu: switch.cpu.or(cpu),
            }),
            (true, None) => thread.missing += 1,
            (false, before) => {
                // The records may contain a switch of the main thread onto its CPU when the
                // watching begins.
                thread.missing += u64::from(before.is_some() && thread.seen);
                thread.since = Some((switch.ns, switch.cpu));
            }
        }
        // A later thread may have the same number.
        thread.seen = !switch.ended;
    }
    for thread in threads.values_mut() {
        let open = thread.since.take();
        thread.ran.extend(open.map(|(begin, cpu)| OnCpuInterval {
            begin,
            end: u64::MAX,
            cpu,
        }));
        thread.switches = thread.ran.len() as u64;
    }
    OnCpuTimes { threads }
}

impl OnCpuTimes {
    /// The kernel's ids of all threads.
    pub fn threads(&self) -> impl Iterator<Item = u32> {
        self.threads.keys().copied()
    }

    /// Nanoseconds for which a thread ran between two moments.
    pub fn ran(&self, tid: u32, from: u64, to: u64) -> u64 {
        self.between(tid, from, to).map(|(_, ns)| ns).sum()
    }

    /// Nanoseconds for which all threads ran, as far as both ends are known.
    pub fn total(&self) -> u64 {
        let all = self.threads.values().flat_map(|thread| &thread.ran);
        let known = all.filter(|ran| ran.begin > 0 && ran.end < u64::MAX);
        known.map(|ran| ran.end.saturating_sub(ran.begin)).sum()
    }

    /// Nanoseconds for which a thread ran on each CPU between two moments, as far as the CPU is
    /// known.
    pub fn ran_by_cpu(&self, tid: u32, from: u64, to: u64) -> BTreeMap<u32, u64> {
        let mut by_cpu = BTreeMap::new();
        for (cpu, ns) in self.between(tid, from, to) {
            if let Some(cpu) = cpu {
                *by_cpu.entry(cpu).or_default() += ns;
            }
        }
        by_cpu
    }

    fn between(
        &self,
        tid: u32,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (Option<u32>, u64)> + '_ {
        let ran = self.threads.get(&tid).map_or(&[][..], |t| &t.ran);
        let first = ran.partition_point(|r| r.end <= from);
        let inside = ran[first..].iter().take_while(move |r| r.begin < to);
        inside.map(move |r| (r.cpu, r.end.min(to).saturating_sub(r.begin.max(from))))
    }

    /// Removes times in which the thread did not run. `off` is in the order of time, without
    /// overlaps.
    pub fn take_out(&mut self, tid: u32, off: &[OffCpuInterval]) {
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        let mut off = off.iter().peekable();
        let mut left = Vec::with_capacity(thread.ran.len());
        for &OnCpuInterval {
            mut begin,
            end,
            cpu,
        } in &thread.ran
        {
            let part = |begin, end| OnCpuInterval { begin, end, cpu };
            while let Some(next) = off.peek().filter(|next| next.begin_ns < end) {
                if next.begin_ns > begin {
                    left.push(part(begin, next.begin_ns));
                }
                begin = begin.max(next.end_ns.min(end));
                if next.end_ns > end {
                    break;
                }
                off.next();
            }
            if begin < end {
                left.push(part(begin, end));
            }
        }
        thread.ran = left;
    }

    /// The number of times that a thread came onto a CPU.
    pub fn switches(&self, tid: u32) -> u64 {
        self.threads.get(&tid).map_or(0, |t| t.switches)
    }

    /// Number of missing switches of a thread, recognised by two successive ones in the same
    /// direction.
    pub fn missing(&self, tid: u32) -> u64 {
        self.threads.get(&tid).map_or(0, |thread| thread.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(tid: u32, ns: u64, out: bool) -> Switch {
        Switch {
            tid,
            ns,
            out,
            preempted: false,
            ended: false,
            cpu: None,
        }
    }

    #[test]
    fn a_thread_that_ended_runs_no_more() {
        let end = |tid, ns| Switch {
            ended: true,
            ..switch(tid, ns, true)
        };
        let switches = [
            switch(2, 10, false),
            end(2, 15),
            // Another thread, with the id of the first one.
            switch(2, 30, false),
            switch(2, 31, true),
            switch(2, 40, false),
            end(2, 42),
            end(1, 50),
        ];
        let on = on_cpu_times(&switches, 1);
        assert_eq!((on.ran(1, 0, 100), on.ran(2, 0, 100)), (50, 8));
        assert_eq!((on.missing(1), on.missing(2)), (0, 0));
        assert_eq!((on.switches(1), on.switches(2)), (1, 3));
        let off = crate::off_cpu_intervals(&switches);
        let off: Vec<_> = off
            .iter()
            .map(|off| (off.tid, off.begin_ns, off.end_ns))
            .collect();
        assert_eq!(off, [(2, 31, 40)]);
    }

    #[test]
    fn times_are_known_by_cpu() {
        let on_cpu = |tid, ns, out, cpu| Switch {
            cpu: Some(cpu),
            ..switch(tid, ns, out)
        };
        let switches = [
            // The main thread's first CPU is that which it leaves.
            on_cpu(1, 10, true, 3),
            on_cpu(1, 20, false, 0),
            on_cpu(1, 40, true, 0),
            on_cpu(1, 50, false, 3),
            switch(1, 60, true),
            switch(1, 70, false),
            switch(1, 71, true),
            on_cpu(1, 80, false, 7),
        ];
        let mut on = on_cpu_times(&switches, 1);
        let by_cpu = |on: &OnCpuTimes, from, to| Vec::from_iter(on.ran_by_cpu(1, from, to));
        assert_eq!(by_cpu(&on, 0, 100), [(0, 20), (3, 20), (7, 20)]);
        assert_eq!(by_cpu(&on, 5, 25), [(0, 5), (3, 5)]);
        let off = |begin_ns, end_ns| OffCpuInterval {
            tid: 1,
            begin_ns,
            end_ns,
            preempted: true,
        };
        on.take_out(1, &[off(25, 35), off(55, 60)]);
        assert_eq!(by_cpu(&on, 0, 80), [(0, 10), (3, 15)]);
        assert_eq!(on.ran(1, 0, 80), 26);
        assert_eq!(by_cpu(&on, 0, 0), []);
        assert!(on.ran_by_cpu(9, 0, 100).is_empty());
    }

    #[test]
    fn times_that_no_switch_shows_are_taken_out() {
        let switches = [
            switch(1, 10, true),
            switch(1, 20, false),
            switch(1, 40, true),
            switch(1, 50, false),
        ];
        let mut on = on_cpu_times(&switches, 1);
        let off = |begin_ns, end_ns| OffCpuInterval {
            tid: 1,
            begin_ns,
            end_ns,
            preempted: true,
        };
        on.take_out(1, &[off(2, 4), off(25, 27), off(30, 40), off(55, 60)]);
        assert_eq!(on.ran(1, 0, 10), 8);
        assert_eq!(on.ran(1, 10, 50), 8);
        assert_eq!((on.ran(1, 0, 100), on.switches(1)), (61, 3));
        on.take_out(1, &[off(0, 100)]);
        assert_eq!(on.ran(1, 0, 110), 10);
    }

    #[test]
    fn pieces_add_up_and_lost_switches_are_counted() {
        let switches = [
            switch(1, 10, true),
            switch(2, 11, false),
            switch(2, 15, true),
            switch(1, 20, false),
            switch(2, 30, true),
            switch(2, 40, false),
            switch(2, 45, false),
        ];
        let on = on_cpu_times(&switches, 1);
        assert_eq!(on.ran(1, 0, 50), 40);
        assert_eq!(on.ran(1, 5, 25), 10);
        assert_eq!(on.ran(2, 0, 50), 9);
        assert_eq!((on.missing(1), on.missing(2)), (0, 2));
        assert_eq!(on.ran(3, 0, 50), 0);
        assert_eq!(on.threads().collect::<Vec<_>>(), [1, 2]);
    }
}
