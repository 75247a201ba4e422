//! `workspan scale` from a user's view.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::native;
use crate::native::skipped;
use crate::project::{Project, WORKSPAN, bare, printed, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn scale(more: &[&str], command: &[&str]) -> Command {
    let mut scale = bare(WORKSPAN);
    scale.arg("scale").args(more).arg("--").args(command);
    scale.env("WORKSPAN_NO_PERF", "1");
    scale
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", said(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn kinds(root: &Value) -> Vec<&str> {
    let remarks = root["remarks"].as_array().unwrap();
    remarks
        .iter()
        .map(|r| r["kind"].as_str().unwrap())
        .collect()
}

/// The C program of `scales.c` for GNU OpenMP.
fn openmp(test: &str, folder: &Path) -> Option<PathBuf> {
    let program = native::try_compile("gcc", "scales.c", folder, &["-fopenmp"]);
    if program.is_none() {
        skipped(test, "no gcc with OpenMP");
    }
    program
}

#[test]
fn measured_points_stand_over_what_a_recorded_run_predicts() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = openmp("scale", folder.path()) else {
        return;
    };
    let (csv, svg) = (folder.path().join("out.csv"), folder.path().join("out.svg"));
    let kept = folder.path().join("runs");
    let more = [
        "--workers",
        "2",
        "--predict",
        "64",
        "--repeat",
        "2",
        "--json",
        "--keep-runs",
        kept.to_str().unwrap(),
        "-o",
        csv.to_str().unwrap(),
        "-o",
        svg.to_str().unwrap(),
    ];
    let output = scale(&more, &[program.to_str().unwrap()]).output().unwrap();
    let root = json(&output);
    let points = root["points"].as_array().unwrap();
    let workers: Vec<u64> = points
        .iter()
        .map(|p| p["workers"].as_u64().unwrap())
        .collect();
    // One is always there: speedups are over it.
    assert_eq!(workers, [1, 2, 64]);
    for point in &points[..2] {
        let times = point["measured"]["elapsed_ns"].as_array().unwrap();
        assert_eq!(times.len(), 2, "{point}");
    }
    assert_eq!(points[0]["measured"]["speedup"], 1.0);
    assert!(points[2]["measured"].is_null());
    for point in points {
        let (lower, upper) = (
            point["lower"].as_f64().unwrap(),
            point["upper"].as_f64().unwrap(),
        );
        let simulated = point["simulated"]["speedup"].as_f64().unwrap();
        assert!(lower <= upper && simulated <= upper * 1.001, "{point}");
    }
    // fib(28) down to 16: each of the 609 calls above creates a task.
    assert_eq!(root["predictions"]["spawns"], 609);
    let recorded = root["recorded"].as_array().unwrap();
    assert_eq!(
        (&recorded[1]["asked"], &recorded[1]["workers"]),
        (&1.into(), &1.into())
    );
    assert!(!kinds(&root).contains(&"ignores"), "{root}");
    let lines = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("measured"));
    // What was kept are runs like any other.
    let compared = bare(WORKSPAN)
        .args(["compare", "--json"])
        .args([
            kept.join("workers-001.wspan"),
            kept.join("workers-002.wspan"),
        ])
        .output()
        .unwrap();
    assert!(compared.status.success(), "{}", said(&compared));
    // A file that is not a trace is not overwritten.
    std::fs::write(kept.join("workers-002.wspan"), "notes").unwrap();
    let again = scale(&more, &[program.to_str().unwrap()]).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("is not a trace"), "{}", said(&again));
}

#[test]
fn a_program_that_ignores_the_thread_count_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = openmp("scale ignored", folder.path()) else {
        return;
    };
    let program = program.to_str().unwrap();
    let more = ["--workers", "1,2", "--repeat", "1", "--predict", "2"];
    let run = |command: &[&str], more: &[&str]| scale(more, command).output().unwrap();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        return skipped(
            "scale ignored",
            "one CPU: nothing is recorded on two workers",
        );
    }
    let text = printed(&run(&[program, "2"], &more));
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("had 2 workers each time, although 1 and 2 were requested"),
        "{text}"
    );
    assert!(words.contains("write {workers} in its place"), "{text}");
    // As an argument it is heard.
    let root = json(&run(
        &[program, "{workers}"],
        &[&more[..], &["--json"]].concat(),
    ));
    assert!(!kinds(&root).contains(&"ignores"), "{root}");
}

