//! How much of a run was skipped to stay within the overhead budget (docs/budget.md), and bounds
//! for the estimates.

use std::collections::BTreeMap;

use workspan_dag::Dag;

use crate::heaviest_paths::Heaviest;
use crate::options::{Error, Options};
use crate::weight::{Side, Weights};

/// The estimated part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedEstimate {
    /// Work of the unrecorded strands, in units of the metric. It was measured; their content was
    /// not.
    pub work: u128,
    /// Number of unrecorded strands.
    pub strands: u64,
    /// Number of all tasks of the run: lower and upper bound (95 %).
    pub tasks: (u64, u64),
    /// The span: lower and upper bound.
    pub span: (u128, u128),
}

impl SkippedEstimate {
    /// `None` if everything was recorded. `tasks` counts all tasks of the run. Two passes over the
    /// strands.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn new(dag: &Dag, options: &Options) -> Result<Option<SkippedEstimate>, Error> {
        if dag.skipped.is_empty() {
            return Ok(None);
        }
        let mut weights = Weights::new(dag, options)?;
        let strands = dag.skipped.iter().map(|u| u.0);
        let work = strands.map(|s| u128::from(weights.work(s))).sum();
        let mut span = |side: Side| {
            weights.side = side;
            Heaviest::unburdened(dag, &weights).span(dag)
        };
        let span = (span(Side::Low), span(Side::High));
        Ok(Some(SkippedEstimate {
            work,
            strands: dag.skipped.len() as u64,
            tasks: tasks(dag),
            span,
        }))
    }
}

/// Number of tasks of the run. The estimates of a site may all be off in the same direction; sites
/// are independent of each other.
fn tasks(dag: &Dag) -> (u64, u64) {
    let folded = dag.folded.sums().map(|f| f.1.tasks);
    let all = folded.fold(dag.tasks.len() as u64, u64::saturating_add);
    let mut off: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (s, bounds) in &dag.skipped {
        let estimate = dag.fold_of(*s).map_or(0, |fold| fold.tasks) as f64;
        let site = off.entry(bounds.site).or_default();
        site.0 += (estimate - bounds.tasks.0 as f64).max(0.0);
        site.1 += (bounds.tasks.1 as f64 - estimate).max(0.0);
    }
    let square = |sum: f64, x: f64| sum + x * x;
    let below = off.values().map(|o| o.0).fold(0.0, square).sqrt();
    let above = off.values().map(|o| o.1).fold(0.0, square).sqrt();
    let least = dag.tasks.len() as u64;
    (
        all.saturating_sub(below as u64).max(least),
        all.saturating_add(above as u64),
    )
}
