//! The numbers of running and ready strands over time.

use workspan_analysis::Breakdown;

use super::super::figure::{Figure, HorizontalAxis, Mark, Scale};
use super::super::fill::{
    BLOCKED, DELAY, DESCHEDULED, Fill, PROGRAM, READY_DEPEND, READY_SPAWN, WORK,
};
use super::{PlotRun, series};
use crate::quantity::TimeScale;

/// Groups of edge kinds that are shown together, as in the page: edge kinds by their index in
/// `Profile::ready`.
const READY: [(&str, Fill, &[usize]); 3] = [
    ("ready, join", DELAY, &[1, 2, 3, 4]),
    ("ready, depend", READY_DEPEND, &[5, 6]),
    ("ready, spawn", READY_SPAWN, &[0]),
];

/// Share of the time off the CPU from which on it is named and drawn as one kind of it.
const NEARLY_ALL: f64 = 0.95;

/// Name and look of the time off the CPU. The profile does not divide it, so it has the name of a
/// kind only if nearly all of it was of that kind.
fn off_cpu(b: &Breakdown) -> (&'static str, Fill) {
    let both = (b.blocked + b.descheduled).max(1) as f64;
    if b.blocked as f64 / both > NEARLY_ALL {
        ("blocked", BLOCKED)
    } else if b.descheduled as f64 / both > NEARLY_ALL {
        ("descheduled", DESCHEDULED)
    } else {
        ("off the CPU", DESCHEDULED)
    }
}

/// Busy workers, with strands that run off the CPU and ready strands on top, over the time of a
/// run. The remaining workers have no work. Above the number of workers the scale is logarithmic.
pub fn profile(run: &PlotRun) -> Figure {
    let p = &run.report.profile;
    let n = p.running.len();
    let scale = TimeScale::for_seconds(run.elapsed());
    let length = scale.of_seconds(run.elapsed());
    let x = |i: usize| length * i as f64 / n.max(1) as f64;
    let points_of =
        |f: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> { (0..n).map(|i| (x(i), f(i))).collect() };
    let mut all = vec![series("busy", WORK, Mark::Area, points_of(&|i| p.busy[i]))];
    // Recording time is included; it is small if there is nothing else.
    let off = |i: usize| (p.running[i] - p.busy[i]).max(0.0);
    if (0..n).map(off).sum::<f64>() > 0.01 * p.running.iter().sum::<f64>() {
        let (name, fill) = off_cpu(&run.report.breakdown);
        all.push(series(name, fill, Mark::Area, points_of(&off)));
    }
    for (name, fill, kinds) in READY {
        let points = points_of(&|i| kinds.iter().map(|&kind| p.ready[i][kind]).sum());
        if points.iter().any(|point| point.1 > 0.0) {
            all.push(series(name, fill, Mark::Area, points));
        }
    }
    let workers = f64::from(run.report.breakdown.workers);
    let there = |i: usize| all.iter().map(|s| s.points[i].1).sum::<f64>();
    let without = points_of(&|i| (workers - there(i)).max(0.0));
    if without.iter().any(|point| point.1 > 0.0) {
        all.push(series("no work", PROGRAM, Mark::Area, without));
    }
    Figure {
        title: format!("{}: parallelism over time", run.program()),
        subtitle: run.verdict(),
        horizontal: HorizontalAxis::Numbers {
            title: scale.name.to_owned(),
            from: 0.0,
            to: length,
            log2: false,
        },
        up: "strands".into(),
        at_least: workers,
        scale: Scale::LogAbove(workers.max(1.0)),
        level: Some((workers, format!("P = {workers}"))),
        series: all,
    }
}