#[test]
fn cargo_programs_run_bare_and_as_cargo_would_start_them() {
    let project = Project::new("sorter");
    let mut command = scale(
        &["--workers", "1,2", "--repeat", "2", "--json"],
        &["cargo", "run", "--offline", "--", "a b"],
    );
    let output = command.current_dir(&project.root).output().unwrap();
    let root = json(&output);
    assert_eq!(root["program"], "sorter");
    assert_eq!(
        root["points"][1]["measured"]["elapsed_ns"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(
        root["predictions"]["spawns"].as_u64().unwrap() > 0,
        "{root}"
    );
    assert_eq!(root["recorded"][0]["asked"], root["recorded"][0]["workers"]);
    // Built where cargo builds without us as well, so that it is the user's own program that is
    // measured.
    assert!(project.root.join("target/debug/sorter").is_file());
    // The error for a failing program has its last line.
    let mut command = scale(
        &["--workers", "1", "--no-record"],
        &["cargo", "run", "--offline", "--", "exit", "7"],
    );
    let failed = command.current_dir(&project.root).output().unwrap();
    assert_eq!(failed.status.code(), Some(1));
    assert!(
        said(&failed).contains("exit status: 7"),
        "{}",
        said(&failed)
    );
    let mut command = scale(&[], &["cargo", "build", "--offline"]);
    let none = command.current_dir(&project.root).output().unwrap();
    assert!(
        said(&none).contains("cargo would start no program"),
        "{}",
        said(&none)
    );
}

#[test]
fn without_a_recorded_run_there_is_still_a_measured_curve() {
    let more = ["--workers", "1,2", "--repeat", "1"];
    let text = printed(&scale(&more, &["/bin/true"]).output().unwrap());
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "No predictions:",
        "The measured points cannot be compared with the bounds",
        "starting the process",
    ] {
        assert!(words.contains(part), "{part} in {text}");
    }
    // The error for a program that can't be recorded has the recorder's message.
    let script = tempfile::tempdir().unwrap();
    let path = script.path().join("run.sh");
    std::fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, executable).unwrap();
    let text = printed(&scale(&more, &[path.to_str().unwrap()]).output().unwrap());
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("is a script"), "{text}");
    assert!(!words.contains("exit status"), "{text}");
    // Each run gets its number of workers, and as many CPUs.
    let says = "test $RAYON_NUM_THREADS = $OMP_NUM_THREADS && test $(nproc --all) -ge 1 && test $(nproc) -le $OMP_NUM_THREADS";
    let more = ["--workers", "1,2", "--repeat", "1", "--no-record"];
    let output = scale(&more, &["sh", "-c", says]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let output = scale(&more, &["sh", "-c", "exit $((OMP_NUM_THREADS - 1))"])
        .output()
        .unwrap();
    assert!(
        said(&output).contains("exit status: 1"),
        "{}",
        said(&output)
    );
}

#[test]
fn wrong_use_is_said_before_anything_runs() {
    for (more, command, words) in [
        (
            &["--workers", "0"][..],
            &["true"][..],
            "not a number of workers",
        ),
        (&["--workers", "4..2"], &["true"], "ends before it starts"),
        (&["--policy", "worst-first"], &["true"], "work-first"),
        (&["--repeat", "0"], &["true"], "--repeat"),
        (&["-o", "out.txt"], &["true"], "the ending says no format"),
        (
            &["-o", "/no/such/folder/x.csv"],
            &["true"],
            "can't be written",
        ),
        (&[], &["./no-such-program"], "no-such-program"),
        (&[], &[], "COMMAND"),
    ] {
        let output = scale(more, command).output().unwrap();
        let said = said(&output);
        assert!(
            !output.status.success() && said.contains(words),
            "{more:?}: {said}"
        );
        assert!(output.stdout.is_empty(), "{more:?}");
    }
}

/// Ctrl-C ends the program that runs and leaves no file.
#[test]
fn an_interrupted_measurement_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("out.csv");
    let started = folder.path().join("started");
    let script = format!("touch {}; exec sleep 600", started.display());
    let mut child = scale(
        &["--no-record", "-o", csv.to_str().unwrap()],
        &["sh", "-c", &script],
    )
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    while !started.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("interrupted; nothing was written"));
    assert!(!csv.exists());
}
