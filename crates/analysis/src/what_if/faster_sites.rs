//! The profile by spawn site, before and after some code is made faster (TaskProf's profile after a
//! what-if).

use workspan_dag::{Dag, Folded, PlaceId, StrandId};

use super::path::{FasterStrand, faster_path, faster_weight};
use super::{Target, TargetWeights, check_factor};
use crate::heaviest_paths::Heaviest;
use crate::options::{Error, Options};
use crate::sites::{SiteSums, outermost};
use crate::strand_lengths::StrandLengths;
use crate::weight::Weights;

/// A spawn site as it is (*now*, MODEL.md §3) and with the faster code (*then*). Its work is the
/// same in both: the code is spread over more workers, not removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FasterSite {
    /// The site.
    pub site: PlaceId,
    /// Work of its outermost tasks with all their descendants.
    pub work: u128,
    /// Σ of the heaviest path inside each of them.
    pub span: u128,
    /// The span with the faster code; an upper bound if folded records hide how the target lies in
    /// them.
    pub span_then: f64,
    /// Weight of its tasks' strands on the critical path.
    pub critical_work: f64,
    /// Weight of its tasks' strands on the critical path with the faster code.
    pub critical_work_then: f64,
}

impl FasterSite {
    /// Site parallelism: work / span; 1 if no time passed.
    pub fn parallelism(&self) -> f64 {
        ratio(self.work, self.span as f64)
    }

    /// Site parallelism with the faster code.
    pub fn parallelism_then(&self) -> f64 {
        ratio(self.work, self.span_then)
    }
}

fn ratio(work: u128, span: f64) -> f64 {
    if span > 0.0 { work as f64 / span } else { 1.0 }
}

/// Number of units per tick. Lengths are counted in 2^-32 ticks, so that sums are exact, whatever
/// is subtracted from them.
const UNITS_PER_TICK: f64 = (1u64 << 32) as f64;

/// The lengths of strands if the target's part is divided by the factor.
struct FasterLengths<'a> {
    weights: &'a Weights<'a>,
    dag: &'a Dag,
    target: &'a TargetWeights,
    factor: f64,
}

impl StrandLengths for FasterLengths<'_> {
    fn own(&self, s: StrandId) -> u128 {
        let strand = (s, self.dag.folded.has(s));
        let ticks = faster_weight(self.weights, self.target, self.factor, 0, strand);
        (ticks * UNITS_PER_TICK).round() as u128
    }

    fn inside(&self, s: StrandId, fold: &Folded, ticks: u64) -> u128 {
        let ticks = self.weights.inside(s, fold, ticks) as f64;
        let whole = self.target.inside[s as usize] > 0.0;
        let factor = if whole { self.factor } else { 1.0 };
        (ticks / factor * UNITS_PER_TICK).round() as u128
    }
}

/// All sites that have tasks, now and with all `targets` together `factor` times as fast. They are
/// in descending order of critical work then, critical work now, and work. Their critical work adds
/// up to the span, and to that of [`super::WhatIf::all`] then.
///
/// # Errors
/// See [`Error`]: the metric is not a counter of the trace, or the factor is not a positive number.
pub fn faster_sites(
    dag: &Dag,
    options: &Options,
    targets: &[Target],
    factor: f64,
) -> Result<Vec<FasterSite>, Error> {
    check_factor(factor)?;
    let weights = Weights::new(dag, options)?;
    let target = TargetWeights::union(dag, &weights, options, targets);
    let places = dag.places.len();
    let (mut now, mut then) = (
        vec![SiteSums::default(); places],
        vec![SiteSums::default(); places],
    );
    let heaviest = Heaviest::unburdened(dag, &weights);
    outermost(dag, &weights, (&weights, &heaviest), &mut now);
    drop(heaviest);
    let lengths = FasterLengths {
        weights: &weights,
        dag,
        target: &target,
        factor,
    };
    let heaviest = Heaviest::from_lengths(dag, |s| lengths.own(s));
    outermost(dag, &weights, (&lengths, &heaviest), &mut then);
    drop(heaviest);
    let critical = |factor: f64| {
        let mut sums = vec![0.0; places];
        for step in faster_path(dag, &weights, &target, factor) {
            by_site(dag, &weights, step, |site, weight| {
                sums[site as usize] += weight
            });
        }
        sums
    };
    let (critical_now, critical_then) = (critical(1.0), critical(factor));
    let row = |site: usize| FasterSite {
        site: site as PlaceId,
        work: now[site].work,
        span: now[site].span,
        span_then: then[site].span as f64 / UNITS_PER_TICK,
        critical_work: critical_now[site],
        critical_work_then: critical_then[site],
    };
    let with_tasks = (0..places).filter(|&site| now[site].count > 0);
    let mut rows: Vec<FasterSite> = with_tasks.map(row).collect();
    rows.sort_by(|a, b| {
        let then = b.critical_work_then.total_cmp(&a.critical_work_then);
        let now = b.critical_work.total_cmp(&a.critical_work);
        let most = then.then(now).then(b.work.cmp(&a.work));
        most.then(a.site.cmp(&b.site))
    });
    Ok(rows)
}

/// Divides what a strand adds to a path among the sites of the tasks that it stands for. A folded
/// strand is divided like its record's own path.
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
