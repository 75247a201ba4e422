//! The commands as a user meets them: outputs, exit codes, and one clear line for whatever is wrong.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../export/tests/golden")
        .join(name)
}

fn workspan(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan"));
    command.args(arguments).env_remove("NO_COLOR");
    command
}

fn run(arguments: &[&str]) -> Output {
    workspan(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    assert_eq!(stderr(&output), "", "{arguments:?}");
    stdout(&output)
}

/// Exit code 1, nothing on stdout, one line on stderr that names the program, the file and `what`.
fn fails(arguments: &[&str], what: &[&str]) {
    let output = run(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
    assert!(said.starts_with("workspan: "), "{said}");
    for what in what {
        assert!(said.contains(what), "{arguments:?}: no `{what}` in: {said}");
    }
}

#[test]
fn a_bad_file_is_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let example = fs::read_to_string(golden("example_a.jsonl")).unwrap();
    let missing = folder.path().join("missing.wspan");
    let cases: [(String, &[&str]); 8] = [
        (missing.to_str().unwrap().to_owned(), &["missing.wspan"]),
        (folder.path().to_str().unwrap().to_owned(), &["directory"]),
        (file("empty.wspan", b""), &["empty.wspan", "empty"]),
        (
            file("picture.wspan", b"\x89PNG\r\n\x1a\n and so on"),
            &["picture.wspan"],
        ),
        (
            file("prose.txt", b"# Some notes\nof no kind\n"),
            &["prose.txt"],
        ),
        (
            file("v2.jsonl", b"{\"workspan_trace\":2,\"workers\":1}\n"),
            &["v2.jsonl", "version", "2"],
        ),
        (
            file("cut.jsonl", &example.as_bytes()[..example.len() - 30]),
            &["cut.jsonl", "line 22"],
        ),
        (
            file(
                "control.jsonl",
                b"{\"workspan_trace\":1,\"workers\":1,\"time_unit\":\"ns\",\"steals\":\"child\"}\n{\"ev\":\"\\u001b[2J\"}\n",
            ),
            &["line 2"],
        ),
    ];
    for (path, what) in &cases {
        for command in [
            &["report"][..],
            &["report", "--json"],
            &["info"],
            &["export", "--format", "text"],
        ] {
            fails(&[command, &[path]].concat(), what);
        }
    }
}

#[test]
fn a_terminal_is_not_steered_by_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evil\u{1b}[2J.jsonl");
    fs::write(&path, "{}").unwrap();
    let output = workspan(&["report"]).arg(&path).output().unwrap();
    assert!(!stderr(&output).contains('\u{1b}'), "{:?}", stderr(&output));
}

#[test]
fn what_is_intact_is_reported_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let example = fs::read_to_string(golden("example_a.jsonl")).unwrap();
    let path = folder.path().join("cut.jsonl");
    fs::write(&path, &example[..example.len() - 30]).unwrap();
    let path = path.to_str().unwrap();
    let report: serde_json::Value =
        serde_json::from_str(&succeeds(&["report", "--json", "--allow-truncated", path])).unwrap();
    assert_eq!(report["tasks"], 4);
    assert_ne!(
        report["warnings"],
        serde_json::json!([]),
        "the damage is said"
    );
}

#[test]
fn wrong_usage_is_code_2() {
    for arguments in [
        &["reprot"][..],
        &["report"],
        &["report", "--nonsense", "x"],
        &["export", "x"],
        &["record"],
        &[],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stdout(&output), "");
        assert!(
            stderr(&output).contains("Usage:"),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

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
}

#[test]
fn a_trace_is_recognised_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("named.wspan");
    fs::copy(golden("example_a.jsonl"), &path).unwrap();
    let report = succeeds(&["report", path.to_str().unwrap()]);
    assert!(
        report.contains("tree_sum") && report.contains("named.wspan"),
        "{report}"
    );
}

#[test]
fn a_pipe_has_no_colour_and_no_block_characters_unless_asked() {
    let path = golden("serial_merge.jsonl");
    let path = path.to_str().unwrap();
    let plain = succeeds(&["report", path]);
    assert!(plain.is_ascii(), "{plain}");
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(
        plain,
        succeeds(&["report", "--ascii", "--color", "never", path])
    );
    assert!(succeeds(&["report", "--color", "always", path]).contains('\u{1b}'));
}

#[test]
fn flags_change_what_they_say() {
    let path = golden("counters_and_off.jsonl");
    let path = path.to_str().unwrap();
    let json = |flags: &[&str]| -> serde_json::Value {
        serde_json::from_str(&succeeds(&[&["report", "--json"], flags, &[path]].concat())).unwrap()
    };
    let base = json(&[]);
    assert_eq!(
        (&base["metric"], &base["burden"]),
        (&"time".into(), &1.into())
    );
    assert_eq!(json(&["--burden", "7"])["burden"], 7);
    let counted = json(&["--count-blocked"]);
    assert_eq!(
        counted["work"].as_u64().unwrap() - base["work"].as_u64().unwrap(),
        750
    );
    let instructions = json(&["--metric", "instructions"]);
    assert_eq!(
        (&instructions["metric"], &instructions["work"]),
        (&"instructions".into(), &620_000.into())
    );
    fails(
        &["report", "--metric", "cats", path],
        &["cats", "instructions"],
    );
    let rows = |n: &str| {
        succeeds(&[
            "report",
            "--sites",
            n,
            golden("example_a.jsonl").to_str().unwrap(),
        ])
    };
    assert!(rows("2").contains("2 more sites"), "{}", rows("2"));
    assert!(!rows("4").contains("more sites"));
}

#[test]
fn exported_text_reports_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    let out = out.to_str().unwrap();
    for name in [
        "example_a.jsonl",
        "serial_merge.jsonl",
        "counters_and_off.jsonl",
        "near_2_63.jsonl",
    ] {
        let path = golden(name);
        let path = path.to_str().unwrap();
        let text = succeeds(&["export", "--format", "text", path]);
        assert_eq!(
            succeeds(&["export", "--format", "text", path, "-o", out]),
            ""
        );
        assert_eq!(fs::read_to_string(out).unwrap(), text);
        assert_eq!(
            succeeds(&["report", "--json", out]),
            succeeds(&["report", "--json", path]),
            "{name}"
        );
    }
    fails(
        &["export", "--format", "text", out, "-o", out],
        &["out.jsonl", "itself"],
    );
}

#[test]
fn info_says_what_the_trace_is_of() {
    let path = golden("counters_and_off.jsonl");
    let path = path.to_str().unwrap();
    let text = succeeds(&["info", path]);
    for what in [
        "OpenMP",
        "box",
        "2 off-CPU intervals",
        "instructions",
        "not captured",
        "regions",
    ] {
        assert!(text.contains(what), "no `{what}`: {text}");
    }
    let info: serde_json::Value =
        serde_json::from_str(&succeeds(&["info", "--json", path])).unwrap();
    assert_eq!(info["runtime"], "OpenMP");
    assert_eq!(info["tasks"], 2);
    assert_eq!(info["bytes"], fs::metadata(path).unwrap().len());
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let path = golden("balanced.jsonl");
    let mut child = workspan(&["export", "--format", "text", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(stderr(&output), "");
}
