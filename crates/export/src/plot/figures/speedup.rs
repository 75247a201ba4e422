//! The speedup that the program can reach, and the one that its runs reached.

use super::super::figure::{Figure, HorizontalAxis, Mark, Scale, Series};
use super::super::fill::{BLUE, Fill, GREY, WINE};
use super::{PlotRun, empty, programs, series, verdict};
use crate::quantity::percent;

/// Maximum share of its time that a base of comparison may be off the CPU without a note.
const MAX_OFF_CPU: f64 = 0.05;

/// Bounds of the speedup by the first run, and the speedups of the runs. A speedup is relative to
/// the elapsed time of a run of the same program on one worker, if there is one, and otherwise the
/// mean number of busy workers.
pub fn speedup(runs: &[PlotRun]) -> Figure {
    let Some(first) = runs.first() else {
        return empty("speedup");
    };
    let most = runs.iter().map(|r| r.report.breakdown.workers).max();
    let most = most.unwrap_or(1).next_power_of_two().clamp(16, 1 << 16) * 2;
    let mut all = bounds(first, most);
    // The bounds belong to one run: another version of the program may reach more.
    let mut warned: Vec<String> = vec![verdict(runs)];
    if runs.len() > 1 {
        warned.push(format!("bounds of {}", first.name));
    }
    let mut kinds = [
        series("measured", Fill::plain(BLUE), Mark::Points, Vec::new()),
        series("simulated", Fill::plain(BLUE), Mark::Rings, Vec::new()),
        series("workers busy", Fill::plain(WINE), Mark::Points, Vec::new()),
        series(
            "workers busy, simulated",
            Fill::plain(WINE),
            Mark::Rings,
            Vec::new(),
        ),
    ];
    for run in runs.iter().filter(|r| r.elapsed() > 0.0) {
        let b = &run.report.breakdown;
        let base = base_of(run, runs);
        let times = match base {
            Some(base) => base.elapsed() / run.elapsed(),
            None => b.mean_busy(),
        };
        let kind = usize::from(run.is_simulated()) + 2 * usize::from(base.is_none());
        kinds[kind].points.push((f64::from(b.workers), times));
        kinds[kind].labels.push(run.name.clone());
        warned.extend(base.and_then(off_cpu));
    }
    all.extend(kinds.into_iter().filter(|s| !s.points.is_empty()));
    warned.dedup();
    Figure {
        title: format!("{}: speedup", programs(runs)),
        subtitle: warned.join(" · "),
        horizontal: HorizontalAxis::Numbers {
            title: "workers".into(),
            from: 1.0,
            to: most.into(),
            log2: true,
        },
        up: "speedup".into(),
        at_least: 2.0,
        scale: Scale::Log2,
        level: None,
        series: all,
    }
}

/// The run on one worker that `run` is compared with. It must be of the same program, and simulated
/// if `run` is, because a model's time and a machine's time can't be compared.
fn base_of<'a>(run: &PlotRun, runs: &'a [PlotRun]) -> Option<&'a PlotRun<'a>> {
    runs.iter().find(|base| {
        base.report.breakdown.workers == 1
            && base.elapsed() > 0.0
            && base.program() == run.program()
            && base.is_simulated() == run.is_simulated()
    })
}

/// A note that a base of comparison shared the machine with other programs.
fn off_cpu(base: &PlotRun) -> Option<String> {
    let share = base.report.breakdown.descheduled_share();
    (share > MAX_OFF_CPU).then(|| {
        let share = percent(100.0 * share);
        format!("{} on one worker was off the CPU for {share}", base.name)
    })
}

fn bounds(first: &PlotRun, most: u32) -> Vec<Series> {
    let ws = &first.report.work_span;
    let workers: Vec<u32> = (0..)
        .map(|k| 1u32 << k)
        .take_while(|&p| p <= most)
        .collect();
    let points_of = |f: &dyn Fn(u32) -> f64| -> Vec<(f64, f64)> {
        workers.iter().map(|&p| (p.into(), f(p))).collect()
    };
    vec![
        series(
            "linear",
            Fill::plain(GREY),
            Mark::Dotted,
            points_of(&|p| p.into()),
        ),
        series(
            "at most",
            Fill::plain(BLUE),
            Mark::Line,
            with_bend(points_of(&|p| ws.speedup(p).1)),
        ),
        series(
            "at least",
            Fill::plain(BLUE),
            Mark::Dashed,
            points_of(&|p| ws.speedup(p).0),
        ),
    ]
}

/// Adds the bend of the upper bound, which grows with the workers up to its limit and stays there:
/// a straight line between two numbers of workers would be below it.
pub(super) fn with_bend(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let bend = points.iter().position(|&(p, v)| v < p * 0.999_999);
    if let Some(i) = bend.filter(|&i| i > 0) {
        let (before, limit) = (points[i - 1].0, points[i].1);
        if limit > before {
            points.insert(i, (limit, limit));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::with_bend;

    #[test]
    fn the_upper_bound_bends_at_the_parallelism() {
        let bound = |p: f64| (p, p.min(5.37));
        let drawn = with_bend([1.0, 2.0, 4.0, 8.0, 16.0].map(bound).to_vec());
        assert!(drawn.contains(&(5.37, 5.37)), "{drawn:?}");
        let linear: Vec<_> = [1.0, 2.0, 4.0].map(bound).to_vec();
        assert_eq!(with_bend(linear.clone()), linear);
    }
}
