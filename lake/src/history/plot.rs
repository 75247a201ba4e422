//! Draws a history as SVG.

use std::fmt::Write;

use super::Commit;
use super::change_points::Change;
use super::series::Quantity;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 360.0;
/// Margins of the picture: the left one has room for values.
const LEFT: f64 = 90.0;
const TOP: f64 = 44.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 74.0;
/// Maximum number of commits for which names fit below the picture.
const MAX_COMMIT_NAMES: usize = 24;

/// The picture: one dot per run, a line for each stretch between changes, and a dashed line at each
/// change.
pub(crate) fn svg(
    title: &str,
    quantity: Quantity,
    commits: &[Commit<'_>],
    runs: usize,
    changes: &[Change],
) -> String {
    let values = || {
        commits
            .iter()
            .flat_map(|c| c.points.iter().map(|p| p.value))
    };
    let most = values().fold(f64::MIN_POSITIVE, f64::max) * 1.08;
    let x = |i: f64| LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / runs.max(1) as f64;
    let y = |v: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (v / most).clamp(0.0, 1.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\" fill=\"#222\">{}</text>\n",
        escaped(title)
    );
    for step in 0..=4 {
        let value = most * f64::from(step) / 4.0;
        let at = y(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#444\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0,
            quantity.shown(value)
        );
    }
    let every = commits.len().div_ceil(MAX_COMMIT_NAMES).max(1);
    for (i, commit) in commits.iter().enumerate() {
        for (j, point) in commit.points.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"#1f6fb4\" fill-opacity=\"0.75\"><title>{} {}: {}</title></circle>",
                x((commit.from + j) as f64),
                y(point.value),
                escaped(&point.commit),
                point.run,
                quantity.shown(point.value)
            );
        }
        if i % every == 0 || commit.change.is_some() {
            let middle = commit.from as f64 + (commit.points.len() as f64 - 1.0) / 2.0;
            let name: String = commit.points[0].commit.chars().take(8).collect();
            let (at, below) = (x(middle), HEIGHT - BOTTOM + 14.0);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{below:.1}\" text-anchor=\"end\" transform=\"rotate(-45 {at:.1} {below:.1})\" \
                 fill=\"{}\">{}</text>",
                if commit.change.is_some() {
                    "#b3261e"
                } else {
                    "#444"
                },
                escaped(&name)
            );
        }
    }
    let mut from = 0;
    let all: Vec<f64> = values().collect();
    let ends = changes.iter().map(|c| c.at).chain([runs]);
    for end in ends {
        let part = &all[from..end];
        let mean = part.iter().sum::<f64>() / part.len().max(1) as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{2:.1}\" y2=\"{2:.1}\" stroke=\"#222\" stroke-width=\"2\"/>",
            x(from as f64 - 0.5),
            x(end as f64 - 0.5),
            y(mean)
        );
        from = end;
    }
    for change in changes {
        let at = x(change.at as f64 - 0.5);
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{}\" stroke=\"#b3261e\" stroke-dasharray=\"5 4\"/>\
             <text x=\"{:.1}\" y=\"{}\" fill=\"#b3261e\">{:+.1} %</text>",
            HEIGHT - BOTTOM,
            at + 4.0,
            TOP + 10.0,
            100.0 * (change.after / change.before - 1.0)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
