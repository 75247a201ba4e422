//! The recorded process's log of its threads' waits, matched with the times at which the kernel saw
//! them off the CPU.

use std::collections::BTreeMap;

use workspan_perf::OffCpuInterval;
use workspan_trace::Trace;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{self, LoggedWait, RankCall, ThreadEntry, WaitKind};
use workspan_trace::reader::Tolerance;

use crate::kernel::clock::Clock;

/// A wait as the process logged it, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// The time at which it began.
    pub begin: u64,
    /// The time at which it ended.
    pub end: u64,
    /// What the thread waited for.
    pub kind: WaitKind,
    /// The object; 0 if there is none.
    pub object: u64,
    /// The number of the call stack.
    chain: Option<u32>,
    /// The kernel's id of the thread that ended it; 0 if unknown.
    by: u32,
    /// The number of that thread's call stack at the time.
    released_at: Option<u32>,
    /// The time at which the object was released.
    pub released: u64,
}

/// The waits of a process.
#[derive(Debug, Default)]
pub struct Waits {
    chains: BTreeMap<u32, Vec<u64>>,
    /// Waits by the kernel's thread id, in time order.
    by_tid: BTreeMap<u32, Vec<Wait>>,
    /// Calls of MPI, each with the number of its call stack.
    rank_calls: BTreeMap<u32, Vec<(RankCall, Option<u32>)>>,
    /// Threads of the trace by the kernel's thread id: the time at which each began, and its
    /// number.
    threads: BTreeMap<u32, Vec<(u64, u32)>>,
}

impl Waits {
    /// Reads the log in a spool file.
    pub fn from_trace(trace: &Trace<'_>) -> Waits {
        let mut waits = Waits::default();
        for chunk in trace.chunks(Tolerance::Tolerant).flatten() {
            let bodies = entry::entries(chunk.payload);
            match chunk.kind {
                ChunkKind::WaitLog => bodies
                    .filter_map(LoggedWait::decode)
                    .for_each(|logged| waits.add(logged)),
                ChunkKind::Threads => {
                    for thread in bodies.filter_map(ThreadEntry::decode) {
                        let of_tid = waits.threads.entry(thread.tid).or_default();
                        of_tid.push((thread.start_ticks, thread.thread));
                    }
                }
                _ => {}
            }
        }
        waits.by_tid.values_mut().for_each(|w| w.sort_unstable());
        waits.threads.values_mut().for_each(|t| t.sort_unstable());
        let calls = waits.rank_calls.values_mut();
        calls.for_each(|calls| calls.sort_unstable());
        waits
    }

    fn add(&mut self, logged: LoggedWait) {
        match logged {
            LoggedWait::Chain { id, mut addresses } => {
                // The innermost address of a chain is used as the thread's position. For a return
                // address, that is the call before it.
                if let Some(first) = addresses.first_mut() {
                    *first = first.saturating_sub(1);
                }
                self.chains.insert(id, addresses);
            }
            LoggedWait::Wait {
                tid,
                kind,
                begin,
                ticks,
                object,
                chain,
                by,
                released_at,
                held,
            } => self.by_tid.entry(tid).or_default().push(Wait {
                begin,
                end: begin.saturating_add(ticks),
                kind,
                object,
                chain: chain.checked_sub(1),
                by,
                released_at: released_at.checked_sub(1),
                released: begin.saturating_add(held),
            }),
            LoggedWait::RankCall { tid, chain, call } => {
                let calls = self.rank_calls.entry(tid).or_default();
                calls.push((call, chain.checked_sub(1)));
            }
        }
    }

    /// Whether nothing was logged.
    pub fn is_empty(&self) -> bool {
        self.by_tid.is_empty() && self.rank_calls.is_empty()
    }

    /// The calls of MPI of a thread, in time order, each with its return addresses.
    pub fn rank_calls(&self, tid: u32) -> impl Iterator<Item = (RankCall, &[u64])> {
        let calls = self.rank_calls.get(&tid).into_iter().flatten();
        calls.map(|&(call, chain)| (call, self.addresses(chain)))
    }

    /// The waits of a thread, in time order.
    pub fn of_thread(&self, tid: u32) -> &[Wait] {
        self.by_tid.get(&tid).map_or(&[], Vec::as_slice)
    }

