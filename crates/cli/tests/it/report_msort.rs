//! The demonstration of `cargo xtask demo`: on a real run the report names the strand with the
//! serial merge, and does not name it in the version with the parallel merge.

use std::io::Write;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "bench/src/bin/msort.rs";

/// The text of the report that `cargo workspan run` prints, in one line, its JSON, and the critical
/// path's stacks.
fn record(merge: &str) -> (String, serde_json::Value, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("msort.wspan");
    let run = Command::new(env!("CARGO_BIN_EXE_cargo-workspan"))
        .current_dir(&root)
        .arg("workspan")
        .arg("-o")
        .arg(&trace)
        .args([
            "run",
            "--release",
            "--package",
            "workspan-bench",
            "--bin",
            "msort",
            "--",
            "--merge",
            merge,
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success(), "{text}");
    assert_eq!(
        String::from_utf8(run.stdout).unwrap(),
        "sorted 10000000 numbers\n"
    );
    let json = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["report", "--json"])
        .arg(&trace)
        .output()
        .unwrap();
    assert!(json.status.success());
    let flame = Command::new(env!("CARGO_BIN_EXE_workspan"))
        .args(["flame", "--of", "critical-path"])
        .arg(&trace)
        .output()
        .unwrap();
    (
        text.split_whitespace().collect::<Vec<_>>().join(" "),
        serde_json::from_slice(&json.stdout).unwrap(),
        String::from_utf8(flame.stdout).unwrap(),
    )
}

#[test]
#[ignore = "builds a kernel in release and sorts ten million numbers twice"]
fn the_report_names_the_serial_merge_and_only_that() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = std::fs::read_to_string(root.join(SOURCE)).unwrap();
    let line = 1 + source
        .lines()
        .position(|l| l.trim_start().starts_with("rayon::join("))
        .unwrap();
    let after_the_join = format!("from the join at {SOURCE}:{line} (`msort`)");

    // The finding about the program is shown next to the loss to other programs, but the lengths
    // come from the run with the least disturbance.
    let share = |json: &serde_json::Value, key: &str| json["breakdown"][key].as_f64().unwrap();
    let disturbed = |json: &serde_json::Value| share(json, "descheduled") / share(json, "work");
    let runs = (0..5).map(|_| record("serial"));
    let quietest = runs.min_by(|a, b| disturbed(&a.1).total_cmp(&disturbed(&b.1)));
    let (text, json, flame) = quietest.unwrap();
    assert!(text.contains(&after_the_join), "{text}");
    let (parallel, ..) = record("parallel");
    assert!(!parallel.contains(&after_the_join), "{parallel}");
    if disturbed(&json) >= 0.2 {
        let line =
            "skipped: what the serial merge costs: other programs used the CPUs in five runs\n";
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        return;
    }
    assert!(
        text.contains("ran alone for") && text.contains("of the lost time"),
        "{text}"
    );
    let findings = json["findings"].as_array().unwrap();
    let named =
        |f: &&serde_json::Value| f["id"] == "serial-strand" && f["place"]["from"]["line"] == line;
    let block = findings
        .iter()
        .find(named)
        .unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(block["place"]["from"]["primitive"], "join");
    let alone = block["evidence"]["alone"].as_u64().unwrap();
    assert!(alone > 0);
    // Every lost tick has one cause; the ticks of this one are at least the loss of the other
    // workers while it ran alone.
    let lost: u64 = [
        "descheduled",
        "blocked",
        "recording",
        "delay",
        "no_work_sched",
        "no_work_app",
    ]
    .iter()
    .map(|key| json["breakdown"][key].as_u64().unwrap())
    .sum();
    let causes = json["causes"].as_array().unwrap();
    let sum: u64 = causes.iter().map(|c| c["lost"].as_u64().unwrap()).sum();
    assert_eq!(sum, lost, "{causes:#?}");
    let others = json["workers"].as_u64().unwrap() - 1;
    assert!(
        block["lost"].as_u64().unwrap() >= alone * others,
        "{block:#}"
    );
    let share = block["lost"].as_f64().unwrap() * 100.0 / lost as f64;
    assert!(
        (block["lost_percent"].as_f64().unwrap() - share).abs() < 0.01,
        "{block:#}"
    );

    // The samples show the function and one of its lines, also in a flame graph of the critical
    // path.
    if json["samples"].is_null() {
        let line = "skipped: samples of the merge sort: the kernel takes none here\n";
        std::io::stdout().write_all(line.as_bytes()).unwrap();
    } else {
        assert_eq!(block["inside"]["function"], "merge_serial", "{block:#}");
        let inside = block["inside"]["line"].as_u64().unwrap() as usize;
        let declared = 1 + source
            .lines()
            .position(|l| l.starts_with("fn merge_serial"))
            .unwrap();
        assert!((declared..declared + 20).contains(&inside), "{block:#}");
        assert!(text.contains("`merge_serial`"), "{text}");
        let of_root = |l: &&str| l.starts_with("root;main;") && l.contains(";merge_serial");
        assert!(flame.lines().any(|l| of_root(&l)), "{flame}");
        let of_tasks = |l: &&str| l.contains("msort: join (") && l.contains("merge_serial");
        assert!(flame.lines().any(|l| of_tasks(&l)), "{flame}");
    }
}
