//! Work, span and the values computed from them (MODEL.md §2).

use workspan_dag::folded::Sums;
use workspan_dag::{Dag, StrandId, TaskKind};

use crate::heaviest_paths::{Heaviest, burdened_span};
use crate::limits::{Limits, Spans};
use crate::options::{Error, Metric, Options};
use crate::skipped_estimate::SkippedEstimate;
use crate::weight::Weights;

/// Work, span and the values computed from them (MODEL.md §2), in units of the metric.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkSpan {
    /// T1.
    pub work: u128,
    /// T∞.
    pub span: u128,
    /// The burden used.
    pub burden: u64,
    /// Burdened span.
    pub burdened_span: u128,
    /// Number of all tasks, including those inside folded strands.
    pub tasks: u64,
    /// Number of deferred creates.
    pub spawns: u64,
    /// Number of waits.
    pub syncs: u64,
    /// Number of strands that another pool thread started than the one that made them ready (§5).
    pub steals: u64,
    /// Work with blocked time included (equal to `work` if nothing was blocked).
    pub work_with_blocked: u128,
    /// Span with blocked time included.
    pub span_with_blocked: u128,
    /// The estimated part; `None` if everything was recorded.
    pub estimated: Option<SkippedEstimate>,
    /// Limits that the bounds do not show.
    pub limits: Limits,
    /// The critical path's strands, first to last (§3, with its tie rule).
    pub critical_path: Vec<StrandId>,
}

impl WorkSpan {
    /// T1 / T∞; 1 if no time passed.
    pub fn parallelism(&self) -> f64 {
        ratio(self.work, self.span)
    }
    /// T1 / burdened span.
    pub fn burdened_parallelism(&self) -> f64 {
        ratio(self.work, self.burdened_span)
    }
    /// The largest speedup that the run's division allows, however many workers there are: T1 / T∞
    /// (MODEL.md §2) without the order in which locks were taken, and with the holders of the most
    /// contended lock one after another. 1 if no time passed.
    pub fn largest_speedup(&self) -> f64 {
        ratio(self.work, self.limits.bounding_span_of(self.span))
    }
    /// T1 / (1 + 2·spawns + syncs).
    pub fn average_maximal_strand(&self) -> f64 {
        self.work as f64 / (1.0 + 2.0 * self.spawns as f64 + self.syncs as f64)
    }
    /// Bounds of the speedup on `p` workers: (lower, upper), Cilkview's with δ = 0.85. With more
    /// workers than the number of threads that parallel regions were divided among, the upper bound
    /// uses only the part of the span outside of shares.
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        let bounds = |span: u128| speedup_bounds(self.work, span, self.burdened_span, p);
        let bounding = self.limits.bounding_span(self.span, p);
        let upper = bounds(bounding).1;
        (bounds(self.span).0.min(upper), upper)
    }
}

/// Bounds of the speedup on `p` workers (MODEL.md §2): (lower, upper). Both are 1 if there is no
/// work.
pub fn speedup_bounds(work: u128, span: u128, burdened_span: u128, p: u32) -> (f64, f64) {
    bounds_of(work as f64, span as f64, burdened_span as f64, p)
}

/// The bounds in floating point.
pub(crate) fn bounds_of(t1: f64, span: f64, burdened_span: f64, p: u32) -> (f64, f64) {
    let p = f64::from(p.max(1));
    if t1 <= 0.0 {
        return (1.0, 1.0);
    }
    let parallelism = if span > 0.0 { t1 / span } else { 1.0 };
    let lower = t1 / (t1 / p + 2.0 * 0.85 * (1.0 - 1.0 / p) * burdened_span);
    (lower, p.min(parallelism))
}

/// The minimum speedup of a greedy scheduler on `p` workers: T1 / (T1/P + T∞) (MODEL.md §8, example
/// D). 1 if there is no work.
pub fn greedy_speedup(work: u128, span: u128, p: u32) -> f64 {
    if work == 0 {
        return 1.0;
    }
    let (t1, p) = (work as f64, f64::from(p.max(1)));
    t1 / (t1 / p + span as f64)
}

