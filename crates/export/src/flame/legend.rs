//! The legend below a flame graph in an SVG that can be zoomed.

use std::fmt::Write as _;

use crate::plot::fill::Color;
use crate::plot::svg::xml_text;

/// Pixels between two lines of the legend.
const LINE: u32 = 18;
/// Pixels at the left and the right of the picture.
const MARGIN: u32 = 10;
/// Width of a swatch and the gaps beside it, in pixels.
const SWATCH: u32 = 34;
/// Width of a letter in pixels, rounded up.
const LETTER: u32 = 8;
/// Longer names are cut.
const MAX_LETTERS: usize = 60;

/// The picture with a legend below it; unchanged if it is not a picture of the expected form, or
/// without entries.
pub(super) fn below(svg: &str, entries: &[(String, Color)]) -> String {
    added(svg, entries).unwrap_or_else(|| svg.to_owned())
}

fn added(svg: &str, entries: &[(String, Color)]) -> Option<String> {
    if entries.is_empty() {
        return None;
    }
    let start = svg.find("<svg ")?;
    let (width, height) = (number(svg, start, "width")?, number(svg, start, "height")?);
    let (drawn, lines) = drawn(entries, (width, height));
    let taller = height + LINE * lines + MARGIN;
    let end = svg.rfind("</svg>")?;
    let positions = |height: u32| {
        [
            format!("height=\"{height}\""),
            format!("viewBox=\"0 0 {width} {height}\""),
            format!("<rect x=\"0\" y=\"0\" width=\"100%\" height=\"{height}\""),
        ]
    };
    let mut picture = svg[..end].to_owned();
    for (old, new) in positions(height).iter().zip(&positions(taller)) {
        picture = picture.replacen(old, new, 1);
    }
    Some(format!("{picture}{drawn}</svg>"))
}

/// The number in an attribute of the element that starts there.
fn number(svg: &str, start: usize, attribute: &str) -> Option<u32> {
    let element = svg[start..].split('>').next()?;
    let (_, value) = element.split_once(&format!(" {attribute}=\""))?;
    value.split('"').next()?.parse().ok()
}

/// The entries, and the number of their lines.
fn drawn(entries: &[(String, Color)], (width, top): (u32, u32)) -> (String, u32) {
    let mut out = String::from("<g id=\"legend\">");
    let (mut x, mut line) = (MARGIN, 0);
    for (name, color) in entries {
        let name = cut(name);
        let needed = SWATCH + LETTER * name.chars().count() as u32;
        if x > MARGIN && x + needed > width - MARGIN {
            (x, line) = (MARGIN, line + 1);
        }
        let y = top + LINE * line;
        let [_, red, green, blue] = color.0.to_be_bytes();
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"rgb({red},{green},{blue})\"/><text x=\"{}\" y=\"{}\">{}</text>",
            x + 17,
            y + 10,
            xml_text(&name)
        );
        x += needed;
    }
    out.push_str("</g>");
    (out, line + 1)
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_makes_the_picture_taller() {
        let svg = "<?xml?><svg width=\"400\" height=\"100\" viewBox=\"0 0 400 100\"><rect x=\"0\" y=\"0\" width=\"100%\" height=\"100\"/><svg id=\"frames\"></svg></svg>";
        let entry = |name: &str| (name.to_owned(), Color(0x0001_0203));
        let with = below(svg, &[entry("a<b>"), entry(&"long ".repeat(40))]);
        assert!(
            with.contains("<svg width=\"400\" height=\"146\" viewBox=\"0 0 400 146\">"),
            "{with}"
        );
        assert!(with.contains("width=\"100%\" height=\"146\""), "{with}");
        assert!(
            with.contains("fill=\"rgb(1,2,3)\"/><text x=\"27\" y=\"110\">a&lt;b&gt;</text>"),
            "{with}"
        );
        // The second one does not fit beside the first.
        assert!(with.contains("<rect x=\"10\" y=\"118\""), "{with}");
        assert!(with.contains("long…") || with.contains("long …"), "{with}");
        assert!(
            with.ends_with("</svg></g></svg>") || with.ends_with("</text></g></svg>"),
            "{with}"
        );
        assert_eq!(below(svg, &[]), svg);
        assert_eq!(below("no picture", &[entry("a")]), "no picture");
    }
}
