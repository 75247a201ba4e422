//! Everything `workspan report` shows.

use std::sync::mpsc::channel;

use workspan_dag::Dag;

use crate::breakdown::Breakdown;
use crate::causes::{Baseline, Cause, Causes, Evidence, Finding, stretch};
use crate::checks::{Check, CpuAccount, checks, cpu_account};
use crate::critical_block::{CriticalBlock, critical_block};
use crate::heaviest::Heaviest;
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
use crate::slower_beside::{SlowerBeside, slower_beside};
use crate::solo_blocks::SoloBlock;
use crate::standstill::{Standstill, standstill};
use crate::suggestion::{Suggestion, suggest};
use crate::timeline::of_weights;
use crate::warnings::{Warning, of_folds, warnings};
use crate::weight::{UnsureFolds, Weights};
use crate::work_span::{OtherSpans, WorkSpan, work_span};

/// Bins of a report's profile: enough to halve and halve again down to a strip of text.
const PROFILE_BINS: usize = 240;

/// Everything `workspan report` shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Work, span, bounds.
    pub work_span: WorkSpan,
    /// Spawn sites by critical percent, the root first.
    pub sites: Vec<SiteRow>,
    /// Where the time went.
    pub breakdown: Breakdown,
    /// Running over time.
    pub profile: Profile,
    /// Longest intervals of low parallelism, most lost first, at most 10.
    pub low_parallelism: Vec<LowParallelism>,
    /// Code blocks whose strands ran alone, longest first, at most 10.
    pub solo_blocks: Vec<SoloBlock>,
    /// Why what was lost was lost: every lost tick has one cause.
    pub causes: Causes,
    /// Lines and functions of the code, by samples.
    pub samples: SampleProfile,
    /// Regions, by label's first opening.
    pub regions: Vec<RegionRow>,
    /// Labelled parts, by label's first start.
    pub parts: Vec<PartRow>,
    /// The pools, where there were several or the program built one.
    pub pools: Vec<PoolRow>,
    /// The processes, where there are several.
    pub processes: Vec<ProcessRow>,
    /// The code that the critical path spends most in; `None` without a span.
    pub critical_block: Option<CriticalBlock>,
    /// CPU time of threads that are in none of the numbers, where that is worth a word.
    pub other_threads: Option<OtherThreadsCpu>,
    /// What idle workers did; `None` where nobody watched the context switches.
    pub idle: Option<IdleTime>,
    /// What the process's CPU time went to; `None` where it is not known.
    pub cpu: Option<CpuAccount>,
    /// Tasks that took longer beside others than alone.
    pub slower_beside: Option<SlowerBeside>,
    /// The run stood still when it was ended, and who waited for what then.
    pub standstill: Option<Standstill>,
    /// What to try first.
    pub suggestion: Option<Suggestion>,
    /// What no run can break, held against the CPU time that the process used.
    pub checks: Vec<Check>,
    /// What makes a number doubtful; what contradicts itself comes first, then the trace's own
    /// warnings.
    pub warnings: Vec<Warning>,
    /// Folded strands of which it is not known whether their tasks or the recorder's folding was
    /// off the CPU.
    pub unsure_folds: Option<UnsureFolds>,
    /// Ticks taken out of the work by the calibrated cost of a probe: recording that was not
    /// measured, as the time is in which a thread folds.
    pub probes: u128,
}

impl Report {
    /// What limits the program on a machine that runs nothing else, for a run in which load is one
    /// of the findings.
    pub fn on_a_quiet_machine(&self) -> Option<&CriticalBlock> {
        let is_loaded = self.causes.findings().iter().any(|f| f.cause.is_load());
        self.critical_block.as_ref().filter(|_| is_loaded)
    }

    /// Stands for the finding about the program in a run whose findings have none.
    pub fn instead_of_a_finding(&self) -> Option<&CriticalBlock> {
        let has_one = self.causes.findings().iter().any(|f| !f.cause.is_load());
        self.critical_block.as_ref().filter(|_| !has_one)
    }

