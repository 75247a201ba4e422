//! The quantities of DAG Recorder's `.stat` (Huynh's thesis; docs/statistics.md has its names next
//! to these).

use workspan_dag::{Dag, EdgeKind, EndKind, ThreadId};

use super::steals::MAX_WORKERS;
use crate::heaviest_paths::Heaviest;
use crate::options::{Error, Metric, Options};
use crate::timeline::of_weights;
use crate::weight::Weights;
use crate::work_span::greedy_speedup;

/// The size of the computation, the number of DAG nodes, and how close the execution came to a
/// greedy schedule. Times are in ticks, whatever the metric.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DagSummary {
    /// Number of intervals that end with a create.
    pub creates: u64,
    /// Number of intervals that end with a wait.
    pub waits: u64,
    /// Number of intervals that end with something else: a yield or a signal.
    pub others: u64,
    /// Number of intervals that end with the task's end.
    pub ends: u64,
    /// T1.
    pub work: u128,
    /// Delay (MODEL.md §5).
    pub delay: u128,
    /// No-work of both kinds.
    pub no_work: u128,
    /// T∞.
    pub span: u128,
    /// P: the number of workers.
    pub workers: u32,
    /// Time from the first start to the last end.
    pub elapsed: u64,
    /// Strand time, including the time between the strands inside folded ones.
    pub running: u128,
    /// Number of nodes of the whole hierarchy: intervals, a section for each wait, a task for each
    /// create and root.
    pub dag_nodes: u64,
    /// Number of nodes that the trace has individually.
    pub materialized_nodes: u64,
    /// Edges by kind, from worker to worker.
    pub edges: EdgeMatrices,
}

/// Edges from thread to thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EdgeMatrices {
    /// Number of threads with a row, from thread 0 on, at most [`MAX_WORKERS`].
    pub threads: ThreadId,
    /// By `EdgeKind as usize`: entry `i * threads + j` counts edges from thread i to thread j.
    pub counts: [Vec<u64>; 7],
    /// Edges of other threads, by kind.
    pub beyond: [u64; 7],
}

impl EdgeMatrices {
    /// The edges of a kind from one thread to another; 0 if one of them has no row.
    pub fn of(&self, kind: EdgeKind, from: ThreadId, to: ThreadId) -> u64 {
        let n = self.threads as usize;
        if from >= self.threads || to >= self.threads {
            return 0;
        }
        self.counts[kind as usize][from as usize * n + to as usize]
    }

    fn add(&mut self, kind: EdgeKind, from: ThreadId, to: ThreadId, count: u64) {
        let n = self.threads as usize;
        let at = if from < self.threads && to < self.threads {
            &mut self.counts[kind as usize][from as usize * n + to as usize]
        } else {
            &mut self.beyond[kind as usize]
        };
        *at = at.saturating_add(count);
    }
}

impl DagSummary {
    /// T1 / P.
    pub fn work_per_worker(&self) -> f64 {
        self.work as f64 / f64::from(self.workers.max(1))
    }
    /// T1 / P + T∞: the upper bound of a greedy schedule.
    pub fn greedy_time(&self) -> f64 {
        self.work_per_worker() + self.span as f64
    }
    /// T1 / T∞; `None` without a span.
    pub fn parallelism(&self) -> Option<f64> {
        over(self.work as f64, self.span as f64)
    }
    /// T1 / (T1/P + T∞).
    pub fn greedy_speedup(&self) -> f64 {
        greedy_speedup(self.work, self.span, self.workers)
    }
    /// T1 / elapsed; `None` if no time passed.
    pub fn observed_speedup(&self) -> Option<f64> {
        over(self.work as f64, self.elapsed as f64)
    }
    /// Observed over greedy speedup.
    pub fn observed_over_greedy(&self) -> Option<f64> {
        over(self.greedy_time(), self.elapsed as f64)
    }
    /// Number of all intervals.
    pub fn intervals(&self) -> u64 {
        [self.creates, self.waits, self.others, self.ends]
            .iter()
            .fold(0, |sum: u64, &n| sum.saturating_add(n))
    }
    /// Running time per create; `None` if nothing was created.
    pub fn task_granularity(&self) -> Option<f64> {
        over(self.running as f64, self.creates as f64)
    }
    /// Running time per interval.
    pub fn interval_granularity(&self) -> Option<f64> {
        over(self.running as f64, self.intervals() as f64)
    }
    /// Materialized nodes over all nodes.
    pub fn compression_ratio(&self) -> Option<f64> {
        over(self.materialized_nodes as f64, self.dag_nodes as f64)
    }
}

