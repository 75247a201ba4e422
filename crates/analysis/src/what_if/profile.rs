//! Spans and values computed from them, by target and factor.

use workspan_dag::Dag;

use super::outcome::{Outcome, TargetProfile, check_factor};
use super::profiler::Profiler;
use super::target_weights::TargetWeights;
use super::{Target, TargetSet};
use crate::options::{Error, Options};
use crate::weight::Weights;

/// The result of a what-if profile.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Work of the run, which stays the same.
    pub work: u128,
    /// The run as it is: factor 1.
    pub now: Outcome,
    /// The profile of each target by itself, in the order of the request.
    pub targets: Vec<TargetProfile>,
    /// The outcomes of all targets together, by factor in the order of the request.
    pub all: Vec<Outcome>,
}

/// Profiles each of `targets` by itself and all together, for each of `factors`. Takes one forward
/// pass over the strands for each target and factor, or two if stolen edges carry a burden.
///
/// # Errors
/// See [`Error`]: the metric is not a counter of the trace, or a factor is not a positive number.
pub fn what_if(
    dag: &Dag,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    let profiler = Profiler::new(dag, options)?;
    profiles(profiler, options, targets, factors)
}

/// [`what_if`] with weights already measured with `options`.
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

/// The outcomes of each label's regions by themselves, for the factors of MODEL.md §4.
pub(crate) fn outcomes_of_labels(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    labels: &[u32],
) -> Vec<Vec<Outcome>> {
    let profiler = Profiler::from_weights(dag, weights);
    let outcomes = |&label: &u32| {
        let target = TargetWeights::from_target(dag, weights, options, &Target::Region(label));
        profiler.profile(&target, &super::DEFAULT_FACTORS).outcomes
    };
    labels.iter().map(outcomes).collect()
}
