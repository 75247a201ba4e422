//! The numbers of the threads of all processes.

use std::collections::BTreeSet;

use super::members::Member;

/// The numbers of all threads. Those below W are the workers of all processes, by process. If one
/// process began after another had ended, both may use the same numbers.
pub(super) struct ThreadNumbers {
    /// W, the number of workers.
    pub(super) workers: u32,
    /// The total of numbers.
    pub(super) total: u32,
    /// The number of each thread, by process.
    pub(super) of: Vec<Vec<u32>>,
}

impl ThreadNumbers {
    /// Numbers the threads of processes that are in order of rank, then time.
    pub(super) fn new(members: &[Member]) -> ThreadNumbers {
        let mut by_start: Vec<usize> = (0..members.len()).collect();
        by_start.sort_by_key(|&at| (members[at].from, at));
        let count = |at: usize| {
            let meta = &members[at].trace.raw.meta;
            (meta.workers, meta.threads.saturating_sub(meta.workers))
        };
        let (mut workers, mut others) = (FreeNumbers::default(), FreeNumbers::default());
        let mut taken = vec![(Vec::new(), Vec::new()); members.len()];
        for &at in &by_start {
            let time = (members[at].from, members[at].to);
            let (own, outside) = count(at);
            taken[at] = (workers.take(own, time), others.take(outside, time));
        }
        let of = taken.into_iter().map(|(mut own, outside)| {
            own.extend(outside.into_iter().map(|number| workers.count + number));
            own
        });
        ThreadNumbers {
            of: of.collect(),
            workers: workers.count.max(1),
            total: (workers.count + others.count).max(1),
        }
    }
}

/// Numbers that are in use for a time.
#[derive(Default)]
struct FreeNumbers {
    count: u32,
    free: BTreeSet<u32>,
    /// The numbers in use, by the time at which they become free.
    taken: BTreeSet<(u64, u32)>,
}

impl FreeNumbers {
    /// Takes the lowest free numbers. Calls come in order of time.
    fn take(&mut self, how_many: u32, (from, to): (u64, u64)) -> Vec<u32> {
        while let Some(&(until, number)) = self.taken.first() {
            if until > from {
                break;
            }
            self.taken.pop_first();
            self.free.insert(number);
        }
        let numbers = (0..how_many).map(|_| {
            self.free.pop_first().unwrap_or_else(|| {
                self.count += 1;
                self.count - 1
            })
        });
        let numbers: Vec<u32> = numbers.collect();
        // A process without duration occupies its numbers for one tick.
        let until = to.max(from + 1);
        self.taken
            .extend(numbers.iter().map(|&number| (until, number)));
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_come_one_after_the_other_share_numbers() {
        let mut numbers = FreeNumbers::default();
        assert_eq!(numbers.take(2, (0, 50)), [0, 1]);
        assert_eq!(numbers.take(1, (10, 20)), [2]);
        assert_eq!(numbers.take(2, (20, 60)), [2, 3]);
        assert_eq!(numbers.take(3, (50, 60)), [0, 1, 4]);
        assert_eq!(numbers.count, 5);
    }
}
