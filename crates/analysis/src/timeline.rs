//! All measures of time, from one sweep over the run (MODEL.md §5).

use workspan_dag::{Dag, OffCpuReason, StrandId};

use crate::breakdown::{Breakdown, Sums};
use crate::causes::{Causes, Costs, Ledger};
use crate::low_parallelism::{LowParallelism, LowParallelismFinder};
use crate::off_cpu_events::off_cpu_events;
use crate::options::{Error, Metric, Options};
use crate::profile::{Bins, Profile, ReadyBins};
use crate::ready::{Readiness, ReadyInterval};
use crate::ready_path::ready_path;
use crate::runtime_gaps::{runtime_gaps, total_ticks};
use crate::saturated::saturated_intervals;
use crate::solo_blocks::{SoloBlock, SoloBlockFinder};
use crate::sweep::{FreeWorkerTicks, Moment, Observer, extent, sweep_over};
use crate::weight::Weights;

/// All measures of the run's time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The division of the worker time.
    pub breakdown: Breakdown,
    /// Running and ready over time.
    pub profile: Profile,
    /// Longest intervals of low parallelism, in descending order of loss, at most 10.
    pub low_parallelism: Vec<LowParallelism>,
    /// Code blocks whose strands ran alone, longest first, at most 10.
    pub solo_blocks: Vec<SoloBlock>,
    /// The causes of the loss.
    pub causes: Causes,
    /// Number of strands that another pool thread started than the one that made them ready.
    pub steals: u64,
}

/// Measures the breakdown, the profile in at most `bins` bins, and the intervals of low
/// parallelism.
///
/// # Errors
/// See [`Error`].
pub fn timeline(dag: &Dag, options: &Options, bins: usize) -> Result<Timeline, Error> {
    let weights = Weights::new(dag, options)?;
    Ok(of_weights(dag, options, || weights.recording, bins))
}

/// The costs in ticks, for any metric.
fn costs(dag: &Dag, options: &Options) -> Costs {
    let own = match options.metric {
        Metric::Time => options.burden,
        Metric::Counter(_) => None,
    };
    Costs {
        steal: own.unwrap_or(dag.meta.burden),
        probe: if options.raw { 0 } else { dag.meta.probe_cost },
    }
}

/// Measures the time when the caller measures the probes' time inside strands, which is requested
/// last.
pub(crate) fn of_weights(
    dag: &Dag,
    options: &Options,
    recording: impl FnOnce() -> u128,
    bins: usize,
) -> Timeline {
    let (begin, end) = extent(dag);
    let full = saturated_intervals(dag, &off_cpu_events(dag));
    let mut ready = ReadyBins::new((begin, end), bins);
    let readiness = Readiness::outside(dag, &full, |waiting| ready.add(dag, waiting));
    let path = ready_path(dag);
    let mut all = Observers {
        sums: Sums::new(dag, &path),
        bins: Bins::new(dag, (begin, end), bins),
        low: LowParallelismFinder::new(dag),
        solo: SoloBlockFinder::new(dag),
        ledger: Ledger::new(dag, costs(dag, options), &readiness, &path),
    };
    sweep_over(dag, &readiness, &full, &mut all);
    let Observers {
        sums,
        bins,
        low,
        solo,
        ledger,
    } = all;
    let between = runtime_gaps(dag);
    let mut breakdown = sums.finish(recording(), total_ticks(&between));
    (breakdown.begin, breakdown.end) = (begin, end);
    (breakdown.buried, breakdown.buried_ticks) = (readiness.buried, readiness.buried_ticks);
    path.leave_out(&between, &mut breakdown.ready_path);
    let causes = ledger.finish(&breakdown, &between);
    let (lost, work) = (breakdown.lost(), breakdown.work);
    let (low_parallelism, solo_blocks) = (low.finish(lost, end), solo.finish(lost));
    breakdown.ready_path.strands = path.strands;
    Timeline {
        breakdown,
        profile: bins.finish(dag, &ready, &between, work),
        low_parallelism,
        solo_blocks,
        causes,
        steals: readiness.steals,
    }
}

struct Observers<'a> {
    sums: Sums<'a>,
    bins: Bins,
    low: LowParallelismFinder<'a>,
    solo: SoloBlockFinder<'a>,
    ledger: Ledger<'a>,
}

impl Observer for Observers<'_> {
    fn start(&mut self, strand: StrandId, thread: usize) {
        self.low.start(strand, thread);
        self.solo.start(strand, thread);
        self.ledger.start(strand, thread);
    }

    fn end(&mut self, strand: StrandId, thread: usize, time: u64) {
        self.low.end(strand, thread, time);
        self.solo.end(strand, thread, time);
        self.ledger.end(strand, thread, time);
    }

    fn off(&mut self, thread: usize, time: u64, why: Option<OffCpuReason>) {
        self.ledger.off(thread, time, why);
    }

    fn left(&mut self, waiting: &ReadyInterval, served: FreeWorkerTicks) {
        self.ledger.left(waiting, served);
    }

    fn moment(&mut self, moment: &Moment) {
        self.sums.moment(moment);
        self.bins.moment(moment);
        self.low.moment(moment);
        self.solo.moment(moment);
        self.ledger.moment(moment);
    }
}
