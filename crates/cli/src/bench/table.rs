//! The comparison as text.

use std::fmt::Write;

use super::result::{Comparison, Group, Row};
use super::verdict;

/// Number of columns for sentences; the table is wider.
const WIDTH: usize = 120;

const LEGEND: &str = "elapsed: the kernel alone, without its input, bare; speedup: over the serial elision of the C++ source; \
                      recorded: what recording adds. The shares are those of workers x time of the fastest \
                      recorded run, the whole program with its input: work, delay (a strand ready and a worker free), no work because of the \
                      scheduler and of the program, descheduled, blocked, recording.";

/// A time with three digits and its unit.
pub fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..=9_999 => return format!("{ns} ns"),
        10_000..=9_999_999 => (ns as f64 / 1e3, "us"),
        10_000_000..=9_999_999_999 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = if value < 100.0 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

/// Breaks a text into lines of at most `width` bytes, unless a single word is longer.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn percent(part: u64, whole: u64) -> String {
    match 100.0 * part as f64 / whole.max(1) as f64 {
        0.0 => "-".into(),
        share if share < 0.5 => "<1".into(),
        share => format!("{share:.0}"),
    }
}

/// The whole text.
pub fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    let load = comparison
        .load
        .map_or_else(String::new, |l| format!(", load {l:.2} before"));
    let _ = writeln!(
        out,
        "{} CPUs{load}; medians of {} runs, all in turns",
        comparison.cpus, comparison.repeat
    );
    for (runtime, what) in &comparison.runtimes {
        let _ = writeln!(out, "  {:<16}{what}", runtime.title());
    }
    for (runtime, why) in &comparison.missing {
        let _ = writeln!(out, "  {:<16}not here: {why}", runtime.title());
    }
    for group in &comparison.groups {
        out.push('\n');
        table(&mut out, group);
    }
    if let Some(overall) = verdict::overall(comparison) {
        out.push('\n');
        paragraph(&mut out, "", &overall);
    }
    out.push('\n');
    paragraph(&mut out, "", LEGEND);
    for warning in &comparison.warnings {
        paragraph(&mut out, "", &format!("note: {warning}"));
    }
    out
}

pub(super) fn paragraph(out: &mut String, indent: &str, text: &str) {
    for line in lines(text, WIDTH - indent.len()) {
        let _ = writeln!(out, "{indent}{line}");
    }
}

fn table(out: &mut String, group: &Group) {
    let workers = if group.workers == 1 {
        "1 worker".into()
    } else {
        format!("{} workers", group.workers)
    };
    let _ = writeln!(
        out,
        "{} {}, {workers}: {}",
        group.kernel.name,
        group.kernel.arguments.join(" "),
        group.kernel.about
    );
    let _ = writeln!(
        out,
        "  {:<16}{:>9}{:>19}{:>9}{:>10} |{:>6}{:>7}{:>10}{:>9}{:>7}{:>9}{:>7} |{:>10}{:>9}",
        "",
        "elapsed",
        "runs",
        "speedup",
        "recorded",
        "work",
        "delay",
        "scheduler",
        "program",
        "off",
        "blocked",
        "rec.",
        "tasks",
        "steals"
    );
    for row in &group.rows {
        line(out, group, row);
    }
    if let Some(sentence) = verdict::sentence(group) {
        paragraph(out, "  ", &sentence);
    }
}

fn line(out: &mut String, group: &Group, row: &Row) {
    let spread = match (row.bare.first(), row.bare.last()) {
        (Some(&first), Some(&last)) if row.bare.len() > 1 => {
            format!("{} - {}", time(first), time(last))
        }
        _ => String::new(),
    };
    let speedup = group
        .speedup(row)
        .map_or_else(|| "-".into(), |s| format!("{s:.2}"));
    let overhead = row
        .overhead()
        .map_or_else(|| "-".into(), |o| format!("{:+.1} %", 100.0 * o));
    let _ = write!(
        out,
        "  {:<16}{:>9}{spread:>19}{speedup:>9}{overhead:>10} |",
        row.runtime.title(),
        time(row.elapsed())
    );
    match &row.trace {
        Err(why) => {
            let _ = writeln!(out, " {why}");
        }
        Ok(trace) => {
            let all = trace.parts.total();
            let shares = trace.parts.list().map(|part| percent(part, all));
            let [work, delay, scheduler, program, off, blocked, recording] = shares;
            let _ = writeln!(
                out,
                "{work:>6}{delay:>7}{scheduler:>10}{program:>9}{off:>7}{blocked:>9}{recording:>7} |{:>10}{:>9}",
                workspan_export::thousands(u128::from(trace.tasks)),
                workspan_export::thousands(u128::from(trace.steals))
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let all = [
            0,
            9_999,
            10_000,
            123_456,
            9_999_999,
            10_000_000,
            123_400_000,
            12_340_000_000,
        ]
        .map(time);
        let expected = [
            "0 ns", "9999 ns", "10.0 us", "123 us", "10000 us", "10.0 ms", "123 ms", "12.3 s",
        ];
        assert_eq!(all, expected);
        assert_eq!(lines("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(
            [0, 1, 250, 500, 1000].map(|p| percent(p, 1000)),
            ["-", "<1", "25", "50", "100"]
        );
    }
}
