//! Estimates off-CPU times if the threads' switches were not traced: the time that a thread lost
//! from one reading of its statistics to the next is spread over the strands that it ran meanwhile.
//!
//! A reading says how long, not when. Blocked time is first assumed to be outside of the thread's
//! strands, where workers sleep because there is no work; only the part that does not fit there is
//! inside of strands. Preempted time may be wherever the thread was not blocked. Waits for locks
//! that an adapter reported are known, and count as outside of strands here. Each strand gets a
//! share of both in proportion to its length in that stretch, as intervals at its end. Sums over a
//! chunk are thus as accurate as the kernel's, but which strand of the chunk was off the CPU is not
//! known.

use std::collections::BTreeMap;

use workspan_trace::entry::OffCpu;

use super::chunks_by_thread::TraceChunks;
use super::survey::{LATEST, slot};
use super::{Extent, clock};
use workspan_dag::{OffCpuInterval, OffCpuReason};

/// Adds the off-CPU intervals that follow from the readings to those known, which are sorted and do
/// not overlap. A trace with readings has no switches seen by the kernel (ARCHITECTURE.md), so the
/// known ones are waits for locks. `strands` are thread, start and end of each.
pub(super) fn spread(
    chunks: &TraceChunks<'_>,
    extent: Extent,
    strands: impl Iterator<Item = (u32, u64, u64)>,
    offs: &mut Vec<OffCpuInterval>,
) {
    if chunks.readings.is_empty() {
        return;
    }
    let rate = clock::ticks_per_second(chunks).unwrap_or(1_000_000_000);
    let mut stretches: BTreeMap<u32, Vec<Stretch>> = BTreeMap::new();
    for reading in &chunks.readings {
        if let Some(thread) = slot(&chunks.threads, reading.thread) {
            let stretch = Stretch::from_reading(reading, extent.first, rate);
            stretches.entry(thread as u32).or_default().push(stretch);
        }
    }
    let mut strands = by_thread(strands, &stretches);
    for of_thread in offs.chunk_by(|a, b| a.thread == b.thread) {
        if let Some(strands) = strands.get_mut(&of_thread[0].thread) {
            *strands = without(strands, of_thread);
        }
    }
    for (thread, mut stretches) in stretches {
        let strands = strands.remove(&thread).unwrap_or_default();
        stretches.sort_by_key(|s| (s.from, s.to));
        let (mut next, mut last) = (0, 0);
        for mut stretch in stretches {
            stretch.from = stretch.from.max(last);
            last = last.max(stretch.to);
            while strands.get(next).is_some_and(|s| s.1 <= stretch.from) {
                next += 1;
            }
            let inside: Vec<(u64, u64)> = strands[next..]
                .iter()
                .take_while(|s| s.0 < stretch.to)
                .map(|s| (s.0.max(stretch.from), s.1.min(stretch.to)))
                .filter(|s| s.0 < s.1)
                .collect();
            stretch.divide(&inside, |start, end, why| {
                offs.push(OffCpuInterval {
                    thread,
                    start,
                    end,
                    why,
                    on: None,
                });
            });
        }
    }
}

/// Start and end of the strands of the threads with readings, in time order and without overlap.
fn by_thread(
    all: impl Iterator<Item = (u32, u64, u64)>,
    threads: &BTreeMap<u32, Vec<Stretch>>,
) -> BTreeMap<u32, Vec<(u64, u64)>> {
    let mut strands: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for (thread, start, end) in all {
        if start < end && threads.contains_key(&thread) {
            strands.entry(thread).or_default().push((start, end));
        }
    }
    for of_thread in strands.values_mut() {
        of_thread.sort_unstable();
        let mut last = 0;
        for strand in of_thread.iter_mut() {
            strand.0 = strand.0.max(last);
            strand.1 = strand.1.max(strand.0);
            last = strand.1;
        }
    }
    strands
}

/// The parts of a thread's strands outside of the intervals. Both are sorted and do not overlap.
fn without(strands: &[(u64, u64)], holes: &[OffCpuInterval]) -> Vec<(u64, u64)> {
    let mut left = Vec::with_capacity(strands.len());
    let mut next = 0;
    for &(mut start, end) in strands {
        while let Some(hole) = holes.get(next).filter(|hole| hole.start < end) {
            if start < hole.start {
                left.push((start, hole.start));
            }
            start = start.max(hole.end);
            if hole.end > end {
                break;
            }
            next += 1;
        }
        if start < end {
            left.push((start, end));
        }
    }
    left
}

/// A reading in ticks of the run.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from: u64,
    to: u64,
    preempted: u64,
    blocked: u64,
}

