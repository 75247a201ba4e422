//! The suite's speedups as a picture: a bar for each runtime of each benchmark, a line for its
//! spread.

use std::fmt::Write;

use workspan_export::plot::xml_text;

use super::summary::{Benchmark, Row};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 150.0;
const RIGHT: f64 = 60.0;
const BAR: f64 = 11.0;
const GAP: f64 = 12.0;
const TOP: f64 = 66.0;

/// Runtimes by name, with their colours on light ground and on dark.
pub const COLORS: [(&str, &str, &str); 4] = [
    ("rayon", "#d1693b", "#ee8c5e"),
    ("libomp", "#3d83b8", "#66aee4"),
    ("libgomp", "#2f7d4f", "#4fae78"),
    ("onetbb", "#7b61b5", "#a58be0"),
];

/// All of it.
pub fn svg(benchmarks: &[Benchmark]) -> String {
    let parallel = |b: &Benchmark| b.rows.iter().filter(|r| r.runtime != "serial").count();
    let shown: Vec<&Benchmark> = benchmarks.iter().filter(|b| parallel(b) > 0).collect();
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
        for row in benchmark.rows.iter().filter(|r| r.runtime != "serial") {
            bar(&mut body, row, y, scale);
            y += BAR + 1.0;
        }
        y += GAP;
    }
    let height = y + 10.0;
    let title = "Speedup over the serial elision; the number of workers stands after the name";
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{title}\">\n<style>{}</style>\n\
         <rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/><text class=\"title\" x=\"16\" y=\"24\">{title}</text>",
        style()
    );
    legend(&mut out, &shown);
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
    out.push_str("</svg>\n");
    out
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

fn legend(out: &mut String, shown: &[&Benchmark]) {
    let mut x = LEFT;
    for (runtime, ..) in COLORS {
        let mut rows = shown.iter().flat_map(|b| &b.rows);
        let Some(row) = rows.find(|row| row.runtime == runtime) else {
            continue;
        };
        let _ = write!(
            out,
            "<rect class=\"{runtime}\" x=\"{x}\" y=\"33\" width=\"11\" height=\"11\"/>\
             <text class=\"small\" x=\"{}\" y=\"42\">{}</text>",
            x + 16.0,
            xml_text(row.title)
        );
        x += 130.0;
    }
}

fn style() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for (runtime, on_light, on_dark) in COLORS {
        let _ = write!(light, ".{runtime}{{fill:{on_light}}}");
        let _ = write!(dark, ".{runtime}{{fill:{on_dark}}}");
    }
    format!(
        "text{{font:13px system-ui,sans-serif;fill:#1c2024}}.small{{font-size:10px}}.title{{font-weight:600;font-size:15px}}\
         .ground{{fill:#fff}}.grid{{stroke:#d9dde3}}.spread{{stroke:#1c2024;stroke-width:1.5}}{light}\
         @media(prefers-color-scheme:dark){{text{{fill:#e6e9ee}}.ground{{fill:#15181d}}.grid{{stroke:#3a414b}}\
         .spread{{stroke:#e6e9ee}}{dark}}}"
    )
}
