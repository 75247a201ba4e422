//! The loss of each runtime compared with the serial elision, in percent of the serial work: work
//! stretch, and the parts of the breakdown other than work.

use std::fmt::Write;

use super::super::super::result::PARTS;
use super::super::summary::{Benchmark, Row};
use super::{WIDTH, frame, parallel, text};

const LEFT: f64 = 190.0;
const RIGHT: f64 = 70.0;
const BAR: f64 = 11.0;
const GAP: f64 = 12.0;
const TOP: f64 = 76.0;
/// The percentage at which bars end; the number beside a bar may be larger.
const MAX_BAR_PERCENT: f64 = 400.0;

/// A bar. Its parts are [`PARTS`], where work is the work in addition to the serial work.
struct Loss<'a> {
    row: &'a Row,
    percent: [f64; 7],
    all: f64,
}

/// `None` if no recorded run has a recorded serial elision to compare with.
pub(super) fn svg(benchmarks: &[Benchmark]) -> Option<String> {
    let lost: Vec<(&Benchmark, Vec<Loss>)> = benchmarks
        .iter()
        .map(|benchmark| (benchmark, losses(benchmark)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let all = lost.iter().flat_map(|(_, rows)| rows);
    let most = all
        .map(|loss| loss.percent.iter().sum())
        .fold(f64::NAN, f64::max);
    if lost.is_empty() {
        return None;
    }
    let scale = (WIDTH - LEFT - RIGHT) / most.clamp(1.0, MAX_BAR_PERCENT);
    let mut body = String::new();
    parts(&mut body);
    let mut y = TOP;
    for (benchmark, rows) in &lost {
        let name = format!("{}, {}", benchmark.program, benchmark.workers);
        text(&mut body, "", 16.0, y + BAR, &name);
        for loss in rows {
            bar(&mut body, loss, y, scale);
            y += BAR + 1.0;
        }
        y += GAP;
    }
    let mut title =
        "Worker time lost against the serial elision, in percent of the serial work".to_owned();
    if most > MAX_BAR_PERCENT {
        let _ = write!(title, " (bars end at {MAX_BAR_PERCENT:.0} %)");
    }
    Some(frame(&title, y + 10.0, &body))
}

fn losses(benchmark: &Benchmark) -> Vec<Loss<'_>> {
    let serial = benchmark.rows.iter().find(|row| row.runtime == "serial");
    let serial = serial
        .and_then(|row| row.says.as_ref())
        .map(|says| says.work);
    let Some(serial) = serial.filter(|&work| work > 0) else {
        return Vec::new();
    };
    let of_row = |row: &'_ Row| -> Option<([f64; 7], f64)> {
        let parts = &row.says.as_ref()?.parts;
        let percent = |ns: u64| 100.0 * ns as f64 / serial as f64;
        let mut list = parts.list().map(percent);
        list[0] = percent(parts.work.saturating_sub(serial));
        Some((list, percent(parts.total()) - 100.0))
    };
    parallel(benchmark)
        .filter_map(|row| {
            let (percent, all) = of_row(row)?;
            Some(Loss { row, percent, all })
        })
        .collect()
}

fn bar(out: &mut String, loss: &Loss, y: f64, scale: f64) {
    text(out, "small", 110.0, y + BAR - 1.5, loss.row.title);
    let (mut x, end) = (LEFT, WIDTH - RIGHT);
    for (i, percent) in loss.percent.iter().enumerate() {
        let width = (percent * scale).min(end - x);
        if width > 0.05 {
            let _ = write!(
                out,
                "<rect class=\"p{i}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\"/>"
            );
            x += width;
        }
    }
    let words = format!("{:.0} %", loss.all);
    text(out, "small", x + 5.0, y + BAR - 1.5, &words);
}

fn parts(out: &mut String) {
    let mut x = 16.0;
    for (i, (name, _)) in PARTS.iter().enumerate() {
        let name = match *name {
            "work" => "work stretch",
            "no_work_sched" => "no work, scheduler",
            "no_work_app" => "no work, program",
            other => other,
        };
        let _ = write!(
            out,
            "<rect class=\"p{i}\" x=\"{x:.1}\" y=\"38\" width=\"11\" height=\"11\"/>"
        );
        text(out, "small", x + 16.0, 47.0, name);
        x += 34.0 + 6.0 * name.len() as f64;
    }
    out.push('\n');
}
