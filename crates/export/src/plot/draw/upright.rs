//! Everything but horizontal bars: vertical bars, areas, lines and points.

use super::super::axis::{label, powers, ticks};
use super::super::figure::{Figure, HorizontalAxis, Mark, Series, Stroke};
use super::super::fill::{BLACK, GRID, WHITE};
use super::frame::Frame;
use super::{
    Anchor, KeptEnd, SIZE, Shape, boxed, dot, fitted, line, line_of, on_ground, text, text_width,
};

pub(super) fn draw(
    figure: &Figure,
    shown: &[&Series],
    names: &[String],
    values: &[f64],
    frame: &Frame,
    shapes: &mut Vec<Shape>,
) {
    let (right, bottom) = (frame.right(), frame.bottom());
    for &v in values {
        let y = frame.y(v);
        line(shapes, vec![(frame.left, y), (right, y)], GRID, 0.6);
        let at = (frame.left - 5.0, y + 4.0);
        text(shapes, at, SIZE, &label(v), Anchor::End);
    }
    let mut bars = vec![0.0; names.len()];
    let mut areas: Vec<f64> = Vec::new();
    for series in shown {
        match series.mark {
            Mark::Bars => stacked(series, &mut bars, frame, shapes),
            Mark::Area => {
                areas.resize(series.points.len().max(areas.len()), 0.0);
                shapes.push(area(series, &mut areas, frame));
            }
            Mark::Line | Mark::Dashed | Mark::Dotted => {
                shapes.extend(line_of(series, placed(series, frame)));
            }
            Mark::Points | Mark::Rings => {
                for at in placed(series, frame) {
                    dot(shapes, at, series);
                }
            }
        }
    }
    points_named(shown, frame, shapes);
    if let Some((v, name)) = &figure.level {
        level(*v, name, frame, shapes);
    }
    let corner = vec![
        (frame.left, frame.top),
        (frame.left, bottom),
        (right, bottom),
    ];
    line(shapes, corner, BLACK, 0.9);
    below(figure, names, frame, shapes);
    shapes.push(Shape::Text {
        x: 16.0,
        y: frame.top + frame.height / 2.0,
        size: SIZE,
        text: fitted(&figure.up, SIZE, frame.height + 40.0, KeptEnd::Start),
        anchor: Anchor::Middle,
        color: BLACK,
        turned: true,
    });
}

fn placed(series: &Series, frame: &Frame) -> Vec<(f64, f64)> {
    let points = series.points.iter();
    points.map(|p| (frame.x(p.0), frame.y(p.1))).collect()
}

/// One bar per category, on top of the earlier ones. The value is written inside if there is room.
fn stacked(series: &Series, bars: &mut [f64], frame: &Frame, shapes: &mut Vec<Shape>) {
    let slot = frame.width / bars.len().max(1) as f64;
    let wide = (slot * 0.7).min(70.0);
    for (i, &(x, v)) in series.points.iter().enumerate() {
        let Some(base) = bars.get_mut(x as usize).filter(|_| v > 0.0) else {
            continue;
        };
        let (low, high) = (frame.y(*base), frame.y(*base + v));
        *base += v;
        let middle = frame.left + slot * (x + 0.5);
        let at = (middle - wide / 2.0, high, wide, low - high);
        boxed(shapes, at, series.fill);
        let value = series.labels.get(i).filter(|l| !l.is_empty());
        if let Some(value) = value.filter(|l| text_width(l, SIZE) + 4.0 <= wide)
            && low - high >= SIZE + 3.0
        {
            let at = (middle, (low + high) / 2.0 + 4.0);
            on_ground(shapes, at, value, Anchor::Middle, series.fill.color);
        }
    }
}

