//! The spans of a target that runs faster by a factor.

use workspan_dag::PlaceId;

use crate::options::Error;
use crate::work_span::bounds_of;

/// The profile of one target by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetProfile {
    /// Weight of the target in the whole run, in ticks. In folded records it is what they show (for
    /// lines, what samples show).
    pub work: u128,
    /// The outcomes, by factor.
    pub outcomes: Vec<Outcome>,
    /// The spawn site to keep from being folded (`--keep SITE`), if folded records make some
    /// factor's span uncertain by more than 10 %.
    pub keep: Option<PlaceId>,
}

/// The result for a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The factor.
    pub factor: f64,
    /// Work of the run.
    pub work: u128,
    /// Upper bound of the span then (exact if nothing is folded).
    pub span: f64,
    /// Lower bound of the span then: below `span` only if folded records hide how much of the
    /// target they contain.
    pub least_span: f64,
    /// Upper bound of the burdened span then.
    pub burdened_span: f64,
}

impl Outcome {
    /// The span, halves rounded away from zero.
    pub fn span_ticks(&self) -> u128 {
        self.span.round() as u128
    }

    /// T1 / T∞(k), lower bound; 1 if no time passed.
    pub fn parallelism(&self) -> f64 {
        ratio(self.work, self.span)
    }

    /// T1 / T∞(k), upper bound.
    pub fn most_parallelism(&self) -> f64 {
        ratio(self.work, self.least_span)
    }

    /// Bounds of the speedup on `p` workers (MODEL.md §2): (lower, upper).
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        bounds_of(self.work as f64, self.least_span, self.burdened_span, p)
    }

    /// Difference of the two bounds of the span, as a share of the larger one.
    pub fn uncertainty(&self) -> f64 {
        if self.span > 0.0 {
            (self.span - self.least_span) / self.span
        } else {
            0.0
        }
    }
}

fn ratio(work: u128, span: f64) -> f64 {
    if span > 0.0 { work as f64 / span } else { 1.0 }
}

/// A factor must be a positive number.
pub(crate) fn check_factor(factor: f64) -> Result<(), Error> {
    if factor.is_finite() && factor > 0.0 {
        Ok(())
    } else {
        Err(Error::BadFactor(factor.to_string()))
    }
}
