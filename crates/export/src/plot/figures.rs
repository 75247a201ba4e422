//! The kinds of figures: runs in, figures out.

use workspan_analysis::Report;
use workspan_analysis::scale::{Point, Scale};
use workspan_dag::{Dag, ROOT_PLACE};

use super::figure::{
    Across, BLACK, BLUE, Color, Figure, GREEN, GREY, Mark, ORANGE, PINK, RED, SKY, Series, YELLOW,
};
use crate::position::{label, short_function};
use crate::quantity::{TimeScale, seconds};

/// A run to draw.
pub struct PlotRun<'a> {
    /// What people call it.
    pub name: String,
    /// Its trace.
    pub dag: &'a Dag,
    /// Its report, of the metric time.
    pub report: &'a Report,
}

impl PlotRun<'_> {
    fn seconds(&self, ticks: f64) -> f64 {
        seconds(&self.dag.meta, ticks)
    }

    fn elapsed(&self) -> f64 {
        self.seconds(self.report.breakdown.elapsed() as f64)
    }

    fn program(&self) -> &str {
        let name = self.dag.meta.name.as_deref();
        name.filter(|n| !n.is_empty()).unwrap_or("program")
    }
}

fn series(name: &str, color: Color, mark: Mark, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.to_owned(),
        color,
        mark,
        points,
    }
}

/// The programs' names, each once.
fn programs(runs: &[PlotRun]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.program()) {
            names.push(run.program());
        }
    }
    names.join(", ")
}

/// Where workers x elapsed went, a bar a run.
pub fn breakdown(runs: &[PlotRun]) -> Figure {
    type Part = (
        &'static str,
        Color,
        fn(&workspan_analysis::Breakdown) -> u128,
    );
    let parts: [Part; 7] = [
        ("work", BLUE, |b| b.work),
        ("delay", RED, |b| b.delay),
        ("no work, scheduler", ORANGE, |b| b.no_work_sched),
        ("no work, program", YELLOW, |b| b.no_work_app),
        ("descheduled", PINK, |b| b.descheduled),
        ("blocked", GREEN, |b| b.blocked),
        ("recording", GREY, |b| b.recording),
    ];
    let largest = runs
        .iter()
        .map(|r| r.seconds(r.report.breakdown.total() as f64))
        .fold(0.0, f64::max);
    let scale = TimeScale::of(largest);
    let mut all = Vec::new();
    for (name, color, of) in parts {
        let points: Vec<(f64, f64)> = runs
            .iter()
            .enumerate()
            .map(|(i, r)| {
                let ticks = of(&r.report.breakdown) as f64;
                (i as f64, scale.of_seconds(r.seconds(ticks)))
            })
            .collect();
        if points.iter().any(|p| p.1 > 0.0) {
            all.push(series(name, color, Mark::Bars, points));
        }
    }
    Figure {
        title: format!("{}: where the workers' time went", programs(runs)),
        across: Across::Categories {
            names: runs.iter().map(|r| r.name.clone()).collect(),
            lying: false,
        },
        up: format!("worker-{}", scale.name),
        at_least: 0.0,
        up_log2: false,
        series: all,
    }
}

/// Busy workers, on top strands that run off the CPU, and those ready by the edge that made them
/// so, over the time of a run.
pub fn profile(run: &PlotRun) -> Figure {
    let p = &run.report.profile;
    let n = p.running.len();
    let scale = TimeScale::of(run.elapsed());
    let length = scale.of_seconds(run.elapsed());
    let x = |i: usize| length * i as f64 / n.max(1) as f64;
    let of =
        |f: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> { (0..n).map(|i| (x(i), f(i))).collect() };
    let mut all = vec![series("busy", BLUE, Mark::Area, of(&|i| p.busy[i]))];
    // What recording took is in it: next to nothing where there is nothing else.
    let off = |i: usize| (p.running[i] - p.busy[i]).max(0.0);
    if (0..n).map(off).sum::<f64>() > 0.01 * p.running.iter().sum::<f64>() {
        all.push(series("off the CPU", BLACK, Mark::Area, of(&off)));
    }
    let kinds = [
        ("ready: create", RED),
        ("ready: create continuation", ORANGE),
        ("ready: wait continuation", YELLOW),
        ("ready: yield continuation", PINK),
        ("ready: end", GREEN),
        ("ready: depend", SKY),
        ("ready: signal", GREY),
    ];
    for (kind, (name, color)) in kinds.into_iter().enumerate() {
        let points = of(&|i| p.ready[i][kind]);
        if points.iter().any(|point| point.1 > 0.0) {
            all.push(series(name, color, Mark::Area, points));
        }
    }
    Figure {
        title: format!("{}: parallelism over time", run.program()),
        across: Across::Numbers {
            title: scale.name.to_owned(),
            from: 0.0,
            to: length,
            log2: false,
        },
        up: "strands".into(),
        at_least: run.report.breakdown.workers.into(),
        up_log2: false,
        series: all,
    }
}

