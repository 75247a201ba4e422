//! Critical work by spawn site, before and after some code is faster (TaskProf's profile after a
//! what-if).

use workspan_dag::{Dag, PlaceId, ROOT_PLACE};

use super::path::{FasterStrand, faster_path};
use super::{Target, TargetWeights, check_factor};
use crate::options::{Error, Options};
use crate::weight::Weights;

/// A spawn site that has or had strands on the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CriticalSite {
    /// The site.
    pub site: PlaceId,
    /// Weight of its tasks' strands on the critical path as it is (MODEL.md §3).
    pub now: f64,
    /// The same when the code is faster: of the critical path that there is then.
    pub then: f64,
}

/// The sites on the critical path, now or when all `targets` together are `factor` times as fast,
/// those first that have most of it then. `now` sums up to the span, `then` to that of
/// [`super::WhatIf::all`].
///
/// # Errors
/// See [`Error`]: the metric is no counter of the trace, or the factor is no positive number.
pub fn critical_sites(
    dag: &Dag,
    options: &Options,
    targets: &[Target],
    factor: f64,
) -> Result<Vec<CriticalSite>, Error> {
    check_factor(factor)?;
    let weights = Weights::new(dag, options)?;
    let target = TargetWeights::union(dag, &weights, options, targets);
    let mut sums = vec![(0.0, 0.0); dag.places.len()];
    for step in faster_path(dag, &weights, &target, 1.0) {
        by_site(dag, &weights, step, |site, weight| {
            sums[site as usize].0 += weight
        });
    }
    for step in faster_path(dag, &weights, &target, factor) {
        by_site(dag, &weights, step, |site, weight| {
            sums[site as usize].1 += weight
        });
    }
    let sums = (ROOT_PLACE..).zip(sums).filter(|row| row.1 != (0.0, 0.0));
    let row = |(site, (now, then))| CriticalSite { site, now, then };
    let mut rows: Vec<CriticalSite> = sums.map(row).collect();
    rows.sort_by(|a, b| {
        let most = b.then.total_cmp(&a.then).then(b.now.total_cmp(&a.now));
        most.then(a.site.cmp(&b.site))
    });
    Ok(rows)
}

/// Divides what a strand adds to a path among the sites of the tasks that it stands for. A folded
/// one is divided as its record's own path is.
fn by_site(dag: &Dag, weights: &Weights, step: FasterStrand, mut add: impl FnMut(PlaceId, f64)) {
    let s = step.strand;
    let mut own = step.weight;
    if let Some(fold) = dag.fold_of(s) {
        let path = weights.path(s, 0).max(1) as f64;
        for inner in &fold.sites {
            let part = weights.inside(s, &fold, inner.critical_work) as f64 / path;
            let part = (part * step.weight).min(own);
            own -= part;
            add(inner.site, part);
        }
    }
    add(dag.tasks.site[dag.strands.task[s as usize] as usize], own);
}
