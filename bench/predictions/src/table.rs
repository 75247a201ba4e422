//! Tables of predictions and measurements, with the medians of the errors.

use std::fmt::Write;

use super::predict::{BEYOND, Elapsed, JUDGED, Logical};
use workspan_cli::bench::runtime::Runtime;

/// A kernel on a runtime, simulated from its own recorded run.
pub struct KernelRow {
    /// The kernel.
    pub kernel: &'static str,
    /// The runtime.
    pub runtime: Runtime,
    /// Whether it is used to judge.
    pub blind: bool,
    /// Predicted elapsed times, in ns.
    pub predicted: Elapsed,
    /// Measured elapsed times, in ns.
    pub measured: [f64; 2],
}

/// A program after a fix, predicted from the run before it.
pub struct PairRow {
    /// Description of the change.
    pub title: &'static str,
    /// The runtime.
    pub runtime: Runtime,
    /// Whether it is used to judge.
    pub blind: bool,
    /// Measures before the fix.
    pub before: Logical,
    /// Predicted measures after the fix.
    pub predicted: Logical,
    /// Measures recorded after the fix.
    pub after: Logical,
    /// Predicted elapsed times after the fix, in ns.
    pub elapsed: Elapsed,
    /// Elapsed times measured before the fix, in ns.
    pub measured_before: [f64; 2],
    /// Elapsed times measured after the fix, in ns.
    pub measured: [f64; 2],
}

/// The relative error: (predicted − measured) / measured.
pub fn error(predicted: f64, measured: f64) -> f64 {
    if measured > 0.0 {
        predicted / measured - 1.0
    } else {
        0.0
    }
}

/// The median of absolute errors; `None` if there are none.
fn median(errors: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = errors.map(f64::abs).collect();
    all.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    match all.len() {
        0 => None,
        n if n % 2 == 1 => Some(all[middle]),
        _ => Some((all[middle - 1] + all[middle]) / 2.0),
    }
}

fn percent(error: f64) -> String {
    format!("{:+.1} %", error * 100.0)
}

fn ms(ns: f64) -> String {
    format!("{:.1}", ns / 1e6)
}

/// All tables as lines of Markdown, ending with the medians.
pub fn text(kernels: &[KernelRow], pairs: &[PairRow]) -> String {
    let mut out = String::new();
    if !pairs.is_empty() {
        spans(pairs, &mut out);
        times(pairs, &mut out);
    }
    if !kernels.is_empty() {
        elapsed(kernels, &mut out);
    }
    medians(kernels, pairs, &mut out);
    out
}

fn set(blind: bool) -> &'static str {
    if blind { "blind" } else { "tuning" }
}

fn spans(pairs: &[PairRow], out: &mut String) {
    out.push_str(
        "\n### Span and parallelism after a fix\n\n\
         | pair | runtime | set | span before, ms | predicted | measured | error | parallelism before | predicted | measured | error |\n\
         |---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in pairs {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.2} | {:.2} | {:.2} | {} | {:.2} | {:.2} | {:.2} | {} |",
            row.title,
            row.runtime.title(),
            set(row.blind),
            row.before.span / 1e6,
            row.predicted.span / 1e6,
            row.after.span / 1e6,
            percent(error(row.predicted.span, row.after.span)),
            row.before.parallelism,
            row.predicted.parallelism,
            row.after.parallelism,
            percent(error(row.predicted.parallelism, row.after.parallelism)),
        );
    }
}

fn head(first: &str, out: &mut String) {
    let _ = write!(out, "{first}");
    for workers in JUDGED {
        let _ = write!(out, " on {workers}: predicted, ms | measured | error |");
    }
    for workers in BEYOND {
        let _ = write!(out, " on {workers}, predicted |");
    }
    out.push_str("\n|---|---|---|");
    out.push_str(&"---:|".repeat(3 * JUDGED.len() + BEYOND.len()));
    out.push('\n');
}

