//! A set of targets that are made faster together.

use workspan_dag::Dag;

use super::outcome::{Outcome, check_factor};
use super::path::{FasterStrand, faster_path};
use super::profiler::Profiler;
use super::{Target, TargetWeights};
use crate::options::{Error, Options};

/// Targets that are made faster together; code in several of them counts once. Their strands are
/// found once, so that each further factor costs one or two forward passes over the strands.
pub struct TargetSet<'a> {
    profiler: Profiler<'a>,
    target: TargetWeights,
}

impl<'a> TargetSet<'a> {
    /// Finds the strands of the targets. O(n) for each target that is not a code block, and O(n)
    /// for all code blocks together.
    ///
    /// # Errors
    /// See [`Error`]: the metric is not a counter of the trace.
    pub fn new(
        dag: &'a Dag,
        options: &Options,
        targets: &[Target],
    ) -> Result<TargetSet<'a>, Error> {
        Ok(TargetSet::from_profiler(
            Profiler::new(dag, options)?,
            options,
            targets,
        ))
    }

    /// The target set for a run whose weights were measured with `options`.
    pub(super) fn from_profiler(
        profiler: Profiler<'a>,
        options: &Options,
        targets: &[Target],
    ) -> TargetSet<'a> {
        let target = TargetWeights::union(profiler.dag, &profiler.weights, options, targets);
        TargetSet { profiler, target }
    }

    /// The outcome of each factor, as in [`super::WhatIf::all`].
    ///
    /// # Errors
    /// See [`Error`]: a factor is not a positive number.
    pub fn outcomes(&self, factors: &[f64]) -> Result<Vec<Outcome>, Error> {
        for &factor in factors {
            check_factor(factor)?;
        }
        Ok(self.profiler.profile(&self.target, factors).outcomes)
    }

    /// The critical path with the targets `factor` times as fast, first to last.
    ///
    /// # Errors
    /// See [`Error`]: the factor is not a positive number.
    pub fn critical_path(&self, factor: f64) -> Result<Vec<FasterStrand>, Error> {
        check_factor(factor)?;
        let profiler = &self.profiler;
        Ok(faster_path(
            profiler.dag,
            &profiler.weights,
            &self.target,
            factor,
        ))
    }
}