/// Bounds of the speedup by the first run, and what the runs reached: elapsed against that of a run
/// on one worker when there is one, else the mean number of workers at work.
pub fn speedup(runs: &[PlotRun]) -> Figure {
    let Some(first) = runs.first() else {
        return empty("speedup");
    };
    let ws = &first.report.work_span;
    let most = runs.iter().map(|r| r.report.breakdown.workers).max();
    let most = most.unwrap_or(1).next_power_of_two().clamp(16, 1 << 16) * 2;
    let workers: Vec<u32> = (0..)
        .map(|k| 1u32 << k)
        .take_while(|&p| p <= most)
        .collect();
    let of = |f: &dyn Fn(u32) -> f64| -> Vec<(f64, f64)> {
        workers.iter().map(|&p| (p.into(), f(p))).collect()
    };
    let mut all = vec![
        series("linear", GREY, Mark::Dashed, of(&|p| p.into())),
        series("at most", GREEN, Mark::Line, of(&|p| ws.speedup(p).1)),
        series("at least", RED, Mark::Line, of(&|p| ws.speedup(p).0)),
    ];
    let serial = runs.iter().find(|r| r.report.breakdown.workers == 1);
    let serial = serial.map(PlotRun::elapsed).filter(|&s| s > 0.0);
    let reached = runs.iter().filter(|r| r.elapsed() > 0.0).map(|r| {
        let b = &r.report.breakdown;
        let times = match serial {
            Some(serial) => serial / r.elapsed(),
            None => b.work as f64 / b.elapsed().max(1) as f64,
        };
        (f64::from(b.workers), times)
    });
    let name = if serial.is_some() {
        "measured"
    } else {
        "workers busy"
    };
    all.push(series(name, BLUE, Mark::Points, reached.collect()));
    Figure {
        title: format!("{}: speedup", programs(runs)),
        across: Across::Numbers {
            title: "workers".into(),
            from: 1.0,
            to: most.into(),
            log2: true,
        },
        up: "speedup".into(),
        at_least: 2.0,
        up_log2: true,
        series: all,
    }
}

/// Measured speedups over lower bound, simulation and upper bound.
pub fn scale(program: &str, scale: &Scale) -> Figure {
    let most = scale.points.iter().map(|p| p.workers).max();
    let most = f64::from(most.unwrap_or(1).max(2));
    let of = |f: &dyn Fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = scale.points.iter();
        points
            .filter_map(|p| Some((p.workers.into(), f(p)?)))
            .collect()
    };
    let all = [
        series(
            "linear",
            GREY,
            Mark::Dashed,
            of(&|p| Some(p.workers.into())),
        ),
        series("at most", GREEN, Mark::Line, of(&|p| Some(p.bounds?.1))),
        series(
            "simulated",
            ORANGE,
            Mark::Dashed,
            of(&|p| Some(p.simulated?.mean)),
        ),
        series("at least", RED, Mark::Line, of(&|p| Some(p.bounds?.0))),
        series(
            "measured",
            BLUE,
            Mark::Points,
            of(&|p| p.measured.as_ref()?.speedup),
        ),
    ];
    Figure {
        title: format!("{program}: speedup, measured over predicted"),
        across: Across::Numbers {
            title: "workers".into(),
            from: 1.0,
            to: most,
            log2: true,
        },
        up: "speedup".into(),
        at_least: 2.0,
        up_log2: true,
        series: all.into_iter().filter(|s| !s.points.is_empty()).collect(),
    }
}

/// Spawn sites by their share of the critical path and of the work of their own strands.
pub fn sites(run: &PlotRun, most: usize) -> Figure {
    let rows: Vec<_> = run.report.sites.iter().take(most).collect();
    let work = run.report.work_span.work.max(1) as f64;
    let own =
        |row: &workspan_analysis::SiteRow| -> u128 { row.blocks.iter().map(|b| b.work).sum() };
    let points = |f: &dyn Fn(&workspan_analysis::SiteRow) -> f64| -> Vec<(f64, f64)> {
        rows.iter()
            .enumerate()
            .map(|(i, r)| (i as f64, f(r)))
            .collect()
    };
    let critical = points(&|r| r.critical_percent);
    let worked = points(&|r| own(r) as f64 * 100.0 / work);
    let name = |site: u32| {
        let at = run.dag.places.get(site as usize);
        let function = at
            .and_then(|p| p.function.as_deref())
            .filter(|_| site != ROOT_PLACE);
        match function {
            Some(f) => format!("{} {}", label(run.dag, site), short_function(f)),
            None => label(run.dag, site).to_owned(),
        }
    };
    Figure {
        title: format!("{}: spawn sites", run.program()),
        across: Across::Categories {
            names: rows.iter().map(|r| name(r.site)).collect(),
            lying: true,
        },
        up: "percent".into(),
        at_least: 10.0,
        up_log2: false,
        series: vec![
            series("of the critical path", RED, Mark::Bars, critical),
            series("of the work", BLUE, Mark::Bars, worked),
        ],
    }
}

fn empty(title: &str) -> Figure {
    Figure {
        title: title.to_owned(),
        across: Across::Categories {
            names: Vec::new(),
            lying: false,
        },
        up: String::new(),
        at_least: 1.0,
        up_log2: false,
        series: Vec::new(),
    }
}
