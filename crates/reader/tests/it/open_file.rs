//! Opening files: invalid files, and the intact part of a damaged one.

use std::fs;
use std::path::Path;

use workspan_dag::{Dag, Error};
use workspan_reader::{OpenOptions, open, text};

const WHOLE: &str = r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}
{"ev":"begin","t":0,"w":0,"task":0}
{"ev":"scope","task":0,"scope":1,"kind":"group"}
{"ev":"create","t":5,"w":0,"task":0,"child":1,"site":"a.rs:1"}
{"ev":"resume","t":5,"w":0,"task":0}
{"ev":"wait","t":5,"w":0,"task":0,"scope":1}
{"ev":"begin","t":6,"w":0,"task":1}
{"ev":"end","t":9,"w":0,"task":1}
{"ev":"resume","t":9,"w":0,"task":0}
{"ev":"end","t":12,"w":0,"task":0}
"#;

fn message(path: &Path) -> String {
    let error = open(path, &OpenOptions::default()).err();
    let shown = error.map_or("no error".into(), |e: Error| e.to_string());
    shown.replace(&path.display().to_string(), "FILE")
}

#[test]
fn what_is_no_trace_is_said_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.wspan");
    assert_eq!(
        message(&path),
        "FILE: no such file; expected a trace, as `workspan record -o FILE -- COMMAND` writes it"
    );
    assert_eq!(
        message(dir.path()),
        "FILE: is a directory; expected a trace file, as those in target/workspan/runs/<time>/"
    );
    fs::write(&path, "").unwrap();
    assert_eq!(
        message(&path),
        "FILE: is empty; expected a trace: did the recorded program start?"
    );
    fs::write(&path, "\x7fELF rubbish").unwrap();
    assert_eq!(
        message(&path),
        "FILE: is not a trace; expected a recorded trace (.wspan), a text trace, which starts with {\"workspan_trace\":1, or DAG Recorder's .dag, WoolPlot's log, otf2-print's text of an OTF2 archive, Cilkscale's CSV, TaskProf's CSV"
    );
    fs::write(&path, WHOLE.replacen("_trace\":1", "_trace\":3", 1)).unwrap();
    assert_eq!(
        message(&path),
        "FILE: line 1: version 3 of the text trace; expected version 1, the one this workspan reads: get a newer workspan or write version 1"
    );
    fs::write(&path, WHOLE.replacen("\"t\":12", "\"t\":8", 1)).unwrap();
    assert_eq!(
        message(&path),
        "FILE: line 10: task 0: `t` is 8, earlier than the task's line before it at 9; expected 9 or later"
    );
}

#[test]
fn a_text_trace_is_known_by_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("no-extension");
    fs::write(&path, WHOLE).unwrap();
    assert_eq!(
        open(&path, &OpenOptions::default()).unwrap(),
        text::read_str(WHOLE).unwrap()
    );
}

fn lenient(text: &str) -> Dag {
    text::read_with(
        text.as_bytes(),
        &OpenOptions {
            allow_truncated: true,
            ..OpenOptions::default()
        },
    )
    .unwrap()
}

#[test]
fn what_stands_before_the_damage_is_read() {
    // Cut in the middle of the line that resumes task 0.
    let cut = &WHOLE[..WHOLE.find(r#"{"ev":"resume","t":9"#).unwrap() + 12];
    assert!(text::read_str(cut).is_err());
    let dag = lenient(cut);
    assert_eq!([0, 1].map(|t| dag.tasks.number(t)), [0, 1]);
    assert_eq!(dag.tasks.len(), 2);
    assert_eq!(dag.strands.end, [5, 9]);
    assert_eq!(
        dag.meta.warnings[0],
        "The trace is damaged (line 9: not JSON (EOF while parsing a string, column 12); expected one JSON object a line); what stands before is shown."
    );
    assert!(
        dag.meta
            .warnings
            .iter()
            .any(|w| w.starts_with("Tasks without an end in the trace")),
        "{:?}",
        dag.meta.warnings
    );
}

#[test]
fn a_whole_trace_is_the_same_with_allow_truncated() {
    assert_eq!(lenient(WHOLE), text::read_str(WHOLE).unwrap());
}

#[test]
fn every_prefix_with_a_task_in_it_is_read() {
    let header = WHOLE.find('\n').unwrap();
    for end in header + 40..WHOLE.len() {
        let dag = lenient(&WHOLE[..end]);
        assert!(!dag.tasks.is_empty());
    }
}

/// Times up to 2^63 − 1, whose sum exceeds 2^64.
#[test]
fn the_largest_times_fit() {
    let max = i64::MAX as u64;
    let mut trace =
        String::from(r#"{"workspan_trace":1,"workers":4,"time_unit":"ns","steals":"child"}"#);
    for w in 0..4 {
        trace += &format!(
            "\n{{\"ev\":\"begin\",\"t\":0,\"w\":{w},\"task\":{w}}}\n{{\"ev\":\"end\",\"t\":{max},\"w\":{w},\"task\":{w}}}"
        );
    }
    let dag = text::read_str(&trace).unwrap();
    assert_eq!(dag.strands.end, [max; 4]);
    let mut out = Vec::new();
    text::write(&dag, &mut out).unwrap();
    assert_eq!(text::read(&out).unwrap(), dag);
}

/// Nested tree scopes share their members; the lists of what each wait joins must not grow with the
/// depth.
#[test]
fn deep_nests_of_tree_scopes_stay_linear() {
    let mut trace =
        String::from(r#"{"workspan_trace":1,"workers":1,"time_unit":"ns","steals":"child"}"#);
    let depth = 20_000u64;
    let mut line = |text: String| {
        trace.push('\n');
        trace += &text;
    };
    for task in 0..depth {
        line(format!(
            r#"{{"ev":"begin","t":{task},"w":0,"task":{task}}}"#
        ));
        if task + 1 < depth {
            line(format!(
                r#"{{"ev":"scope","task":{task},"scope":{task},"kind":"tree"}}"#
            ));
            line(format!(
                r#"{{"ev":"create","t":{task},"w":0,"task":{task},"child":{}}}"#,
                task + 1
            ));
            line(format!(
                r#"{{"ev":"resume","t":{task},"w":0,"task":{task}}}"#
            ));
            line(format!(
                r#"{{"ev":"wait","t":{task},"w":0,"task":{task},"scope":{task}}}"#
            ));
        }
    }
    for task in (0..depth).rev() {
        if task + 1 < depth {
            line(format!(
                r#"{{"ev":"resume","t":{},"w":0,"task":{task}}}"#,
                2 * depth - task
            ));
        }
        line(format!(
            r#"{{"ev":"end","t":{},"w":0,"task":{task}}}"#,
            2 * depth - task
        ));
    }
    let dag = text::read_str(&trace).unwrap();
    assert!(
        dag.waits.tasks.items.len() < 2 * depth as usize,
        "{}",
        dag.waits.tasks.items.len()
    );
}
