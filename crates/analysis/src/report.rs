//! The data behind `workspan report`.

use std::sync::mpsc::channel;

use workspan_dag::Dag;

use crate::breakdown::Breakdown;
use crate::causes::{Baseline, Cause, Causes, Evidence, Finding, stretch};
use crate::checks::{Check, CpuAccount, checks_with, cpu_account};
use crate::concurrency_slowdown::{ConcurrencySlowdown, concurrency_slowdown};
use crate::critical_block::{CriticalBlock, critical_block};
use crate::heaviest_paths::Heaviest;
use crate::idle::{IdleTime, idle_time};
use crate::low_parallelism::LowParallelism;
use crate::options::{Error, Metric, Options};
use crate::other_threads_cpu::{OtherThreadsCpu, other_threads_cpu};
use crate::parallel::run_both;
use crate::parts::{PartRow, parts};
use crate::pools::{PoolRow, pools};
use crate::processes::{ProcessRow, processes};
use crate::profile::Profile;
use crate::regions::{RegionRow, regions};
use crate::sample_profile::{SampleProfile, sample_profile};
use crate::sites::{SiteRow, sites};
use crate::solo_blocks::SoloBlock;
use crate::standstill::{Standstill, standstill};
use crate::suggestion::{Suggestion, suggest};
use crate::timeline::of_weights;
use crate::warnings::{Warning, of_folds, warnings};
use crate::weight::{AmbiguousFolds, Weights};
use crate::work_span::{OtherSpans, WorkSpan, work_span};

/// Number of bins of a report's profile: enough to be halved repeatedly down to a strip of text.
const PROFILE_BINS: usize = 240;

/// All data that `workspan report` shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Work, span, bounds.
    pub work_span: WorkSpan,
    /// Spawn sites by their share of the critical path, the root first.
    pub sites: Vec<SiteRow>,
    /// The division of the worker time.
    pub breakdown: Breakdown,
    /// Running strands over time.
    pub profile: Profile,
    /// Longest intervals of low parallelism, in descending order of loss, at most 10.
    pub low_parallelism: Vec<LowParallelism>,
    /// Code blocks whose strands ran alone, longest first, at most 10.
    pub solo_blocks: Vec<SoloBlock>,
    /// The causes of the loss: every lost tick has exactly one.
    pub causes: Causes,
    /// Lines and functions of the code, by samples.
    pub samples: SampleProfile,
    /// Regions, by label's first opening.
    pub regions: Vec<RegionRow>,
    /// Labelled parts, by label's first start.
    pub parts: Vec<PartRow>,
    /// The pools, if there were several or the program built one.
    pub pools: Vec<PoolRow>,
    /// The processes, if there are several.
    pub processes: Vec<ProcessRow>,
    /// The code block with the largest share of the critical path; `None` without a span.
    pub critical_block: Option<CriticalBlock>,
    /// CPU time of threads that no other number includes, if it is worth a sentence.
    pub other_threads: Option<OtherThreadsCpu>,
    /// The time of idle workers by use; `None` if context switches were not recorded.
    pub idle: Option<IdleTime>,
    /// The process's CPU time by use; `None` if it is not known.
    pub cpu: Option<CpuAccount>,
    /// Tasks that took longer while others ran than alone.
    pub concurrency_slowdown: Option<ConcurrencySlowdown>,
    /// Set if the run stood still when it was ended: who waited for what then.
    pub standstill: Option<Standstill>,
    /// The first thing to try.
    pub suggestion: Option<Suggestion>,
    /// Invariants that compare the recording with the CPU time of the process.
    pub checks: Vec<Check>,
    /// Doubts about numbers: contradictions first, then the trace's own warnings.
    pub warnings: Vec<Warning>,
    /// Folded strands for which it is not known whether their tasks or the recorder's folding was
    /// off the CPU.
    pub unsure_folds: Option<AmbiguousFolds>,
    /// Ticks taken out of the work by the calibrated cost of a probe. This recording time was not
    /// measured, unlike the time in which a thread folds.
    pub probes: u128,
}

impl Report {
    /// The block that limits the program on an otherwise idle machine, for a run in which load is
    /// one of the findings.
    pub fn on_a_quiet_machine(&self) -> Option<&CriticalBlock> {
        let is_loaded = self.causes.findings().iter().any(|f| f.cause.is_load());
        self.critical_block.as_ref().filter(|_| is_loaded)
    }

