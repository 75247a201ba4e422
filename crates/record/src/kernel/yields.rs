//! Merges off-CPU times of a thread that waits by yielding its CPU. Such a thread may leave the CPU
//! 100,000 times a second, for a few microseconds each time, and each of these times would be a
//! record.
//!
//! Between two records of a thread it only matters how long it was off the CPU, not when. Times
//! that follow one another closely there are merged into one of their total length, at the end of
//! the last.

/// A time off the CPU, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OffCpuTicks {
    pub begin: u64,
    pub end: u64,
    pub blocked: bool,
}

/// A thread that was on the CPU for less time only yielded again.
const MAX_NEAR_GAP_NS: u64 = 5_000;
/// Off-CPU times with a smaller gap are merged if their length does not matter.
const MAX_GAP_NS: u64 = 100_000;
/// The merged length does not matter if it is at most the thread's time divided by this.
const NEGLIGIBLE_DIVISOR: u64 = 1000;
/// With fewer times, reading the thread's records is not worthwhile.
const MIN_YIELDS: usize = 64;

/// The limits within which two off-CPU times are merged, in ticks.
#[derive(Debug, Clone, Copy)]
pub(super) struct MergeLimits {
    near: u64,
    far: u64,
    /// The largest length of a merged time whose parts are not near.
    negligible: u64,
}

impl MergeLimits {
    /// The limits for a thread that existed for `elapsed` ticks. `ticks` converts nanoseconds.
    pub(super) fn new(ticks: impl Fn(u64) -> u64, elapsed: u64) -> MergeLimits {
        MergeLimits {
            near: ticks(MAX_NEAR_GAP_NS),
            far: ticks(MAX_GAP_NS),
            negligible: elapsed / NEGLIGIBLE_DIVISOR,
        }
    }

    /// Whether `offs`, in time order, has enough times that may be merged.
    pub(super) fn are_many(&self, offs: &[OffCpuTicks]) -> bool {
        let close = offs.windows(2).filter(|pair| match pair {
            [a, b] => a.blocked == b.blocked && b.begin.saturating_sub(a.end) < self.far,
            _ => false,
        });
        close.count() >= MIN_YIELDS
    }

    /// Whether `next` can be merged with a time that ends with `last` and is `ticks` long so far.
    fn holds(&self, last: &OffCpuTicks, ticks: u64, next: &OffCpuTicks) -> bool {
        let apart = next.begin.saturating_sub(last.end);
        let both = ticks.saturating_add(next.ticks());
        let short = apart < self.far && both <= self.negligible;
        last.blocked == next.blocked && (apart < self.near || short)
    }

    /// Merges times that are close and have no record of the thread between the begin of the first
    /// and the end of the last. `records` are the times of its records, ascending.
    pub(super) fn merged(
        &self,
        offs: &[OffCpuTicks],
        records: impl Iterator<Item = u64>,
    ) -> Vec<OffCpuTicks> {
        let mut records = records.peekable();
        let mut all: Vec<OffCpuTicks> = Vec::new();
        // The range from the first to the last of the times that were merged into the last one.
        let mut run: Option<OffCpuTicks> = None;
        for off in offs {
            let ticks = all.last().map_or(0, OffCpuTicks::ticks);
            let follows = run.as_mut().filter(|run| {
                while records.next_if(|&t| t <= run.begin).is_some() {}
                let alone = records.peek().is_none_or(|&t| t >= off.end);
                alone && self.holds(run, ticks, off)
            });
            match (follows, all.last_mut()) {
                (Some(run), Some(merged)) => {
                    run.end = off.end;
                    let ticks = ticks + off.ticks();
                    (merged.begin, merged.end) = (off.end - ticks, off.end);
                }
                _ => {
                    all.push(*off);
                    run = Some(*off);
                }
            }
        }
        all
    }
}

impl OffCpuTicks {
    fn ticks(&self) -> u64 {
        self.end - self.begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(begin: u64, end: u64, blocked: bool) -> OffCpuTicks {
        OffCpuTicks {
            begin,
            end,
            blocked,
        }
    }

    #[test]
    fn yields_between_two_records_are_one_time_off_the_cpu() {
        let offs = [
            off(10, 20, false),
            off(22, 40, false),
            off(43, 50, false),
            // After a record, too far away, and with another reason.
            off(52, 60, false),
            off(70, 80, false),
            off(81, 90, true),
        ];
        let records = [5, 10, 51, 95];
        let close = MergeLimits {
            near: 5,
            far: 0,
            negligible: 0,
        };
        let all = close.merged(&offs, records.into_iter());
        let expected = [
            off(15, 50, false),
            off(52, 60, false),
            off(70, 80, false),
            off(81, 90, true),
        ];
        assert_eq!(all, expected);
        let ticks = |offs: &[OffCpuTicks]| offs.iter().map(|o| o.end - o.begin).sum::<u64>();
        assert_eq!(ticks(&all), ticks(&offs));
        // A record inside an off-CPU time also separates it from those before.
        assert_eq!(close.merged(&offs[..2], [30].into_iter()), offs[..2]);
        assert!(!close.are_many(&offs));
        let yields: Vec<OffCpuTicks> = (0..100).map(|i| off(10 * i, 10 * i + 8, false)).collect();
        let close = MergeLimits { far: 5, ..close };
        assert!(close.are_many(&yields));
        assert_eq!(close.merged(&yields, std::iter::empty()).len(), 1);
    }

    #[test]
    fn times_that_are_further_apart_are_one_as_long_as_all_of_them_are_short() {
        let close = MergeLimits::new(|ns| ns / 1000, 20_000);
        let offs = [
            off(100, 108, false),
            // A gap of 52 ticks, then of 40; together 20 at most.
            off(160, 168, false),
            off(208, 212, false),
            // One tick too many.
            off(250, 251, false),
            // Near, whatever the length.
            off(254, 300, false),
            off(400, 401, false),
        ];
        let expected = [off(192, 212, false), off(253, 300, false), offs[5]];
        assert_eq!(close.merged(&offs, std::iter::empty()), expected);
    }
}
