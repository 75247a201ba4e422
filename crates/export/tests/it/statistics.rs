//! Trace in, statistics out, as text and in the report's JSON. Review every change before accepting
//! it (`cargo insta review`, or INSTA_UPDATE=always).

use std::path::Path;

use unicode_width::UnicodeWidthStr;
use workspan_analysis::statistics::{Statistics, statistics};
use workspan_analysis::{Options, report};
use workspan_dag::Dag;
use workspan_export::{Charset, TextOptions, report_json, report_json_with, statistics_text};
use workspan_reader::text;

fn measured(path: &str) -> (Dag, Statistics) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let dag = text::read(&std::fs::read(path).unwrap()).unwrap();
    let statistics = statistics(&dag, &Options::default()).unwrap();
    (dag, statistics)
}

const TWO_STEALS: &str = "../analysis/tests/statistics/two_steals.jsonl";

#[test]
fn statistics_are_as_they_were() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../statistics");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for (name, path) in [
        ("two_steals", TWO_STEALS),
        ("serial_merge", "tests/golden/serial_merge.jsonl"),
    ] {
        let (dag, all) = measured(path);
        let options = Options::default();
        let text = statistics_text(&dag, &all, &options, &TextOptions::default());
        insta::assert_snapshot!(format!("{name}_text"), text);
    }
    let (dag, all) = measured(TWO_STEALS);
    let report = report(&dag, &Options::default()).unwrap();
    let json = report_json_with(&dag, &report, &Options::default(), Some(&all));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let shown = serde_json::to_string_pretty(&json["statistics"]).unwrap();
    insta::assert_snapshot!("two_steals_json", shown);
}

#[test]
fn the_report_without_them_is_as_before() {
    let (dag, all) = measured(TWO_STEALS);
    let options = Options::default();
    let report = report(&dag, &options).unwrap();
    let parsed = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
    let without = parsed(&report_json(&dag, &report, &options));
    let mut with = parsed(&report_json_with(&dag, &report, &options, Some(&all)));
    assert!(with.as_object_mut().unwrap().remove("statistics").is_some());
    assert_eq!(with, without);
}

/// Every golden trace, the hostile ones among them.
#[test]
fn no_line_is_wider_than_80_columns_and_nothing_steers_the_terminal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".jsonl") {
            continue;
        }
        seen += 1;
        let (dag, all) = measured(&format!("tests/golden/{name}"));
        for charset in [Charset::Unicode, Charset::Ascii, Charset::Strict] {
            let looks = TextOptions {
                charset,
                ..TextOptions::default()
            };
            let text = statistics_text(&dag, &all, &Options::default(), &looks);
            for line in text.lines() {
                assert!(line.width() <= 80, "{name}, {charset:?}: {line}");
                assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
            }
            let steers = text.chars().any(|c| c.is_control() && c != '\n');
            assert!(!steers, "{name}: a control character");
            assert!(charset != Charset::Strict || text.is_ascii(), "{name}");
        }
    }
    assert!(seen >= 8);
}

/// One row per thief and one character per victim, if there is no room for numbers. A line has room
/// for 64 victims; the steals of further workers are summed.
#[test]
fn a_large_matrix_is_drawn_with_marks() {
    let (dag, mut all) = measured(TWO_STEALS);
    let worker = all.steals.workers[0].clone();
    let count = 70;
    all.steals.workers = (0..count)
        .map(|thread| workspan_analysis::statistics::WorkerSteals {
            thread,
            ..worker.clone()
        })
        .collect();
    all.steals.matrix = vec![vec![0; count as usize]; count as usize];
    all.steals.matrix[3][5] = 80;
    all.steals.matrix[3][6] = 1;
    all.steals.matrix[2][69] = 4;
    all.steals.matrix[69][2] = 5;
    let text = statistics_text(&dag, &all, &Options::default(), &TextOptions::default());
    let row = format!("        3  |{}#.{}|", " ".repeat(5), " ".repeat(57));
    assert!(text.lines().any(|l| l == row), "{text}");
    assert!(text.contains("# stands for 80 steals"), "{text}");
    assert!(text.contains("  6 more workers"), "{text}");
    assert!(
        text.contains("  9 more steals by or from other threads"),
        "{text}"
    );
    assert!(text.lines().all(|l| l.width() <= 80), "{text}");
}
