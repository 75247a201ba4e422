//! Trace in, report out: every trace under `golden/` has its text report (ASCII, 80 columns) and
//! its JSON report next to it. Review every change before accepting it (`cargo insta review`, or
//! INSTA_UPDATE=always).

use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthStr;
use workspan_analysis::{Metric, Options, Report, report};
use workspan_dag::Dag;
use workspan_export::{Charset, TextOptions, TraceFile, report_json, report_text};
use workspan_reader::text;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn measured(name: &str, options: &Options) -> (Dag, Report) {
    let trace = std::fs::read(golden().join(format!("{name}.jsonl"))).unwrap();
    let dag = text::read(&trace).unwrap();
    let report = report(&dag, options).unwrap();
    (dag, report)
}

fn shown(name: &str, options: &Options, looks: &TextOptions) -> String {
    let (dag, report) = measured(name, options);
    report_text(&dag, &report, options, looks)
}

fn looks(name: &str) -> TextOptions {
    let trace = Some(TraceFile {
        name: format!("{name}.jsonl"),
        bytes: 12_345,
        options: Vec::new(),
    });
    TextOptions {
        trace,
        ..TextOptions::default()
    }
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(golden())
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".jsonl").map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() >= 8);
    names
}

#[test]
fn reports_are_as_they_were() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    for name in names() {
        let (dag, report) = measured(&name, &Options::default());
        let options = Options::default();
        insta::assert_snapshot!(
            format!("{name}_text"),
            report_text(&dag, &report, &options, &looks(&name))
        );
        insta::assert_snapshot!(format!("{name}_json"), report_json(&dag, &report, &options));
    }
    let instructions = Options {
        metric: Metric::Counter("instructions".into()),
        ..Options::default()
    };
    insta::assert_snapshot!(
        "instructions_text",
        shown(
            "counters_and_off",
            &instructions,
            &looks("counters_and_off")
        )
    );
    let blocked = Options {
        count_blocked: true,
        ..Options::default()
    };
    insta::assert_snapshot!(
        "count_blocked_text",
        shown("counters_and_off", &blocked, &looks("counters_and_off"))
    );
}

#[test]
fn no_line_is_wider_than_80_columns_and_nothing_steers_the_terminal() {
    for name in names() {
        for charset in [Charset::Unicode, Charset::Ascii, Charset::Strict] {
            let plain = shown(
                &name,
                &Options::default(),
                &TextOptions {
                    charset,
                    ..looks(&name)
                },
            );
            for line in plain.lines() {
                assert!(
                    line.width() <= 80,
                    "{name}, {charset:?}: {} columns: {line}",
                    line.width()
                );
                assert_eq!(line, line.trim_end(), "{name}: blanks at the end");
            }
            assert!(
                !plain.chars().any(|c| c.is_control() && c != '\n'),
                "{name}: a control character"
            );
            if charset == Charset::Strict {
                assert!(plain.is_ascii(), "{name}: {plain}");
            }
            // Colours only add escapes.
            let colored = shown(
                &name,
                &Options::default(),
                &TextOptions {
                    charset,
                    color: true,
                    ..looks(&name)
                },
            );
            assert!(colored.contains('\u{1b}'), "{name}");
            assert_eq!(without_escapes(&colored), plain, "{name}");
        }
    }
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().take_while(|c| *c != 'm').for_each(drop);
        } else {
            out.push(c);
        }
    }
    out
}

fn json(name: &str) -> serde_json::Value {
    let (dag, report) = measured(name, &Options::default());
    serde_json::from_str(&report_json(&dag, &report, &Options::default())).unwrap()
}

