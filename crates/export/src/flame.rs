//! Flame graphs as folded text, one stack per line, and as SVG.

mod legend;

use std::collections::BTreeMap;
use std::io::{self, Write};

use inferno::flamegraph::TextTruncateDirection;
use inferno::flamegraph::color::{self, BackgroundColor, PaletteMap};
use workspan_analysis::FlameStack;

use crate::plot::FlameFigure;
use crate::plot::fill::{Color, WHITE};
use crate::plot::flame::{CODE, OTHER, flame_figure, ranked, tint};

/// Writes `frame;frame;… nanoseconds`, one line per stack, which flame graph tools read.
///
/// # Errors
/// Writing to `out` failed.
pub fn folded(stacks: &[FlameStack], out: &mut impl Write) -> io::Result<()> {
    for line in lines(stacks) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Writes an SVG page that can be zoomed and searched. `title` says what is shown, `subtitle` names
/// the run.
///
/// # Errors
/// Writing to `out` failed, or there are no stacks.
pub fn svg(
    stacks: &[FlameStack],
    title: &str,
    subtitle: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let stacks: Vec<FlameStack> = stacks.iter().map(without_folders).collect();
    let mut colors = colors(&stacks);
    let mut options = inferno::flamegraph::Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle.to_owned());
    // The widths in the picture are milliseconds; the text format keeps nanoseconds.
    options.count_name = "ms".to_owned();
    options.factor = 1e-6;
    options.font_type = "DejaVu Sans, Verdana, sans-serif".to_owned();
    options.min_width = 0.05;
    options.deterministic = true;
    // The function's name comes first in a frame.
    options.text_truncate_direction = TextTruncateDirection::Right;
    options.bgcolors = Some(BackgroundColor::Flat(rgb(WHITE)));
    options.palette_map = Some(&mut colors);
    let lines = lines(&stacks);
    let lines = lines.iter().map(String::as_str);
    let mut drawn = Vec::new();
    inferno::flamegraph::from_lines(&mut options, lines, &mut drawn)
        .map_err(|error| io::Error::other(error.to_string()))?;
    let readable = readable(&String::from_utf8_lossy(&drawn));
    out.write_all(legend::below(&readable, &legend_of(&stacks)).as_bytes())
}

/// The name and colour of each code with a colour of its own, then those of the rest.
fn legend_of(stacks: &[FlameStack]) -> Vec<(String, Color)> {
    let ranked = ranked(stacks);
    let own = ranked.iter().zip(CODE);
    let mut entries: Vec<(String, Color)> = own
        .map(|((leaf, _), color)| (plain(leaf), Color(color)))
        .collect();
    if ranked.len() > CODE.len() {
        entries.push(("other code".to_owned(), OTHER));
    }
    entries
}

/// The stacks as a still figure. `title` says what is shown, `subtitle` names the run.
pub fn figure(stacks: &[FlameStack], title: &str, subtitle: &str) -> FlameFigure {
    let stacks: Vec<FlameStack> = stacks.iter().map(without_folders).collect();
    flame_figure(&stacks, title, subtitle)
}

/// Minimum contrast between a text and its background (WCAG 2.2, AA).
const MIN_CONTRAST: f64 = 4.5;

/// Changes the letters of dark frames from black to white, as in the page.
fn readable(svg: &str) -> String {
    let mut frames = svg.split("<g>");
    let mut out = frames.next().unwrap_or_default().to_owned();
    for frame in frames {
        out.push_str("<g>");
        let is_dark =
            fill(frame).is_some_and(|color| (color.luminance() + 0.05) / 0.05 < MIN_CONTRAST);
        match frame.split_once("<text ").filter(|_| is_dark) {
            Some((before, text)) => {
                out.push_str(before);
                out.push_str("<text style=\"fill:#ffffff\" ");
                out.push_str(text);
            }
            None => out.push_str(frame),
        }
    }
    out
}

/// The colour in `fill="rgb(1,2,3)"`.
fn fill(frame: &str) -> Option<Color> {
    let (_, rest) = frame.split_once("fill=\"rgb(")?;
    let mut numbers = rest.split_once(')')?.0.split(',');
    let mut number = || numbers.next()?.trim().parse().ok();
    Some(Color(u32::from_be_bytes([
        0,
        number()?,
        number()?,
        number()?,
    ])))
}

fn rgb(color: Color) -> color::Color {
    let [_, red, green, blue] = color.0.to_be_bytes();
    color::Color::new(red, green, blue)
}

