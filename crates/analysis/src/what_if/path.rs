//! The heaviest path if a target's weight is divided by a factor.

use workspan_dag::{Dag, StrandId};

use super::target_weights::TargetWeights;
use crate::heaviest_paths::Burden;
use crate::predecessors::{Forward, chain_to_sink, joined_tasks, last_before_sink};
use crate::weight::Weights;

/// Weight of the heaviest path through the end of each strand.
pub(crate) struct FasterPaths {
    through: Vec<f64>,
}

/// Weight of strand `s`, folded or not, on a path, with the part that belongs to `target` divided
/// by `factor`.
#[inline]
pub(super) fn faster_weight(
    weights: &Weights,
    target: &TargetWeights,
    factor: f64,
    burden: u64,
    (s, folded): (StrandId, bool),
) -> f64 {
    let inside = target.inside[s as usize];
    if folded {
        let scale = if inside > 0.0 { 1.0 / factor } else { 1.0 };
        return weights.path_scaled(s, burden, scale);
    }
    let weight = weights.work(s) as f64;
    if inside > 0.0 {
        (weight - inside) + inside / factor
    } else {
        weight
    }
}

impl FasterPaths {
    pub(crate) fn new(
        dag: &Dag,
        weights: &Weights,
        target: &TargetWeights,
        factor: f64,
        burden: &Burden,
    ) -> FasterPaths {
        let mut forward = Forward::new(dag);
        let mut folds = dag.folded.cursor();
        let mut through: Vec<f64> = Vec::with_capacity(dag.strands.len());
        for s in 0..dag.strands.len() as u32 {
            let mut best = 0f64;
            forward.each(s, |p, kind| {
                let mut d = through[p as usize];
                if burden.cost != 0 {
                    d += burden.on_edge(dag, p, s, kind) as f64;
                }
                best = best.max(d);
            });
            let strand = (s, folds.has(s));
            through.push(best + faster_weight(weights, target, factor, burden.cost, strand));
        }
        FasterPaths { through }
    }

    pub(crate) fn span(&self, dag: &Dag) -> f64 {
        last_before_sink(dag, |s| self.key(s)).map_or(0.0, |s| self.through[s as usize])
    }

    /// No weight is negative, so their bits are in the order of the numbers.
    fn key(&self, s: StrandId) -> u64 {
        self.through[s as usize].to_bits()
    }

    /// The heaviest path, first to last; without burden.
    pub(crate) fn critical_path(&self, dag: &Dag) -> Vec<StrandId> {
        let chain = chain_to_sink(dag, |s| self.key(s));
        chain.into_iter().map(|link| link.0).collect()
    }
}

/// A way to weigh a run: the divisor of the target's weight, and whether stolen edges carry their
/// burden.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighting {
    pub factor: f64,
    pub burdened: bool,
}

/// Maximum number of ways that are measured in one pass. A pass takes as long as the run's columns
/// take to come from memory; each way takes eight bytes per strand.
pub(crate) const MAX_WEIGHINGS_PER_PASS: usize = 4;

/// The span in each of at most [`MAX_WEIGHINGS_PER_PASS`] ways; 0 if there are no strands.
pub(crate) fn spans(
    dag: &Dag,
    weights: &Weights,
    target: &TargetWeights,
    burden: &Burden,
    ways: &[Weighting],
) -> Vec<f64> {
    match *ways {
        [] => Vec::new(),
        [only] => spans_of(dag, weights, target, burden, [only]).into(),
        [a, b] => spans_of(dag, weights, target, burden, [a, b]).into(),
        [a, b, c] => spans_of(dag, weights, target, burden, [a, b, c]).into(),
        [a, b, c, d, ..] => spans_of(dag, weights, target, burden, [a, b, c, d]).into(),
    }
}

fn spans_of<const N: usize>(
    dag: &Dag,
    weights: &Weights,
    target: &TargetWeights,
    burden: &Burden,
    ways: [Weighting; N],
) -> [f64; N] {
    let burdened = ways.iter().any(|way| way.burdened);
    let mut forward = Forward::new(dag);
    let mut folds = dag.folded.cursor();
    let mut through: Vec<[f64; N]> = Vec::with_capacity(dag.strands.len());
    for s in 0..dag.strands.len() as u32 {
        let mut best = [0f64; N];
        forward.each(s, |p, kind| {
            let mut d = through[p as usize];
            if burdened {
                let on_edge = burden.on_edge(dag, p, s, kind) as f64;
                for (d, way) in d.iter_mut().zip(&ways) {
                    *d += if way.burdened { on_edge } else { 0.0 };
                }
            }
            for (best, d) in best.iter_mut().zip(d) {
                *best = best.max(d);
            }
        });
        let strand = (s, folds.has(s));
        for (best, way) in best.iter_mut().zip(&ways) {
            let cost = if way.burdened { burden.cost } else { 0 };
            *best += faster_weight(weights, target, way.factor, cost, strand);
        }
        through.push(best);
    }
    let joined = joined_tasks(dag);
    let mut spans = [0f64; N];
    for (&last, _) in dag.tasks.last.iter().zip(joined).filter(|t| !t.1) {
        for (span, d) in spans.iter_mut().zip(through[last as usize]) {
            *span = span.max(d);
        }
    }
    spans
}

/// A strand of the critical path after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FasterStrand {
    /// The strand.
    pub strand: StrandId,
    /// Its weight on the path then.
    pub weight: f64,
}

/// The critical path if the code of `target` is `factor` times as fast, first to last.
pub(crate) fn faster_path(
    dag: &Dag,
    weights: &Weights,
    target: &TargetWeights,
    factor: f64,
) -> Vec<FasterStrand> {
    let faster = FasterPaths::new(dag, weights, target, factor, &Burden::none());
    let path = faster.critical_path(dag);
    let faster_strand = |strand| FasterStrand {
        strand,
        weight: faster_weight(weights, target, factor, 0, (strand, dag.folded.has(strand))),
    };
    path.into_iter().map(faster_strand).collect()
}
