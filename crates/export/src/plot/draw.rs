//! A figure as shapes on a page, in points; both picture formats draw these.

pub(super) mod flame;
mod frame;
mod horizontal_bars;
mod legend;
mod upright;

use ttf_parser::Face;

use self::frame::Frame;
use super::axis::label;
use super::figure::{Figure, HorizontalAxis, Mark, Series, Stroke};
use super::fill::{BLACK, Color, Fill, GREY, WHITE};
use super::page::Page;

/// The alignment of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A shape; y grows downwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Box {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        fill: Fill,
    },
    Area {
        points: Vec<(f64, f64)>,
        fill: Fill,
    },
    Line {
        points: Vec<(f64, f64)>,
        color: Color,
        width: f64,
        stroke: Stroke,
    },
    Dot {
        x: f64,
        y: f64,
        radius: f64,
        color: Color,
        /// Draw only the outline.
        hollow: bool,
    },
    Text {
        x: f64,
        y: f64,
        size: f64,
        text: String,
        anchor: Anchor,
        color: Color,
        /// Rotate by a quarter turn to the left.
        turned: bool,
    },
}

/// A page with shapes. Shapes are in units of the page's text; a unit is `unit` points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Drawing {
    pub width: f64,
    pub height: f64,
    pub unit: f64,
    pub shapes: Vec<Shape>,
}

/// Size of the text, in units.
const SIZE: f64 = 11.0;
const TITLE: f64 = 13.0;
const MARGIN: f64 = 10.0;

/// Width of a text.
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

/// Which end of a text is cut off if it is too long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeptEnd {
    Start,
    End,
}

/// The text without characters that can't be drawn, cut to `width`.
fn fitted(text: &str, size: f64, width: f64, keep: KeptEnd) -> String {
    // Maximum number of characters that are measured: longer texts fit nowhere, and cutting them
    // letter by letter would take long.
    const MAX_CHARS: usize = 400;
    let mut text: Vec<char> = text.chars().filter(|c| !c.is_control()).collect();
    match keep {
        KeptEnd::Start => text.truncate(MAX_CHARS),
        KeptEnd::End => drop(text.drain(..text.len().saturating_sub(MAX_CHARS))),
    }
    let whole: String = text.iter().collect();
    if text_width(&whole, size) <= width {
        return whole;
    }
    for cut in 1..text.len() {
        let shorter: String = match keep {
            KeptEnd::Start => text[..text.len() - cut].iter().chain(&['…']).collect(),
            KeptEnd::End => ['…'].iter().chain(&text[cut..]).collect(),
        };
        if text_width(&shorter, size) <= width {
            return shorter;
        }
    }
    String::new()
}

/// A white page with a heading, in units.
struct Sheet {
    /// The size of a unit, in points.
    unit: f64,
    width: f64,
    height: f64,
    /// The height at which the heading ends.
    top: f64,
    shapes: Vec<Shape>,
}

impl Sheet {
    fn new(page: &Page, title: &str, subtitle: &str) -> Sheet {
        let unit = page.font / SIZE;
        let (width, height) = (page.width / unit, page.height / unit);
        let mut shapes = Vec::new();
        boxed(&mut shapes, (0.0, 0.0, width, height), Fill::plain(WHITE));
        let room = width - 2.0 * MARGIN;
        let title = fitted(title, TITLE, room, KeptEnd::Start);
        text(&mut shapes, (MARGIN, 18.0), TITLE, &title, Anchor::Start);
        let mut top = 26.0;
        let subtitle = fitted(subtitle, SIZE, room, KeptEnd::Start);
        if !subtitle.is_empty() {
            colored(&mut shapes, (MARGIN, 33.0), &subtitle, Anchor::Start, GREY);
            top = 41.0;
        }
        Sheet {
            unit,
            width,
            height,
            top,
            shapes,
        }
    }

    /// The page with its shapes.
    fn drawing(self, page: &Page) -> Drawing {
        Drawing {
            width: page.width,
            height: page.height,
            unit: self.unit,
            shapes: self.shapes,
        }
    }
}