/// A colour for each frame with time of its own, in descending order of time. Each other frame gets
/// a tint of the colour that most of its time has.
fn colors(stacks: &[FlameStack]) -> PaletteMap {
    let ranked = ranked(stacks);
    let color_of = |rank: usize| CODE.get(rank).map_or(OTHER, |&color| Color(color));
    let ranks: BTreeMap<&str, usize> = ranked.iter().enumerate().map(|(i, r)| (r.0, i)).collect();
    // By frame: the time by colour of the leaf.
    let mut within: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for stack in stacks {
        let Some((leaf, above)) = stack.frames.split_last() else {
            continue;
        };
        let rank = ranks.get(leaf.as_str()).copied().unwrap_or(usize::MAX);
        for frame in above {
            let sums = within
                .entry(frame)
                .or_insert_with(|| vec![0; CODE.len() + 1]);
            sums[rank.min(CODE.len())] += stack.ns;
        }
    }
    let mut map = PaletteMap::default();
    for (frame, sums) in within {
        let most = (0..sums.len()).max_by_key(|&i| (sums[i], std::cmp::Reverse(i)));
        map.insert(
            plain(frame),
            rgb(tint(color_of(most.unwrap_or(usize::MAX)))),
        );
    }
    for (rank, (leaf, _)) in ranked.iter().enumerate() {
        map.insert(plain(leaf), rgb(color_of(rank)));
    }
    map
}

/// Shortens `merge (src/sort.rs:43)` to `merge (sort.rs:43)`, which fits into a narrow frame.
fn without_folders(stack: &FlameStack) -> FlameStack {
    let short = |frame: &String| match frame.rsplit_once('(') {
        Some((name, place)) if place.ends_with(')') && !place.contains(' ') => {
            let file = place.rsplit(['/', '\\']).next().unwrap_or(place);
            format!("{name}({file}")
        }
        _ => frame.clone(),
    };
    FlameStack {
        frames: stack.frames.iter().map(short).collect(),
        ns: stack.ns,
    }
}

fn lines(stacks: &[FlameStack]) -> Vec<String> {
    let mut lines: Vec<String> = stacks
        .iter()
        .filter(|stack| stack.ns > 0)
        .map(|stack| {
            let frames: Vec<String> = stack.frames.iter().map(|f| plain(f)).collect();
            format!("{} {}", frames.join(";"), stack.ns)
        })
        .collect();
    lines.sort();
    lines
}

/// A frame's name without the characters that separate frames and lines.
fn plain(frame: &str) -> String {
    let text: String = frame
        .chars()
        .map(|c| if c == ';' || c.is_control() { ' ' } else { c })
        .collect();
    if text.trim().is_empty() {
        "?".to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<FlameStack> {
        let stack = |frames: &[&str], ns| FlameStack {
            frames: frames.iter().map(|f| (*f).to_owned()).collect(),
            ns,
        };
        vec![
            stack(&["root", "main"], 2_000_000),
            stack(&["root", "a.rs:1", "odd;name\n"], 1_000_000),
            stack(&["root", "nothing"], 0),
        ]
    }

    #[test]
    fn text_has_a_line_a_stack() {
        let mut out = Vec::new();
        folded(&stacks(), &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "root;a.rs:1;odd name  1000000\nroot;main 2000000\n"
        );
    }

    #[test]
    fn the_picture_names_what_it_shows() {
        let mut out = Vec::new();
        svg(&stacks(), "CPU time <all>", "run", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("CPU time &lt;all&gt;"), "{text}");
        assert!(
            text.contains("main (2.00 ms, 66.67%)") || text.contains("main (2 ms, 66.67%)"),
            "{text}"
        );
        let mut again = Vec::new();
        svg(&stacks(), "CPU time <all>", "run", &mut again).unwrap();
        assert_eq!(text.as_bytes(), again, "the same run, the same picture");
    }

    #[test]
    fn code_has_the_pages_colours_and_files_no_folders() {
        let place = "sort (deep/er/sort.rs:4)";
        let of = |frames: &[&str], ns| FlameStack {
            frames: frames.iter().map(|f| (*f).to_owned()).collect(),
            ns,
        };
        let stacks = [
            of(&["root", place, "merge"], 9_000_000),
            of(&["root", "fill"], 1_000_000),
        ];
        let mut out = Vec::new();
        svg(&stacks, "t", "s", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("sort (sort.rs:4)") && !text.contains("deep/er"),
            "{text}"
        );
        let fill = |name: &str| {
            let frame = text.split("<g>").find(|g| g.contains(name)).unwrap();
            frame
                .split("fill=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .to_owned()
        };
        assert_eq!(fill("<title>merge ("), "rgb(204,102,119)");
        assert_eq!(fill("<title>fill ("), "rgb(136,204,238)");
        // A caller of merge has a tint of its colour.
        assert_eq!(fill("<title>sort ("), "rgb(232,186,193)");
    }

    #[test]
    fn dark_frames_have_white_letters() {
        let of = |leaf: &str, ns| FlameStack {
            frames: vec!["root".to_owned(), leaf.to_owned()],
            ns,
        };
        // The fifth colour of code is a dark blue.
        let stacks: Vec<FlameStack> = ["a", "b", "c", "d", "dark"]
            .iter()
            .zip([9, 8, 7, 6, 5])
            .map(|(leaf, ns)| of(leaf, ns * 1_000_000))
            .collect();
        let mut out = Vec::new();
        svg(&stacks, "t", "s", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for frame in text.split("<g>").skip(1) {
            let white = frame.contains("<text style=\"fill:#ffffff\"");
            assert_eq!(white, frame.contains("<title>dark ("), "{frame}");
        }
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(svg(&[], "t", "s", &mut Vec::new()).is_err());
    }
}
