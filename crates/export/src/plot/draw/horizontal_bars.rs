//! Horizontal bars, for long names.

use super::super::axis::label;
use super::super::figure::{Figure, Series};
use super::super::fill::{BLACK, GRID};
use super::frame::Frame;
use super::{Anchor, KeptEnd, SIZE, Shape, boxed, fitted, line, text};

/// Minimum thickness of a bar with a value beside it, in units.
const MIN_THICKNESS: f64 = 8.0;

pub(super) fn draw(
    figure: &Figure,
    shown: &[&Series],
    names: &[String],
    values: &[f64],
    frame: &Frame,
    shapes: &mut Vec<Shape>,
) {
    let bottom = frame.bottom();
    let horizontal = |v: f64| frame.left + frame.width * frame.up.part(v);
    for &v in values {
        let x = horizontal(v);
        line(shapes, vec![(x, frame.top), (x, bottom)], GRID, 0.6);
        text(shapes, (x, bottom + 16.0), SIZE, &label(v), Anchor::Middle);
    }
    let slot = frame.height / names.len().max(1) as f64;
    let rows = shown.len().max(1) as f64;
    let thick = (slot * 0.76 / rows).min(22.0);
    for (row, series) in shown.iter().enumerate() {
        for (i, &(category, v)) in series.points.iter().enumerate() {
            let middle = frame.top + slot * (category + 0.5);
            let y = middle + thick * (row as f64 - rows / 2.0);
            let end = horizontal(v);
            let at = (frame.left, y, end - frame.left, thick * 0.92);
            boxed(shapes, at, series.fill);
            if let Some(value) = series.labels.get(i).filter(|_| thick >= MIN_THICKNESS) {
                let at = (end + 4.0, y + thick / 2.0 + 3.6);
                text(shapes, at, SIZE, value, Anchor::Start);
            }
        }
    }
    for (i, name) in names.iter().enumerate() {
        let y = frame.top + slot * (i as f64 + 0.5) + 4.0;
        text(shapes, (frame.left - 6.0, y), SIZE, name, Anchor::End);
    }
    let edge = vec![(frame.left, frame.top), (frame.left, bottom)];
    line(shapes, edge, BLACK, 0.9);
    let at = (frame.left + frame.width / 2.0, bottom + 33.0);
    let up = fitted(&figure.up, SIZE, frame.width, KeptEnd::Start);
    text(shapes, at, SIZE, &up, Anchor::Middle);
}
