//! Programs that hang: `--stall` ends them, and the report says which threads wait for what.

use serde_json::Value;

use crate::project::{Project, WORKSPAN, bare, said, trace_of};

const SOURCE: &str = include_str!("../fixtures/faults/src/hangs.rs");

/// The line that has this comment.
fn line(mark: &str) -> u64 {
    let mark = format!("// hang: {mark}");
    let mut lines = (1..).zip(SOURCE.lines());
    lines.find(|(_, line)| line.ends_with(&mark)).unwrap().0
}

/// Records a program that hangs; returns its report, as JSON and as text. The kernel sometimes
/// drops a stack on a busy machine, and with it the line of a wait.
fn ended(name: &str) -> (Value, String) {
    let has_lines = |json: &Value| {
        let mut threads = json["standstill"]["threads"].as_array().unwrap().iter();
        threads.all(|thread| !thread["at"].is_null())
    };
    let mut tries = (0..4).map(|_| ended_once(name));
    let found = tries.find(|(json, _)| !has_stacks() || has_lines(json));
    found.unwrap_or_else(|| ended_once(name))
}

fn ended_once(name: &str) -> (Value, String) {
    let project = Project::new("faults");
    let words = [
        "--stall",
        "2s",
        "--no-report",
        "run",
        "--release",
        "--",
        name,
    ];
    let output = project.cargo_workspan(&words).output().unwrap();
    let message = said(&output);
    assert!(
        message.contains("the program has used no CPU for 2.0 s"),
        "{message}"
    );
    // Ended by SIGTERM.
    assert!(!output.status.success(), "{message}");
    let trace = trace_of(&output, &project.root);
    let report = |more: &[&str]| {
        let mut command = bare(WORKSPAN);
        command.arg("report").args(more).arg(&trace);
        let output = command.current_dir(&project.root).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let json = serde_json::from_str(&report(&["--json"])).unwrap();
    // Without the ends of lines.
    let text = report(&["--long"]);
    (json, text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The kernel provides stacks of threads that leave their CPU only to root.
fn has_stacks() -> bool {
    rustix::process::getuid().is_root()
}

#[test]
fn a_lock_that_is_wanted_above_the_join_of_its_holder_is_told_with_both_lines() {
    let (json, text) = ended("hang_in_join");
    let standstill = &json["standstill"];
    let threads = standstill["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 1, "{json}");
    let joins = format!("src/hangs.rs:{}", line("joins"));
    assert_eq!(threads[0]["below"][0]["at"], *joins, "{json}");
    assert!(text.contains("release it before"), "{text}");
    assert!(
        text.contains(&format!("is in the join at {joins}")),
        "{text}"
    );
    if has_stacks() {
        assert_eq!(threads[0]["waits_for"], "lock", "{json}");
        assert_eq!(threads[0]["at"]["line"], line("wants"), "{json}");
    }
}

#[test]
fn a_task_that_stands_behind_the_one_that_waits_for_it_is_told() {
    let (json, text) = ended("hang_behind_wait");
    let standstill = &json["standstill"];
    let sends = format!("src/hangs.rs:{}", line("sends"));
    assert_eq!(standstill["never_began"][0]["site"], *sends, "{json}");
    assert_eq!(standstill["never_began"][0]["tasks"], 1, "{json}");
    assert!(
        text.contains("nobody runs the tasks behind them in the queue"),
        "{text}"
    );
    if has_stacks() {
        assert_eq!(
            standstill["threads"][0]["at"]["line"],
            line("receives"),
            "{json}"
        );
    }
}

#[test]
fn two_threads_that_hold_each_others_lock_are_told_with_both_lines() {
    let (json, text) = ended("hang_in_order");
    let threads = json["standstill"]["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2, "{json}");
    if has_stacks() {
        let mut lines: Vec<_> = threads
            .iter()
            .map(|t| t["at"]["line"].as_u64().unwrap())
            .collect();
        lines.sort_unstable();
        assert_eq!(lines, [line("first"), line("second")], "{json}");
        assert!(
            text.contains("Take locks in the same order everywhere"),
            "{text}"
        );
    }
}
