//! The commands from a user's view: outputs, exit codes, and one clear line for each error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../export/tests/golden")
        .join(name)
}

fn workspan(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workspan"));
    command.args(arguments).env_remove("NO_COLOR");
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    workspan(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn succeeds(arguments: &[&str]) -> String {
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
pub(crate) fn fails(arguments: &[&str], what: &[&str]) {
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

/// A file that is not a trace is refused before the server listens; an error on the page would come
/// too late.
#[test]
fn no_page_opens_of_what_is_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let missing = folder.path().join("missing.wspan");
    let good = golden("example_a.jsonl").to_str().unwrap().to_owned();
    let cases: [(String, &[&str]); 5] = [
        (
            missing.to_str().unwrap().to_owned(),
            &["missing.wspan", "no such file", "workspan record"],
        ),
        (folder.path().to_str().unwrap().to_owned(), &["directory"]),
        (file("empty.wspan", b""), &["empty.wspan", "is empty"]),
        (
            file("picture.wspan", b"\x89PNG\r\n\x1a\n and so on"),
            &["picture.wspan", "is not a trace", "expected"],
        ),
        (
            file("head.wspan", &workspan_trace::header::MAGIC),
            &["head.wspan"],
        ),
    ];
    for (path, what) in &cases {
        fails(&["view", "--no-open", path], what);
        fails(&["view", "--no-open", &good, path], what);
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
fn a_small_stack_limit_is_enough() {
    let trace = golden("serial_merge.jsonl");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -s 64; exec \"$0\" report \"$1\""]);
    let output = shell
        .arg(env!("CARGO_BIN_EXE_workspan"))
        .arg(&trace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        stdout(&output),
        succeeds(&["report", trace.to_str().unwrap()])
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
fn a_page_is_written_beside_its_trace_and_over_nothing_but_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let [trace, page] = ["run.jsonl", "run.html"].map(|name| folder.path().join(name));
    fs::copy(golden("example_a.jsonl"), &trace).unwrap();
    fs::write(&page, "mine").unwrap();
    let words = ["html", trace.to_str().unwrap()];
    fails(&words, &["run.html: exists and is not a report"]);
    assert_eq!(fs::read(&page).unwrap(), b"mine");
    fs::remove_file(&page).unwrap();
    for _ in 0..2 {
        let output = run(&words);
        if stderr(&output).contains("cargo xtask ui") {
            assert!(!page.exists(), "this build has no page to write");
            continue;
        }
        assert!(stdout(&output).starts_with(page.to_str().unwrap()));
        assert!(
            fs::read_to_string(&page)
                .unwrap()
                .starts_with("<!doctype html>")
        );
    }
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

/// DAG Recorder's format has one root; the run has two.
#[test]
fn a_refused_export_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.dag");
    let [trace, path] = [golden("doubtful.jsonl"), file.clone()];
    let [trace, path] = [trace.to_str().unwrap(), path.to_str().unwrap()];
    let words = ["export", "--format", "dag-recorder", trace, "-o", path];
    fails(&words, &["run.dag: can't be written", "2 roots"]);
    assert!(!file.exists());
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
    let path = path.to_str().unwrap();
    let rows = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) select i from n";
    for arguments in [
        &["export", "--format", "text", path][..],
        &["sql", path, rows],
    ] {
        let mut child = workspan(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {:?}",
            output.status
        );
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn statistics_follow_the_report() {
    let path = golden("example_a.jsonl");
    let path = path.to_str().unwrap();
    let plain = succeeds(&["report", path]);
    let more = succeeds(&["report", "--statistics", path]);
    let statistics = more.strip_prefix(&plain).unwrap();
    assert!(statistics.contains("Lengths") && statistics.contains("Thief, victim"));
    let json = |flags: &[&str]| -> serde_json::Value {
        serde_json::from_str(&succeeds(&[&["report", "--json"], flags, &[path]].concat())).unwrap()
    };
    assert_eq!(json(&[]).get("statistics"), None);
    let steals = &json(&["--statistics"])["statistics"]["steals"];
    assert_eq!(steals["matrix"], serde_json::json!([[0, 0], [1, 0]]));
}

#[test]
fn tables_of_other_tools_are_reported_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let head = "tag,work (seconds),span (seconds),parallelism,burdened_span (seconds),burdened_parallelism";
    let table = format!(
        "{head},1c time (seconds),2c time (seconds)\nsort,3,1,3,1,3,3,2\n,4,1,4,1.25,3.2,4.5,2.5\n"
    );
    let cilkscale = file("cilkscale.csv", &table);
    let text = succeeds(&["report", &cilkscale]);
    assert!(
        text.contains("(the whole program)") && text.contains("sort"),
        "{text}"
    );
    assert!(
        text.contains("Not told: when and where anything ran"),
        "{text}"
    );
    let out = folder.path().join("points.csv");
    let out = out.to_str().unwrap();
    let scale = [
        "scale",
        "--from",
        &cilkscale,
        "--predict",
        "2",
        "--json",
        "-o",
        out,
    ];
    let json: serde_json::Value = serde_json::from_str(&succeeds(&scale)).unwrap();
    // T1 / (T1/P + 1.7 (1 - 1/P) T) = 4 / (2 + 1.7 * 0.5 * 1.25); the speedup is 4.5 / 2.5.
    let point = &json["points"][1];
    assert_eq!(point["workers"], 2);
    assert_eq!(point["lower"], 1.306122);
    assert_eq!(point["upper"], 2.0);
    assert_eq!(point["measured"]["speedup"], 1.8);
    assert_eq!(json["predictions"]["spawns"], serde_json::Value::Null);
    let points = fs::read_to_string(out).unwrap();
    assert_eq!(points.lines().count(), 3, "{points}");
    fails(
        &["scale", "--from", &cilkscale, "--tag", "merge"],
        &["merge", "`sort`"],
    );
    fails(
        &["whatif", &cilkscale],
        &["without a timeline", "workspan report"],
    );
    // Sites as TaskProf has them come back.
    let trace = golden("example_a.jsonl");
    let csv = succeeds(&["export", "--format", "taskprof", trace.to_str().unwrap()]);
    assert!(
        csv.starts_with("Source file,Line number,Parallelism\nmain,0,1.206897,58.620690\n"),
        "{csv}"
    );
    let profile = file("parallelism_profile.csv", &csv);
    let again: serde_json::Value =
        serde_json::from_str(&succeeds(&["report", "--json", &profile])).unwrap();
    assert_eq!(again["format"], "TaskProf's CSV");
    assert_eq!(again["sites"][0]["file"], "main");
    assert_eq!(again["sites"][0]["parallelism"], 1.206897);
}

/// A root that waits for two tasks of `ticks` each, on one worker or two.
fn two_tasks(workers: u64, ticks: u64) -> String {
    let second = if workers == 1 { 10 + ticks } else { 10 };
    let end = second + ticks;
    let w = workers - 1;
    format!(
        r#"{{"workspan_trace":1,"workers":{workers},"time_unit":"ns","steals":"child","name":"two"}}
{{"ev":"begin","t":0,"w":0,"task":0}}
{{"ev":"create","t":10,"w":0,"task":0,"child":1,"site":"two.rs:3"}}
{{"ev":"resume","t":10,"w":0,"task":0}}
{{"ev":"create","t":10,"w":0,"task":0,"child":2,"site":"two.rs:3"}}
{{"ev":"resume","t":10,"w":0,"task":0}}
{{"ev":"wait","t":10,"w":0,"task":0}}
{{"ev":"begin","t":10,"w":0,"task":1}}
{{"ev":"end","t":{one},"w":0,"task":1}}
{{"ev":"begin","t":{second},"w":{w},"task":2}}
{{"ev":"end","t":{end},"w":{w},"task":2}}
{{"ev":"resume","t":{end},"w":0,"task":0}}
{{"ev":"end","t":{end},"w":0,"task":0}}
"#,
        one = 10 + ticks,
    )
}

#[test]
fn a_serial_run_shows_what_was_stretched() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let serial = write("serial.jsonl", two_tasks(1, 1000));
    let run = write("run.jsonl", two_tasks(2, 1700));
    let findings = |flags: &[&str]| -> Vec<(String, u64)> {
        let json = succeeds(&[&["report", "--json"], flags, &[&run]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let causes = json["causes"].as_array().unwrap().iter();
        let rows = causes.map(|c| {
            let id = c["id"].as_str().unwrap().to_owned();
            (id, c["lost"].as_u64().unwrap())
        });
        rows.filter(|c| c.0 == "stretch").collect()
    };
    assert_eq!(findings(&[]), []);
    // Two tasks of 1700 instead of 1000.
    assert_eq!(
        findings(&["--serial", &serial]),
        [("stretch".to_owned(), 1400)]
    );
    let text = succeeds(&["report", "--serial", &serial, &run]);
    assert!(text.contains("two.rs:3"), "{text}");
    assert_ne!(text, succeeds(&["report", &run]));
    // Compared with itself, nothing took longer.
    assert_eq!(findings(&["--serial", &run]), []);
    fails(
        &["report", "--serial", "nowhere.wspan", &run],
        &["nowhere.wspan"],
    );
    fails(
        &["report", "--serial", &serial, "--metric", "cycles", &run],
        &["--serial", "--metric"],
    );
}

#[test]
fn bandwidth_runs_copies_side_by_side() {
    let json = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["bandwidth", "--copies", "2", "--repeat", "2", "--json"])
        .args(["--", "sh", "-c", "test $RAYON_NUM_THREADS = 1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&json.stderr);
    assert!(json.status.success(), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["alone"].as_array().unwrap().len(), 2);
    assert_eq!(json["together"].as_array().unwrap().len(), 4);

    let failed = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["bandwidth", "--copies", "2", "--", "sh", "-c"])
        .arg("echo no such input >&2; exit 3")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&failed.stderr);
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(said.contains("exit status: 3: no such input"), "{said}");
}

/// A report ends with the next command to call, and findings name commands: all of them exist.
#[test]
fn what_a_report_suggests_exists() {
    let folder = golden("balanced.jsonl").parent().unwrap().to_owned();
    let mut suggested = std::collections::BTreeSet::new();
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let text = stdout(&run(&["report", file.to_str().unwrap()]));
        let words: Vec<&str> = text.split_whitespace().collect();
        let named = words.windows(2).filter(|pair| pair[0] == "workspan");
        suggested.extend(named.map(|pair| pair[1].to_owned()));
    }
    for command in ["view", "help"] {
        assert!(suggested.contains(command), "{suggested:?}");
    }
    for command in &suggested {
        let help = run(&[command, "--help"]);
        assert!(help.status.success(), "{command}: {}", stderr(&help));
    }
}