    /// The block that is shown if none of the run's findings is about the program.
    pub fn suggestion_without_findings(&self) -> Option<&CriticalBlock> {
        let has_one = self.causes.findings().iter().any(|f| !f.cause.is_load());
        self.critical_block.as_ref().filter(|_| !has_one)
    }

    /// How many ticks less the run would have taken if the worker time that `finding` lost had been
    /// used for the remaining work. At least [`Report::least_elapsed`] remains. With fewer threads
    /// the CPUs do no more work than with too many, so the gain of oversubscription is the CPU time
    /// that idle workers used.
    pub fn elapsed_gain(&self, dag: &Dag, finding: &Finding) -> u64 {
        let most = self.breakdown.elapsed() - self.least_elapsed(dag);
        let workers = self.breakdown.workers.max(1);
        let mut gain = finding.lost / u128::from(workers);
        if finding.cause == Cause::Oversubscribed {
            let idle = self.idle.as_ref().map_or(0, IdleTime::on_cpu);
            let cpus = dag.meta.cpus.map_or(workers, |cpus| cpus.max(1));
            gain = gain.min(u128::from(idle / u64::from(cpus)));
        }
        u64::try_from(gain).map_or(most, |gain| gain.min(most))
    }

    /// Lower bound of the elapsed time of the run's work on its workers and the CPUs that it may
    /// use, in ticks; at most the elapsed time.
    pub fn least_elapsed(&self, dag: &Dag) -> u64 {
        let workers = self.breakdown.workers.max(1);
        let at_once = dag.meta.cpus.map_or(workers, |cpus| cpus.clamp(1, workers));
        let least = self.breakdown.work / u128::from(at_once);
        u64::try_from(least).map_or(self.breakdown.elapsed(), |least| {
            least.min(self.breakdown.elapsed())
        })
    }
}

/// Minimum correction for probes, as a share of the work, that is also stated as an uncertainty.
const UNCERTAIN_SHARE: f64 = 0.1;

impl Report {
    /// The uncertainty of work and span, in ticks. It is set if more than 10 % of the work was
    /// taken out for probes, or is unknown for folded strands that were off the CPU: calibrated
    /// costs are measured on a quiet machine, so the correction can be off by its own size. The
    /// span has the same relative uncertainty as the work. `None` below 10 %. Meaningful for the
    /// metric *time*.
    pub fn uncertainty(&self) -> Option<(u128, u128)> {
        let ws = &self.work_span;
        let notable = |ticks: u128| ticks as f64 > UNCERTAIN_SHARE * ws.work as f64;
        let folds = self.unsure_folds.map_or(0, |folds| folds.ticks);
        let parts = [self.probes, folds].into_iter().filter(|&t| notable(t));
        let probes: u128 = parts.sum();
        if probes == 0 {
            return None;
        }
        let share = probes as f64 / ws.work.max(1) as f64;
        let span = (ws.span as f64 * share).round() as u128;
        Some((probes, span))
    }

    /// The uncertainty of the running time of one task in a finding's evidence, in ticks, in either
    /// direction. As a part of the work it has the work's relative uncertainty. If the work was
    /// divided among the sites of folded records, the error of the division adds to it. `None` if
    /// the result is below a tenth of the running time.
    pub fn task_ticks_error(&self, evidence: &Evidence) -> Option<u64> {
        let ticks = evidence.task_ticks?;
        let work = self.work_span.work.max(1) as f64;
        let share = self.uncertainty().map_or(0.0, |u| u.0 as f64 / work);
        let of_work = (ticks as f64 * share).round() as u64;
        let error = of_work.saturating_add(evidence.division_error.unwrap_or(0));
        (error as f64 > UNCERTAIN_SHARE * ticks as f64).then_some(error)
    }
}

/// The errors of numbers in a report, in either direction; `None` for numbers that are exact as far
/// as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportErrors {
    /// Error of the work.
    pub work: Option<u128>,
    /// Error of the span.
    pub span: Option<u128>,
    /// Error of the number of tasks.
    pub tasks: Option<u64>,
}

