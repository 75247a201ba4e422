//! Several targets as one, asked several times.

use workspan_dag::Dag;

use super::path::{FasterStrand, faster_path};
use super::profile::{Outcome, check_factor};
use super::profiler::Run;
use super::{Target, TargetWeights};
use crate::options::{Error, Options};

/// Targets that are made faster together; what several hold counts once. What they hold is found once, so that asking on costs one or two
/// forward passes over the strands a factor.
pub struct TargetSet<'a> {
    run: Run<'a>,
    cover: TargetWeights,
}

impl<'a> TargetSet<'a> {
    /// Finds what the targets hold. O(n) a target that is no code block, and O(n) for all that are.
    ///
    /// # Errors
    /// See [`Error`]: the metric is no counter of the trace.
    pub fn new(
        dag: &'a Dag,
        options: &Options,
        targets: &[Target],
    ) -> Result<TargetSet<'a>, Error> {
        Ok(TargetSet::of(Run::new(dag, options)?, options, targets))
    }

    /// The same of a run whose weights were measured with `options`.
    pub(super) fn of(run: Run<'a>, options: &Options, targets: &[Target]) -> TargetSet<'a> {
        let cover = TargetWeights::union(run.dag, &run.weights, options, targets);
        TargetSet { run, cover }
    }

    /// What each factor gives, as [`super::WhatIf::all`].
    ///
    /// # Errors
    /// See [`Error`]: a factor is no positive number.
    pub fn outcomes(&self, factors: &[f64]) -> Result<Vec<Outcome>, Error> {
        for &factor in factors {
            check_factor(factor)?;
        }
        Ok(self.run.profile(&self.cover, factors).outcomes)
    }

    /// The critical path when the targets are `factor` times as fast, first to last.
    ///
    /// # Errors
    /// See [`Error`]: the factor is no positive number.
    pub fn critical_path(&self, factor: f64) -> Result<Vec<FasterStrand>, Error> {
        check_factor(factor)?;
        let run = &self.run;
        Ok(faster_path(run.dag, &run.weights, &self.cover, factor))
    }
}
