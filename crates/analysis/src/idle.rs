//! What idle workers cost: whether they searched for tasks on a CPU, were about to go to sleep, or
//! slept.
//!
//! Between two strands a worker runs its runtime. The kernel's context switches show what it did:
//!
//! ```text
//! strand ├─ on the CPU ─┤ off ├─ on ─┤ strand        on, then off by itself: going to sleep
//!          going to       asleep searching           on until the next strand: searching
//!          sleep
//! ```

use workspan_dag::{Dag, EndKind, OffCpuInterval, OffCpuReason, ThreadId};

/// Idle time of workers, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IdleTime {
    /// On a CPU until a task was found, or the worker's end.
    pub searching: u64,
    /// On a CPU and then asleep: the search was in vain.
    pub going_to_sleep: u64,
    /// Off the CPU by its own choice.
    pub asleep: u64,
    /// Off the CPU, because something else ran.
    pub preempted: u64,
}

impl IdleTime {
    /// CPU time that was used for no task.
    pub fn on_cpu(&self) -> u64 {
        self.searching.saturating_add(self.going_to_sleep)
    }

    /// The total.
    pub fn total(&self) -> u64 {
        let off = self.asleep.saturating_add(self.preempted);
        self.on_cpu().saturating_add(off)
    }

    fn add(&mut self, more: IdleTime) {
        self.searching = self.searching.saturating_add(more.searching);
        self.going_to_sleep = self.going_to_sleep.saturating_add(more.going_to_sleep);
        self.asleep = self.asleep.saturating_add(more.asleep);
        self.preempted = self.preempted.saturating_add(more.preempted);
    }
}

/// Idle time of each worker, by thread; other threads have none. Empty if context switches were not
/// recorded. O(n + m) for n strands and m times off the CPU.
pub fn idle_times(dag: &Dag) -> Vec<IdleTime> {
    let is_watched = dag
        .meta
        .cpu
        .as_ref()
        .is_some_and(|cpu| !cpu.threads.is_empty());
    let threads = dag.meta.threads as usize;
    let Some(&end) = dag.strands.end.iter().max().filter(|_| is_watched) else {
        return Vec::new();
    };
    let mut idle = vec![IdleTime::default(); threads];
    // By thread: the time up to which it was examined; `None` before its first strand or pool.
    let mut until: Vec<Option<u64>> = vec![None; threads];
    // By thread: when it last left a pool; `None` for one that stays until the end.
    let mut leaves: Vec<Option<u64>> = vec![None; threads];
    for member in &dag.pools.members {
        let thread = member.thread as usize;
        if let (Some(from), Some(leave)) = (until.get_mut(thread), leaves.get_mut(thread)) {
            *from = Some(from.map_or(member.from, |from| from.min(member.from)));
            *leave = (*leave).max(Some(member.to));
        }
    }
    let mut offs = OffCpuCursor::new(dag);
    let mut gap = |thread: ThreadId, from: u64, to: u64| {
        if from < to {
            let time = offs.idle(thread, from, to);
            idle[thread as usize].add(time);
        }
    };
    for s in 0..dag.strands.len() {
        let thread = dag.strands.thread[s];
        if !dag.is_worker(thread) {
            continue;
        }
        let (start, strand_end) = (dag.strands.start[s], dag.strands.end[s]);
        if let Some(from) = until[thread as usize] {
            gap(thread, from, start);
        }
        let until = &mut until[thread as usize];
        // A thread of the program's own ends with its task. A later thread may have its number.
        *until = match ends_a_thread(dag, s) {
            true => None,
            false => Some(until.map_or(strand_end, |before| before.max(strand_end))),
        };
    }
    for thread in (0..dag.meta.threads).filter(|&thread| dag.is_worker(thread)) {
        if let Some(from) = until[thread as usize] {
            let leave = leaves[thread as usize].unwrap_or(end);
            gap(thread, from, leave.min(end));
        }
    }
    idle
}

/// Whether strand `s` is the last one of a task that is a thread of the program's own.
fn ends_a_thread(dag: &Dag, s: usize) -> bool {
    dag.strands.end_kind[s] == EndKind::End && dag.is_thread_task(dag.strands.task[s])
}

/// The sum over all workers; `None` if it is not known.
pub(crate) fn idle_time(dag: &Dag) -> Option<IdleTime> {
    let times = idle_times(dag);
    let mut all = IdleTime::default();
    times.iter().for_each(|&time| all.add(time));
    (!times.is_empty()).then_some(all)
}

/// Times off the CPU, for queries by thread in ascending order of time.
struct OffCpuCursor<'a> {
    all: &'a [OffCpuInterval],
    /// By thread: the next interval to examine.
    next: Vec<usize>,
}

impl<'a> OffCpuCursor<'a> {
    fn new(dag: &'a Dag) -> OffCpuCursor<'a> {
        let first = |thread| dag.offs.partition_point(|off| off.thread < thread);
        OffCpuCursor {
            all: &dag.offs,
            next: (0..dag.meta.threads).map(first).collect(),
        }
    }

    /// What the thread did between two moments, during which it ran no strand.
    fn idle(&mut self, thread: ThreadId, from: u64, to: u64) -> IdleTime {
        let mut idle = IdleTime::default();
        let mut at = from;
        // Ticks on the CPU since it last woke or the gap began, interruptions left out.
        let mut on = 0u64;
        let next = &mut self.next[thread as usize];
        while let Some(off) = self.all.get(*next).filter(|off| off.thread == thread) {
            if off.start >= to {
                break;
            }
            let (start, end) = (off.start.clamp(at, to), off.end.clamp(at, to));
            on = on.saturating_add(start - at);
            match off.why {
                OffCpuReason::Preempted => idle.preempted += end - start,
                OffCpuReason::Blocked => {
                    idle.asleep += end - start;
                    idle.going_to_sleep += std::mem::take(&mut on);
                }
            }
            at = end;
            if off.end > to {
                break;
            }
            *next += 1;
        }
        idle.searching += on.saturating_add(to - at);
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_on_the_cpu_belongs_to_what_follows_it() {
        let off = |start, end, why| OffCpuInterval {
            thread: 0,
            start,
            end,
            why,
            on: None,
        };
        let all = [
            off(0, 5, OffCpuReason::Blocked),
            off(20, 22, OffCpuReason::Preempted),
            off(30, 90, OffCpuReason::Blocked),
            off(95, 200, OffCpuReason::Blocked),
        ];
        let mut offs = OffCpuCursor {
            all: &all,
            next: vec![0],
        };
        let idle = offs.idle(0, 10, 100);
        let expected = IdleTime {
            searching: 0,
            // 10 to 20, 22 to 30; 90 to 95.
            going_to_sleep: 23,
            asleep: 65,
            preempted: 2,
        };
        assert_eq!(idle, expected);
        assert_eq!(idle.total(), 90);
        // The rest of that sleep, then the search that found a strand.
        let next = offs.idle(0, 150, 210);
        assert_eq!(
            (next.asleep, next.searching, next.going_to_sleep),
            (50, 10, 0)
        );
    }
}