impl Report {
    /// The errors from [`Report::uncertainty`] and from the estimate of skipped subtrees; the
    /// larger one if there are both.
    pub fn errors(&self, metric: &Metric) -> ReportErrors {
        let uncertainty = self.uncertainty().filter(|_| *metric == Metric::Time);
        let ws = &self.work_span;
        let estimated = ws.estimated.map(|e| {
            let tasks = e.tasks.1.saturating_sub(ws.tasks);
            let span = e.span.1.saturating_sub(ws.span);
            (
                tasks.max(ws.tasks.saturating_sub(e.tasks.0)),
                span.max(ws.span.saturating_sub(e.span.0)),
            )
        });
        ReportErrors {
            work: uncertainty.map(|u| u.0),
            span: uncertainty.map(|u| u.1).max(estimated.map(|e| e.1)),
            tasks: estimated.map(|e| e.0),
        }
    }
}

/// Makes the report. O(n log n) in strands and off-CPU intervals.
///
/// # Errors
/// See [`Error`].
pub fn report(dag: &Dag, options: &Options) -> Result<Report, Error> {
    report_against(dag, options, None)
}

/// Makes the report, with a serial run of the program as `baseline`. For the metric *time*, the
/// additional time compared with it counts as lost too (stretch, MODEL.md §6).
///
/// # Errors
/// See [`Error`].
pub fn report_against(
    dag: &Dag,
    options: &Options,
    baseline: Option<&Baseline>,
) -> Result<Report, Error> {
    let (sender, receiver) = channel();
    // Without weights there is no report, so the value of `recording` does not matter.
    let in_time = move || {
        let recording = || receiver.recv().unwrap_or(0);
        of_weights(dag, options, recording, PROFILE_BINS)
    };
    let logical = || {
        let weights = Weights::new(dag, options)?;
        // If the other thread is gone, there is no receiver; its panic is passed on.
        let _ = sender.send(weights.recording);
        drop(sender);
        let others = OtherSpans::new(dag, &weights, options)?;
        let heaviest = Heaviest::unburdened(dag, &weights);
        let work_span = work_span(dag, &weights, options, &heaviest, others);
        let sites = sites(dag, &weights, &heaviest, &work_span.critical_path);
        let marked = (
            regions(dag, &weights, options, &work_span.critical_path),
            parts(dag, &weights, options),
            pools(dag, &weights),
            processes(dag, &weights),
        );
        Ok((weights, work_span, sites, marked))
    };
    let (timeline, logical) = run_both(dag, in_time, logical);
    let (weights, mut work_span, sites, (regions, parts, pools, processes)) = logical?;
    work_span.steals = timeline.steals;
    let mut causes = timeline.causes;
    if let (Some(baseline), Metric::Time) = (baseline, &options.metric) {
        stretch(&mut causes, dag, &weights, baseline);
    }
    if causes.block_when_undisturbed() {
        let span = work_span.span;
        work_span.limits.add_blocked(dag, &weights, options, span);
    }
    let critical_block = critical_block(dag, &weights, &work_span);
    let suggestion = suggest(dag, &weights, options, &causes, critical_block.as_ref());
    let other_threads = other_threads_cpu(dag, &timeline.breakdown);
    let idle = idle_time(dag);
    let checks = checks_with(dag, idle.as_ref());
    let mut warnings = warnings(
        dag,
        options,
        &work_span,
        (&timeline.breakdown, weights.probes),
        sites.bounded,
        &checks,
        idle.as_ref(),
    );
    let unsure_folds = weights.unsure_folds;
    let unsure = unsure_folds.filter(|folds| {
        options.metric == Metric::Time
            && folds.ticks as f64 > UNCERTAIN_SHARE * work_span.work as f64
    });
    warnings.extend(unsure.map(|folds| of_folds(dag, &folds, &work_span)));
    Ok(Report {
        unsure_folds,
        sites: sites.rows,
        breakdown: timeline.breakdown,
        profile: timeline.profile,
        low_parallelism: timeline.low_parallelism,
        solo_blocks: timeline.solo_blocks,
        causes,
        samples: sample_profile(dag, &work_span.critical_path),
        regions,
        parts,
        pools,
        processes,
        critical_block,
        other_threads,
        standstill: standstill(dag),
        cpu: cpu_account(dag, idle.as_ref()),
        idle,
        concurrency_slowdown: concurrency_slowdown(dag, &weights),
        suggestion,
        checks,
        warnings,
        probes: weights.probes,
        work_span,
    })
}
