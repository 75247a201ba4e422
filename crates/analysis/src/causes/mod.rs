//! Why worker time was lost: every lost worker-tick of MODEL.md §5 goes to exactly one cause of a
//! closed list.
//!
//! docs/causes.md defines each cause: its trigger, its place, its ticks, its remedy. In short:
//!
//! * A tick of *delay* belongs to the ready strand that the free worker is counted for. Its cause
//!   depends on the kind of strand, and on how long a worker was free for it (`ready_strand`).
//! * A tick of *no work* belongs to the strand of the ready path at that moment, since the end of
//!   the run waited for it. Its cause depends on the kind of strand (`path_strand`). In a gap of
//!   the path, it is the cause of the delay of the strand that ends the gap.
//! * Ticks *descheduled*, *blocked* and *recording* belong to the strand they were lost in. Who had
//!   the CPUs of preempted strands is decided at the end, for all of them (`preempted`).
//!
//! The analysis is one more observer of the sweep. It makes one decision for each strand that was
//! ready and one for each strand of the ready path: O(n log n) in all, nothing per tick.

mod book;
mod cause;
mod gaps_by_parent;
mod grain;
mod headline;
mod ledger;
mod off_cpu;
mod other_threads;
mod path_strand;
pub(crate) mod pools;
mod preemption;
mod probes;
mod ready_strand;
mod restrained_stealing;
mod spawn_loop;
mod stretch;
mod task_size;
mod undisturbed;
mod wait_causes;

pub use cause::Cause;
pub use headline::{Headline, headline};
pub(crate) use ledger::Ledger;
pub(crate) use preemption::cpu_ticks;
pub use stretch::Baseline;
pub(crate) use stretch::stretch;
pub use undisturbed::UndisturbedTime;

use workspan_dag::StrandId;

use crate::blocks::CodeBlock;

/// The costs that the analysis needs, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    /// Cost of a steal.
    pub steal: u64,
    /// Cost of a probe; 0 if probes are left in the weights.
    pub probe: u64,
}

/// Where lost worker time went, by cause and place.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Causes {
    /// W · elapsed, in worker-ticks.
    pub total: u128,
    /// Everything that was lost: W · elapsed − work, plus the part that [`Cause::Stretch`] adds.
    /// The sum of `by_cause`.
    pub lost: u128,
    /// The part of the run in which every thread that could run had a CPU.
    pub undisturbed: UndisturbedTime,
    /// Lost worker-ticks by `Cause as usize`.
    pub by_cause: [u128; Cause::ALL.len()],
    /// Causes at their places, in descending order of loss, at most 20; [`Cause::None`] has no
    /// place.
    pub places: Vec<Finding>,
}

/// A cause at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The cause.
    pub cause: Cause,
    /// The place. Which fields distinguish the places of one cause depends on the cause
    /// (docs/causes.md). The site is that of the strands or tasks that cause the loss; `NONE` if
    /// the loss belongs to no site.
    pub block: CodeBlock,
    /// The strand that shows it best: the one that accounts for most of the loss.
    pub strand: StrandId,
    /// Worker-ticks lost to it.
    pub lost: u128,
    /// The weighted worker-ticks lost to it while every thread that could run had a CPU
    /// ([`UndisturbedTime::weighted`]), less for waits with few of them for their length; of causes
    /// of blocked time only.
    pub undisturbed: f64,
    /// The numbers that show it.
    pub evidence: Evidence,
}

/// The numbers that show a cause. Times in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Number of strands that contribute.
    pub strands: u64,
    /// Their total time: ready with a free worker, or running while others had nothing to do, or
    /// off the CPU.
    pub ticks: u64,
    /// The longest of these times.
    pub longest: u64,
    /// Part of `ticks` in which nothing else ran (strands of the ready path).
    pub alone: Option<u64>,
    /// Number of tasks that the loop created (spawn-loop), of the phase (grain-coarse), or of the
    /// site (grain-fine).
    pub tasks: Option<u64>,
    /// Mean running time of one of these tasks' own strands. For spawn-loop, and for grain-fine in
    /// a loop, with all descendants.
    pub task_ticks: Option<u64>,
    /// The possible error of `task_ticks` because the work of folded records is divided among the
    /// sites inside. [`Report::task_ticks_error`](crate::Report::task_ticks_error) is the total
    /// error.
    pub division_error: Option<u64>,
    /// Cost of a steal in this run.
    pub steal_ticks: Option<u64>,
    /// The part of the loss that the recorder's own probes took (grain-fine).
    pub probe_ticks: Option<u64>,
    /// The strand that ran on the waiting thread meanwhile (buried-wait, bounded-queue).
    pub above: Option<StrandId>,
}

/// Minimum loss that is worth a finding, in percent of W · elapsed.
pub const WORTH_NAMING: f64 = 5.0;
/// Minimum share of the total loss, in percent, at which a cause at its place leads a report. For
/// other causes, the loss to other programs and to too many threads ([`Cause::Descheduled`],
/// [`Cause::Oversubscribed`]) is left out of the total: a busy machine hides nothing about the
/// program.
pub const WORTH_A_FINDING: f64 = 10.0;
/// Minimum number of waits from which a finding is judged by the undisturbed part of a run.
pub const MIN_UNDISTURBED_WAITS: u64 = 4;
/// The minimum undisturbed part of a run, in percent, from which its findings are judged by it.
pub const MIN_UNDISTURBED_PERCENT: f64 = 3.0;
/// Maximum number of findings that lead a report.
const MAX_FINDINGS: usize = 3;

