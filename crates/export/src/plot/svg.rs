//! A figure as SVG: vector shapes and text, without external resources.

use std::fmt::Write;

use super::draw::{Anchor, Drawing, Shape, draw, flame};
use super::figure::Figure;
use super::fill::{BLACK, Fill, Texture};
use super::flame::FlameFigure;
use super::page::Page;

/// The figure as a file.
pub fn svg(figure: &Figure, page: &Page) -> String {
    file(&draw(figure, page), &figure.title)
}

/// The flame graph as a file.
pub fn flame_svg(figure: &FlameFigure, page: &Page) -> String {
    file(&flame::draw(figure, page), &figure.title)
}

fn file(drawing: &Drawing, title: &str) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
         font-family=\"DejaVu Sans, Verdana, sans-serif\" text-rendering=\"geometricPrecision\" \
         fill=\"#12161d\">\n",
        n(drawing.width),
        n(drawing.height),
        n(drawing.width / drawing.unit),
        n(drawing.height / drawing.unit),
    );
    let _ = writeln!(out, "<title>{}</title>", xml_text(title));
    patterns(&drawing.shapes, &mut out);
    for shape in &drawing.shapes {
        let _ = writeln!(out, "{}", element(shape));
    }
    out.push_str("</svg>\n");
    out
}

/// The textures in use, each once.
fn patterns(shapes: &[Shape], out: &mut String) {
    let mut used: Vec<Fill> = Vec::new();
    for shape in shapes {
        let (Shape::Box { fill, .. } | Shape::Area { fill, .. }) = shape else {
            continue;
        };
        if fill.texture != Texture::None && !used.contains(fill) {
            used.push(*fill);
        }
    }
    for fill in used {
        let marks = format!("{:06x}", fill.marks.0);
        let marks = match fill.texture {
            Texture::None => continue,
            Texture::Diagonal => {
                format!(
                    "<path d=\"M-1,7 7,-1M-1,1 1,-1M5,7 7,5\" stroke=\"#{marks}\" stroke-width=\"1.4\"/>"
                )
            }
            Texture::Cross => format!("<path d=\"M0,0 6,6M6,0 0,6\" stroke=\"#{marks}\"/>"),
            Texture::Lines => format!(
                "<rect width=\"6\" height=\"1.2\" fill=\"#{marks}\"/>\
                <rect y=\"3\" width=\"6\" height=\"1.2\" fill=\"#{marks}\"/>"
            ),
            Texture::Dots => format!(
                "<circle cx=\"1.5\" cy=\"1.5\" r=\"0.9\" fill=\"#{marks}\"/>\
                <circle cx=\"4.5\" cy=\"4.5\" r=\"0.9\" fill=\"#{marks}\"/>"
            ),
        };
        let _ = writeln!(
            out,
            "<pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
             <rect width=\"6\" height=\"6\" fill=\"#{:06x}\"/>{marks}</pattern>",
            pattern_id(fill),
            fill.color.0
        );
    }
}

fn pattern_id(fill: Fill) -> String {
    let name = match fill.texture {
        Texture::None => "plain",
        Texture::Diagonal => "diagonal",
        Texture::Dots => "dots",
        Texture::Lines => "lines",
        Texture::Cross => "cross",
    };
    format!("{name}-{:06x}-{:06x}", fill.color.0, fill.marks.0)
}

fn paint(fill: Fill) -> String {
    match fill.texture {
        Texture::None => format!("#{:06x}", fill.color.0),
        _ => format!("url(#{})", pattern_id(fill)),
    }
}

/// A coordinate, to a hundredth of a point.
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
            fill,
        } => format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            n(*x),
            n(*y),
            n(*width),
            n(*height),
            paint(*fill)
        ),
        Shape::Area { points, fill } => format!(
            "<polygon points=\"{}\" fill=\"{}\"/>",
            path(points),
            paint(*fill)
        ),
        Shape::Line {
            points,
            color,
            width,
            stroke,
        } => format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#{:06x}\" stroke-width=\"{}\"{}/>",
            path(points),
            color.0,
            n(*width),
            match stroke.lengths() {
                Some((mark, gap)) => format!(" stroke-dasharray=\"{mark},{gap}\""),
                None => String::new(),
            }
        ),
        Shape::Dot {
            x,
            y,
            radius,
            color,
            hollow,
        } => {
            let (inside, rim) = if *hollow {
                ("#ffffff".into(), " stroke-width=\"1.6\"")
            } else {
                (format!("#{:06x}", color.0), "")
            };
            format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{inside}\" stroke=\"#{:06x}\"{rim}/>",
                n(*x),
                n(*y),
                n(*radius),
                color.0
            )
        }
        Shape::Text {
            x,
            y,
            size,
            text,
            anchor,
            color,
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
            let ink = if *color == BLACK {
                String::new()
            } else {
                format!(" fill=\"#{:06x}\"", color.0)
            };
            format!(
                "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\"{ink}{turn}>{}</text>",
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
            // XML 1.0 can't express these characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
