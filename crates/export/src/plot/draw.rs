//! A figure in shapes on a page of points, which both picture formats draw.

use ttf_parser::Face;

use super::axis::{label, powers, ticks};
use super::figure::{Across, BLACK, Color, Figure, Mark, Series};

/// Where a text stands against its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Something to draw; y grows downwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Box {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        color: Color,
    },
    Area {
        points: Vec<(f64, f64)>,
        color: Color,
    },
    Line {
        points: Vec<(f64, f64)>,
        color: Color,
        width: f64,
        dashed: bool,
    },
    Dot {
        x: f64,
        y: f64,
        radius: f64,
        color: Color,
    },
    Text {
        x: f64,
        y: f64,
        size: f64,
        text: String,
        anchor: Anchor,
        /// Turned a quarter to the left.
        turned: bool,
    },
}

/// A page with shapes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

const SIZE: f64 = 11.0;
const TITLE: f64 = 13.0;
/// A longer name in a legend or at an axis keeps its end.
const LONGEST: usize = 48;

/// Width of a text in points.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let Ok(face) = Face::parse(dejavu::sans::regular(), 0) else {
        return text.chars().count() as f64 * size * 0.6;
    };
    let units = f64::from(face.units_per_em());
    let advance = |c: char| {
        let glyph = face.glyph_index(c).unwrap_or_default();
        f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / units * size
    };
    text.chars().map(advance).sum()
}

/// Without what is no character to draw, and not longer than fits.
fn clean(text: &str) -> String {
    let text: Vec<char> = text.chars().filter(|c| !c.is_control()).collect();
    if text.len() <= LONGEST {
        return text.into_iter().collect();
    }
    let tail = text[text.len() - LONGEST + 1..].iter();
    std::iter::once(&'…').chain(tail).collect()
}

/// The plot's area on the page, and data units to points.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: (f64, f64, bool),
    y: (f64, f64, bool),
}

