//! Compares sampled subtrees with skipped ones, to find how much more recording costs than
//! estimated.

/// The number of sampled subtrees that are compared before probabilities are corrected.
pub(super) const MIN_COMPARED_SAMPLES: u32 = 16;
/// The number of latest samples that are compared (approximately). If it were small, probabilities
/// would follow the content of these samples: they would fall after large ones, of which there
/// would then be too many among all samples.
pub(super) const MAX_COMPARED_SAMPLES: u32 = 512;

/// Sums over sampled subtrees, and over the mean times of skipped ones of their classes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CostComparison {
    pub(super) drawn: u32,
    /// The number of joins in the sampled subtrees.
    joins: u64,
    /// The time that they took, and the time that they would have taken if skipped, in ticks.
    recorded: u64,
    bare: u64,
}

impl CostComparison {
    pub(super) fn add(&mut self, joins: u64, recorded: u64, bare: u64) {
        self.drawn += 1;
        self.joins = self.joins.saturating_add(joins);
        self.recorded = self.recorded.saturating_add(recorded);
        self.bare = self.bare.saturating_add(bare);
        if self.drawn == MAX_COMPARED_SAMPLES {
            // Halved so that it follows the program.
            self.drawn /= 2;
            self.joins /= 2;
            self.recorded /= 2;
            self.bare /= 2;
        }
    }

    /// The factor for probabilities, in 2^-16, from a 64th to 1. `join_ticks` is the estimated cost
    /// of a join.
    pub(super) fn correction(&self, join_ticks: u64) -> u64 {
        let thought = self.joins as u128 * join_ticks as u128;
        let added = self.recorded.saturating_sub(self.bare) as u128;
        if self.drawn < MIN_COMPARED_SAMPLES || added == 0 {
            return 1 << 16;
        }
        // Probabilities are proportional to bare time / added time. The estimate of the bare time
        // is the recorded time minus the estimated cost.
        let rest = (self.recorded as u128).saturating_sub(thought);
        let rest = rest.max(self.recorded as u128 / 16).max(1);
        let factor = ((thought << 16) / added) * self.bare as u128 / rest;
        factor.clamp(1 << 10, 1 << 16) as u64
    }
}