/// Lays the figure out on a page.
pub(super) fn draw(figure: &Figure, page: &Page) -> Drawing {
    let mut sheet = Sheet::new(page, &figure.title, &figure.subtitle);
    let (width, height) = (sheet.width, sheet.height);
    let (shapes, room) = (&mut sheet.shapes, width - 2.0 * MARGIN);
    let shown: Vec<&Series> = figure
        .series
        .iter()
        .filter(|s| !s.points.is_empty())
        .collect();
    let top = sheet.top + legend::draw(&shown, room, sheet.top, shapes);
    let names: Vec<String> = match &figure.horizontal {
        HorizontalAxis::Categories { names, .. } => names.clone(),
        HorizontalAxis::Numbers { .. } => Vec::new(),
    };
    let lying = matches!(
        &figure.horizontal,
        HorizontalAxis::Categories { lying: true, .. }
    );
    // A position that is too long loses its beginning, because its end distinguishes it from
    // others.
    let cut = |name: &String| fitted(name, SIZE, width * 0.4, KeptEnd::End);
    let names: Vec<String> = names.iter().map(cut).collect();
    let values = frame::values(figure, lying);
    let widest = |texts: &[String]| {
        let widths = texts.iter().map(|t| text_width(t, SIZE));
        widths.fold(0.0, f64::max)
    };
    let labels: Vec<String> = values.iter().map(|&v| label(v)).collect();
    let side = if lying {
        widest(&names)
    } else {
        widest(&labels) + 22.0
    };
    // The level's name, or the values of the longest bars, are to the right of the plot.
    let right_labels: Vec<String> = match (&figure.level, lying) {
        (Some((_, name)), _) => vec![name.clone()],
        (None, true) => shown.iter().flat_map(|s| s.labels.clone()).collect(),
        (None, false) => Vec::new(),
    };
    let right = width - (widest(&right_labels) + 8.0).max(18.0);
    let corner = (14.0 + side, top + 8.0);
    let frame = Frame::new(figure, names.len(), corner, (right, height));
    if lying {
        horizontal_bars::draw(figure, &shown, &names, &values, &frame, shapes);
    } else {
        upright::draw(figure, &shown, &names, &values, &frame, shapes);
    }
    sheet.drawing(page)
}

fn colored(shapes: &mut Vec<Shape>, (x, y): (f64, f64), text: &str, anchor: Anchor, color: Color) {
    shapes.push(Shape::Text {
        x,
        y,
        size: SIZE,
        text: text.to_owned(),
        anchor,
        color,
        turned: false,
    });
}

fn text(shapes: &mut Vec<Shape>, (x, y): (f64, f64), size: f64, text: &str, anchor: Anchor) {
    shapes.push(Shape::Text {
        x,
        y,
        size,
        text: text.to_owned(),
        anchor,
        color: BLACK,
        turned: false,
    });
}

/// A text with a background of its own, because it covers other shapes.
fn on_ground(
    shapes: &mut Vec<Shape>,
    (x, y): (f64, f64),
    said: &str,
    anchor: Anchor,
    ground: Color,
) {
    let width = text_width(said, SIZE);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    let at = (left - 2.0, y - SIZE + 1.0, width + 4.0, SIZE + 2.0);
    boxed(shapes, at, Fill::plain(ground));
    colored(shapes, (x, y), said, anchor, ground.ink());
}

fn boxed(shapes: &mut Vec<Shape>, (x, y, width, height): (f64, f64, f64, f64), fill: Fill) {
    shapes.push(Shape::Box {
        x,
        y,
        width,
        height,
        fill,
    });
}

fn line(shapes: &mut Vec<Shape>, points: Vec<(f64, f64)>, color: Color, width: f64) {
    shapes.push(Shape::Line {
        points,
        color,
        width,
        stroke: Stroke::Solid,
    });
}

/// The line of a series; `None` if it is drawn in another way.
fn line_of(series: &Series, points: Vec<(f64, f64)>) -> Option<Shape> {
    Some(Shape::Line {
        points,
        color: series.fill.color,
        width: 1.6,
        stroke: series.mark.stroke()?,
    })
}

fn dot(shapes: &mut Vec<Shape>, (x, y): (f64, f64), series: &Series) {
    shapes.push(Shape::Dot {
        x,
        y,
        radius: 3.2,
        color: series.fill.color,
        hollow: series.mark == Mark::Rings,
    });
}
