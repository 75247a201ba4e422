//! The usual range of a quantity, and its changes.

use std::path::{Path, PathBuf};

use crate::{add, lake, printed};

/// A run recorded at the given minute, with a task of `ns` nanoseconds and its creator.
fn trace(folder: &Path, minute: u64, ns: u64) -> PathBuf {
    let recorded = format!("2026-11-26 10:{minute:02}:00 UTC");
    let mut text = format!(
        "{{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\",\"name\":\"prog\",\
         \"facts\":[{{\"key\":\"recorded\",\"value\":\"{recorded}\"}}]}}\n"
    );
    let mut event = |t: u64, what: &str| text.push_str(&format!("{{\"t\":{t},{what}}}\n"));
    event(0, "\"ev\":\"begin\",\"w\":0,\"task\":0");
    event(
        1000,
        "\"ev\":\"create\",\"w\":0,\"task\":0,\"child\":1,\"site\":\"prog.c:7\"",
    );
    event(1000, "\"ev\":\"resume\",\"w\":0,\"task\":0");
    event(1000, "\"ev\":\"begin\",\"w\":1,\"task\":1");
    event(2000, "\"ev\":\"wait\",\"w\":0,\"task\":0");
    event(1000 + ns, "\"ev\":\"end\",\"w\":1,\"task\":1");
    event(1000 + ns, "\"ev\":\"resume\",\"w\":0,\"task\":0");
    event(3000 + ns, "\"ev\":\"end\",\"w\":0,\"task\":0");
    let path = folder.join(format!("{minute}-{ns}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

/// A lake of 30 runs of six commits; from the fourth commit on, the task takes a third longer.
fn lake_with_a_step(folder: &Path) -> PathBuf {
    let root = folder.join("lake");
    for commit in 0..6u64 {
        let runs: Vec<PathBuf> = (0..5u64)
            .map(|i| {
                let step = if commit >= 3 { 40_000 } else { 0 };
                let noise = (commit * 5 + i) * 7919 % 4001;
                trace(folder, commit * 5 + i, 120_000 + step + noise)
            })
            .collect();
        let tag = format!("commit=c{commit}");
        add(&root, &runs, &["--tag", &tag, "--tag", "branch=main"]);
    }
    root
}

#[test]
fn the_commit_of_a_change_is_found_and_a_worse_run_is_told_with_its_site() {
    let folder = tempfile::tempdir().unwrap();
    let root = lake_with_a_step(folder.path());
    let root = root.to_str().unwrap();
    let plot = folder.path().join("work.svg");
    let arguments = [
        "history",
        root,
        "--project",
        "prog",
        "--site",
        "prog.c:7",
        "--format",
        "json",
        "--plot",
    ];
    let text = printed(&[&arguments[..], &[plot.to_str().unwrap()]].concat());
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told["runs"].as_array().unwrap().len(), 30);
    let changes = told["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0]["commit"], "c3");
    let svg = std::fs::read_to_string(plot).unwrap();
    assert_eq!(svg.matches("<circle").count(), 30);

    let check = |ns: u64| {
        let run = trace(folder.path(), 59, ns);
        lake(&[
            "check",
            run.to_str().unwrap(),
            "--baseline-lake",
            root,
            "--same",
            "branch=main",
            "--format",
            "json",
        ])
    };
    let usual = check(162_000);
    assert_eq!(
        usual.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&usual.stdout)
    );
    let worse = check(190_000);
    assert_eq!(worse.status.code(), Some(3));
    let told: serde_json::Value = serde_json::from_slice(&worse.stdout).unwrap();
    let span = told["checked"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["quantity"] == "span")
        .unwrap();
    assert_eq!(span["worse"], true);
    assert_eq!(span["sites"][0]["label"], "prog.c:7");
    // The runs before the step are excluded: with them, a further increase would not be noticed.
    assert_eq!(span["runs"], 15, "{span}");
}

#[test]
fn few_runs_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    let runs: Vec<PathBuf> = (0..4).map(|i| trace(folder.path(), i, 1000 + i)).collect();
    add(&root, &runs[..3], &[]);
    let output = lake(&[
        "check",
        runs[3].to_str().unwrap(),
        "--baseline-lake",
        root.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("has 3 runs"), "{said}");
}
