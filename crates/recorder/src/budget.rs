//! Which subtrees of joins are recorded when recording all would cost more than was allowed. Tasks
//! that are created and waited for are decided upon alike, a task for a join.
//!
//! Decisions of one thread, from what it is told alone: sites, levels, times, a seed. So a recorded
//! stream of joins can be replayed through it, and gives the same decisions. This file and those in
//! its folder are compiled into front ends as they stand; they use `core` and the prelude alone.
//!
//! Subtrees are taken by *class*: their site and level (creates below the root). A class's subtrees
//! that are short enough are left out, all but some: with budget b (a part of the time), and d what
//! recording a subtree adds to its time, each is recorded with the chance b / d, so that what is
//! recorded costs b. Where d is below b, because strands are long, that is all of them. A subtree
//! that is longer than the *grain* is entered instead, so that the next level decides; while what
//! is recorded on the way costs too much, the grain grows.
//!
//! Calibration finds the least that a record costs; in a program that shares its caches and
//! processors it is more. So drawn subtrees are compared with those of their class that were left
//! out, and chances are lowered by what was thought too little.

mod class;
mod compared;
mod decide;
mod watch;

#[cfg(test)]
mod tests;

pub use decide::Budget;
pub use watch::Watch;

/// What a front end asks the recorder for once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    /// Millionths of the time that recording may add; 0: no limit.
    pub per_million: u32,
    /// Tasks that a thread records before there is a limit.
    pub hold: u32,
    /// What recording a join adds, in ticks.
    pub join_ticks: u64,
    /// Ticks of a millisecond.
    pub millisecond: u64,
    /// Where chance begins.
    pub seed: u64,
}

/// What is to become of a join that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is recorded, and those inside are asked for.
    Enter,
    /// It is recorded with everything inside, to learn what that costs.
    Learn,
    /// So too, drawn by chance to stand for those that are not.
    Sample,
    /// Nothing inside is recorded.
    Skip,
}

/// Added to the level that is recorded of a subtree recorded to learn from: it was not drawn by
/// chance, so it says nothing of how many there are, but as much as others of what is inside.
pub const LEARNT: u64 = 1 << 32;
/// Added to the level that is recorded where the class is one of tasks, not of joins: what is left
/// out, or recorded in full, is all that the current task does.
pub const OF_TASKS: u64 = 1 << 33;

/// Where in the level that is recorded of a drawn subtree stands how many of its class it stands
/// for, itself among them: as chances follow what was drawn before, they differ within a class.
pub const STANDS_FOR: u32 = 34;
/// In units of that part of a subtree.
const PARTS: u64 = 16;

/// What is known of a join when it begins; given back when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    site: u32,
    level: u32,
    start: u64,
    choice: Choice,
    /// Chance in 2^32 with which it was drawn.
    chance: u64,
}

impl Begun {
    /// Its level as it is recorded where it is recorded whole.
    pub const fn recorded_level(&self) -> u64 {
        let more = match self.choice {
            Choice::Learn => LEARNT,
            Choice::Sample if self.chance > 0 => ((PARTS << 32) / self.chance) << STANDS_FOR,
            _ => 0,
        };
        more + self.level as u64
    }
}

impl Settings {
    /// Whether `joins` recorded joins in `ticks` are more than is allowed.
    pub const fn exceeded(&self, joins: u64, ticks: u64) -> bool {
        let cost = joins.saturating_mul(self.join_ticks) as u128;
        let rest = (ticks as u128).saturating_sub(cost);
        self.per_million > 0 && cost * 1_000_000 > rest * self.per_million as u128
    }
}