fn ratio(a: u128, b: u128) -> f64 {
    if b == 0 { 1.0 } else { a as f64 / b as f64 }
}

fn has_lock_order(dag: &Dag) -> bool {
    dag.handoffs.list.iter().any(|handoff| handoff.is_order)
}

/// Spans that are measured by a pass of their own. Each pass needs a column of distances, so these
/// columns are freed before the one that stays is made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OtherSpans {
    /// Span with burden; `None` if there is no burden.
    burdened: Option<u128>,
    /// Work and span with blocked time included, if they differ.
    with_blocked: Option<(u128, u128)>,
    /// Span without the order in which threads took locks; `None` if no thread waited for one.
    without_lock_order: Option<u128>,
    estimated: Option<SkippedEstimate>,
}

impl OtherSpans {
    /// The spans that limits are computed from, for a run with this span.
    pub(crate) fn spans(&self, span: u128) -> Spans {
        Spans {
            span,
            with_blocked: self.with_blocked.map_or(span, |with| with.1),
            without_lock_order: self.without_lock_order,
        }
    }

    /// Measures the spans; `weights` must belong to `options`.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn new(
        dag: &Dag,
        weights: &Weights,
        options: &Options,
    ) -> Result<OtherSpans, Error> {
        let mut others = OtherSpans {
            burdened: burdened_span(dag, weights),
            with_blocked: None,
            without_lock_order: has_lock_order(dag)
                .then(|| Heaviest::without_lock_order(dag, weights).span(dag)),
            estimated: SkippedEstimate::new(dag, options)?,
        };
        let differs =
            options.metric == Metric::Time && !options.count_blocked && weights.blocked > 0;
        if differs {
            let counted = Options {
                count_blocked: true,
                ..options.clone()
            };
            let weights = Weights::new(dag, &counted)?;
            let span = Heaviest::unburdened(dag, &weights).span(dag);
            others.with_blocked = Some((weights.total(), span));
        }
        Ok(others)
    }
}

/// Measures the whole run. `heaviest` must belong to `weights`. `steals` depends on times and is 0
/// here.
pub(crate) fn work_span(
    dag: &Dag,
    weights: &Weights,
    options: &Options,
    heaviest: &Heaviest,
    others: OtherSpans,
) -> WorkSpan {
    let folded = dag.folded.sums().map(|f| f.1);
    let folded = folded.fold(Sums::default(), |all, fold| Sums {
        tasks: all.tasks.saturating_add(fold.tasks),
        spawns: all.spawns.saturating_add(fold.spawns),
        syncs: all.syncs.saturating_add(fold.syncs),
        ..all
    });
    let (work, span) = (weights.total(), heaviest.span(dag));
    let (work_with_blocked, span_with_blocked) = others.with_blocked.unwrap_or((work, span));
    let deferred = dag.tasks.kind.iter().filter(|&&k| k == TaskKind::Deferred);
    let critical_path = heaviest.critical_path(dag);
    // A section's run also has the tasks that led to it, without time. They do not count.
    let (tasks, spawns, syncs) = match &dag.meta.section {
        Some(section) => (section.tasks, section.spawns, section.syncs),
        None => (
            dag.tasks.len() as u64,
            deferred.count() as u64,
            dag.waits.after.len() as u64,
        ),
    };
    WorkSpan {
        limits: Limits::new(dag, weights, options, &critical_path, others.spans(span)),
        work,
        span,
        burden: weights.burden,
        burdened_span: others.burdened.unwrap_or(span),
        tasks: tasks.saturating_add(folded.tasks),
        spawns: spawns.saturating_add(folded.spawns),
        syncs: syncs.saturating_add(folded.syncs),
        steals: 0,
        work_with_blocked,
        span_with_blocked,
        estimated: others.estimated,
        critical_path,
    }
}