fn cells(predicted: &Elapsed, measured: [f64; 2], out: &mut String) {
    for (i, measured) in measured.into_iter().enumerate() {
        let predicted = predicted[i];
        let _ = write!(
            out,
            " {} | {} | {} |",
            ms(predicted),
            ms(measured),
            percent(error(predicted, measured))
        );
    }
    for predicted in &predicted[JUDGED.len()..] {
        let _ = write!(out, " {} |", ms(*predicted));
    }
    out.push('\n');
}

fn times(pairs: &[PairRow], out: &mut String) {
    out.push_str("\n### Elapsed time after a fix\n\n");
    head("| pair | runtime | before on 1 and 2, ms |", out);
    for row in pairs {
        let [one, two] = row.measured_before.map(ms);
        let _ = write!(
            out,
            "| {} | {} | {one}, {two} |",
            row.title,
            row.runtime.title(),
        );
        cells(&row.elapsed, row.measured, out);
    }
}

fn elapsed(kernels: &[KernelRow], out: &mut String) {
    out.push_str("\n### Elapsed time of every kernel, from its own recorded run\n\n");
    head("| kernel | runtime | set |", out);
    for row in kernels {
        let _ = write!(
            out,
            "| {} | {} | {} |",
            row.kernel,
            row.runtime.title(),
            set(row.blind)
        );
        cells(&row.predicted, row.measured, out);
    }
}

fn medians(kernels: &[KernelRow], pairs: &[PairRow], out: &mut String) {
    out.push_str("\n### Median absolute errors\n\n| what | blind set | tuning set | aim |\n|---|---:|---:|---:|\n");
    let mut line = |what: &str, aim: &str, statistic: &dyn Fn(bool) -> Option<f64>| {
        let shown = |blind: bool| {
            statistic(blind).map_or_else(|| "-".to_owned(), |e| format!("{:.1} %", e * 100.0))
        };
        let _ = writeln!(
            out,
            "| {what} | {} | {} | {aim} |",
            shown(true),
            shown(false)
        );
    };
    let of_pairs = |blind: bool| pairs.iter().filter(move |p| p.blind == blind);
    line("span after a fix", "10 %", &|blind| {
        median(of_pairs(blind).map(|p| error(p.predicted.span, p.after.span)))
    });
    line("parallelism after a fix", "10 %", &|blind| {
        median(of_pairs(blind).map(|p| error(p.predicted.parallelism, p.after.parallelism)))
    });
    for (i, workers) in JUDGED.into_iter().enumerate() {
        line(
            &format!("elapsed after a fix, {workers} at work"),
            "15 %",
            &|blind| median(of_pairs(blind).map(|p| error(p.elapsed[i], p.measured[i]))),
        );
    }
    for (i, workers) in JUDGED.into_iter().enumerate() {
        line(
            &format!("elapsed of a kernel, {workers} at work"),
            "15 %",
            &|blind| {
                let statistic = kernels.iter().filter(|k| k.blind == blind);
                median(statistic.map(|k| error(k.predicted[i], k.measured[i])))
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_their_medians() {
        assert!((error(110.0, 100.0) - 0.1).abs() < 1e-12);
        assert!((error(90.0, 100.0) + 0.1).abs() < 1e-12);
        assert_eq!(median([].into_iter()), None);
        assert_eq!(median([-0.3, 0.1, 0.2].into_iter()), Some(0.2));
        let even = median([-0.3, 0.1].into_iter());
        assert!(even.is_some_and(|m| (m - 0.2).abs() < 1e-12));
    }

    #[test]
    fn blind_and_tuning_are_told_apart() {
        let row = |kernel, blind, predicted| KernelRow {
            kernel,
            runtime: Runtime::Rayon,
            blind,
            predicted: [predicted; 4],
            measured: [1e6; 2],
        };
        let text = text(&[row("msort", true, 1.2e6), row("fib", false, 0.9e6)], &[]);
        assert!(
            text.contains("| msort | Rayon | blind | 1.2 | 1.0 | +20.0 % |"),
            "{text}"
        );
        assert!(
            text.contains("| elapsed of a kernel, 1 at work | 20.0 % | 10.0 % | 15 % |"),
            "{text}"
        );
        assert!(
            text.contains("| span after a fix | - | - | 10 % |"),
            "{text}"
        );
    }
}