impl Stretch {
    fn from_reading(reading: &OffCpu, origin: u64, rate: u64) -> Stretch {
        let at = |ticks: u64| ticks.saturating_sub(origin).min(LATEST);
        let length = |ns: u64| {
            let ticks = u128::from(ns) * u128::from(rate) / 1_000_000_000;
            u64::try_from(ticks).unwrap_or(u64::MAX)
        };
        Stretch {
            from: at(reading.from),
            to: at(reading.to),
            preempted: length(reading.preempted_ns),
            blocked: length(reading.blocked_ns),
        }
    }

    /// Calls `f` with the off-CPU intervals inside of `strands`, which are in this stretch, in time
    /// order.
    fn divide(self, strands: &[(u64, u64)], mut f: impl FnMut(u64, u64, OffCpuReason)) {
        let busy: u64 = strands.iter().map(|s| s.1 - s.0).sum();
        let outside = self.to.saturating_sub(self.from).saturating_sub(busy);
        let blocked = self.blocked.saturating_sub(outside).min(busy);
        let awake_outside = outside.saturating_sub(self.blocked);
        let runnable = u128::from(busy - blocked) + u128::from(awake_outside);
        let preempted = u128::from(self.preempted) * u128::from(busy - blocked);
        let preempted = preempted.checked_div(runnable).unwrap_or(0);
        let preempted = u64::try_from(preempted).unwrap_or(u64::MAX);
        let preempted = preempted.min(busy - blocked);
        let part = |total: u64, done: u64| {
            let share = u128::from(total) * u128::from(done);
            share.checked_div(u128::from(busy)).unwrap_or(0) as u64
        };
        // Cumulative sums, so that rounding loses nothing.
        let (mut done, mut was_off, mut was_blocked) = (0, 0, 0);
        for &(start, end) in strands {
            done += end - start;
            let (off, now_blocked) = (part(preempted + blocked, done), part(blocked, done));
            let (of_off, of_blocked) = (off - was_off, now_blocked - was_blocked);
            (was_off, was_blocked) = (off, now_blocked);
            let of_off = of_off.min(end - start);
            let middle = end - of_blocked.min(of_off);
            if end - of_off < middle {
                f(end - of_off, middle, OffCpuReason::Preempted);
            }
            if middle < end {
                f(middle, end, OffCpuReason::Blocked);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The preempted and blocked time of each strand.
    fn divided(stretch: (u64, u64), off: (u64, u64), strands: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let stretch = Stretch {
            from: stretch.0,
            to: stretch.1,
            preempted: off.0,
            blocked: off.1,
        };
        let mut sums = vec![(0, 0); strands.len()];
        stretch.divide(strands, |start, end, why| {
            let at = strands.iter().position(|s| s.0 <= start && end <= s.1);
            let sum = &mut sums[at.expect("inside a strand")];
            match why {
                OffCpuReason::Preempted => sum.0 += end - start,
                OffCpuReason::Blocked => sum.1 += end - start,
            }
        });
        sums
    }

    #[test]
    fn strands_get_their_share_by_length() {
        assert_eq!(
            divided((0, 400), (40, 100), &[(0, 300), (300, 400)]),
            [(30, 75), (10, 25)]
        );
    }

    #[test]
    fn a_worker_sleeps_outside_its_strands_first() {
        // 300 of 400 ticks are outside of strands.
        let strands = [(100, 150), (350, 400)];
        assert_eq!(divided((0, 400), (0, 300), &strands), [(0, 0), (0, 0)]);
        assert_eq!(divided((0, 400), (0, 340), &strands), [(0, 20), (0, 20)]);
        // On the CPU for 100 ticks outside and 100 inside, and preempted equally in both.
        assert_eq!(divided((0, 400), (80, 200), &strands), [(20, 0), (20, 0)]);
    }

    #[test]
    fn known_waits_are_outside_of_strands() {
        let hole = |(start, end)| OffCpuInterval {
            thread: 0,
            start,
            end,
            why: OffCpuReason::Blocked,
            on: None,
        };
        let holes = [(5, 20), (25, 30), (40, 60), (100, 110)].map(hole);
        let strands = [(0, 10), (15, 35), (35, 50), (55, 58), (90, 120)];
        assert_eq!(
            without(&strands, &holes),
            [(0, 5), (20, 25), (30, 35), (35, 40), (90, 100), (110, 120)]
        );
    }

    #[test]
    fn no_strand_loses_more_than_it_has_and_no_tick_is_lost_in_rounding() {
        assert_eq!(divided((0, 10), (900, 900), &[(2, 5)]), [(0, 3)]);
        let short: Vec<(u64, u64)> = (0..1000).map(|i| (i * 3, i * 3 + 3)).collect();
        let sums = divided((0, 3000), (100, 77), &short);
        let all = sums.iter().fold((0, 0), |a, s| (a.0 + s.0, a.1 + s.1));
        assert_eq!(all.0 + all.1, 177, "{all:?}");
        assert_eq!(divided((5, 5), (1, 1), &[]), []);
    }
}
