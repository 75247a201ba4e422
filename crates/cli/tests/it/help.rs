//! `--help` and `workspan help TERM`: examples of every command, terms of the report.

use crate::cli::{fails, golden, run, succeeds};

#[test]
fn every_command_helps_with_examples() {
    for command in ["record", "report", "info", "export", "help"] {
        let help = succeeds(&[command, "--help"]);
        assert!(help.contains("Examples:\n  workspan "), "{help}");
        assert_eq!(
            succeeds(&[command, "-h"]),
            succeeds(&["help", command]),
            "both ways say the same"
        );
    }
    assert!(succeeds(&["--help"]).contains("cargo workspan run"));
    assert!(succeeds(&["--version"]).starts_with("workspan 0."));
}

#[test]
fn terms_of_the_report_are_explained() {
    for term in succeeds(&["help", "terms"]).lines() {
        assert!(succeeds(&["help", term]).lines().count() > 1, "{term}");
    }
    fails(&["help", "nonsense"], &["nonsense", "workspan help terms"]);
    fails(&["help", "spann"], &["the closest: span,"]);
}

/// The labels of a report: heads, which are bold from the start of their line, the bold words of
/// the line with the work and of those with a remedy and a gain, and the first words of rows.
fn labels(report: &str) -> Vec<String> {
    let mut labels = Vec::new();
    for line in report.lines() {
        let bold = line.split("\u{1b}[1m").skip(1);
        let bold = bold.map(|text| text.split('\u{1b}').next().unwrap().to_owned());
        let rest = line
            .trim_start()
            .strip_prefix("\u{1b}[1m")
            .unwrap_or_default();
        let is_first = ["Remedy:", "Gain:"]
            .iter()
            .any(|word| rest.starts_with(word));
        let count = match line.starts_with("\u{1b}[1m  ") || is_first {
            true => 1,
            false if rest.starts_with("Work\u{1b}") => usize::MAX,
            false => 0,
        };
        labels.extend(bold.take(count));
    }
    let plain = report.replace("\u{1b}[1m", "").replace("\u{1b}[2m", "");
    let plain = plain.replace("\u{1b}[0m", "");
    let lines: Vec<&str> = plain.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        if line.starts_with("  Where ") || line.starts_with("  Speedup, ") {
            let rows = lines[i + 1..].iter().take_while(|row| !row.is_empty());
            let rows = rows.filter(|row| row.starts_with("    "));
            let named = rows.filter(|row| !row.contains("buried"));
            labels.extend(named.map(|row| row.trim().split("  ").next().unwrap().to_owned()));
        }
        if line.starts_with("  Spawn sites and code") {
            labels.extend(line.split_whitespace().skip(4).map(str::to_owned));
        }
    }
    let is_label = |label: &String| {
        !label.contains(|c: char| c.is_ascii_digit()) && label.split_whitespace().count() <= 4
    };
    let mut labels: Vec<String> = labels.into_iter().filter(is_label).collect();
    labels.sort();
    labels.dedup();
    labels
}

/// The first part of a label, or its first words, are a term: `no work, program`, `Busy over time`.
#[test]
fn labels_of_the_report_are_terms() {
    let mut all = std::collections::BTreeSet::new();
    for name in ["serial_merge", "counters_and_off", "doubtful", "example_a"] {
        let trace = golden(&format!("{name}.jsonl"));
        for more in [&["--long"][..], &[]] {
            let words = [
                &["report", "--color", "always"],
                more,
                &[trace.to_str().unwrap()],
            ];
            all.extend(labels(&succeeds(&words.concat())));
        }
    }
    assert!(all.len() >= 15, "{all:?}");
    let known = |term: &str| run(&["help", term]).status.success();
    for label in all {
        let first = label
            .split(['(', ':'])
            .next()
            .unwrap()
            .trim_matches([' ', ',']);
        let first = first.split(',').next().unwrap().to_lowercase();
        let words: Vec<&str> = first.split_whitespace().collect();
        let prefixes = (1..=words.len()).rev().map(|n| words[..n].join(" "));
        let mut prefixes = prefixes.filter(|term| !term.is_empty());
        assert!(
            words.is_empty() || prefixes.any(|term| known(&term)),
            "{label}"
        );
    }
}
