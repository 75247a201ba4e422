//! Why worker time was lost: every lost worker-tick of MODEL.md §5 goes to exactly one cause of a
//! closed list.
//!
//! docs/causes.md defines each cause: its trigger, its place, its ticks, what to do. In short:
//!
//! * A tick of *delay* belongs to the ready strand that got the free worker's slot; what kind of
//!   strand that is, and how long a worker was free for it, decides the cause (`ready_strand`).
//! * A tick of *no work* belongs to the strand of the ready path at that moment, since that is what
//!   the end of the run waited for: to what that strand is (`path_strand`), or, in a gap of the
//!   path, to the cause of the delay of the strand that ends the gap.
//! * Ticks *descheduled*, *blocked* and *recording* belong to the strand they were lost in. Who had
//!   the CPUs of preempted strands is decided at the end, for all of them (`preempted`).
//!
//! It is one more observer of the sweep, with one decision a strand that stood ready and one a
//! strand of the ready path: O(n log n) in all, nothing per tick.

mod book;
mod cause;
mod grain;
mod headline;
mod ledger;
mod off_cpu;
mod other_threads;
mod own_gaps;
mod path_strand;
pub(crate) mod pools;
mod preemption;
mod probes;
mod ready_strand;
mod restrained;
mod spawn_loop;
mod stretch;
mod task_size;
mod wait_causes;

pub use cause::Cause;
pub use headline::{Headline, headline};
pub(crate) use ledger::Ledger;
pub(crate) use preemption::cpu_ticks;
pub use stretch::Baseline;
pub(crate) use stretch::stretch;

use workspan_dag::StrandId;

use crate::blocks::CodeBlock;

/// What the analysis needs to know of costs, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    /// A steal.
    pub steal: u64,
    /// A probe; 0 when probes are left in the weights.
    pub probe: u64,
}

/// Where lost worker time went, by cause and place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Causes {
    /// W · elapsed, in worker-ticks.
    pub total: u128,
    /// All that was lost: W · elapsed − work, and what [`Cause::Stretch`] adds to it. The sum of
    /// `by_cause`.
    pub lost: u128,
    /// Lost worker-ticks by `Cause as usize`.
    pub by_cause: [u128; Cause::ALL.len()],
    /// Causes at their places, most lost first, at most 20; [`Cause::None`] has none.
    pub places: Vec<Finding>,
}

/// A cause at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What happened.
    pub cause: Cause,
    /// Where: which fields tell apart the places of one cause depends on the cause
    /// (docs/causes.md). Its site is that of the strands, or of the tasks that cause the loss;
    /// `NONE` if it is no site's.
    pub block: CodeBlock,
    /// The strand that shows it best: the one behind most of the loss.
    pub strand: StrandId,
    /// Worker-ticks lost to it.
    pub lost: u128,
    /// What shows it.
    pub evidence: Evidence,
}

/// The numbers that show a cause. Times in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Strands behind it.
    pub strands: u64,
    /// How long they were: ready with a free worker, or running while others had nothing to do, or
    /// off the CPU.
    pub ticks: u64,
    /// The longest of these times.
    pub longest: u64,
    /// Part of `ticks` in which nothing else ran (strands of the ready path).
    pub alone: Option<u64>,
    /// Tasks the loop created (spawn-loop), tasks of the phase (grain-coarse), tasks of the site
    /// (grain-fine).
    pub tasks: Option<u64>,
    /// Mean running time of one of these tasks: of its own strands; spawn-loop and grain-fine
    /// spawned in a loop: with all its descendants.
    pub task_ticks: Option<u64>,
    /// What that may be off by because the work of folded records is divided among the sites
    /// inside; [`Report::task_ticks_error`](crate::Report::task_ticks_error) has all of it.
    pub division_error: Option<u64>,
    /// What a steal costs here.
    pub steal_ticks: Option<u64>,
    /// Part of what was lost that the recorder's own probes took (grain-fine).
    pub probe_ticks: Option<u64>,
    /// What ran on the waiting thread meanwhile (buried-wait, bounded-queue).
    pub above: Option<StrandId>,
}

/// Below this share of W · elapsed, in percent, what was lost is not worth a finding.
pub const WORTH_NAMING: f64 = 5.0;
/// Below this share of what was lost, in percent, a cause at its place leads no report. What other
/// programs and too many threads took of the CPUs ([`Cause::Descheduled`],
/// [`Cause::Oversubscribed`]) is left out of that for every other cause: a busy machine hides
/// nothing of the program.
pub const WORTH_A_FINDING: f64 = 10.0;
/// Findings that lead a report.
const FINDINGS: usize = 3;

impl Causes {
    /// `lost` in percent of all that was lost.
    pub fn percent(&self, lost: u128) -> f64 {
        crate::warnings::percent(lost, self.lost)
    }

    /// Less than [`WORTH_NAMING`] of the worker time was lost.
    pub fn is_little(&self) -> bool {
        crate::warnings::percent(self.lost, self.total) < WORTH_NAMING
    }

    /// What is worth saying first, most lost first, at most three: nothing when less than
    /// [`WORTH_NAMING`] of the worker time was lost; else the causes that took [`WORTH_A_FINDING`]
    /// of it or more, and [`WORTH_NAMING`] of the worker time where that is of what was not lost to
    /// other programs alone; the largest in any case.
    pub fn findings(&self) -> Vec<&Finding> {
        if self.is_little() {
            return Vec::new();
        }
        let worth = self
            .places
            .iter()
            .enumerate()
            .filter(|&(i, finding)| i == 0 || self.is_worth(finding));
        worth.map(|(_, finding)| finding).take(FINDINGS).collect()
    }

    fn is_worth(&self, finding: &Finding) -> bool {
        if self.percent(finding.lost) >= WORTH_A_FINDING {
            return true;
        }
        let load = Cause::ALL.into_iter().filter(|cause| cause.is_load());
        let by_load: u128 = load.map(|cause| self.by_cause[cause as usize]).sum();
        let own = self.lost.saturating_sub(by_load);
        !finding.cause.is_load()
            && crate::warnings::percent(finding.lost, own) >= WORTH_A_FINDING
            && crate::warnings::percent(finding.lost, self.total) >= WORTH_NAMING
    }
}
