//! One steal that is forced: a task is created, and its creator does nothing but wait until another
//! thread has begun it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Rounds that are tried.
pub(super) const WANTED: usize = 2000;
/// The first ones wake the other workers, or have them started.
const FIRST: usize = 20;
/// The time for all of them,
const PATIENCE: Duration = Duration::from_millis(300);
/// and, where a machine under load lets hardly any thief come by, for a few.
const LONGEST: Duration = Duration::from_secs(1);
/// Fewer say nothing.
pub(super) const FEWEST: usize = 50;
/// The time for one: a thief whose CPU was taken away is not waited for.
const ONE: Duration = Duration::from_millis(1);

/// A round.
pub(super) struct Round {
    created: Instant,
    /// Nanoseconds from the creation to the begin; 0 while it has not begun.
    begun: AtomicU64,
}

impl Round {
    /// The task is about to be created.
    pub(super) fn new() -> Round {
        Round {
            created: Instant::now(),
            begun: AtomicU64::new(0),
        }
    }

    /// The task's first act.
    pub(super) fn begins(&self) {
        let ns = self.created.elapsed().as_nanos() as u64;
        self.begun.store(ns | 1, Ordering::Release);
    }

    /// The creator waits. How long it took until the task began, in nanoseconds; `None` when nobody
    /// took it in time.
    pub(super) fn stolen(&self) -> Option<u64> {
        loop {
            match self.begun.load(Ordering::Acquire) {
                0 if self.created.elapsed() > ONE => {
                    // The thief may be waiting for this CPU.
                    std::thread::yield_now();
                    return None;
                }
                0 => std::hint::spin_loop(),
                ns => return Some(ns).filter(|&ns| u128::from(ns) < ONE.as_nanos()),
            }
        }
    }
}

/// What came of the rounds.
#[derive(Default)]
pub(super) struct Costs {
    begun: Option<Instant>,
    tried: usize,
    /// Of those that counted.
    pub(super) ns: Vec<u64>,
}

impl Costs {
    /// Whether there is time for another round.
    pub(super) fn go_on(&mut self) -> bool {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let patience = if self.ns.len() < FEWEST {
            LONGEST
        } else {
            PATIENCE
        };
        self.tried += 1;
        self.tried <= WANTED && begun.elapsed() < patience
    }

    /// What came of a round.
    pub(super) fn add(&mut self, ns: Option<u64>) {
        if self.tried > FIRST {
            self.ns.extend(ns);
        }
    }
}