/// The names of points, each moved below the last name or point that it would cover, or above it
/// where the axis is below.
fn points_named(shown: &[&Series], frame: &Frame, shapes: &mut Vec<Shape>) {
    const DOT: f64 = 5.0;
    const GAP: f64 = 4.0;
    let dotted = |s: &&&Series| matches!(s.mark, Mark::Points | Mark::Rings);
    let dots = shown.iter().filter(dotted).flat_map(|s| placed(s, frame));
    let mut taken: Vec<(f64, f64, f64)> = dots.map(|(x, y)| (x - DOT, x + DOT, y + 4.0)).collect();
    for series in shown.iter().filter(dotted) {
        for ((x, y), name) in placed(series, frame).into_iter().zip(&series.labels) {
            let name = fitted(name, SIZE, frame.width / 3.0, KeptEnd::End);
            let width = text_width(&name, SIZE);
            let left = x + 8.0 + width > frame.right();
            let from = if left { x - 8.0 - width } else { x + 8.0 };
            // The axis would cross the name, so it goes above the axis.
            let (mut at, step) = match y + 4.0 > frame.bottom() - 3.0 {
                true => (y - 7.0, -SIZE),
                false => (y + 4.0, SIZE),
            };
            while taken
                .iter()
                .any(|t| from < t.1 && t.0 < from + width && (at - t.2).abs() < SIZE)
            {
                at += step;
            }
            taken.push((from - GAP, from + width + GAP, at));
            on_ground(shapes, (from, at), &name, Anchor::Start, WHITE);
        }
    }
}

/// A dashed horizontal line, named to the right of the plot: inside, the name would cover a part of
/// it.
fn level(v: f64, name: &str, frame: &Frame, shapes: &mut Vec<Shape>) {
    let y = frame.y(v);
    shapes.push(Shape::Line {
        points: vec![(frame.left, y), (frame.right(), y)],
        color: BLACK,
        width: 1.0,
        stroke: Stroke::Dashed,
    });
    let at = (frame.right() + 4.0, y + 4.0);
    text(shapes, at, SIZE, name, Anchor::Start);
}

/// Names or numbers below the axis, and its title.
fn below(figure: &Figure, names: &[String], frame: &Frame, shapes: &mut Vec<Shape>) {
    let bottom = frame.bottom();
    match &figure.horizontal {
        HorizontalAxis::Categories { .. } => {
            let slot = frame.width / names.len().max(1) as f64;
            for (i, name) in names.iter().enumerate() {
                let x = frame.left + slot * (i as f64 + 0.5);
                let name = fitted(name, SIZE, slot - 4.0, KeptEnd::End);
                text(shapes, (x, bottom + 16.0), SIZE, &name, Anchor::Middle);
            }
        }
        HorizontalAxis::Numbers {
            title,
            from,
            to,
            log2,
        } => {
            // As many as fit beside each other.
            let marks = if *log2 {
                powers(*from, *to)
            } else {
                ticks(*to, (frame.width / 60.0).clamp(2.0, 8.0) as usize)
            };
            for v in marks {
                let x = frame.x(v);
                line(shapes, vec![(x, bottom), (x, bottom + 4.0)], BLACK, 0.9);
                text(shapes, (x, bottom + 16.0), SIZE, &label(v), Anchor::Middle);
            }
            let at = (frame.left + frame.width / 2.0, bottom + 33.0);
            let title = fitted(title, SIZE, frame.width, KeptEnd::Start);
            text(shapes, at, SIZE, &title, Anchor::Middle);
        }
    }
}

/// A stacked area in steps: each value holds from its x to the next.
fn area(series: &Series, below: &mut [f64], frame: &Frame) -> Shape {
    let xs = series.points.iter().skip(1).map(|p| p.0);
    let ends = xs.chain([frame.horizontal.to]);
    let steps: Vec<(f64, f64)> = series
        .points
        .iter()
        .zip(ends)
        .map(|(p, end)| (frame.x(p.0), frame.x(end)))
        .collect();
    let mut points = Vec::with_capacity(4 * steps.len());
    for (&(start, end), low) in steps.iter().zip(below.iter()) {
        points.extend([(start, frame.y(*low)), (end, frame.y(*low))]);
    }
    for (sum, point) in below.iter_mut().zip(&series.points) {
        *sum += point.1.max(0.0);
    }
    for (&(start, end), high) in steps.iter().zip(below.iter()).rev() {
        points.extend([(end, frame.y(*high)), (start, frame.y(*high))]);
    }
    Shape::Area {
        points,
        fill: series.fill,
    }
}