    /// The wait of a thread with the largest overlap with this time, in ticks. A thread is in one
    /// wait at a time.
    pub fn during(&self, tid: u32, (begin, end): (u64, u64)) -> Option<&Wait> {
        let waits = self.by_tid.get(&tid)?;
        let first = waits.partition_point(|wait| wait.end <= begin);
        let common = |wait: &&Wait| wait.end.min(end).saturating_sub(wait.begin.max(begin));
        let there = waits[first..].iter().take_while(|wait| wait.begin < end);
        // A longer off-CPU time that begins in a wait's last instant does not belong to the wait.
        there
            .max_by_key(common)
            .filter(|wait| common(wait).saturating_mul(2) >= (end - begin))
    }

    /// All waits as off-CPU times, for a process whose switches were not watched.
    pub fn intervals(&self, clock: &Clock) -> impl Iterator<Item = OffCpuInterval> {
        let all = self.by_tid.iter().flat_map(move |(&tid, waits)| {
            waits.iter().map(move |wait| OffCpuInterval {
                tid,
                begin_ns: clock.ns(wait.begin),
                end_ns: clock.ns(wait.end),
                preempted: false,
            })
        });
        all.filter(|off| off.begin_ns < off.end_ns)
    }

    /// The return addresses of the wait, innermost first; empty if not known.
    pub fn chain(&self, wait: &Wait) -> &[u64] {
        self.addresses(wait.chain)
    }

    /// The return addresses of the place where the wait was ended.
    pub fn released_at(&self, wait: &Wait) -> &[u64] {
        self.addresses(wait.released_at)
    }

    fn addresses(&self, chain: Option<u32>) -> &[u64] {
        let known = chain.and_then(|chain| self.chains.get(&chain));
        known.map_or(&[], Vec::as_slice)
    }

    /// When another thread ended the wait, in ticks; `None` if no thread is known to have ended it.
    pub fn released_by_another(&self, wait: &Wait) -> Option<u64> {
        self.ended_by(wait).map(|_| wait.released)
    }

    /// The thread of the trace that ended the wait: the last one with that kernel id that had begun
    /// by then.
    pub fn ended_by(&self, wait: &Wait) -> Option<u32> {
        let of_tid = self.threads.get(&wait.by)?;
        let begun = of_tid.partition_point(|&(start, _)| start <= wait.end);
        Some(of_tid[begun.checked_sub(1)?].1)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Waits of thread 5 from `begin` to `end`, whose object thread 6 released `held` ticks after
    /// the begin.
    pub(crate) fn held(times: &[(u64, u64, u64)]) -> Waits {
        let mut waits = Waits::default();
        waits.threads.insert(6, vec![(0, 1)]);
        for &(begin, end, held) in times {
            waits.add(LoggedWait::Wait {
                tid: 5,
                kind: WaitKind::Mutex,
                begin,
                ticks: end - begin,
                object: 64,
                chain: 1,
                by: 6,
                released_at: 0,
                held,
            });
        }
        waits
    }

    fn waits(times: &[(u64, u64)]) -> Waits {
        let all: Vec<_> = times.iter().map(|&(begin, end)| (begin, end, 1)).collect();
        held(&all)
    }

    #[test]
    fn a_time_off_the_cpu_is_the_wait_that_it_lies_in() {
        let waits = waits(&[(10, 100), (110, 200)]);
        let begin = |time| waits.during(5, time).map(|wait| wait.begin);
        assert_eq!(begin((12, 99)), Some(10));
        assert_eq!(begin((90, 180)), Some(110));
        assert_eq!(begin((100, 110)), None);
        // Preempted right after the wait.
        assert_eq!(begin((195, 400)), None);
        assert_eq!(waits.during(4, (12, 99)), None);
    }

    #[test]
    fn a_kernels_number_is_that_of_the_thread_that_had_it_then() {
        let mut waits = waits(&[(10, 100)]);
        waits.threads.insert(6, vec![(0, 1), (90, 4), (101, 7)]);
        let wait = waits.during(5, (10, 100)).copied();
        assert_eq!(wait.and_then(|wait| waits.ended_by(&wait)), Some(4));
        waits.threads.remove(&6);
        assert_eq!(wait.and_then(|wait| waits.ended_by(&wait)), None);
    }
}