fn part(v: f64, (from, to, log2): (f64, f64, bool)) -> f64 {
    let of = |v: f64| {
        if log2 {
            v.max(f64::MIN_POSITIVE).log2()
        } else {
            v
        }
    };
    let length = of(to) - of(from);
    if length > 0.0 {
        ((of(v) - of(from)) / length).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

impl Frame {
    fn x(&self, v: f64) -> f64 {
        self.left + self.width * part(v, self.x)
    }
    fn y(&self, v: f64) -> f64 {
        self.top + self.height * (1.0 - part(v, self.y))
    }
}

/// Lays the figure out on a page `width` x `height` points large.
pub(super) fn draw(figure: &Figure, width: f64, height: f64) -> Drawing {
    let mut shapes = vec![Shape::Box {
        x: 0.0,
        y: 0.0,
        width,
        height,
        color: Color(0xFFFFFF),
    }];
    let lying = matches!(&figure.across, Across::Categories { lying: true, .. });
    let top_value = figure.top();
    let values = if figure.up_log2 {
        powers(figure.bottom(), top_value)
    } else {
        ticks(top_value, if lying { 6 } else { 5 })
    };
    let shown: Vec<&Series> = figure
        .series
        .iter()
        .filter(|s| !s.points.is_empty())
        .collect();
    let legend = legend(&shown, width - 20.0);
    let names: Vec<String> = match &figure.across {
        Across::Categories { names, .. } => names.iter().map(|n| clean(n)).collect(),
        Across::Numbers { .. } => Vec::new(),
    };
    let widest = |texts: &[String]| {
        texts
            .iter()
            .map(|t| text_width(t, SIZE))
            .fold(0.0, f64::max)
    };
    let labels: Vec<String> = values.iter().map(|&v| label(v)).collect();
    let side = if lying {
        widest(&names)
    } else {
        widest(&labels)
    };
    let left = 14.0 + side + if lying { 0.0 } else { 22.0 };
    let top = 30.0 + legend.1;
    let frame = Frame {
        left,
        top,
        width: (width - left - 18.0).max(20.0),
        height: (height - top - 42.0).max(20.0),
        x: match &figure.across {
            Across::Numbers { from, to, log2, .. } => (*from, *to, *log2),
            Across::Categories { .. } => (0.0, names.len().max(1) as f64, false),
        },
        y: (figure.bottom(), top_value, figure.up_log2),
    };
    text(
        &mut shapes,
        (10.0, 18.0),
        TITLE,
        &clean(&figure.title),
        Anchor::Start,
    );
    for mut shape in legend.0 {
        shift(&mut shape, 10.0, 30.0);
        shapes.push(shape);
    }
    if lying {
        lying_bars(figure, &shown, &names, &values, &frame, &mut shapes);
    } else {
        standing(figure, &shown, &names, &values, &frame, &mut shapes);
    }
    Drawing {
        width,
        height,
        shapes,
    }
}

fn text(shapes: &mut Vec<Shape>, (x, y): (f64, f64), size: f64, text: &str, anchor: Anchor) {
    shapes.push(Shape::Text {
        x,
        y,
        size,
        text: text.to_owned(),
        anchor,
        turned: false,
    });
}

fn line(shapes: &mut Vec<Shape>, points: Vec<(f64, f64)>, color: Color, width: f64) {
    shapes.push(Shape::Line {
        points,
        color,
        width,
        dashed: false,
    });
}

fn shift(shape: &mut Shape, dx: f64, dy: f64) {
    match shape {
        Shape::Box { x, y, .. } | Shape::Dot { x, y, .. } | Shape::Text { x, y, .. } => {
            *x += dx;
            *y += dy;
        }
        Shape::Area { points, .. } | Shape::Line { points, .. } => {
            for point in points {
                *point = (point.0 + dx, point.1 + dy);
            }
        }
    }
}

/// The series' names in rows, and how high they are.
fn legend(shown: &[&Series], width: f64) -> (Vec<Shape>, f64) {
    let mut shapes = Vec::new();
    if shown.len() < 2 {
        return (shapes, 0.0);
    }
    let (mut x, mut y) = (0.0, 8.0);
    for series in shown {
        let name = clean(&series.name);
        let need = 18.0 + text_width(&name, SIZE) + 14.0;
        if x > 0.0 && x + need > width {
            (x, y) = (0.0, y + 16.0);
        }
        match series.mark {
            Mark::Bars | Mark::Area => shapes.push(Shape::Box {
                x,
                y: y - 5.0,
                width: 11.0,
                height: 10.0,
                color: series.color,
            }),
            Mark::Line | Mark::Dashed => shapes.push(Shape::Line {
                points: vec![(x, y), (x + 13.0, y)],
                color: series.color,
                width: 1.6,
                dashed: series.mark == Mark::Dashed,
            }),
            Mark::Points => shapes.push(Shape::Dot {
                x: x + 6.0,
                y,
                radius: 3.2,
                color: series.color,
            }),
        }
        text(&mut shapes, (x + 17.0, y + 4.0), SIZE, &name, Anchor::Start);
        x += need;
    }
    (shapes, y + 12.0)
}

fn standing(
    figure: &Figure,
    shown: &[&Series],
    names: &[String],
    values: &[f64],
    frame: &Frame,
    shapes: &mut Vec<Shape>,
) {
    let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
    for &v in values {
        let y = frame.y(v);
        line(
            shapes,
            vec![(frame.left, y), (right, y)],
            Color(0xDDDDDD),
            0.6,
        );
        text(
            shapes,
            (frame.left - 5.0, y + 4.0),
            SIZE,
            &label(v),
            Anchor::End,
        );
    }
    let mut bars = vec![0.0; names.len()];
    let mut areas: Vec<f64> = Vec::new();
    for series in shown {
        match series.mark {
            Mark::Bars => {
                for &(x, v) in &series.points {
                    let Some(base) = bars.get_mut(x as usize).filter(|_| v > 0.0) else {
                        continue;
                    };
                    let (low, high) = (frame.y(*base), frame.y(*base + v));
                    *base += v;
                    let slot = frame.width / names.len().max(1) as f64;
                    let wide = (slot * 0.7).min(70.0);
                    shapes.push(Shape::Box {
                        x: frame.left + slot * (x + 0.5) - wide / 2.0,
                        y: high,
                        width: wide,
                        height: low - high,
                        color: series.color,
                    });
                }
            }
            Mark::Area => {
                areas.resize(series.points.len().max(areas.len()), 0.0);
                shapes.push(area(series, &mut areas, frame));
            }
            Mark::Line | Mark::Dashed => shapes.push(Shape::Line {
                points: series
                    .points
                    .iter()
                    .map(|p| (frame.x(p.0), frame.y(p.1)))
                    .collect(),
                color: series.color,
                width: 1.6,
                dashed: series.mark == Mark::Dashed,
            }),
            Mark::Points => shapes.extend(series.points.iter().map(|p| Shape::Dot {
                x: frame.x(p.0),
                y: frame.y(p.1),
                radius: 3.2,
                color: series.color,
            })),
        }
    }
    let corner = vec![
        (frame.left, frame.top),
        (frame.left, bottom),
        (right, bottom),
    ];
    line(shapes, corner, BLACK, 0.9);
    match &figure.across {
        Across::Categories { .. } => {
            let slot = frame.width / names.len().max(1) as f64;
            for (i, name) in names.iter().enumerate() {
                let x = frame.left + slot * (i as f64 + 0.5);
                let fits = (slot / (SIZE * 0.62)).max(3.0) as usize;
                let name = if name.chars().count() > fits {
                    let skip = name.chars().count() - fits + 1;
                    format!("…{}", name.chars().skip(skip).collect::<String>())
                } else {
                    name.clone()
                };
                text(shapes, (x, bottom + 16.0), SIZE, &name, Anchor::Middle);
            }
        }
        Across::Numbers {
            title,
            from,
            to,
            log2,
        } => {
            let marks = if *log2 {
                powers(*from, *to)
            } else {
                ticks(*to, 8)
            };
            for v in marks {
                let x = frame.x(v);
                line(shapes, vec![(x, bottom), (x, bottom + 4.0)], BLACK, 0.9);
                text(shapes, (x, bottom + 16.0), SIZE, &label(v), Anchor::Middle);
            }
            let middle = frame.left + frame.width / 2.0;
            text(
                shapes,
                (middle, bottom + 33.0),
                SIZE,
                &clean(title),
                Anchor::Middle,
            );
        }
    }
    shapes.push(Shape::Text {
        x: 16.0,
        y: frame.top + frame.height / 2.0,
        size: SIZE,
        text: clean(&figure.up),
        anchor: Anchor::Middle,
        turned: true,
    });
}

/// A stacked area in steps: each value holds from its x to the next.
fn area(series: &Series, below: &mut [f64], frame: &Frame) -> Shape {
    let ends = series.points.iter().skip(1).map(|p| p.0).chain([frame.x.1]);
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
        color: series.color,
    }
}

fn lying_bars(
    figure: &Figure,
    shown: &[&Series],
    names: &[String],
    values: &[f64],
    frame: &Frame,
    shapes: &mut Vec<Shape>,
) {
    let bottom = frame.top + frame.height;
    let across = |v: f64| frame.left + frame.width * part(v, frame.y);
    for &v in values {
        let x = across(v);
        line(
            shapes,
            vec![(x, frame.top), (x, bottom)],
            Color(0xDDDDDD),
            0.6,
        );
        text(shapes, (x, bottom + 16.0), SIZE, &label(v), Anchor::Middle);
    }
    let slot = frame.height / names.len().max(1) as f64;
    let rows = shown.len().max(1) as f64;
    let thick = (slot * 0.76 / rows).min(22.0);
    for (row, series) in shown.iter().enumerate() {
        for &(category, v) in &series.points {
            let middle = frame.top + slot * (category + 0.5);
            let y = middle + thick * (row as f64 - rows / 2.0);
            shapes.push(Shape::Box {
                x: frame.left,
                y,
                width: across(v) - frame.left,
                height: thick * 0.92,
                color: series.color,
            });
        }
    }
    for (i, name) in names.iter().enumerate() {
        let y = frame.top + slot * (i as f64 + 0.5) + 4.0;
        text(shapes, (frame.left - 6.0, y), SIZE, name, Anchor::End);
    }
    line(
        shapes,
        vec![(frame.left, frame.top), (frame.left, bottom)],
        BLACK,
        0.9,
    );
    let middle = frame.left + frame.width / 2.0;
    text(
        shapes,
        (middle, bottom + 33.0),
        SIZE,
        &clean(&figure.up),
        Anchor::Middle,
    );
}
