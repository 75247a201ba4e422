//! Speedup over workers, with a panel for each benchmark and a curve for each runtime.

use std::fmt::Write;

use super::super::summary::Benchmark;
use super::{COLORS, frame, legend, line, mark, parallel, text};

const COLUMNS: usize = 4;
const PANEL: f64 = 150.0;
const GAP: f64 = 66.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 84.0;

/// `None` if no benchmark ran on several numbers of workers.
pub(super) fn svg(benchmarks: &[Benchmark]) -> Option<String> {
    let mut programs: Vec<Vec<&Benchmark>> = Vec::new();
    for benchmark in benchmarks {
        match programs
            .iter_mut()
            .find(|p| p[0].program == benchmark.program)
        {
            Some(program) => program.push(benchmark),
            None => programs.push(vec![benchmark]),
        }
    }
    programs.retain(|program| program.len() > 1);
    if programs.is_empty() {
        return None;
    }
    let mut body = String::new();
    legend(&mut body, &programs.concat(), LEFT);
    for (i, program) in programs.iter_mut().enumerate() {
        program.sort_by_key(|benchmark| benchmark.workers);
        let x = LEFT + (i % COLUMNS) as f64 * (PANEL + GAP);
        let y = TOP + (i / COLUMNS) as f64 * (PANEL + GAP);
        panel(&mut body, program, x, y);
    }
    let rows = programs.len().div_ceil(COLUMNS);
    let height = TOP + rows as f64 * (PANEL + GAP);
    let title = "Speedup over the serial elision, by the number of workers";
    Some(frame(title, height, &body))
}

fn panel(out: &mut String, program: &[&Benchmark], left: f64, top: f64) {
    let most_workers = program.iter().map(|b| b.workers).max().unwrap_or(1) as f64;
    let speedups = program
        .iter()
        .flat_map(|b| parallel(b))
        .filter_map(|row| row.speedup);
    let most = speedups.fold(most_workers, f64::max).ceil();
    let x = |workers: f64| left + PANEL * workers / most_workers;
    let y = |speedup: f64| top + PANEL * (1.0 - speedup / most);
    text(out, "", left, top - 10.0, program[0].program);
    // At most five grid lines.
    let step = (most / 4.0).ceil().max(1.0);
    let mut at = 0.0;
    while at <= most {
        line(out, "grid", [left, y(at)], [left + PANEL, y(at)]);
        text(out, "small", left - 18.0, y(at) + 3.0, &format!("{at:.0}"));
        at += step;
    }
    for benchmark in program {
        let workers = benchmark.workers as f64;
        let words = benchmark.workers.to_string();
        text(out, "small", x(workers) - 3.0, top + PANEL + 14.0, &words);
    }
    line(
        out,
        "grid",
        [x(0.0), y(0.0)],
        [x(most_workers), y(most_workers)],
    );
    for (runtime, ..) in COLORS {
        let of_runtime = program.iter().filter_map(|b| {
            let row = b.rows.iter().find(|row| row.runtime == runtime)?;
            Some((b.workers as f64, row.speedup?))
        });
        let points: Vec<(f64, f64)> = of_runtime.collect();
        if points.is_empty() {
            continue;
        }
        let _ = write!(out, "<polyline class=\"{runtime} curve\" points=\"");
        for &(workers, speedup) in &points {
            let _ = write!(out, "{:.1},{:.1} ", x(workers), y(speedup));
        }
        out.push_str("\"/>");
        for (workers, speedup) in points {
            mark(out, runtime, x(workers), y(speedup));
        }
    }
    out.push('\n');
}
