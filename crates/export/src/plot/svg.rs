//! A figure as SVG: vector shapes and text, nothing from elsewhere.

use std::fmt::Write;

use super::draw::{Anchor, Shape, draw};
use super::figure::Figure;

/// The figure as a file of `width` x `height` points.
pub fn svg(figure: &Figure, width: f64, height: f64) -> String {
    let drawing = draw(figure, width, height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\">\n",
        drawing.width, drawing.height
    );
    let _ = writeln!(out, "<title>{}</title>", xml_text(&figure.title));
    for shape in &drawing.shapes {
        let _ = writeln!(out, "{}", element(shape));
    }
    out.push_str("</svg>\n");
    out
}

/// Coordinates to a hundredth of a point.
fn n(v: f64) -> String {
    let text = format!("{v:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn path(points: &[(f64, f64)]) -> String {
    let all: Vec<String> = points
        .iter()
        .map(|&(x, y)| format!("{},{}", n(x), n(y)))
        .collect();
    all.join(" ")
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Box {
            x,
            y,
            width,
            height,
            color,
        } => format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{:06x}\"/>",
            n(*x),
            n(*y),
            n(*width),
            n(*height),
            color.0
        ),
        Shape::Area { points, color } => format!(
            "<polygon points=\"{}\" fill=\"#{:06x}\"/>",
            path(points),
            color.0
        ),
        Shape::Line {
            points,
            color,
            width,
            dashed,
        } => format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#{:06x}\" stroke-width=\"{}\"{}/>",
            path(points),
            color.0,
            n(*width),
            if *dashed {
                " stroke-dasharray=\"5,3\""
            } else {
                ""
            }
        ),
        Shape::Dot {
            x,
            y,
            radius,
            color,
        } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"#{:06x}\"/>",
            n(*x),
            n(*y),
            n(*radius),
            color.0
        ),
        Shape::Text {
            x,
            y,
            size,
            text,
            anchor,
            turned,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y) = (n(*x), n(*y));
            let turn = if *turned {
                format!(" transform=\"rotate(-90 {x} {y})\"")
            } else {
                String::new()
            };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"{turn}>{}</text>",
                n(*size),
                xml_text(text)
            )
        }
    }
}

/// Text from the traced program, escaped for XML.
pub fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(' '),
            // XML 1.0 has no characters for these at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
