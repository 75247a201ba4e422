//! Spans and what follows from them, by target and factor.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use workspan_dag::{Dag, PlaceId, StrandId};

use super::Target;
use super::cover::Cover;
use super::path::{Faster, WAYS, Way, spans};
use crate::heaviest::Burden;
use crate::options::{Error, Options};
use crate::weight::Weights;
use crate::work_span::bounds_of;

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Work of the run, which stays.
    pub work: u128,
    /// The run as it is: factor 1.
    pub now: Outcome,
    /// Each target alone, in the order asked for.
    pub targets: Vec<TargetProfile>,
    /// All together, by factor in the order asked for.
    pub all: Vec<Outcome>,
}

/// One target alone.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetProfile {
    /// Weight of the target in the whole run, in ticks; in folded records what they tell of it (of lines, what samples say).
    pub work: u128,
    /// By factor.
    pub outcomes: Vec<Outcome>,
    /// Where folded records leave some factor's span uncertain by more than 10 %: the spawn site to keep from being folded
    /// (`--keep SITE`).
    pub keep: Option<PlaceId>,
}

/// What a factor gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The factor.
    pub factor: f64,
    /// Work of the run.
    pub work: u128,
    /// The span then, at most (exact where nothing is folded).
    pub span: f64,
    /// The span then, at least: lower than `span` only where folded records hide how much of the target they hold.
    pub least_span: f64,
    /// The burdened span then, at most.
    pub burdened_span: f64,
}

impl Outcome {
    /// The span, halves rounded away from zero.
    pub fn span_ticks(&self) -> u128 {
        self.span.round() as u128
    }

    /// T1 / T∞(k), at least; 1 when there is no time at all.
    pub fn parallelism(&self) -> f64 {
        ratio(self.work, self.span)
    }

    /// T1 / T∞(k), at most.
    pub fn most_parallelism(&self) -> f64 {
        ratio(self.work, self.least_span)
    }

    /// Bounds of the speedup on `p` workers (MODEL.md §2): (lower, upper).
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        bounds_of(self.work as f64, self.least_span, self.burdened_span, p)
    }

    /// How far apart the two spans are, as a share of the larger one.
    pub fn uncertainty(&self) -> f64 {
        if self.span > 0.0 {
            (self.span - self.least_span) / self.span
        } else {
            0.0
        }
    }
}

fn ratio(work: u128, span: f64) -> f64 {
    if span > 0.0 { work as f64 / span } else { 1.0 }
}

/// Beyond this share an interval is too wide to go by.
const TOO_WIDE: f64 = 0.1;

/// Below so many strands one thread is enough.
const WORTH_A_THREAD: usize = 100_000;
/// Each thread has up to [`WAYS`] numbers a strand in memory.
const MOST_THREADS: usize = 2;

/// Profiles each of `targets` alone and all together, for each of `factors`. One forward pass over the strands for each target
/// and factor, two where stolen edges carry a burden.
///
/// # Errors
/// See [`Error`]: the metric is no counter of the trace, or a factor is no positive number.
pub fn what_if(
    dag: &Dag,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    let weights = Weights::new(dag, options)?;
    what_if_weighed(dag, &weights, options, targets, factors)
}

/// [`what_if`] of weights already measured with `options`.
pub(crate) fn what_if_weighed(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    targets: &[Target],
    factors: &[f64],
) -> Result<WhatIf, Error> {
    for &factor in factors {
        check_factor(factor)?;
    }
    let work = weights.total();
    let burden = Burden::new(dag, weights.burden);
    let run = Run {
        dag,
        weights,
        burden: &burden,
        work,
    };
    let now = run.outcomes(&Cover::nothing(dag), &[1.0]).remove(0).0;
    let mut profiles = Vec::with_capacity(targets.len());
    for target in targets {
        let cover = Cover::of(dag, weights, options, target);
        profiles.push(run.profile(&cover, factors));
    }
    let all = match &profiles[..] {
        [] => Vec::new(),
        [only] => only.outcomes.clone(),
        _ => {
            let cover = Cover::union(dag, weights, options, targets);
            run.profile(&cover, factors).outcomes
        }
    };
    Ok(WhatIf {
        work,
        now,
        targets: profiles,
        all,
    })
}

/// The outcomes of each label's regions alone, for the factors of MODEL.md §4.
pub(crate) fn outcomes_of_labels(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    labels: &[u32],
) -> Vec<Vec<Outcome>> {
    let burden = Burden::new(dag, weights.burden);
    let run = Run {
        dag,
        weights,
        burden: &burden,
        work: weights.total(),
    };
    let of = |&label: &u32| {
        let cover = Cover::of(dag, weights, options, &Target::Region(label));
        run.profile(&cover, &super::DEFAULT_FACTORS).outcomes
    };
    labels.iter().map(of).collect()
}

/// A factor must be a positive number.
pub(crate) fn check_factor(factor: f64) -> Result<(), Error> {
    if factor.is_finite() && factor > 0.0 {
        Ok(())
    } else {
        Err(Error::BadFactor(factor.to_string()))
    }
}

/// What all profiles of a run share.
pub(super) struct Run<'a> {
    pub(super) dag: &'a Dag,
    pub(super) weights: &'a Weights<'a>,
    pub(super) burden: &'a Burden,
    pub(super) work: u128,
}

impl Run<'_> {
    pub(super) fn profile(&self, cover: &Cover, factors: &[f64]) -> TargetProfile {
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
    fn outcomes(&self, cover: &Cover, factors: &[f64]) -> Vec<(Outcome, Option<PlaceId>)> {
        if !cover.hidden.is_empty() {
            let each = |i: usize| self.outcome(cover, factors[i]);
            return self.on_threads(factors.len(), each);
        }
        let burdened = [false, true];
        let burdened = &burdened[..1 + usize::from(self.burden.cost != 0)];
        let ways: Vec<Way> = factors
            .iter()
            .flat_map(|&factor| {
                burdened
                    .iter()
                    .map(move |&burdened| Way { factor, burdened })
            })
            .collect();
        let passes: Vec<&[Way]> = ways.chunks(WAYS).collect();
        let pass = |i: usize| spans(self.dag, self.weights, cover, self.burden, passes[i]);
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
    fn outcome(&self, cover: &Cover, factor: f64) -> (Outcome, Option<PlaceId>) {
        let dag = self.dag;
        let faster = Faster::new(dag, self.weights, cover, factor, &Burden::none());
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
            Faster::new(dag, self.weights, cover, factor, self.burden).span(dag)
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
    fn slowest(&self, cover: &Cover, factor: f64) -> f64 {
        let mut inside = cover.inside.clone();
        for &(s, _) in &cover.hidden {
            inside[s as usize] = self.weights.work(s) as f64;
        }
        let all = Cover {
            inside,
            hidden: Vec::new(),
            folded: 0.0,
        };
        Faster::new(self.dag, self.weights, &all, factor, &Burden::none()).span(self.dag)
    }

    /// What the records on `path` hide of the target, and the spawn site whose tasks hide most.
    fn hidden(&self, cover: &Cover, path: &[StrandId]) -> (f64, Option<PlaceId>) {
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
