//! `workspan bench runtimes` on the runtimes this machine has.

use std::process::{Command, Output};

const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");

fn bench(folder: &std::path::Path, arguments: &[&str]) -> Output {
    Command::new(WORKSPAN)
        .args(["bench", "runtimes"])
        .args(arguments)
        .env("XDG_CACHE_HOME", folder)
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap()
}

#[test]
fn runtimes_are_compared_on_the_same_work() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("out.csv");
    let svg = folder.path().join("out.svg");
    let files = [
        "--csv",
        csv.to_str().unwrap(),
        "--svg",
        svg.to_str().unwrap(),
    ];
    let mut arguments = vec!["--kernels", "nqueens", "--workers", "1,2", "--repeat", "2"];
    arguments.extend(["--runtimes", "serial,libgomp,onetbb"]);
    arguments.extend(files);
    let output = bench(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(text.contains("nqueens 13 4, 1 worker:"), "{text}");
    assert!(text.contains("nqueens 13 4, 2 workers:"), "{text}");
    // A missing runtime is named with its remedy.
    for title in ["serial elision", "GNU OpenMP", "oneTBB"] {
        let line = text
            .lines()
            .find(|l| l.trim_start().starts_with(title))
            .unwrap();
        assert!(
            !line.contains("not here") || line.contains("install"),
            "{line}"
        );
    }
    let table = std::fs::read_to_string(&csv).unwrap();
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let parts = [
        "work",
        "delay",
        "no_work_sched",
        "no_work_app",
        "descheduled",
        "blocked",
        "recording",
    ];
    let mut recorded = 0;
    for line in lines {
        // Texts in quotes have commas.
        let plain: String = line.split('"').step_by(2).collect();
        let fields: Vec<&str> = plain.split(',').collect();
        let number = |name: &str| fields[column(name)].parse::<u64>().unwrap();
        assert!(number("elapsed") > 0, "{line}");
        if fields[column("tasks")].is_empty() {
            continue;
        }
        recorded += 1;
        let sum: u64 = parts.iter().map(|part| number(part)).sum();
        let whole = number("trace_workers") * number("trace_elapsed");
        // In ticks they are equal; each part is rounded to ns separately.
        assert!(whole.abs_diff(sum) <= 16, "{line}");
        // The program's tasks are the same on any runtime: its spawns are the placements of the
        // first four queens.
        assert_eq!(number("spawns"), 7_579, "{line}");
    }
    assert!(
        recorded >= 2,
        "the serial elision tells its tasks by itself: {table}"
    );
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    assert!(picture.contains("prefers-color-scheme:dark"));
    assert_eq!(
        picture.matches("<text").count(),
        picture.matches("</text>").count()
    );
    // Its traces are removed with it.
    let tool = std::fs::read_dir(folder.path().join("workspan")).unwrap();
    let bench = tool
        .flatten()
        .find(|e| e.path().join("bench").is_dir())
        .unwrap();
    let left = std::fs::read_dir(bench.path().join("bench"))
        .unwrap()
        .flatten();
    assert!(
        left.into_iter()
            .all(|e| !e.file_name().to_string_lossy().starts_with("run-"))
    );
}

#[test]
fn wrong_names_are_refused_with_the_right_ones() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        (["--kernels", "sort"], "no kernel `sort`; there are fib, "),
        (
            ["--runtimes", "tbb"],
            "no runtime `tbb`; there are serial, rayon, ",
        ),
        (
            ["--csv", "/nowhere/x.csv"],
            "/nowhere/x.csv: can't be written",
        ),
    ] {
        let output = bench(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("out.csv");
    let mut child = Command::new(WORKSPAN)
        .args([
            "bench",
            "runtimes",
            "--runtimes",
            "serial",
            "--kernels",
            "nqueens",
            "--repeat",
            "1000",
        ])
        .arg("--csv")
        .arg(&csv)
        .env("XDG_CACHE_HOME", folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It prints what it does; the first word says that it builds or measures.
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("1 of 1") {
        line.clear();
        let read = std::io::BufRead::read_line(&mut said, &mut line).unwrap();
        if read == 0 {
            break;
        }
    }
    let there = line.contains("1 of 1");
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    if there {
        assert_eq!(status.code(), Some(130));
    }
    assert!(!csv.exists());
}