impl Causes {
    /// `lost` in percent of the total loss.
    pub fn percent(&self, lost: u128) -> f64 {
        crate::warnings::percent(lost, self.lost)
    }

    /// True if less than [`WORTH_NAMING`] of the worker time was lost.
    pub fn is_little(&self) -> bool {
        crate::warnings::percent(self.lost, self.total) < WORTH_NAMING
    }

    /// The findings that lead a report, in descending order of loss, at most three. Empty if less
    /// than [`WORTH_NAMING`] of the worker time was lost. The largest one is always included, and
    /// of the others those that cost [most on a quiet machine](Causes::quiet_percent). They need
    /// [`WORTH_A_FINDING`] of the total loss; or [`WORTH_A_FINDING`] of the loss that the load did
    /// not cause, and [`WORTH_NAMING`] of the worker time without that; or [`WORTH_A_FINDING`] of
    /// the worker time of a quiet machine ([`Causes::undisturbed_percent`]).
    pub fn findings(&self) -> Vec<&Finding> {
        if self.is_little() {
            return Vec::new();
        }
        let Some((largest, others)) = self.places.split_first() else {
            return Vec::new();
        };
        let mut others: Vec<_> = others.iter().enumerate().collect();
        others.retain(|(_, finding)| self.is_worth(finding));
        others.sort_by(|(_, a), (_, b)| self.quiet_percent(b).total_cmp(&self.quiet_percent(a)));
        others.truncate(MAX_FINDINGS - 1);
        others.sort_by_key(|&(i, _)| i);
        let others = others.into_iter().map(|(_, finding)| finding);
        std::iter::once(largest).chain(others).collect()
    }

    /// The [findings](Causes::findings) in the order in which they are shown, each with its index
    /// there: what the program can change comes before what the machine did to it, and what costs
    /// more [on a quiet machine](Causes::quiet_percent) before what costs less.
    pub fn findings_program_first(&self) -> Vec<(usize, &Finding)> {
        let mut findings: Vec<_> = self.findings().into_iter().enumerate().collect();
        findings.sort_by(|(_, a), (_, b)| {
            let by_percent = self.quiet_percent(b).total_cmp(&self.quiet_percent(a));
            (a.cause.is_load().cmp(&b.cause.is_load())).then(by_percent)
        });
        findings
    }

    /// The estimated percentage of the worker time that the finding costs on a quiet machine: by
    /// the moments without load, where they tell ([`Causes::undisturbed_percent`]), else of the
    /// worker time that the load left. Of the load itself, its percentage here.
    pub fn quiet_percent(&self, finding: &Finding) -> f64 {
        let left = match finding.cause.is_load() {
            true => self.total,
            false => self.total.saturating_sub(self.by_load()),
        };
        let lost = crate::warnings::percent(finding.lost, left);
        self.undisturbed_percent(finding)
            .map_or(lost, |percent| percent.max(lost))
    }

    /// What was lost to other programs and to too many threads.
    fn by_load(&self) -> u128 {
        let load = Cause::ALL.into_iter().filter(|cause| cause.is_load());
        load.map(|cause| self.by_cause[cause as usize]).sum()
    }

    /// The percentage of the worker time that a blocked finding would have lost on a quiet machine,
    /// judged by the moments in which every thread that could run had a CPU. Threads meet only
    /// while both have a CPU, so on a busy machine little is lost to a lock that would serialize
    /// the program on a quiet one. `None` if the machine was not busy, or if too little is known:
    /// fewer than [`MIN_UNDISTURBED_WAITS`] waits, or less than [`MIN_UNDISTURBED_PERCENT`] of the
    /// run.
    pub fn undisturbed_percent(&self, finding: &Finding) -> Option<f64> {
        let of_run = crate::warnings::percent(self.undisturbed.ticks, self.total);
        let is_known = finding.cause.is_blocked()
            && finding.evidence.strands >= MIN_UNDISTURBED_WAITS
            && (MIN_UNDISTURBED_PERCENT..100.0 - WORTH_A_FINDING).contains(&of_run);
        is_known.then(|| 100.0 * finding.undisturbed / self.undisturbed.weighted)
    }

    /// Whether a finding is one because of what it would have lost on a quiet machine.
    pub(crate) fn block_when_undisturbed(&self) -> bool {
        let lost = |finding| self.undisturbed_percent(finding).unwrap_or(0.0);
        self.findings()
            .into_iter()
            .any(|f| lost(f) >= WORTH_A_FINDING)
    }

    fn is_worth(&self, finding: &Finding) -> bool {
        let is_usual = |percent| percent >= WORTH_A_FINDING;
        if is_usual(self.percent(finding.lost))
            || self.undisturbed_percent(finding).is_some_and(is_usual)
        {
            return true;
        }
        let by_load = self.by_load();
        let own = self.lost.saturating_sub(by_load);
        !finding.cause.is_load()
            && crate::warnings::percent(finding.lost, own) >= WORTH_A_FINDING
            && crate::warnings::percent(finding.lost, self.total.saturating_sub(by_load))
                >= WORTH_NAMING
    }
}