fn over(a: f64, b: f64) -> Option<f64> {
    (b > 0.0).then(|| a / b)
}

/// Measures the summary; it is always in time, whatever the metric in `options`.
pub(super) fn dag_summary(dag: &Dag, options: &Options) -> Result<DagSummary, Error> {
    let options = Options {
        metric: Metric::Time,
        burden: None,
        ..options.clone()
    };
    let weights = Weights::new(dag, &options)?;
    let breakdown = of_weights(dag, &options, || weights.recording, 1).breakdown;
    let lengths = dag.strands.start.iter().zip(&dag.strands.end);
    let mut summary = DagSummary {
        work: weights.total(),
        span: Heaviest::unburdened(dag, &weights).span(dag),
        delay: breakdown.delay,
        no_work: breakdown.no_work_sched + breakdown.no_work_app,
        workers: breakdown.workers,
        elapsed: breakdown.elapsed(),
        running: lengths.map(|(start, end)| u128::from(end - start)).sum(),
        edges: edges(dag),
        ..DagSummary::default()
    };
    count(dag, &mut summary);
    Ok(summary)
}

fn count(dag: &Dag, summary: &mut DagSummary) {
    let tasks = dag.tasks.len() as u64;
    let roots = dag
        .tasks
        .parent
        .iter()
        .filter(|&&p| p == workspan_dag::NONE);
    let roots = roots.count() as u64;
    let others =
        |&&kind: &&EndKind| matches!(kind, EndKind::Yield | EndKind::Signal | EndKind::Handoff);
    summary.creates = tasks - roots;
    summary.waits = dag.waits.after.len() as u64;
    summary.others = dag.strands.end_kind.iter().filter(others).count() as u64;
    summary.ends = tasks;
    let nodes = |counts: &DagSummary| {
        let sections_and_tasks = counts
            .waits
            .saturating_add(counts.creates)
            .saturating_add(roots);
        counts.intervals().saturating_add(sections_and_tasks)
    };
    // A folded strand is one node: the section or task, without the interval that ends it.
    let folded = dag.folded.len() as u64;
    summary.materialized_nodes = nodes(summary).saturating_sub(folded);
    for (_, inside) in dag.folded.sums() {
        summary.creates = summary.creates.saturating_add(inside.tasks);
        summary.waits = summary.waits.saturating_add(inside.syncs);
        summary.ends = summary.ends.saturating_add(inside.tasks);
        summary.others = summary.others.saturating_add(others_inside(&inside));
    }
    summary.dag_nodes = nodes(summary);
}

/// Number of intervals inside a folded strand that neither a create, a wait nor an end ended; the
/// strand's own end is counted with its task.
fn others_inside(inside: &workspan_dag::folded::Sums) -> u64 {
    let other_ends = inside.tasks.saturating_mul(2).saturating_add(inside.syncs);
    inside.strands.saturating_sub(other_ends).saturating_sub(1)
}

fn edges(dag: &Dag) -> EdgeMatrices {
    let threads = dag.meta.threads.min(MAX_WORKERS as u32);
    let mut edges = EdgeMatrices {
        threads,
        ..EdgeMatrices::default()
    };
    edges.counts.fill(vec![0; (threads * threads) as usize]);
    let thread = &dag.strands.thread;
    for s in 0..dag.strands.len() {
        dag.for_each_predecessor(s as u32, |p, kind| {
            edges.add(kind, thread[p as usize], thread[s], 1);
        });
    }
    for (s, inside) in dag.folded.sums() {
        let on = thread[s as usize];
        for (kind, count) in [
            (EdgeKind::Create, inside.tasks),
            (EdgeKind::CreateContinuation, inside.tasks),
            (EdgeKind::End, inside.tasks),
            (EdgeKind::WaitContinuation, inside.syncs),
            (EdgeKind::YieldContinuation, others_inside(&inside)),
        ] {
            edges.add(kind, on, on, count);
        }
    }
    edges
}
