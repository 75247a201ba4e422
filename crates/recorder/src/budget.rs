//! Which subtrees of joins are recorded if recording all of them would exceed the overhead budget.
//! Tasks that are created and waited for are handled in the same way, with a task in place of a
//! join.
//!
//! The decisions of one thread depend only on its inputs: sites, levels, times and a seed. A
//! recorded stream of joins can therefore be replayed, with the same decisions. This file and those
//! in its folder are also compiled into front ends; they use only `core` and the prelude.
//!
//! A subtree's *class* is its site and level (creates below the root). If the subtrees of a class
//! are short enough, most are skipped. With budget b (a share of the time), and d the share that
//! recording a subtree adds to its time, each is recorded with probability b / d, so that recording
//! costs b. If d is below b, because strands are long, all are recorded. A subtree longer than the
//! *grain* is entered instead, so that the decision is made at the next level. While entering
//! subtrees costs too much, the grain grows.
//!
//! Calibration finds the minimum cost of a record; in a program that shares its caches and
//! processors the cost is higher. So sampled subtrees are compared with skipped ones of their
//! class, and probabilities are lowered if the cost was underestimated.

mod class;
mod cost_comparison;
mod decision;
mod watch;

#[cfg(test)]
mod tests;

pub use decision::Budget;
pub use watch::Watch;

/// The settings that a front end asks the recorder for once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// The share of time that recording may add, in millionths; 0: no limit.
    pub per_million: u32,
    /// The number of tasks that a thread records before the limit applies.
    pub hold: u32,
    /// The time that recording a join adds, in ticks.
    pub join_ticks: u64,
    /// Ticks per millisecond.
    pub millisecond: u64,
    /// The random seed.
    pub seed: u64,
}

/// What to do with a join that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Record it, and decide again for those inside.
    Enter,
    /// Record it with everything inside, to measure a join.
    Learn,
    /// Record it with everything inside. It was drawn at random and represents skipped ones.
    Sample,
    /// Record nothing inside.
    Skip,
}

/// Added to the recorded level of a subtree that was recorded to measure a join. It was not drawn
/// at random, so it says nothing about the number of subtrees, but as much as others about their
/// content.
pub const LEARNT: u64 = 1 << 32;
/// Added to the recorded level of a class of tasks, as opposed to joins: everything that the
/// current task does is skipped, or recorded in full.
pub const TASK_CLASS: u64 = 1 << 33;

/// The bit position, in the recorded level of a sampled subtree, of the number of subtrees that it
/// represents, including itself. Probabilities depend on earlier samples, so this number differs
/// within a class.
pub const STANDS_FOR: u32 = 34;
/// The resolution of that number: sixteenths.
const STANDS_FOR_UNITS: u64 = 16;

/// A join that has begun; passed back when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinTicket {
    site: u32,
    level: u32,
    start: u64,
    choice: Choice,
    /// The probability with which it was drawn, in 2^-32.
    chance: u64,
}

impl JoinTicket {
    /// The level to record if the subtree is recorded in full.
    pub const fn recorded_level(&self) -> u64 {
        let more = match self.choice {
            Choice::Learn => LEARNT,
            Choice::Sample if self.chance > 0 => {
                ((STANDS_FOR_UNITS << 32) / self.chance) << STANDS_FOR
            }
            _ => 0,
        };
        more + self.level as u64
    }
}

impl Settings {
    /// Whether the cost of `joins` recorded joins in `ticks` exceeds the limit.
    pub const fn exceeded(&self, joins: u64, ticks: u64) -> bool {
        let cost = joins.saturating_mul(self.join_ticks) as u128;
        let rest = (ticks as u128).saturating_sub(cost);
        self.per_million > 0 && cost * 1_000_000 > rest * self.per_million as u128
    }
}