/// MODEL.md §8, example A, with its report as in TEXT_TRACE.md.
#[test]
fn example_a_has_the_numbers_of_the_paper() {
    let report = json("example_a");
    let expected = serde_json::json!({
        "workspan_report": 1, "metric": "time", "metric_unit": "ns", "ticks_per_second": 1_000_000_000, "workers": 2,
        "elapsed": 145, "work": 175, "span": 145, "parallelism": 1.2069, "burden": 0, "burdened_span": 145,
        "burdened_parallelism": 1.2069, "tasks": 4, "spawns": 3, "syncs": 2, "average_maximal_strand": 19.4444, "steals": 1,
        "delay_by_edge": {"create": 2, "create_continuation": 0, "wait_continuation": 0, "yield_continuation": 0, "end": 0,
                          "depend": 0, "signal": 0},
        "ready_path": {"work": 145, "busy_delay": 0, "scheduler_delay": 0},
        "parts": []
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&report[key], value, "{key}");
    }
    let ids: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (&f["id"], &f["lost"]))
        .collect();
    assert_eq!(
        ids,
        [
            (&"serial-strand".into(), &80.into()),
            (&"grain-coarse".into(), &13.into())
        ]
    );
    for (key, value) in [
        ("work", 175),
        ("descheduled", 0),
        ("blocked", 0),
        ("recording", 0),
        ("oversubscribed", 0),
        ("delay", 2),
        ("no_work_sched", 0),
        ("no_work_app", 113),
    ] {
        assert_eq!(report["breakdown"][key], value, "{key}");
    }
    let bound = report["speedup"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["workers"] == 2)
        .unwrap();
    assert_eq!(
        (&bound["lower"], &bound["upper"]),
        (&serde_json::json!(0.8304), &serde_json::json!(1.2069))
    );
    assert_eq!(report["regions"][0]["region"], "create_tree");
    assert_eq!(report["regions"][0]["work"], 80);
    let rows: Vec<_> = report["sites"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| {
            (
                s["site"].as_str().unwrap(),
                s["work"].as_u64().unwrap(),
                s["span"].as_u64().unwrap(),
                s["critical_work"].as_u64().unwrap(),
                s["critical_percent"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("root", 175, 145, 85, 58.6207),
            ("L13", 40, 40, 40, 27.5862),
            ("L25", 90, 60, 20, 13.7931),
            ("L10", 30, 30, 0, 0.0),
        ]
    );
}

/// Two tasks of almost 2^63 ns: their sum is beyond what a double holds, and stays whole.
#[test]
fn large_numbers_stay_whole() {
    let (dag, report) = measured("near_2_63", &Options::default());
    let text = report_json(&dag, &report, &Options::default());
    let work = 3 * u128::from((1u64 << 63) - 1) - 2;
    assert!(text.contains(&format!("\"work\": {work},")), "{text}");
}

/// The result of `xtask demo` on a real run, here with known numbers: the last merge runs alone for
/// 16 ms on 4 workers.
#[test]
fn the_verdict_names_the_strand_that_holds_the_merge() {
    let report = json("serial_merge");
    assert_eq!(report["verdict"]["state"], "lost");
    let first = &report["findings"][0];
    assert_eq!(first["id"], "serial-strand");
    let place = &first["place"];
    assert_eq!(place["from"]["kind"], "after_wait");
    assert_eq!(
        (&place["file"], &place["line"]),
        (&"src/sort.rs".into(), &37.into())
    );
    assert_eq!(place["from"]["at"], "src/sort.rs:37");
    assert_eq!(place["to"]["kind"], "end");
    assert_eq!(first["evidence"]["alone"], 16_000);
    let lost = &report["breakdown"];
    let lost: u64 = [
        "descheduled",
        "blocked",
        "recording",
        "delay",
        "no_work_sched",
        "no_work_app",
    ]
    .iter()
    .map(|k| lost[k].as_u64().unwrap())
    .sum();
    let share = 3.0 * 16_000.0 * 100.0 / lost as f64;
    assert!((first["lost_percent"].as_f64().unwrap() - share).abs() < 0.001);
    let text = shown("serial_merge", &Options::default(), &TextOptions::default());
    let sentence = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        sentence.contains("from the join at src/sort.rs:37 (`msort`) to the end of the task, ran alone for 16.0 ms"),
        "{text}"
    );
}

#[test]
fn a_balanced_run_is_not_blamed() {
    assert_eq!(json("balanced")["verdict"]["state"], "nothing");
    let text = shown("balanced", &Options::default(), &TextOptions::default());
    assert!(text.contains("would gain nothing"), "{text}");
}

/// Each warning is next to the number that it concerns: those about everything come first, the
/// others right after their numbers.
#[test]
fn warnings_stand_beside_the_numbers_they_spoil() {
    let text = shown("doubtful", &Options::default(), &looks("doubtful"));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let in_order = [
        "! The program was built without optimisation",
        "! 4096 bytes or more of records were lost",
        "Where 2 x 800 ns went",
        "! Off-CPU times are estimates",
        "kernel.perf_event_paranoid of 2 or less, or CAP_PERFMON, allows it.",
        "! 2 workers shared 1 CPU:",
        "! More strands than the 2 workers",
        "Busy over time",
        "Work 1.24 us +/- 420 ns, span 740 ns +/- 251 ns,",
        "! Strands are so short that probes matter (177 ticks on average; a probe costs 30)",
        "Speedup, workers",
    ];
    let mut from = 0;
    for part in in_order {
        let at = words[from..].find(part);
        from += at.unwrap_or_else(|| panic!("{part}: not there, or not in its place in\n{text}"));
    }
    let json = json("doubtful");
    // 1660 ticks on the CPU less 14 probes of 30.
    assert_eq!(json["work"], 1240, "{json:#}");
    assert_eq!(json["work_uncertainty"], 420);
    assert_eq!(json["span_uncertainty"], 251);
    // The contract's keys (docs/TEXT_TRACE.md).
    assert_eq!(
        (&json["work_error"], &json["span_error"]),
        (&json["work_uncertainty"], &json["span_uncertainty"])
    );
    assert!(json.get("tasks_error").is_none(), "the tasks were counted");
    // Without a correction there is no uncertainty.
    let raw = Options {
        raw: true,
        ..Options::default()
    };
    let text = shown("doubtful", &raw, &looks("doubtful"));
    assert!(text.contains("Work 1.66 us, span 800 ns, "), "{text}");
}
