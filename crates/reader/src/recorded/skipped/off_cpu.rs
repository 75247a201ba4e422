//! Off-CPU times of a thread, used to find how long skipped subtrees really ran. On a busy machine
//! the thread may have been off the CPU for most of a subtree.

use workspan_trace::event::{Event, Events};

use crate::recorded::chunks_by_thread::Thread;

/// A thread's off-CPU intervals, in the file's ticks.
#[derive(Debug, Default)]
pub(super) struct OffCpuTimes {
    /// (Start, end, total ticks up to and including this one), by end.
    intervals: Vec<(u64, u64, u64)>,
}

impl OffCpuTimes {
    /// The intervals of a thread, which are in chunks of their own after all others. Times of which
    /// only the sums per chunk are known are not included.
    pub(super) fn from_thread(thread: &Thread<'_>) -> OffCpuTimes {
        let mut intervals: Vec<(u64, u64, u64)> = Vec::new();
        for chunk in thread.off_cpu() {
            let events = Events::new(chunk.bytes, chunk.base);
            intervals.extend(events.filter_map(|(t, event)| match event {
                Event::Off { ticks, .. } => Some((t.saturating_sub(ticks), t, 0)),
                _ => None,
            }));
        }
        intervals.sort_unstable_by_key(|off| off.1);
        let mut sum = 0u64;
        for off in &mut intervals {
            sum = sum.saturating_add(off.1 - off.0);
            off.2 = sum;
        }
        OffCpuTimes { intervals }
    }

    /// The ticks from one moment to another in which the thread ran.
    pub(super) fn ran(&self, from: u64, to: u64) -> u64 {
        let off = self.until(to).saturating_sub(self.until(from));
        to.saturating_sub(from).saturating_sub(off)
    }

    /// The off-CPU ticks before `t`.
    fn until(&self, t: u64) -> u64 {
        let over = self.intervals.partition_point(|off| off.1 <= t);
        let sum = over.checked_sub(1).map_or(0, |last| self.intervals[last].2);
        let begun = self
            .intervals
            .get(over)
            .map_or(0, |off| t.saturating_sub(off.0));
        sum.saturating_add(begun)
    }
}

#[cfg(test)]
mod tests {
    use super::OffCpuTimes;

    #[test]
    fn intervals_count_as_far_as_they_lie_inside() {
        let intervals = vec![(10, 20, 10), (50, 60, 20)];
        let off = OffCpuTimes { intervals };
        assert_eq!(off.ran(0, 10), 10);
        assert_eq!(off.ran(0, 15), 10);
        assert_eq!(off.ran(12, 18), 0);
        assert_eq!(off.ran(0, 100), 80);
        assert_eq!(off.ran(55, 70), 10);
        assert_eq!(off.ran(30, 20), 0);
    }
}
