//! The suite's speedups as a picture: a bar for each runtime of each benchmark, with a line for its
//! spread.

use std::fmt::Write;

use workspan_export::plot::xml_text;

use super::super::summary::{Benchmark, Row};
use super::{WIDTH, frame, legend, parallel};

const LEFT: f64 = 150.0;
const RIGHT: f64 = 60.0;
const BAR: f64 = 11.0;
const GAP: f64 = 12.0;
const TOP: f64 = 66.0;

/// The whole picture.
pub(super) fn svg(benchmarks: &[Benchmark]) -> String {
    let has_rows = |b: &&Benchmark| parallel(b).next().is_some();
    let shown: Vec<&Benchmark> = benchmarks.iter().filter(has_rows).collect();
    let most = shown
        .iter()
        .flat_map(|b| &b.rows)
        .filter_map(|row| row.spread.map(|spread| spread[1]))
        .fold(1.0, f64::max)
        .ceil();
    let scale = (WIDTH - LEFT - RIGHT) / most;
    let (mut body, mut y) = (String::new(), TOP);
    for benchmark in &shown {
        let name = format!("{}, {}", benchmark.program, benchmark.workers);
        let _ = write!(
            body,
            "<text x=\"16\" y=\"{:.0}\">{}</text>",
            y + BAR,
            xml_text(&name)
        );
        for row in parallel(benchmark) {
            bar(&mut body, row, y, scale);
            y += BAR + 1.0;
        }
        y += GAP;
    }
    let height = y + 10.0;
    let title = "Speedup over the serial elision; the number of workers stands after the name";
    let mut out = String::new();
    legend(&mut out, &shown, LEFT);
    for step in 0..=most as usize {
        let x = LEFT + step as f64 * scale;
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.0}\" y2=\"{:.0}\"/>\
             <text class=\"small\" x=\"{:.1}\" y=\"{:.0}\">{step}</text>",
            TOP - 6.0,
            y - GAP,
            x - 3.0,
            TOP - 10.0
        );
    }
    out.push('\n');
    out.push_str(&body);
    frame(title, height, &out)
}

fn bar(out: &mut String, row: &Row, y: f64, scale: f64) {
    let speedup = row.speedup.unwrap_or(0.0);
    let _ = write!(
        out,
        "<rect class=\"{}\" x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\"/>",
        row.runtime,
        speedup * scale
    );
    let mut end = speedup;
    if let Some([slow, fast]) = row.spread {
        let _ = write!(
            out,
            "<line class=\"spread\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
            LEFT + slow * scale,
            LEFT + fast * scale,
            y + BAR / 2.0,
            y + BAR / 2.0
        );
        end = end.max(fast);
    }
    let _ = write!(
        out,
        "<text class=\"small\" x=\"{:.1}\" y=\"{:.1}\">{speedup:.2}</text>",
        LEFT + end * scale + 5.0,
        y + BAR - 1.5
    );
}
