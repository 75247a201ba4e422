//! The division of workers × elapsed.

use workspan_analysis::Breakdown;

use super::super::figure::{Figure, HorizontalAxis, Mark, Scale};
use super::super::fill::{
    BLOCKED, DELAY, DESCHEDULED, Fill, PROGRAM, RECORDING, SCHEDULER, UNREAD, WORK,
};
use super::{PlotRun, programs, series, verdict};
use crate::quantity::{TimeScale, percent};

type Part = (&'static str, Fill, fn(&Breakdown) -> u128);

/// The parts, in the order of the page.
const PARTS: [Part; 8] = [
    ("work", WORK, |b| b.work),
    ("recording", RECORDING, |b| b.recording),
    ("descheduled", DESCHEDULED, |b| b.descheduled),
    ("blocked", BLOCKED, |b| b.blocked),
    ("delay", DELAY, |b| b.delay),
    ("no work, scheduler", SCHEDULER, |b| b.no_work_sched),
    ("no work, program", PROGRAM, |b| b.no_work_app),
    ("not read", UNREAD, |b| b.unread),
];

/// The division of workers × elapsed, one bar per run; in time, or in percent of each run's own.
pub fn breakdown(runs: &[PlotRun], in_percent: bool) -> Figure {
    let total = |r: &PlotRun| r.report.breakdown.total().max(1) as f64;
    let largest = runs.iter().map(|r| r.seconds(total(r))).fold(0.0, f64::max);
    let scale = TimeScale::for_seconds(largest);
    let mut all = Vec::new();
    for (name, fill, ticks_of) in PARTS {
        let mut points = Vec::new();
        let mut labels = Vec::new();
        for (i, run) in runs.iter().enumerate() {
            let ticks = ticks_of(&run.report.breakdown) as f64;
            let share = 100.0 * ticks / total(run);
            let value = if in_percent {
                share
            } else {
                scale.of_seconds(run.seconds(ticks))
            };
            points.push((i as f64, value));
            labels.push(percent(share));
        }
        if points.iter().any(|p| p.1 > 0.0) {
            let mut ticks_of = series(name, fill, Mark::Bars, points);
            ticks_of.labels = labels;
            all.push(ticks_of);
        }
    }
    Figure {
        title: format!("{}: where the workers' time went", programs(runs)),
        subtitle: verdict(runs),
        horizontal: HorizontalAxis::Categories {
            names: runs.iter().map(|r| r.name.clone()).collect(),
            lying: false,
        },
        up: if in_percent {
            "per cent of workers × elapsed".into()
        } else {
            format!("worker-{}", scale.name)
        },
        at_least: 0.0,
        scale: Scale::Linear,
        level: None,
        series: all,
    }
}
