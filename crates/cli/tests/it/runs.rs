//! The commands on several runs, on SQL, and for figures, from a user's view.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../export/tests/golden");
    path.join(name).to_str().unwrap().to_owned()
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(arguments)
        .env_remove("NO_COLOR")
        .output()
        .unwrap()
}

fn code(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn succeeds(arguments: &[&str]) -> String {
    let (code, out, error) = code(arguments);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

#[test]
fn a_broken_limit_has_an_exit_code_of_its_own() {
    let trace = golden("serial_merge.jsonl");
    let (code_, out, _) = code(&["check", &trace, "--min-parallelism", "1000"]);
    assert_eq!(code_, Some(3), "{out}");
    assert!(out.contains("src/sort.rs:37"), "{out}");
    assert!(succeeds(&["check", &trace, "--min-parallelism", "1"]).contains("kept"));
    let same = [
        "check",
        &trace,
        "--baseline",
        &trace,
        "--max-regression",
        "0%",
        "--max-span-growth",
        "0%",
    ];
    assert!(succeeds(&same).contains("All 2 limits are kept"));
    let json = code(&["check", &trace, "--max-delay", "0%", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.1).unwrap();
    assert_eq!(value["limits"][0]["limit"], "max-delay");
    // Wrong usage is not a broken limit, and neither is a missing file.
    assert_eq!(code(&["check", &trace]).0, Some(2));
    assert_eq!(
        code(&["check", &trace, "--max-regression", "5%"]).0,
        Some(2)
    );
    assert_eq!(code(&["check", &trace, "--max-delay", "much"]).0, Some(2));
    assert_eq!(
        code(&["check", "missing.wspan", "--min-parallelism", "1"]).0,
        Some(1)
    );
}

#[test]
fn sides_are_files_or_divided_by_dashes() {
    let (a, b) = (golden("serial_merge.jsonl"), golden("balanced.jsonl"));
    let pair = succeeds(&["compare", &a, &b]);
    assert!(
        pair.contains("serial_merge") && pair.contains("balanced"),
        "{pair}"
    );
    let sides = |arguments: &[&str]| -> Vec<u64> {
        let value: serde_json::Value = serde_json::from_str(&succeeds(arguments)).unwrap();
        let sides = value["sides"].as_array().unwrap();
        sides.iter().map(|s| s["runs"].as_u64().unwrap()).collect()
    };
    assert_eq!(sides(&["compare", "--json", &a, &b, &a]), [1, 1, 1]);
    assert_eq!(
        sides(&["compare", "--json", &a, &a, "--", &b, &b, &b]),
        [2, 3]
    );
    assert_eq!(
        sides(&["compare", "--json", &a, "--", &b, "--", &a, &a]),
        [1, 1, 2]
    );
    assert_eq!(code(&["compare", &a]).0, Some(1));
    assert_eq!(code(&["compare", &a, &b, "--name", "one"]).0, Some(1));
    let named = succeeds(&["compare", &a, &b, "--name", "old,new"]);
    assert!(named.contains("new took"), "{named}");
}

#[test]
fn stretch_of_two_traces() {
    let (a, b) = (golden("serial_merge.jsonl"), golden("balanced.jsonl"));
    let text = succeeds(&["stretch", &a, &b, "--by", "level"]);
    assert!(
        text.contains("Levels") && !text.contains("Code blocks"),
        "{text}"
    );
    let (code_, _, error) = code(&["stretch", &a, &b, "--latency", "cache_misses=90ns"]);
    assert_eq!(code_, Some(1));
    assert!(error.contains("cache_misses"), "{error}");
    for wrong in [
        &["stretch"][..],
        &["stretch", &a],
        &["stretch", &a, &b, "--latency", "x"],
    ] {
        assert_eq!(code(wrong).0, Some(2), "{wrong:?}");
    }
}

#[test]
fn sql_asks_traces_and_databases() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("runs.db");
    let database = database.to_str().unwrap();
    let trace = golden("example_a.jsonl");
    let query = "select level, sum(time) as time from strands group by level";
    let levels = "level,time\r\n0,85\r\n1,20\r\n2,70\r\n";
    assert_eq!(succeeds(&["sql", &trace, query, "--format", "csv"]), levels);
    let export = ["export", "--format", "sqlite", &trace, "-o", database];
    for number in ["run 1", "run 2"] {
        let (code_, _, said) = code(&export);
        assert_eq!(code_, Some(0), "{said}");
        assert!(said.contains(number), "{said}");
    }
    let both = "select run, sum(time) as time from strands group by run";
    assert_eq!(
        succeeds(&["sql", database, both, "--format", "csv"]),
        "run,time\r\n1,175\r\n2,175\r\n"
    );
    assert!(succeeds(&["sql", "--list"]).contains("critical-sites"));
    assert!(succeeds(&["sql", "--schema"]).contains("CREATE TABLE strands"));
    let sites = succeeds(&["sql", &trace, "--query", "critical-sites"]);
    assert!(sites.contains("L13") && sites.contains("27.586"), "{sites}");
    let before = fs::read(database).unwrap();
    for (arguments, what) in [
        (&["sql", &trace, "drop table strands"][..], "only read"),
        (&["sql", database, "delete from runs"], "only read"),
        (&["sql", &trace, "select nonsense from strands"], "--schema"),
        (&["sql", &trace], "no query given"),
        (&["sql", &trace, "--query", "nonsense"], "--list"),
        (&["sql", "select 1"], "no trace given"),
    ] {
        let (code_, _, said) = code(arguments);
        assert_eq!(code_, Some(1), "{arguments:?}");
        assert!(said.contains(what), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read(database).unwrap(), before);
    // A file that is not a database of workspan is never changed.
    let notes = folder.path().join("notes.txt");
    fs::write(&notes, "notes").unwrap();
    let refused = code(&[
        "export",
        "--format",
        "sqlite",
        &trace,
        "-o",
        notes.to_str().unwrap(),
    ]);
    assert_eq!(refused.0, Some(1));
    assert_eq!(fs::read_to_string(&notes).unwrap(), "notes");
    assert_eq!(code(&["export", "--format", "sqlite", &trace]).0, Some(1));
}

#[test]
fn pictures_by_their_ending() {
    let folder = tempfile::tempdir().unwrap();
    let trace = golden("serial_merge.jsonl");
    for kind in ["breakdown", "profile", "speedup", "sites"] {
        for (ending, start) in [("svg", "<svg"), ("csv", "series,"), ("gnuplot", "# Made")] {
            let path = folder.path().join(format!("{kind}.{ending}"));
            assert_eq!(
                succeeds(&["plot", "--kind", kind, &trace, "-o", path.to_str().unwrap()]),
                ""
            );
            assert!(
                fs::read_to_string(&path).unwrap().starts_with(start),
                "{kind}.{ending}"
            );
        }
        let path = folder.path().join(format!("{kind}.png"));
        succeeds(&["plot", "--kind", kind, &trace, "-o", path.to_str().unwrap()]);
        assert!(fs::read(&path).unwrap().starts_with(b"\x89PNG"), "{kind}");
    }
    assert!(succeeds(&["plot", "--kind", "sites", &trace]).starts_with("<svg"));
    for (arguments, what) in [
        (
            &["plot", "--kind", "sites", &trace, &trace][..],
            "one trace",
        ),
        (
            &["plot", "--kind", "sites", &trace, "-o", "x.pdf"],
            "ending",
        ),
        (
            &["plot", "--kind", "sites", &trace, "--format", "png"],
            "-o",
        ),
    ] {
        let (code_, _, said) = code(arguments);
        assert_eq!(code_, Some(1), "{arguments:?}");
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn a_timeline_of_a_range() {
    let trace = golden("serial_merge.jsonl");
    let all = succeeds(&["timeline", &trace]);
    assert!(all.is_ascii() && all.contains("worker 3"), "{all}");
    let part = succeeds(&[
        "timeline", &trace, "--from", "50%", "--to", "60%", "--by", "site", "--width", "120",
    ]);
    assert!(part.contains("A "), "{part}");
    assert_eq!(
        code(&["timeline", &trace, "--from", "60%", "--to", "50%"]).0,
        Some(1)
    );
    assert_eq!(code(&["timeline", &trace, "--from", "soon"]).0, Some(2));
    assert_eq!(code(&["timeline", &trace, "--width", "5"]).0, Some(2));
}

#[test]
fn every_one_of_them_helps_with_examples() {
    for command in ["compare", "check", "stretch", "sql", "timeline", "plot"] {
        let help = succeeds(&[command, "--help"]);
        assert!(help.contains("Examples:\n  workspan "), "{help}");
    }
}
