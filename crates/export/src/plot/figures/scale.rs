//! Measured and predicted speedups.

use workspan_analysis::scale::{Point, Scale as ScalePoint};

use super::super::figure::{Figure, HorizontalAxis, Mark, Scale};
use super::super::fill::{BLUE, Fill, GREEN, GREY};
use super::series;
use super::speedup::with_bend;

/// Measured speedups, with lower bound, simulation and upper bound.
pub fn scale(program: &str, scale: &ScalePoint) -> Figure {
    let most = scale.points.iter().map(|p| p.workers).max();
    let most = f64::from(most.unwrap_or(1).max(2));
    let points_of = |f: &dyn Fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = scale.points.iter();
        points
            .filter_map(|p| Some((p.workers.into(), f(p)?)))
            .collect()
    };
    let drawn = |name, color, mark, points| series(name, Fill::plain(color), mark, points);
    let all = [
        drawn(
            "linear",
            GREY,
            Mark::Dotted,
            points_of(&|p| Some(p.workers.into())),
        ),
        drawn(
            "at most",
            BLUE,
            Mark::Line,
            with_bend(points_of(&|p| Some(p.bounds?.1))),
        ),
        drawn(
            "simulated",
            GREEN,
            Mark::Rings,
            points_of(&|p| Some(p.simulated?.mean)),
        ),
        drawn(
            "at least",
            BLUE,
            Mark::Dashed,
            points_of(&|p| Some(p.bounds?.0)),
        ),
        drawn(
            "measured",
            BLUE,
            Mark::Points,
            points_of(&|p| p.measured.as_ref()?.speedup),
        ),
    ];
    Figure {
        title: format!("{program}: speedup, measured over predicted"),
        subtitle: String::new(),
        horizontal: HorizontalAxis::Numbers {
            title: "workers".into(),
            from: 1.0,
            to: most,
            log2: true,
        },
        up: "speedup".into(),
        at_least: 2.0,
        scale: Scale::Log2,
        level: None,
        series: all.into_iter().filter(|s| !s.points.is_empty()).collect(),
    }
}
