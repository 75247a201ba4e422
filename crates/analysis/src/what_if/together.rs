//! Several targets as one, asked several times.

use workspan_dag::Dag;

use super::path::{FasterStrand, faster_path};
use super::profile::{Outcome, Run, check_factor};
use super::{Cover, Target};
use crate::heaviest::Burden;
use crate::options::{Error, Options};
use crate::weight::Weights;

/// Targets that are made faster together; what several hold counts once. What they hold is found once, so that asking on costs one or two
/// forward passes over the strands a factor.
pub struct Together<'a> {
    dag: &'a Dag,
    weights: Weights<'a>,
    burden: Burden,
    cover: Cover,
}

impl<'a> Together<'a> {
    /// Finds what the targets hold. O(n) a target that is no code block, and O(n) for all that are.
    ///
    /// # Errors
    /// See [`Error`]: the metric is no counter of the trace.
    pub fn new(dag: &'a Dag, options: &Options, targets: &[Target]) -> Result<Together<'a>, Error> {
        let weights = Weights::new(dag, options)?;
        Ok(Together {
            dag,
            burden: Burden::new(dag, weights.burden),
            cover: Cover::union(dag, &weights, options, targets),
            weights,
        })
    }

    /// What each factor gives, as [`super::WhatIf::all`].
    ///
    /// # Errors
    /// See [`Error`]: a factor is no positive number.
    pub fn outcomes(&self, factors: &[f64]) -> Result<Vec<Outcome>, Error> {
        for &factor in factors {
            check_factor(factor)?;
        }
        let run = Run {
            dag: self.dag,
            weights: &self.weights,
            burden: &self.burden,
            work: self.weights.total(),
        };
        Ok(run.profile(&self.cover, factors).outcomes)
    }

    /// The critical path when the targets are `factor` times as fast, first to last.
    ///
    /// # Errors
    /// See [`Error`]: the factor is no positive number.
    pub fn critical_path(&self, factor: f64) -> Result<Vec<FasterStrand>, Error> {
        check_factor(factor)?;
        Ok(faster_path(self.dag, &self.weights, &self.cover, factor))
    }
}
