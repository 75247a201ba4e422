//! `scalability`: bounds and measured points of all runs.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::answer::Reply;
use crate::api_error::ApiError;
use crate::run::Run;
use crate::session::{Session, is_simulated};

/// The numbers of workers for which bounds are given.
pub(crate) const WORKERS: [u32; 16] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];

#[derive(Serialize)]
struct Scalability<'a> {
    runs: Vec<Bounds<'a>>,
    measured: Vec<Measured<'a>>,
}

#[derive(Serialize)]
struct Bounds<'a> {
    run: &'a str,
    work: u128,
    span: u128,
    burdened_span: u128,
    /// The largest speedup, on any number of workers or up to `known_to` of them.
    limit: f64,
    /// The number of threads that divided the work, if they did: shares of more threads, and so
    /// bounds on more workers, are not known.
    known_to: Option<u32>,
    points: Vec<Point>,
    note: Option<String>,
}

/// Bounds of the speedup on `workers` workers (MODEL.md §2).
#[derive(Serialize)]
pub(crate) struct Point {
    pub(crate) workers: u32,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
}

#[derive(Serialize)]
struct Measured<'a> {
    run: &'a str,
    workers: u32,
    speedup: f64,
    how: String,
    /// The time was computed by a model of a scheduler.
    simulated: bool,
    /// The speedup is measured against a run on one worker; otherwise against the run's own work.
    against_serial: bool,
    /// A sentence, if the base was off the CPU for a part of its time.
    warning: Option<String>,
}

/// If the base was off the CPU for more than this share of its time, the answer has a warning.
const MAX_OFF_CPU: f64 = 0.05;

pub(crate) fn answer(session: &Session) -> Result<Reply, ApiError> {
    let runs = session.runs.iter().map(bounds);
    Reply::json(&Scalability {
        runs: runs.collect::<Result<_, _>>()?,
        measured: measured(session)?,
    })
}

/// Bounds of a part of a run. There are no measurements of a part on other numbers of workers.
pub(crate) fn of_part(run: &Run) -> Result<Reply, ApiError> {
    Reply::json(&Scalability {
        runs: vec![bounds(run)?],
        measured: Vec::new(),
    })
}

fn bounds(run: &Run) -> Result<Bounds<'_>, ApiError> {
    let ws = &run.analyses()?.report.work_span;
    let known_to = ws.limits.shares.map(|shares| shares.threads);
    let own = run.model()?.dag.meta.workers;
    let numbers = WORKERS.into_iter().chain([own]).chain(known_to);
    let numbers: BTreeSet<u32> = numbers.collect();
    let points = numbers.into_iter().map(|workers| {
        let (lower, upper) = ws.speedup(workers);
        Point {
            workers,
            lower,
            upper,
        }
    });
    let note = (ws.burden == 0).then(|| {
        "The trace has no cost of a steal, so the lower bound is that of free steals.".to_owned()
    });
    Ok(Bounds {
        run: &run.id,
        work: ws.work,
        span: ws.span,
        burdened_span: ws.burdened_span,
        limit: ws.largest_speedup(),
        known_to,
        points: points.collect(),
        note,
    })
}

/// The speedups that the runs reached. The base is a run of the program on one worker, if the
/// session has one; otherwise each run's own work.
fn measured(session: &Session) -> Result<Vec<Measured<'_>>, ApiError> {
    let mut points = Vec::new();
    for run in &session.runs {
        let own = seconds(run)?;
        let b = &run.analyses()?.report.breakdown;
        // If records are missing, neither the run's elapsed time nor its work is known.
        if own <= 0.0 || run.model()?.dag.meta.unread.is_some() {
            continue;
        }
        let serial = session.serial_of(run)?.filter(|_| session.runs.len() > 1);
        let (speedup, how) = match serial {
            Some(base) => (
                seconds(base)? / own,
                format!(
                    "elapsed time of run {} on one worker over its own",
                    base.id.to_uppercase()
                ),
            ),
            None => (
                b.mean_busy(),
                "its own work over its elapsed time".to_owned(),
            ),
        };
        points.push(Measured {
            run: &run.id,
            workers: b.workers,
            speedup,
            how,
            simulated: is_simulated(&run.model()?.dag.meta),
            against_serial: serial.is_some(),
            warning: serial.map(off_cpu).transpose()?.flatten(),
        });
    }
    Ok(points)
}

fn seconds(run: &Run) -> Result<f64, ApiError> {
    let model = run.model()?;
    let rate = model.dag.meta.ticks_per_second.max(1);
    Ok(model.elapsed() as f64 / rate as f64)
}

/// A warning, if the run that others are measured against did not have the machine to itself.
fn off_cpu(base: &Run) -> Result<Option<String>, ApiError> {
    let share = base.analyses()?.report.breakdown.descheduled_share();
    Ok((share > MAX_OFF_CPU).then(|| {
        let (id, percent) = (base.id.to_uppercase(), 100.0 * share);
        format!(
            "Run {id}, which the others are measured against, was off the CPU for {percent:.0} % \
             of its time: their speedups are too high."
        )
    }))
}
