//! The suite's numbers as pictures, like those in Huynh's thesis (2017) of its suites: speedups,
//! the utilisation of all benchmarks (its figure 6.8), the loss compared with the serial elision
//! (8.1), and speedups over workers (8.16).

mod curves;
mod loss;
mod speedup;
mod utilisation;

use std::fmt::Write;

use workspan_export::plot::xml_text;

use super::super::picture::COLORS as PART_COLORS;
use super::summary::{Benchmark, Row};

/// Runtimes by name, with their colours on a light background and on a dark one.
const COLORS: [(&str, &str, &str); 4] = [
    ("rayon", "#d1693b", "#ee8c5e"),
    ("libomp", "#3d83b8", "#66aee4"),
    ("libgomp", "#2f7d4f", "#4fae78"),
    ("onetbb", "#7b61b5", "#a58be0"),
];

/// Width of every picture.
const WIDTH: f64 = 900.0;

/// A picture with the name of its file.
pub struct Picture {
    /// The name of its file in the suite's folder.
    pub file: &'static str,
    /// The picture.
    pub svg: String,
}

/// All pictures that the numbers allow: curves need several numbers of workers, losses a recorded
/// serial elision.
pub fn pictures(benchmarks: &[Benchmark]) -> Vec<Picture> {
    let drawn = [
        ("suite.svg", Some(speedup::svg(benchmarks))),
        ("utilisation.svg", utilisation::svg(benchmarks)),
        ("loss.svg", loss::svg(benchmarks)),
        ("curves.svg", curves::svg(benchmarks)),
    ];
    let found = drawn.into_iter();
    found
        .filter_map(|(file, svg)| svg.map(|svg| Picture { file, svg }))
        .collect()
}

/// The rows other than the serial elision.
fn parallel(benchmark: &Benchmark) -> impl Iterator<Item = &Row> {
    benchmark.rows.iter().filter(|row| row.runtime != "serial")
}

/// A picture of that height, with `body` below its title.
fn frame(title: &str, height: f64, body: &str) -> String {
    let title = xml_text(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         role=\"img\" aria-label=\"{title}\">\n<style>{}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" \
         height=\"{height:.0}\"/><text class=\"title\" x=\"16\" y=\"24\">{title}</text>\n{body}</svg>\n",
        style()
    )
}

/// One line with the runtimes that have rows, and their marks.
fn legend(out: &mut String, shown: &[&Benchmark], left: f64) {
    let mut x = left;
    for (runtime, ..) in COLORS {
        let mut rows = shown.iter().flat_map(|b| &b.rows);
        let Some(row) = rows.find(|row| row.runtime == runtime) else {
            continue;
        };
        mark(out, runtime, x + 5.5, 38.5);
        text(out, "small", x + 16.0, 42.0, row.title);
        x += 130.0;
    }
}

/// A runtime's mark; its shape identifies it without colours.
fn mark(out: &mut String, runtime: &str, x: f64, y: f64) {
    let _ = match runtime {
        "rayon" => write!(
            out,
            "<circle class=\"{runtime}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"
        ),
        "libomp" => write!(
            out,
            "<rect class=\"{runtime}\" x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>",
            x - 4.0,
            y - 4.0
        ),
        "libgomp" => write!(
            out,
            "<path class=\"{runtime}\" d=\"M{x:.1} {:.1}l5 9h-10z\"/>",
            y - 5.0
        ),
        _ => write!(
            out,
            "<path class=\"{runtime}\" d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"/>",
            y - 5.0
        ),
    };
}

fn text(out: &mut String, class: &str, x: f64, y: f64, words: &str) {
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
        xml_text(words)
    );
}

fn line(out: &mut String, class: &str, from: [f64; 2], to: [f64; 2]) {
    let [x1, y1] = from;
    let [x2, y2] = to;
    let _ = write!(
        out,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn style() -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    for (runtime, on_light, on_dark) in COLORS {
        let _ = write!(light, ".{runtime}{{fill:{on_light};stroke:{on_light}}}");
        let _ = write!(dark, ".{runtime}{{fill:{on_dark};stroke:{on_dark}}}");
    }
    for (i, (on_light, on_dark)) in PART_COLORS.into_iter().enumerate() {
        let _ = write!(light, ".p{i}{{fill:{on_light}}}");
        let _ = write!(dark, ".p{i}{{fill:{on_dark}}}");
    }
    format!(
        "text{{font:13px system-ui,sans-serif;fill:#1c2024}}.small{{font-size:10px}}.title{{font-weight:600;font-size:15px}}\
         .curve{{fill:none;stroke-width:1.5}}.ground{{fill:#fff}}.grid{{stroke:#d9dde3}}.spread{{stroke:#1c2024;stroke-width:1.5}}{light}\
         @media(prefers-color-scheme:dark){{text{{fill:#e6e9ee}}.ground{{fill:#15181d}}.grid{{stroke:#3a414b}}\
         .spread{{stroke:#e6e9ee}}{dark}}}"
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::result::{Parts, Recorded};
    use super::*;

    fn row(runtime: &'static str, speedup: f64, work: u64, delay: u64) -> Row {
        let parts = Parts {
            workers: 2,
            work,
            delay,
            ..Parts::default()
        };
        Row {
            runtime,
            title: runtime,
            bare: vec![100],
            recorded: vec![100],
            speedup: Some(speedup),
            spread: Some([speedup, speedup]),
            loss: None,
            cpu_ratio: None,
            says: Some(Recorded {
                parts,
                work,
                ..Recorded::default()
            }),
            silent: None,
            trace: None,
            traces: Vec::new(),
            report: None,
        }
    }

    fn benchmark(workers: usize, speedup: f64) -> Benchmark {
        Benchmark {
            program: "fib",
            about: "a tree",
            workers,
            serial: Some(200),
            rows: vec![
                row("serial", 1.0, 200, 0),
                row("rayon", speedup, 250, 50),
                row("onetbb", speedup, 200, 0),
            ],
        }
    }

    fn names(pictures: &[Picture]) -> Vec<&str> {
        pictures.iter().map(|picture| picture.file).collect()
    }

    #[test]
    fn each_number_is_in_its_picture() {
        let all = pictures(&[benchmark(2, 1.5)]);
        assert_eq!(names(&all), ["suite.svg", "utilisation.svg", "loss.svg"]);
        // 250 + 50 of worker time for work that takes 200 serially: half of the serial work is
        // lost.
        assert!(all[2].svg.contains(">50 %<"), "{}", all[2].svg);
        assert!(all[2].svg.contains(">0 %<"), "{}", all[2].svg);
        let all = pictures(&[benchmark(1, 1.0), benchmark(2, 1.5)]);
        assert_eq!(names(&all)[3], "curves.svg");
        assert_eq!(all[3].svg.matches("<polyline").count(), 2);
    }

    #[test]
    fn what_was_not_measured_is_not_drawn() {
        let mut one = benchmark(2, 1.5);
        one.rows.remove(0);
        one.rows.iter_mut().for_each(|row| row.says = None);
        assert_eq!(names(&pictures(&[one])), ["suite.svg", "utilisation.svg"]);
        assert_eq!(names(&pictures(&[])), ["suite.svg"]);
    }
}
