//! The passes over a run's strands that the profiles of targets are made of.

use std::num::NonZero;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use workspan_dag::{Dag, PlaceId, StrandId};

use super::path::{FasterPaths, MAX_WEIGHINGS_PER_PASS, Weighing, spans};
use super::profile::{Outcome, TargetProfile};
use super::target_weights::TargetWeights;
use crate::heaviest::Burden;
use crate::options::{Error, Options};
use crate::weight::Weights;

/// Beyond this share an interval is too wide to go by.
const TOO_WIDE: f64 = 0.1;

/// Below so many strands one thread is enough.
const WORTH_A_THREAD: usize = 100_000;
/// Each thread has up to [`MAX_WEIGHINGS_PER_PASS`] numbers a strand in memory.
const MOST_THREADS: usize = 2;

/// What all profiles of a run share.
pub(super) struct Run<'a> {
    pub(super) dag: &'a Dag,
    pub(super) weights: WeightsSource<'a>,
    burden: Burden,
    /// Of all strands.
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

impl<'a> Run<'a> {
    /// Measures the weights. Errors: see [`Error`]; the metric is no counter of the trace.
    pub(super) fn new(dag: &'a Dag, options: &Options) -> Result<Run<'a>, Error> {
        Ok(Run::held(
            dag,
            WeightsSource::Own(Box::new(Weights::new(dag, options)?)),
        ))
    }

    /// Of weights that are measured already.
    pub(super) fn of(dag: &'a Dag, weights: &'a Weights<'a>) -> Run<'a> {
        Run::held(dag, WeightsSource::Lent(weights))
    }

    fn held(dag: &'a Dag, weights: WeightsSource<'a>) -> Run<'a> {
        Run {
            dag,
            burden: Burden::new(dag, weights.burden),
            work: weights.total(),
            weights,
        }
    }

    pub(super) fn profile(&self, cover: &TargetWeights, factors: &[f64]) -> TargetProfile {
        let found = self.outcomes(cover, factors);
        let wide = found.iter().filter(|(o, _)| o.uncertainty() > TOO_WIDE);
        let keep = wide.filter_map(|(_, site)| *site).next();
        TargetProfile {
            work: (cover.inside.iter().sum::<f64>() + cover.folded).round() as u128,
            outcomes: found.into_iter().map(|(outcome, _)| outcome).collect(),
            keep,
        }
    }

    /// By factor, on several threads where that pays.
    pub(super) fn outcomes(
        &self,
        cover: &TargetWeights,
        factors: &[f64],
    ) -> Vec<(Outcome, Option<PlaceId>)> {
        if !cover.hidden.is_empty() {
            let each = |i: usize| self.outcome(cover, factors[i]);
            return self.on_threads(factors.len(), each);
        }
        let burdened = [false, true];
        let burdened = &burdened[..1 + usize::from(self.burden.cost != 0)];
        let ways: Vec<Weighing> = factors
            .iter()
            .flat_map(|&factor| {
                burdened
                    .iter()
                    .map(move |&burdened| Weighing { factor, burdened })
            })
            .collect();
        let passes: Vec<&[Weighing]> = ways.chunks(MAX_WEIGHINGS_PER_PASS).collect();
        let pass = |i: usize| spans(self.dag, &self.weights, cover, &self.burden, passes[i]);
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
        let threads = cpus.min(MOST_THREADS).min(count);
        if threads < 2 || self.dag.strands.len() < WORTH_A_THREAD {
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

    /// What `factor` gives, and the site that hides most of the target in folded records.
    fn outcome(&self, cover: &TargetWeights, factor: f64) -> (Outcome, Option<PlaceId>) {
        let dag = self.dag;
        let faster = FasterPaths::new(dag, &self.weights, cover, factor, &Burden::none());
        let span = faster.span(dag);
        let (hidden, site) = if cover.hidden.is_empty() {
            (0.0, None)
        } else {
            self.hidden(cover, &faster.critical_path(dag))
        };
        drop(faster);
        let burdened_span = if self.burden.cost == 0 {
            span
        } else {
            FasterPaths::new(dag, &self.weights, cover, factor, &self.burden).span(dag)
        };
        let (span, least_span) = if cover.hidden.is_empty() || factor >= 1.0 {
            (span, span - (1.0 - 1.0 / factor) * hidden)
        } else {
            // Slower: what is hidden may be all of those records, on whatever path.
            (self.slowest(cover, factor), span)
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

    /// The span when all that is hidden belongs to the target.
    fn slowest(&self, cover: &TargetWeights, factor: f64) -> f64 {
        let mut inside = cover.inside.clone();
        for &(s, _) in &cover.hidden {
            inside[s as usize] = self.weights.work(s) as f64;
        }
        let all = TargetWeights {
            inside,
            hidden: Vec::new(),
            folded: 0.0,
        };
        FasterPaths::new(self.dag, &self.weights, &all, factor, &Burden::none()).span(self.dag)
    }

    /// What the records on `path` hide of the target, and the spawn site whose tasks hide most.
    fn hidden(&self, cover: &TargetWeights, path: &[StrandId]) -> (f64, Option<PlaceId>) {
        let mut sum = 0.0;
        let mut sites: Vec<(PlaceId, f64)> = Vec::new();
        for &s in path {
            let Ok(i) = cover.hidden.binary_search_by_key(&s, |h| h.0) else {
                continue;
            };
            let part = cover.hidden[i].1;
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
