//! Computes the spans of a run with faster targets, in passes over its strands.

use std::num::NonZero;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use workspan_dag::{Dag, PlaceId, StrandId};

use super::outcome::{Outcome, TargetProfile};
use super::path::{FasterPaths, MAX_WEIGHINGS_PER_PASS, Weighting, spans};
use super::target_weights::TargetWeights;
use crate::heaviest_paths::Burden;
use crate::options::{Error, Options};
use crate::weight::Weights;

/// Maximum width of a span's interval, as a share of it, above which it is too uncertain.
const MAX_UNCERTAINTY: f64 = 0.1;

/// Minimum number of strands for several threads.
const MIN_STRANDS_FOR_THREADS: usize = 100_000;
/// Maximum number of threads: each has up to [`MAX_WEIGHINGS_PER_PASS`] numbers per strand in
/// memory.
const MAX_THREADS: usize = 2;

/// The data that all profiles of a run share.
pub(super) struct Profiler<'a> {
    pub(super) dag: &'a Dag,
    pub(super) weights: WeightsSource<'a>,
    burden: Burden,
    /// Work of all strands.
    pub(super) work: u128,
}

/// The weights, measured for the run or lent to it.
pub(super) enum WeightsSource<'a> {
    Own(Box<Weights<'a>>),
    Lent(&'a Weights<'a>),
}

impl<'a> Deref for WeightsSource<'a> {
    type Target = Weights<'a>;

    fn deref(&self) -> &Weights<'a> {
        match self {
            WeightsSource::Own(weights) => weights,
            WeightsSource::Lent(weights) => weights,
        }
    }
}

impl<'a> Profiler<'a> {
    /// Measures the weights. Errors: see [`Error`]; the metric is not a counter of the trace.
    pub(super) fn new(dag: &'a Dag, options: &Options) -> Result<Profiler<'a>, Error> {
        Ok(Profiler::from_source(
            dag,
            WeightsSource::Own(Box::new(Weights::new(dag, options)?)),
        ))
    }

    /// A profiler with weights that are measured already.
    pub(super) fn from_weights(dag: &'a Dag, weights: &'a Weights<'a>) -> Profiler<'a> {
        Profiler::from_source(dag, WeightsSource::Lent(weights))
    }

    fn from_source(dag: &'a Dag, weights: WeightsSource<'a>) -> Profiler<'a> {
        Profiler {
            dag,
            burden: Burden::new(dag, weights.burden),
            work: weights.total(),
            weights,
        }
    }

    pub(super) fn profile(&self, target: &TargetWeights, factors: &[f64]) -> TargetProfile {
        let found = self.outcomes(target, factors);
        let wide = found
            .iter()
            .filter(|(o, _)| o.uncertainty() > MAX_UNCERTAINTY);
        let keep = wide.filter_map(|(_, site)| *site).next();
        TargetProfile {
            work: (target.inside.iter().sum::<f64>() + target.folded).round() as u128,
            outcomes: found.into_iter().map(|(outcome, _)| outcome).collect(),
            keep,
        }
    }

    /// The outcomes by factor, on several threads if that pays off.
    pub(super) fn outcomes(
        &self,
        target: &TargetWeights,
        factors: &[f64],
    ) -> Vec<(Outcome, Option<PlaceId>)> {
        if !target.partial.is_empty() {
            let each = |i: usize| self.outcome(target, factors[i]);
            return self.on_threads(factors.len(), each);
        }
        let burdened = [false, true];
        let burdened = &burdened[..1 + usize::from(self.burden.cost != 0)];
        let ways: Vec<Weighting> = factors
            .iter()
            .flat_map(|&factor| {
                burdened
                    .iter()
                    .map(move |&burdened| Weighting { factor, burdened })
            })
            .collect();
        let passes: Vec<&[Weighting]> = ways.chunks(MAX_WEIGHINGS_PER_PASS).collect();
        let pass = |i: usize| spans(self.dag, &self.weights, target, &self.burden, passes[i]);
        let spans: Vec<f64> = self.on_threads(passes.len(), pass).concat();
        let outcome = |(&factor, spans): (&f64, &[f64])| {
            let span = spans.first().copied().unwrap_or(0.0);
            let outcome = Outcome {
                factor,
                work: self.work,
                span,
                least_span: span,
                burdened_span: spans.last().copied().unwrap_or(0.0).max(span),
            };
            (outcome, None)
        };
        let of_factors = factors.iter().zip(spans.chunks(burdened.len()));
        of_factors.map(outcome).collect()
    }

    /// `f` of each number below `count`, in order.
    fn on_threads<T: Send>(&self, count: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cpus.min(MAX_THREADS).min(count);
        if threads < 2 || self.dag.strands.len() < MIN_STRANDS_FOR_THREADS {
            return (0..count).map(f).collect();
        }
        let next = AtomicUsize::new(0);
        let take = || {
            let mut mine = Vec::new();
            while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < count) {
                mine.push((i, f(i)));
            }
            mine
        };
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
            let mut found = take();
            for other in others {
                match other.join() {
                    Ok(theirs) => found.extend(theirs),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            found
        });
        found.sort_by_key(|f| f.0);
        found.into_iter().map(|f| f.1).collect()
    }

    /// The outcome for `factor`, and the site that hides most of the target in folded records.
    fn outcome(&self, target: &TargetWeights, factor: f64) -> (Outcome, Option<PlaceId>) {
        let dag = self.dag;
        let faster = FasterPaths::new(dag, &self.weights, target, factor, &Burden::none());
        let span = faster.span(dag);
        let (hidden, site) = if target.partial.is_empty() {
            (0.0, None)
        } else {
            self.hidden(target, &faster.critical_path(dag))
        };
        drop(faster);
        let burdened_span = if self.burden.cost == 0 {
            span
        } else {
            FasterPaths::new(dag, &self.weights, target, factor, &self.burden).span(dag)
        };
        let (span, least_span) = if target.partial.is_empty() || factor >= 1.0 {
            (span, span - (1.0 - 1.0 / factor) * hidden)
        } else {
            // Slower code: the hidden part may be all of those records, on any path.
            (self.slowest(target, factor), span)
        };
        let outcome = Outcome {
            factor,
            work: self.work,
            span,
            least_span: least_span.max(0.0),
            burdened_span: burdened_span.max(span),
        };
        (outcome, site)
    }

    /// The span if the whole hidden part belongs to the target.
    fn slowest(&self, target: &TargetWeights, factor: f64) -> f64 {
        let mut inside = target.inside.clone();
        for &(s, _) in &target.partial {
            inside[s as usize] = self.weights.work(s) as f64;
        }
        let all = TargetWeights {
            inside,
            partial: Vec::new(),
            folded: 0.0,
        };
        FasterPaths::new(self.dag, &self.weights, &all, factor, &Burden::none()).span(self.dag)
    }

    /// How much of the target the records on `path` hide, and the spawn site whose tasks hide most.
    fn hidden(&self, target: &TargetWeights, path: &[StrandId]) -> (f64, Option<PlaceId>) {
        let mut sum = 0.0;
        let mut sites: Vec<(PlaceId, f64)> = Vec::new();
        for &s in path {
            let Ok(i) = target.partial.binary_search_by_key(&s, |h| h.0) else {
                continue;
            };
            let part = target.partial[i].1;
            sum += part;
            let site = self.dag.tasks.site[self.dag.strands.task[s as usize] as usize];
            match sites.iter_mut().find(|(known, _)| *known == site) {
                Some(known) => known.1 += part,
                None => sites.push((site, part)),
            }
        }
        sites.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        (sum, sites.first().map(|s| s.0))
    }
}
