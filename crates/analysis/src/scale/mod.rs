//! Compares measured speedups with the predictions of a recorded run, and says why they differ.
//!
//! Runs of the bare program show how fast it is on 1, 2, … workers; one recorded run shows how fast
//! it could be (Cilkview's bounds and estimate, SPAA'10 §3, drawn together in its fig. 6). Where
//! the measured curve leaves the band between the bounds, the reason is something that no
//! computation DAG includes: memory, contention, the system.

mod verdict;

use crate::limits::Limits;
use crate::work_span::{WorkSpan, speedup_bounds};
use crate::{Breakdown, Report};

pub use verdict::{Reason, Remark};

/// The inputs of the bounds (MODEL.md §2), in units of the metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logical {
    /// T1.
    pub work: u128,
    /// T∞.
    pub span: u128,
    /// Burdened span.
    pub burdened_span: u128,
    /// Number of deferred creates.
    pub spawns: u64,
    /// Number of waits.
    pub syncs: u64,
    /// Limits that the bounds do not show.
    pub limits: Limits,
}

impl Logical {
    /// Bounds of the speedup on `p` workers: (lower, upper).
    pub fn speedup(&self, p: u32) -> (f64, f64) {
        let bounds = |span: u128| speedup_bounds(self.work, span, self.burdened_span, p);
        let bounding = self.limits.bounding_span(self.span, p);
        (bounds(self.span).0, bounds(bounding).1)
    }

    /// T1 / T∞; 1 if there is no span.
    pub fn parallelism(&self) -> f64 {
        over(self.work, self.span)
    }

    /// T1 / burdened span; 1 if there is no span.
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
    fn from(work_span: &WorkSpan) -> Logical {
        Logical {
            work: work_span.work,
            span: work_span.span,
            burdened_span: work_span.burdened_span,
            spawns: work_span.spawns,
            syncs: work_span.syncs,
            limits: work_span.limits,
        }
    }
}

/// Facts about a recorded run that show whether the program had the requested workers, and where
/// its time went.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    /// Number of workers requested.
    pub asked: u32,
    /// Number of pool workers seen ([`Breakdown::workers`]).
    pub workers: u32,
    /// Number of tasks.
    pub tasks: u64,
    /// T1, in ns.
    pub work: f64,
    /// Descheduled share of workers × elapsed, 0 to 1.
    pub descheduled: f64,
    /// Blocked share of workers × elapsed, 0 to 1.
    pub blocked: f64,
    /// Share of workers × elapsed in which ready strands and free workers existed, 0 to 1.
    pub delay: f64,
}

impl RecordedRun {
    /// Takes the facts from the report of a run with `asked` requested workers; its ticks take
    /// `tick` ns.
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
    /// Number of workers requested.
    pub workers: u32,
    /// The elapsed time of each run, in ns; at least one.
    pub times: Vec<u64>,
}

/// Simulated speedups over the work on one number of workers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedRuns {
    /// Number of virtual workers.
    pub workers: u32,
    /// Mean over the seeds.
    pub mean: f64,
    /// Minimum over the seeds.
    pub least: f64,
    /// Maximum over the seeds.
    pub most: f64,
}

/// The measurements on one number of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalePoint {
    /// The elapsed times of the runs, in ns, ascending.
    pub times: Vec<u64>,
    /// Median of one worker's runs over the median of these; `None` if nothing was measured on one
    /// worker.
    pub speedup: Option<f64>,
    /// The fastest of one worker's runs over the fastest of these: disturbances only make runs
    /// slower.
    pub best: Option<f64>,
}

impl ScalePoint {
    /// The median, in ns.
    pub fn median(&self) -> u64 {
        self.times.get(self.times.len() / 2).copied().unwrap_or(0)
    }
}

/// The results for one number of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The number of workers.
    pub workers: u32,
    /// Whether it is greater than the number of CPUs.
    pub crowded: bool,
    /// The measurements, if there are any.
    pub measured: Option<ScalePoint>,
    /// The simulations, if there are any.
    pub simulated: Option<SimulatedRuns>,
    /// Bounds of the speedup, if a run was recorded.
    pub bounds: Option<(f64, f64)>,
}

/// Measured and predicted speedups.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Number of CPUs that the program may use.
    pub cpus: u32,
    /// The inputs of the predictions.
    pub logical: Option<Logical>,
    /// The recorded runs, the one with most workers first; the predictions come from the first.
    pub recorded: Vec<RecordedRun>,
    /// The results by number of workers.
    pub points: Vec<Point>,
    /// Remarks on the results.
    pub remarks: Vec<Remark>,
}

/// Everything that was measured and predicted.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// Number of CPUs that the program may use.
    pub cpus: u32,
    /// Runs of the bare program.
    pub bare: Vec<BareRuns>,
    /// The inputs of the predictions.
    pub logical: Option<Logical>,
    /// The recorded runs, the one with most workers first.
    pub recorded: Vec<RecordedRun>,
    /// Simulated runs.
    pub simulated: Vec<SimulatedRuns>,
    /// Further numbers of workers to compute bounds for, besides those measured and simulated.
    pub also: Vec<u32>,
}

/// Combines measured and predicted speedups, and judges them.
pub fn scale(runs: Runs) -> Scale {
    let mut workers: Vec<u32> = runs.bare.iter().map(|b| b.workers).collect();
    workers.extend(runs.simulated.iter().map(|s| s.workers));
    workers.extend(&runs.also);
    workers.sort_unstable();
    workers.dedup();
    let times_on = |p: u32| -> Vec<u64> {
        let bare_runs = runs.bare.iter().filter(|b| b.workers == p);
        let mut times: Vec<u64> = bare_runs.flat_map(|b| b.times.iter().copied()).collect();
        times.sort_unstable();
        times
    };
    let serial = times_on(1);
    let ratio = |times_of_runs: &[u64], at: fn(usize) -> usize| -> Option<f64> {
        let serial = serial.get(at(serial.len()))?;
        let time = times_of_runs.get(at(times_of_runs.len()))?;
        Some(*serial as f64 / (*time).max(1) as f64)
    };
    let point = |&p: &u32| {
        let times = times_on(p);
        Point {
            workers: p,
            crowded: p > runs.cpus,
            measured: (!times.is_empty()).then(|| ScalePoint {
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
