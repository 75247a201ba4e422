//! Merges off-CPU intervals from several sources: an adapter reports how long a thread waited for a
//! lock, and the kernel's context switches say that it slept, or was preempted, meanwhile.
//!
//! No tick counts twice. Where intervals of a thread overlap, it was blocked if one of them says
//! so, and preempted otherwise. (A thread that spins for a lock and is preempted still waits for
//! the lock.)

use workspan_dag::{OffCpuInterval, OffCpuReason};

/// The union of all intervals, by thread, then time, without overlaps.
pub(crate) fn unite(mut intervals: Vec<OffCpuInterval>) -> Vec<OffCpuInterval> {
    intervals.sort_by_key(|off| (off.thread, off.start, off.end));
    let apart = |a: &OffCpuInterval, b: &OffCpuInterval| a.thread != b.thread || a.end <= b.start;
    if intervals.windows(2).all(|pair| apart(&pair[0], &pair[1])) {
        return intervals;
    }
    let mut united = Vec::with_capacity(intervals.len());
    for of_thread in intervals.chunk_by(|a, b| a.thread == b.thread) {
        let blocked = merged(of_thread, OffCpuReason::Blocked);
        let mut next = 0;
        for off in merged(of_thread, OffCpuReason::Preempted) {
            let mut from = off.start;
            while let Some(hole) = blocked.get(next).filter(|hole| hole.start < off.end) {
                if from < hole.start {
                    united.push(OffCpuInterval {
                        start: from,
                        end: hole.start,
                        ..off.clone()
                    });
                }
                from = from.max(hole.end);
                if hole.end > off.end {
                    break;
                }
                next += 1;
            }
            if from < off.end {
                united.push(OffCpuInterval { start: from, ..off });
            }
        }
        united.extend(blocked);
    }
    united.sort_by_key(|off| (off.thread, off.start, off.end));
    united
}

/// Merges the intervals of one kind of one thread, sorted by start, into the fewest that cover the
/// same time.
fn merged(of_thread: &[OffCpuInterval], why: OffCpuReason) -> Vec<OffCpuInterval> {
    let mut merged: Vec<OffCpuInterval> = Vec::new();
    for off in of_thread.iter().filter(|off| off.why == why) {
        match merged.last_mut() {
            Some(last) if off.start < last.end => last.end = last.end.max(off.end),
            _ => merged.push(off.clone()),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use OffCpuReason::{Blocked as B, Preempted as P};

    fn united(intervals: &[(u32, u64, u64, OffCpuReason)]) -> Vec<(u32, u64, u64, OffCpuReason)> {
        let off = |&(thread, start, end, why): &(u32, u64, u64, OffCpuReason)| OffCpuInterval {
            thread,
            start,
            end,
            why,
            on: None,
        };
        unite(intervals.iter().map(off).collect())
            .into_iter()
            .map(|off| (off.thread, off.start, off.end, off.why))
            .collect()
    }

    #[test]
    fn a_lock_that_was_slept_for_counts_once() {
        let intervals = [
            (0, 10, 50, B),
            (0, 12, 30, B),
            (0, 31, 48, B),
            (1, 20, 40, B),
        ];
        assert_eq!(united(&intervals), [(0, 10, 50, B), (1, 20, 40, B)]);
    }

    #[test]
    fn a_wait_for_a_lock_is_blocked_however_the_thread_was_off() {
        let intervals = [(0, 10, 20, B), (0, 5, 40, P), (0, 30, 35, B)];
        let expected = [
            (0, 5, 10, P),
            (0, 10, 20, B),
            (0, 20, 30, P),
            (0, 30, 35, B),
            (0, 35, 40, P),
        ];
        assert_eq!(united(&intervals), expected);
        let intervals = [
            (0, 10, 20, P),
            (0, 15, 40, B),
            (0, 38, 60, P),
            (0, 60, 61, P),
        ];
        let expected = [
            (0, 10, 15, P),
            (0, 15, 40, B),
            (0, 40, 60, P),
            (0, 60, 61, P),
        ];
        assert_eq!(united(&intervals), expected);
    }

    #[test]
    fn what_does_not_overlap_stays_as_it_is() {
        let intervals = [(1, 5, 8, P), (0, 1, 2, B), (0, 2, 3, B), (0, 3, 9, P)];
        let mut sorted = intervals;
        sorted.sort_by_key(|off| (off.0, off.1));
        assert_eq!(united(&intervals), sorted);
    }
}
