//! A thread that waits by yielding its CPU may leave it 100,000 times a second, a few microseconds
//! each time. Each of these times off the CPU would be a record.
//!
//! Between two records of a thread it matters how long it was off the CPU, and not when: times that
//! follow one another closely there become one, as long as all of them, at the end of the last.

/// A time off the CPU, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Off {
    pub begin: u64,
    pub end: u64,
    pub blocked: bool,
}

/// On the CPU for less, the thread did nothing but yield again.
pub(super) const MAX_BETWEEN_NS: u64 = 5_000;
/// Fewer times are not worth a look at the thread's records.
const MIN_YIELDS: usize = 64;

/// True where `offs`, by time, has enough times less than `between` ticks apart.
pub(super) fn are_many(offs: &[Off], between: u64) -> bool {
    let close = offs.windows(2).filter(|pair| match pair {
        [a, b] => a.is_followed_by(b, between),
        _ => false,
    });
    close.count() >= MIN_YIELDS
}

impl Off {
    fn is_followed_by(&self, next: &Off, between: u64) -> bool {
        self.blocked == next.blocked && next.begin.saturating_sub(self.end) < between
    }
}

/// The times with those as one that are less than `between` ticks apart and have no record of the
/// thread between the begin of the first and the end of the last; `records` are the times of its
/// records, ascending.
pub(super) fn merged(offs: &[Off], between: u64, records: impl Iterator<Item = u64>) -> Vec<Off> {
    let mut records = records.peekable();
    let mut all: Vec<Off> = Vec::new();
    // From the first to the last of the times that became the last one.
    let mut run: Option<Off> = None;
    for off in offs {
        let follows = run.as_mut().filter(|run| {
            while records.next_if(|&t| t <= run.begin).is_some() {}
            let alone = records.peek().is_none_or(|&t| t >= off.end);
            alone && run.is_followed_by(off, between)
        });
        match (follows, all.last_mut()) {
            (Some(run), Some(merged)) => {
                run.end = off.end;
                let ticks = (merged.end - merged.begin) + (off.end - off.begin);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn off(begin: u64, end: u64, blocked: bool) -> Off {
        Off {
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
            // After a record, too far away, and for another reason.
            off(52, 60, false),
            off(70, 80, false),
            off(81, 90, true),
        ];
        let records = [5, 10, 51, 95];
        let all = merged(&offs, 5, records.into_iter());
        let expected = [
            off(15, 50, false),
            off(52, 60, false),
            off(70, 80, false),
            off(81, 90, true),
        ];
        assert_eq!(all, expected);
        let ticks = |offs: &[Off]| offs.iter().map(|o| o.end - o.begin).sum::<u64>();
        assert_eq!(ticks(&all), ticks(&offs));
        // A record within a time off the CPU, too, keeps it from those before.
        assert_eq!(merged(&offs[..2], 5, [30].into_iter()), offs[..2]);
        assert!(!are_many(&offs, 5));
        let yields: Vec<Off> = (0..100).map(|i| off(10 * i, 10 * i + 8, false)).collect();
        assert!(are_many(&yields, 5));
        assert_eq!(merged(&yields, 5, std::iter::empty()).len(), 1);
    }
}
