//! Utilisation of all benchmarks: speedup over the number of workers, with a mark for each runtime.

use super::super::summary::Benchmark;
use super::{WIDTH, frame, legend, line, mark, parallel, text};

const LEFT: f64 = 60.0;
const TOP: f64 = 70.0;
const PLOT: f64 = 180.0;
const NAMES: f64 = 110.0;

/// One panel for each number of workers; `None` if there are no speedups.
pub(super) fn svg(benchmarks: &[Benchmark]) -> Option<String> {
    let measured = |b: &&Benchmark| parallel(b).any(|row| row.speedup.is_some());
    let shown: Vec<&Benchmark> = benchmarks.iter().filter(measured).collect();
    let mut counts: Vec<usize> = shown.iter().map(|b| b.workers).collect();
    counts.sort_unstable();
    counts.dedup();
    if counts.is_empty() {
        return None;
    }
    let mut body = String::new();
    legend(&mut body, &shown, LEFT);
    let mut top = TOP;
    for workers in counts {
        let own = shown.iter().filter(|b| b.workers == workers);
        panel(&mut body, &own.copied().collect::<Vec<_>>(), workers, top);
        top += PLOT + NAMES;
    }
    let title = "Utilisation: speedup over the serial elision, divided by the workers";
    Some(frame(title, top, &body))
}

fn panel(out: &mut String, shown: &[&Benchmark], workers: usize, top: f64) {
    let used = |speedup: f64| 100.0 * speedup / workers as f64;
    let speedups = || {
        shown
            .iter()
            .flat_map(|b| parallel(b))
            .filter_map(|r| r.speedup)
    };
    // A program with less work than the serial elision may exceed 100 %.
    let most = (speedups().map(used).fold(100.0, f64::max) / 25.0).ceil() * 25.0;
    let at = |percent: f64| top + PLOT * (1.0 - percent / most);
    let words = match workers {
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    };
    text(out, "small", LEFT, top - 8.0, &words);
    for step in 0..=(most / 25.0) as u32 {
        let percent = 25.0 * f64::from(step);
        line(
            out,
            "grid",
            [LEFT, at(percent)],
            [WIDTH - 20.0, at(percent)],
        );
        text(
            out,
            "small",
            18.0,
            at(percent) + 3.0,
            &format!("{percent:.0} %"),
        );
    }
    let column = (WIDTH - LEFT - 20.0) / shown.len() as f64;
    for (i, benchmark) in shown.iter().enumerate() {
        let x = LEFT + (i as f64 + 0.5) * column;
        for row in parallel(benchmark) {
            if let Some(speedup) = row.speedup {
                mark(out, row.runtime, x, at(used(speedup)));
            }
        }
        out.push_str(&format!(
            "<text class=\"small\" transform=\"translate({x:.1} {:.1}) rotate(50)\">{}</text>",
            top + PLOT + 14.0,
            benchmark.program
        ));
    }
    out.push('\n');
}
