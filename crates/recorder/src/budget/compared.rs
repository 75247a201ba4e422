//! Drawn subtrees beside those left out: how much dearer recording is than was thought.

/// Drawn subtrees that are compared before anything follows from it.
pub(super) const COMPARED: u32 = 16;
/// About so many of the last ones are compared. Were they few, chances would follow what those
/// happened to hold: lower after large ones, of which there would then be too many among all that
/// are drawn.
pub(super) const REMEMBERED: u32 = 512;

/// Drawn subtrees, beside what those of their classes took that were left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Compared {
    pub(super) drawn: u32,
    /// Joins in them.
    joins: u64,
    /// Time they took, and would have taken, in ticks.
    recorded: u64,
    bare: u64,
}

impl Compared {
    pub(super) fn add(&mut self, joins: u64, recorded: u64, bare: u64) {
        self.drawn += 1;
        self.joins = self.joins.saturating_add(joins);
        self.recorded = self.recorded.saturating_add(recorded);
        self.bare = self.bare.saturating_add(bare);
        if self.drawn == REMEMBERED {
            // So that it follows the program.
            self.drawn /= 2;
            self.joins /= 2;
            self.recorded /= 2;
            self.bare /= 2;
        }
    }

    /// What chances are to be multiplied by, in 2^-16, where a join was thought to cost
    /// `join_ticks`: from a 64th to 1.
    pub(super) fn correction(&self, join_ticks: u64) -> u64 {
        let thought = self.joins as u128 * join_ticks as u128;
        let added = self.recorded.saturating_sub(self.bare) as u128;
        if self.drawn < COMPARED || added == 0 {
            return 1 << 16;
        }
        // Chances are in proportion to bare time / added time. What was thought of the former is
        // what is left of the recorded.
        let rest = (self.recorded as u128).saturating_sub(thought);
        let rest = rest.max(self.recorded as u128 / 16).max(1);
        let factor = ((thought << 16) / added) * self.bare as u128 / rest;
        factor.clamp(1 << 10, 1 << 16) as u64
    }
}
