//! Measured speedups over what a recorded run predicts, and why they differ.
//!
//! Runs of the bare program say how fast it is on 1, 2, … workers; one recorded run says how fast
//! it could be (Cilkview's bounds and estimate, SPAA'10 §3, drawn together in its fig. 6). Where
//! the measured curve leaves the band between the bounds, something is at work that no computation
//! DAG knows of: memory, contention, the system.

mod verdict;

use crate::limits::Limits;
use crate::work_span::{WorkSpan, speedup_bounds};
use crate::{Breakdown, Report};

pub use verdict::{Reason, Remark};

/// What the bounds are computed from (MODEL.md §2), in units of the metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logical {
    /// T1.
    pub work: u128,
    /// T∞.
    pub span: u128,
    /// Burdened span.
    pub burdened_span: u128,
    /// Deferred creates.
    pub spawns: u64,
    /// Waits.
    pub syncs: u64,
    /// What the bounds say nothing about.
    pub limits: Limits,
}

impl Logical {
    /// Bounds of the speedup on `p` workers: (lower, upper).
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        let of = |span: u128| speedup_bounds(self.work, span, self.burdened_span, p);
        let bounding = self.limits.bounding_span(self.span, p);
        (of(self.span).0, of(bounding).1)
    }

    /// T1 / T∞; 1 where there is no span.
    pub fn parallelism(&self) -> f64 {
        over(self.work, self.span)
    }

    /// T1 / burdened span; 1 where there is none.
    pub fn burdened_parallelism(&self) -> f64 {
        over(self.work, self.burdened_span)
    }

    /// T1 / (1 + 2·spawns + syncs).
    pub fn average_maximal_strand(&self) -> f64 {
        self.work as f64 / (1.0 + 2.0 * self.spawns as f64 + self.syncs as f64)
    }
}

fn over(a: u128, b: u128) -> f64 {
    if b == 0 { 1.0 } else { a as f64 / b as f64 }
}

impl From<&WorkSpan> for Logical {
    fn from(of: &WorkSpan) -> Logical {
        Logical {
            work: of.work,
            span: of.span,
            burdened_span: of.burdened_span,
            spawns: of.spawns,
            syncs: of.syncs,
            limits: of.limits,
        }
    }
}

/// A recorded run, as far as it says whether the program did what it was asked to and where its
/// time went.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    /// Workers it was asked to have.
    pub asked: u32,
    /// Pool workers that were seen ([`Breakdown::workers`]).
    pub workers: u32,
    /// Tasks.
    pub tasks: u64,
    /// T1, in ns.
    pub work: f64,
    /// Parts of workers × elapsed, 0 to 1: not scheduled, blocked, and ready strands beside free
    /// workers.
    pub descheduled: f64,
    /// See `descheduled`.
    pub blocked: f64,
    /// See `descheduled`.
    pub delay: f64,
}

impl RecordedRun {
    /// From the report of a run that was asked to have `asked` workers; a tick of it takes `tick`
    /// ns.
    pub fn new(report: &Report, asked: u32, tick: f64) -> RecordedRun {
        let b: &Breakdown = &report.breakdown;
        let all = b.total().max(1) as f64;
        RecordedRun {
            asked,
            workers: b.workers,
            tasks: report.work_span.tasks,
            work: report.work_span.work as f64 * tick,
            descheduled: (b.descheduled + b.oversubscribed) as f64 / all,
            blocked: b.blocked as f64 / all,
            delay: b.delay as f64 / all,
        }
    }
}

/// Runs of the bare program on one number of workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BareRuns {
    /// Workers it was asked to have.
    pub workers: u32,
    /// What each run took, in ns; at least one.
    pub times: Vec<u64>,
}

/// Simulated speedups over the work on one number of workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedRuns {
    /// Virtual workers.
    pub workers: u32,
    /// Mean, least and most over the seeds.
    pub mean: f64,
    /// See `mean`.
    pub least: f64,
    /// See `mean`.
    pub most: f64,
}

/// What was measured on one number of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What the runs took, in ns, ascending.
    pub times: Vec<u64>,
    /// Median of one worker's runs over the median of these; `None` where nothing was measured on
    /// one.
    pub speedup: Option<f64>,
    /// The fastest of one worker over the fastest of these: what disturbs a run only makes it
    /// slower.
    pub best: Option<f64>,
}

impl Measured {
    /// The middle one, in ns.
    pub fn median(&self) -> u64 {
        self.times.get(self.times.len() / 2).copied().unwrap_or(0)
    }
}

/// One number of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The number.
    pub workers: u32,
    /// More than there are CPUs.
    pub crowded: bool,
    /// What was measured, where something was.
    pub measured: Option<Measured>,
    /// What was simulated.
    pub simulated: Option<SimulatedRuns>,
    /// Bounds of the speedup, where a run was recorded.
    pub bounds: Option<(f64, f64)>,
}

/// Measured and predicted speedups.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// CPUs the program may use.
    pub cpus: u32,
    /// What the predictions come from.
    pub logical: Option<Logical>,
    /// The recorded runs, that with most workers first; the predictions are of the first.
    pub recorded: Vec<RecordedRun>,
    /// By number of workers.
    pub points: Vec<Point>,
    /// What is to be said of them.
    pub remarks: Vec<Remark>,
}

/// Everything that was measured and predicted.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// CPUs the program may use.
    pub cpus: u32,
    /// Runs of the bare program.
    pub bare: Vec<BareRuns>,
    /// What the predictions come from.
    pub logical: Option<Logical>,
    /// The recorded runs, that with most workers first.
    pub recorded: Vec<RecordedRun>,
    /// Simulated runs.
    pub simulated: Vec<SimulatedRuns>,
    /// Numbers of workers to give bounds for beside those that were measured and simulated.
    pub also: Vec<u32>,
}

/// Puts measured and predicted speedups together and judges them.
pub fn scale(runs: Runs) -> Scale {
    let mut workers: Vec<u32> = runs.bare.iter().map(|b| b.workers).collect();
    workers.extend(runs.simulated.iter().map(|s| s.workers));
    workers.extend(&runs.also);
    workers.sort_unstable();
    workers.dedup();
    let times_on = |p: u32| -> Vec<u64> {
        let of = runs.bare.iter().filter(|b| b.workers == p);
        let mut times: Vec<u64> = of.flat_map(|b| b.times.iter().copied()).collect();
        times.sort_unstable();
        times
    };
    let serial = times_on(1);
    let ratio = |of: &[u64], at: fn(usize) -> usize| -> Option<f64> {
        let serial = serial.get(at(serial.len()))?;
        let time = of.get(at(of.len()))?;
        Some(*serial as f64 / (*time).max(1) as f64)
    };
    let point = |&p: &u32| {
        let times = times_on(p);
        Point {
            workers: p,
            crowded: p > runs.cpus,
            measured: (!times.is_empty()).then(|| Measured {
                speedup: ratio(&times, |n| n / 2),
                best: ratio(&times, |_| 0),
                times,
            }),
            simulated: runs.simulated.iter().find(|s| s.workers == p).copied(),
            bounds: runs.logical.map(|logical| logical.speedup(p)),
        }
    };
    let points: Vec<Point> = workers.iter().map(point).collect();
    let mut scale = Scale {
        cpus: runs.cpus,
        logical: runs.logical,
        recorded: runs.recorded,
        points,
        remarks: Vec::new(),
    };
    scale.remarks = verdict::remarks(&scale);
    scale
}
