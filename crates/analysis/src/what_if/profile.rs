//! Spans and what follows from them, by target and factor.

use workspan_dag::{Dag, PlaceId};

use super::profiler::Run;
use super::target_weights::TargetWeights;
use super::{Target, TargetSet};
use crate::options::{Error, Options};
use crate::weight::Weights;
use crate::work_span::bounds_of;

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Work of the run, which stays.
    pub work: u128,
    /// The run as it is: factor 1.
    pub now: Outcome,
    /// Each target alone, in the order asked for.
    pub targets: Vec<TargetProfile>,
    /// All together, by factor in the order asked for.
    pub all: Vec<Outcome>,
}

/// One target alone.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetProfile {
    /// Weight of the target in the whole run, in ticks; in folded records what they tell of it (of lines, what samples say).
    pub work: u128,
    /// By factor.
    pub outcomes: Vec<Outcome>,
    /// Where folded records leave some factor's span uncertain by more than 10 %: the spawn site to keep from being folded
    /// (`--keep SITE`).
    pub keep: Option<PlaceId>,
}

/// What a factor gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The factor.
    pub factor: f64,
    /// Work of the run.
    pub work: u128,
    /// The span then, at most (exact where nothing is folded).
    pub span: f64,
    /// The span then, at least: lower than `span` only where folded records hide how much of the target they hold.
    pub least_span: f64,
    /// The burdened span then, at most.
    pub burdened_span: f64,
}

impl Outcome {
    /// The span, halves rounded away from zero.
    pub fn span_ticks(&self) -> u128 {
        self.span.round() as u128
    }

    /// T1 / T∞(k), at least; 1 when there is no time at all.
    pub fn parallelism(&self) -> f64 {
        ratio(self.work, self.span)
    }

    /// T1 / T∞(k), at most.
    pub fn most_parallelism(&self) -> f64 {
        ratio(self.work, self.least_span)
    }

    /// Bounds of the speedup on `p` workers (MODEL.md §2): (lower, upper).
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        bounds_of(self.work as f64, self.least_span, self.burdened_span, p)
    }

    /// How far apart the two spans are, as a share of the larger one.
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

/// Profiles each of `targets` alone and all together, for each of `factors`. One forward pass over the strands for each target
/// and factor, two where stolen edges carry a burden.
///
/// # Errors
/// See [`Error`]: the metric is no counter of the trace, or a factor is no positive number.
pub fn what_if(
    dag: &Dag,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    let run = Run::new(dag, options)?;
    profiles(run, options, targets, factors)
}

/// [`what_if`] of weights already measured with `options`.
pub(crate) fn what_if_weighed(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    let run = Run::of(dag, weights);
    profiles(run, options, targets, factors)
}

fn profiles(
    run: Run<'_>,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    for &factor in factors {
        check_factor(factor)?;
    }
    let (dag, work) = (run.dag, run.work);
    let now = run
        .outcomes(&TargetWeights::nothing(dag), &[1.0])
        .remove(0)
        .0;
    let mut profiles = Vec::with_capacity(targets.len());
    for target in targets {
        let cover = TargetWeights::of(dag, &run.weights, options, target);
        profiles.push(run.profile(&cover, factors));
    }
    let all = match &profiles[..] {
        [] => Vec::new(),
        [only] => only.outcomes.clone(),
        _ => TargetSet::of(run, options, targets).outcomes(factors)?,
    };
    Ok(WhatIf {
        work,
        now,
        targets: profiles,
        all,
    })
}

/// The outcomes of each label's regions alone, for the factors of MODEL.md §4.
pub(crate) fn outcomes_of_labels(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    labels: &[u32],
) -> Vec<Vec<Outcome>> {
    let run = Run::of(dag, weights);
    let of = |&label: &u32| {
        let cover = TargetWeights::of(dag, weights, options, &Target::Region(label));
        run.profile(&cover, &super::DEFAULT_FACTORS).outcomes
    };
    labels.iter().map(of).collect()
}

/// A factor must be a positive number.
pub(crate) fn check_factor(factor: f64) -> Result<(), Error> {
    if factor.is_finite() && factor > 0.0 {
        Ok(())
    } else {
        Err(Error::BadFactor(factor.to_string()))
    }
}