    /// How much less time the run would have taken if the worker time that `finding` lost had been
    /// used for the work that was left, in ticks: no less than [`Report::least_elapsed`] is left.
    /// With fewer threads than CPUs the CPUs do no more work than with too many, so of
    /// oversubscription the gain is the CPU time that idle workers used.
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

    /// What the run's work takes at least on its workers and the CPUs that it may use, in ticks; at
    /// most the elapsed time.
    pub fn least_elapsed(&self, dag: &Dag) -> u64 {
        let workers = self.breakdown.workers.max(1);
        let at_once = dag.meta.cpus.map_or(workers, |cpus| cpus.clamp(1, workers));
        let least = self.breakdown.work / u128::from(at_once);
        u64::try_from(least).map_or(self.breakdown.elapsed(), |least| {
            least.min(self.breakdown.elapsed())
        })
    }
}

/// A correction for probes of more than this share of the work is stated as the uncertainty it is.
const UNCERTAIN_SHARE: f64 = 0.1;

impl Report {
    /// What work and span are uncertain by, in ticks, when more than 10 % of the work was taken out
    /// for probes, or is not known for folded strands that were off the CPU: calibrated costs are
    /// those of a quiet moment, so the correction can be off by its own size. The span's part is
    /// the work's share of it. `None` below that; meaningful for the metric time.
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

    /// What the running time of one task in a finding's evidence is uncertain by, in ticks, either
    /// way: as a part of the work it is known no better than that, and where it was divided among
    /// the sites of folded records, by that too. `None` below a tenth of it.
    pub fn task_ticks_error(&self, evidence: &Evidence) -> Option<u64> {
        let ticks = evidence.task_ticks?;
        let work = self.work_span.work.max(1) as f64;
        let share = self.uncertainty().map_or(0.0, |u| u.0 as f64 / work);
        let of_work = (ticks as f64 * share).round() as u64;
        let error = of_work.saturating_add(evidence.division_error.unwrap_or(0));
        (error as f64 > UNCERTAIN_SHARE * ticks as f64).then_some(error)
    }
}

/// By how much numbers of a report may be off, either way; `None` for what is exact as far as is
/// known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportErrors {
    /// Of the work.
    pub work: Option<u128>,
    /// Of the span.
    pub span: Option<u128>,
    /// Of the number of tasks.
    pub tasks: Option<u64>,
}

impl Report {
    /// What [`Report::uncertainty`] and the estimate of skipped subtrees say of each number, the
    /// larger one where both do.
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

/// All of it. O(n log n) in strands and off-CPU intervals.
///
/// # Errors
/// See [`Error`].
pub fn report(dag: &Dag, options: &Options) -> Result<Report, Error> {
    report_against(dag, options, None)
}

/// The same; with a serial run of the program as `baseline`, what it took less counts as lost too
/// (stretch, MODEL.md §6), where the metric is time.
///
/// # Errors
/// See [`Error`].
pub fn report_against(
    dag: &Dag,
    options: &Options,
    baseline: Option<&Baseline>,
) -> Result<Report, Error> {
    let (tell, told) = channel();
    // Without weights there is no report, and what the recording is does not matter.
    let in_time = move || {
        let recording = || told.recv().unwrap_or(0);
        of_weights(dag, options, recording, PROFILE_BINS)
    };
    let logical = || {
        let weights = Weights::new(dag, options)?;
        // Nobody listens any more when the other thread is gone; its panic is passed on.
        let _ = tell.send(weights.recording);
        drop(tell);
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
    let critical_block = critical_block(dag, &weights, &work_span);
    let suggestion = suggest(dag, &weights, options, &causes, critical_block.as_ref());
    let other_threads = other_threads_cpu(dag, &timeline.breakdown);
    let checks = checks(dag);
    let idle = idle_time(dag);
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
        slower_beside: slower_beside(dag, &weights),
        suggestion,
        checks,
        warnings,
        probes: weights.probes,
        work_span,
    })
}
