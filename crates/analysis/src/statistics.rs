//! Statistics of a run: lengths of strands and tasks, ready times, queue depth over time, who stole
//! from whom (docs/statistics.md; terms of MODEL.md §3 and §5). They are for people who study a
//! scheduler rather than a program.

mod dag_summary;
mod depth;
mod distribution;
mod lengths;
mod overhead;
mod ready_times;
mod steals;
mod wait_intervals;

pub use dag_summary::{DagSummary, EdgeMatrices};
pub use depth::Depth;
pub use distribution::Distribution;
pub use lengths::{MAX_SITES, SiteStatistics};
pub use overhead::{SiteOverhead, overhead};
pub use ready_times::ReadyTimes;
pub use steals::{MAX_WORKERS, StealStatistics, WorkerSteals, first_spawn};
pub use wait_intervals::leapfrogs;

use workspan_dag::Dag;

use crate::options::{Error, Options};
use crate::ready::Readiness;
use crate::sweep::sweep;
use crate::weight::Weights;
use depth::DepthBins;
use ready_times::ReadyCounts;

/// Number of bins of the queue depth.
pub const DEPTH_BINS: usize = 120;

/// All data that `workspan report --statistics` shows. Lengths are in units of the metric, all
/// other times in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Spawn sites, in descending order of the weight of their tasks' own strands, at most
    /// [`MAX_SITES`].
    pub sites: Vec<SiteStatistics>,
    /// Number of further sites with tasks.
    pub more_sites: usize,
    /// Number of strands that exist only inside folded records (MODEL.md §7): no distribution of
    /// strand lengths includes them.
    pub folded_strands: u64,
    /// Ready times of all strands, by the kind of edge that made them ready (`EdgeKind as usize`).
    pub ready_by_edge: [ReadyTimes; 7],
    /// Ready strands over time (MODEL.md §5).
    pub ready: Depth,
    /// Number of tasks in the workers' own queues over time, if the runtime reports it.
    pub queues: Option<Depth>,
    /// Steals, failed attempts, sleep.
    pub steals: StealStatistics,
    /// Time that the runtime took between strands, by spawn site.
    pub overhead: Vec<SiteOverhead>,
    /// The size of the computation, and how close its execution came to a greedy schedule.
    pub dag: DagSummary,
}

/// Measures the statistics. O(n log n) in strands, intervals and events; the size of the result is
/// bounded for any run.
///
/// # Errors
/// See [`Error`].
pub fn statistics(dag: &Dag, options: &Options) -> Result<Statistics, Error> {
    let weights = Weights::new(dag, options)?;
    let readiness = Readiness::new(dag);
    let mut bins = DepthBins::from_run(dag);
    sweep(dag, &readiness, &mut bins);
    let starts = ReadyCounts::new(dag);
    let lengths = lengths::sites(dag, options, &weights, &readiness, &starts);
    Ok(Statistics {
        sites: lengths.rows,
        more_sites: lengths.more,
        folded_strands: lengths.folded_strands,
        ready_by_edge: ready_times::by_edge(dag, &readiness, &starts),
        ready: bins.finish(),
        queues: depth::queues(dag),
        steals: steals::steals(dag, &starts),
        overhead: overhead::overhead(dag),
        dag: dag_summary::dag_summary(dag, options)?,
    })
}
