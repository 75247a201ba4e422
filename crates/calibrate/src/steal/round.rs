//! A forced steal: a task is created, and its creator only waits until another thread has begun it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of rounds.
pub(super) const MAX_ROUNDS: usize = 2000;
/// Number of rounds at the start that do not count: they wake the other workers, or have them
/// started.
const WARMUP_ROUNDS: usize = 20;
/// Time limit for all rounds.
const MAX_TIME: Duration = Duration::from_millis(300);
/// Time limit for the minimum number of rounds, for a loaded machine on which thieves are rare.
const MAX_TIME_FOR_MIN_ROUNDS: Duration = Duration::from_secs(1);
/// Minimum number of rounds for a result.
pub(super) const MIN_ROUNDS: usize = 50;
/// Time limit of a round: a thief that lost its CPU is not waited for.
const MAX_ROUND_TIME: Duration = Duration::from_millis(1);

/// A round.
pub(super) struct Round {
    created: Instant,
    /// Nanoseconds from the creation to the begin; 0 until it begins.
    begun: AtomicU64,
}

impl Round {
    /// Called right before the task is created.
    pub(super) fn new() -> Round {
        Round {
            created: Instant::now(),
            begun: AtomicU64::new(0),
        }
    }

    /// Called first by the task.
    pub(super) fn begins(&self) {
        let ns = self.created.elapsed().as_nanos() as u64;
        self.begun.store(ns | 1, Ordering::Release);
    }

    /// Called by the creator: waits until the task begins. Returns the nanoseconds that it took;
    /// `None` if no thread took the task in time.
    pub(super) fn stolen(&self) -> Option<u64> {
        loop {
            match self.begun.load(Ordering::Acquire) {
                0 if self.created.elapsed() > MAX_ROUND_TIME => {
                    // The thief may be waiting for this CPU.
                    std::thread::yield_now();
                    return None;
                }
                0 => std::hint::spin_loop(),
                ns => return Some(ns).filter(|&ns| u128::from(ns) < MAX_ROUND_TIME.as_nanos()),
            }
        }
    }
}

/// The results of the rounds.
#[derive(Default)]
pub(super) struct Costs {
    begun: Option<Instant>,
    tried: usize,
    /// The times of the rounds that count, in nanoseconds.
    pub(super) ns: Vec<u64>,
}

impl Costs {
    /// Whether there is time for another round.
    pub(super) fn go_on(&mut self) -> bool {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let patience = if self.ns.len() < MIN_ROUNDS {
            MAX_TIME_FOR_MIN_ROUNDS
        } else {
            MAX_TIME
        };
        self.tried += 1;
        self.tried <= MAX_ROUNDS && begun.elapsed() < patience
    }

    /// Adds the result of a round.
    pub(super) fn add(&mut self, ns: Option<u64>) {
        if self.tried > WARMUP_ROUNDS {
            self.ns.extend(ns);
        }
    }
}
