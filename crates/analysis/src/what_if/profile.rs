//! Spans and what follows from them, by target and factor.

use workspan_dag::Dag;

use super::outcome::{Outcome, TargetProfile, check_factor};
use super::profiler::Profiler;
use super::target_weights::TargetWeights;
use super::{Target, TargetSet};
use crate::options::{Error, Options};
use crate::weight::Weights;

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Work of the profiler, which stays.
    pub work: u128,
    /// The profiler as it is: factor 1.
    pub now: Outcome,
    /// Each target alone, in the order asked for.
    pub targets: Vec<TargetProfile>,
    /// All together, by factor in the order asked for.
    pub all: Vec<Outcome>,
}

/// Profiles each of `targets` alone and all together, for each of `factors`. One forward pass over
/// the strands for each target and factor, two where stolen edges carry a burden.
///
/// # Errors
/// See [`Error`]: the metric is no counter of the trace, or a factor is no positive number.
pub fn what_if(
    dag: &Dag,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    let profiler = Profiler::new(dag, options)?;
    profiles(profiler, options, targets, factors)
}

/// [`what_if`] of weights already measured with `options`.
pub(crate) fn what_if_weighed(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    let profiler = Profiler::from_weights(dag, weights);
    profiles(profiler, options, targets, factors)
}

fn profiles(
    profiler: Profiler<'_>,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    for &factor in factors {
        check_factor(factor)?;
    }
    let (dag, work) = (profiler.dag, profiler.work);
    let now = profiler
        .outcomes(&TargetWeights::none(dag), &[1.0])
        .remove(0)
        .0;
    let mut profiles = Vec::with_capacity(targets.len());
    for target in targets {
        let target = TargetWeights::from_target(dag, &profiler.weights, options, target);
        profiles.push(profiler.profile(&target, factors));
    }
    let all = match &profiles[..] {
        [] => Vec::new(),
        [only] => only.outcomes.clone(),
        _ => TargetSet::from_profiler(profiler, options, targets).outcomes(factors)?,
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
    let profiler = Profiler::from_weights(dag, weights);
    let of = |&label: &u32| {
        let target = TargetWeights::from_target(dag, weights, options, &Target::Region(label));
        profiler.profile(&target, &super::DEFAULT_FACTORS).outcomes
    };
    labels.iter().map(of).collect()
}
