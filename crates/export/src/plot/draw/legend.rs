//! The legend: the names of the series, above the plot.

use super::super::figure::{Mark, Series};
use super::{Anchor, KeptEnd, MARGIN, SIZE, Shape, boxed, dot, fitted, line_of, text, text_width};

/// Draws the names in rows below `top`, and returns their height.
pub(super) fn draw(shown: &[&Series], width: f64, top: f64, shapes: &mut Vec<Shape>) -> f64 {
    if shown.len() < 2 {
        return 0.0;
    }
    let (mut x, mut y) = (0.0, 8.0);
    for series in shown {
        let name = fitted(&series.name, SIZE, width - 32.0, KeptEnd::Start);
        let need = 18.0 + text_width(&name, SIZE) + 14.0;
        if x > 0.0 && x + need - 14.0 > width {
            (x, y) = (0.0, y + 16.0);
        }
        swatch(series, (MARGIN + x, top + y), shapes);
        let at = (MARGIN + x + 17.0, top + y + 4.0);
        text(shapes, at, SIZE, &name, Anchor::Start);
        x += need;
    }
    y + 12.0
}

fn swatch(series: &Series, (x, y): (f64, f64), shapes: &mut Vec<Shape>) {
    match series.mark {
        Mark::Bars | Mark::Area => boxed(shapes, (x, y - 5.0, 11.0, 10.0), series.fill),
        Mark::Line | Mark::Dashed | Mark::Dotted => {
            let points = vec![(x, y), (x + 13.0, y)];
            shapes.extend(line_of(series, points));
        }
        Mark::Points | Mark::Rings => dot(shapes, (x + 6.0, y), series),
    }
}
