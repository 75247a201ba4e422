//! `--fold` on real processes: the same numbers from a far smaller trace, also if the process is
//! killed.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::native;
use serde_json::Value;

const WORKSPAN: &str = env!("CARGO_BIN_EXE_workspan");

fn program(folder: &Path) -> PathBuf {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let flag = format!("-I{}", include.display());
    native::compile("gcc", "tiny.c", folder, &[&flag])
}

/// Of programs on OpenMP.
const THREADS: u64 = 2;

struct Run {
    trace: PathBuf,
    said: String,
    on_error: String,
}

fn record(folder: &Path, flags: &[&str], arguments: &[&str]) -> Run {
    record_program(&folder.join("tiny"), folder, flags, arguments)
}

fn record_program(program: &Path, folder: &Path, flags: &[&str], arguments: &[&str]) -> Run {
    let trace = folder.join("run.wspan");
    let _ = std::fs::remove_file(&trace);
    let output: Output = Command::new(WORKSPAN)
        .args(["record", "-o"])
        .arg(&trace)
        .args(flags)
        .arg("--")
        .arg(program)
        .args(arguments)
        .env("OMP_NUM_THREADS", THREADS.to_string())
        .output()
        .unwrap();
    Run {
        trace,
        said: String::from_utf8(output.stdout).unwrap(),
        on_error: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    fn json(&self, command: &str) -> Value {
        let output = Command::new(WORKSPAN)
            .args([command, "--json"])
            .arg(&self.trace)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn created(&self) -> u64 {
        let line = self.said.lines().find_map(|l| l.strip_prefix("created "));
        line.unwrap_or_else(|| panic!("{} {}", self.said, self.on_error))
            .parse()
            .unwrap()
    }

    /// Number of all tasks, including those in folded subtrees and the main root.
    fn tasks(&self) -> u64 {
        self.json("info")["tasks"].as_u64().unwrap() - 1
    }

    fn folded(&self) -> u64 {
        let info = self.json("info");
        let rows = info["captured"].as_array().unwrap();
        let row = rows.iter().find(|r| r["what"] == "folded subtrees");
        row.unwrap()["count"].as_u64().unwrap()
    }

    fn bytes(&self) -> u64 {
        std::fs::metadata(&self.trace).unwrap().len()
    }
}

#[test]
fn every_task_is_counted_and_the_trace_is_small() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let full = record(folder.path(), &["--fold", "off"], &["22"]);
    assert_eq!(full.tasks(), full.created());
    assert_eq!(full.folded(), 0);
    let bytes = full.bytes();
    // A run that is not large is not folded unless that is asked for.
    assert_eq!(record(folder.path(), &[], &["22"]).folded(), 0);
    for flags in [
        &["--fold", "10us"][..],
        &["--fold", "1ms"],
        // Tasks of less than a microsecond are folded from the start.
        &["--fold", "auto"],
    ] {
        let run = record(folder.path(), flags, &["22"]);
        assert_eq!(run.tasks(), run.created(), "{flags:?}");
        assert!(run.folded() > 0, "{flags:?}");
        assert!(
            run.bytes() * 3 < bytes,
            "{flags:?}: {} of {bytes}",
            run.bytes()
        );
        let said = ask(&["report", "--long"], &[&run.trace]);
        assert!(said.contains(" folded into "), "{said}");
        let report = run.json("report");
        let tasks = report["tasks"]
            .as_u64()
            .or(report["counts"]["tasks"].as_u64());
        assert!(
            tasks.is_none_or(|tasks| tasks == run.created() + 1),
            "{flags:?}"
        );
        let warnings = report["warnings"].to_string();
        assert!(
            !warnings.contains("left out") && !warnings.contains("made roots"),
            "{warnings}"
        );
    }
}

/// Folding by steals, by a number of strands and by a number of tasks keeps every task counted.
#[test]
fn a_trace_follows_steals_strands_or_tasks() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let strands = |flags: &[&str]| {
        let run = record(folder.path(), flags, &["22"]);
        assert_eq!(run.tasks(), run.created(), "{flags:?}");
        assert!(run.folded() > 0, "{flags:?}");
        let table = "select count(*), max(folded) from strands";
        let trace = run.trace.to_str().unwrap();
        let rows = ask(&["sql", trace, table, "--format", "csv"], &[]);
        let row = rows.lines().last().unwrap();
        let (count, largest) = row.split_once(',').unwrap();
        (
            count.parse::<u64>().unwrap(),
            largest.parse::<u64>().unwrap(),
        )
    };
    let short = strands(&["--fold", "2us", "--fold-strands", "off"]);
    let default = strands(&["--fold", "2us"]);
    assert!(default.0 < short.0, "{default:?} {short:?}");
    let steals = strands(&["--fold", "steals"]);
    assert!(steals.0 * 4 < short.0, "{steals:?} {short:?}");
    let target = strands(&["--fold-strands", "400"]);
    assert!(
        target.0 < 1_600 && target.0 < short.0,
        "{target:?} {short:?}"
    );
    let few = strands(&["--fold", "steals", "--fold-tasks", "50"]);
    assert!(few.1 <= 50 && few.0 > steals.0, "{few:?} {steals:?}");
    let alone = strands(&["--fold-tasks", "50"]);
    assert!(alone.1 <= 50 && alone.0 > steals.0, "{alone:?} {steals:?}");
}

#[test]
fn longer_tasks_are_folded_once_the_trace_is_large() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let tasks = ["19", "-1", "5000"];
    let full = record(folder.path(), &["--fold", "auto"], &tasks);
    assert_eq!(full.tasks(), full.created());
    assert_eq!(full.folded(), 0);
    let bytes = full.bytes();
    let flags = ["--fold", "auto", "--max-size", "32KB"];
    let run = record(folder.path(), &flags, &tasks);
    assert_eq!(run.tasks(), run.created());
    assert!(run.folded() > 0);
    assert!(run.bytes() < bytes, "{} of {bytes}", run.bytes());
}

/// A program on another runtime has the same tasks, most of them in folded subtrees.
///
/// A subtree with stolen tasks does not fold, and the number of steals depends on the schedule: on
/// a busy machine one run may have a hundred times as many as the next. So one of five runs must be
/// small, and every run must have each task once.
fn folds(program: &Path, folder: &Path) {
    let full = record_program(program, folder, &["--fold", "off"], &["22"]);
    let (others, bytes) = (full.tasks() - full.created(), full.bytes());
    assert_eq!(full.folded(), 0);
    let folded = || {
        // A grain that most of its tasks are longer than once some of them were recorded.
        let run = record_program(program, folder, &["--fold", "11us"], &["22"]);
        assert_eq!(run.tasks() - run.created(), others);
        assert!(run.folded() > 0);
        run.bytes()
    };
    let sizes: Vec<u64> = (0..5).map(|_| folded()).collect();
    let small = |size: &u64| size * 2 < bytes;
    assert!(sizes.iter().any(small), "{sizes:?} of {bytes}");
    // Whatever the grain, the threads that fold have strands for so much.
    let follows_steals = |size: &u64| *size < THREADS * 64_000;
    assert!(sizes.iter().any(follows_steals), "{sizes:?} of {bytes}");
}

#[test]
fn tasks_of_a_kept_site_stay_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let flag = format!("-I{}", include.display());
    let program = native::compile("gcc", "kept.c", folder.path(), &[&flag]);
    let record = |flags: &[&str]| {
        let flags = [&["--fold", "1s"][..], flags].concat();
        let run = record_program(&program, folder.path(), &flags, &["300"]);
        let text = ask(&["export", "--format", "text"], &[&run.trace]);
        let creates = text.lines().filter(|l| l.contains(r#""ev":"create""#));
        let kept = creates.filter(|l| l.contains("kept.c:8")).count();
        (
            run.tasks() - run.created(),
            run.folded(),
            kept,
            run.on_error,
        )
    };
    let (more, folded, kept, _) = record(&[]);
    assert_eq!(more, 0);
    assert!(folded > 0 && kept < 300, "{folded} {kept}");
    let (more, folded, kept, on_error) = record(&["--keep", "kept.c:8"]);
    assert_eq!((more, kept), (0, 300));
    assert!(folded > 100, "{folded}");
    assert!(!on_error.contains("--keep"), "{on_error}");
}

/// The stdout of a command on these traces.
fn ask(command: &[&str], traces: &[&Path]) -> String {
    let output = Command::new(WORKSPAN)
        .args(command)
        .args(traces)
        .output()
        .unwrap();
    let on_error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {on_error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_reads_what_was_folded_while_recording() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let full = folder.path().join("full.wspan");
    std::fs::copy(
        record(folder.path(), &["--fold", "off"], &["20"]).trace,
        &full,
    )
    .unwrap();
    let run = record(folder.path(), &["--fold", "1ms"], &["20"]);
    let trace = run.trace.as_path();
    // Checks that the report says how much of the run is folded, and where its tasks were spawned.
    let report = ask(&["report", "--long"], &[trace]);
    let (of, folded) = (format!("{} tasks", run.folded()), " folded into ");
    assert!(
        report.contains(folded) && report.contains("tiny.c:"),
        "{of}: {report}"
    );
    // Blocked time, of which there may be some, is said with the span.
    let (_, share) = report.split_once(folded).unwrap();
    let share = share.split_once(" with ").unwrap().1;
    assert!(ask(&["info"], &[trace]).contains("folded below"));
    let percent: u32 = share.split_once(' ').unwrap().0.parse().unwrap();
    assert!((1..=100).contains(&percent), "{report}");
    for (command, traces, says) in [
        (&["advise"][..], &[trace][..], "tiny.c:"),
        (&["whatif", "--site", "tiny.c:8"], &[trace], "tiny.c:8"),
        (&["simulate"], &[trace], "speedup"),
        (&["stretch"], &[&full, trace], "tiny.c:"),
        (&["compare"], &[&full, trace], "tiny.c:"),
        (&["export", "--format", "text"], &[trace], "create"),
        (&["export", "--format", "chrome"], &[trace], "traceEvents"),
        (&["export", "--format", "dot"], &[trace], "digraph"),
    ] {
        let said = ask(command, traces);
        assert!(said.contains(says), "{command:?}: {said}");
    }
    // The tables and the text trace have the tasks that are left.
    let file = trace.to_str().unwrap();
    let rows = ask(
        &[
            "sql",
            file,
            "select count(*) as n from strands",
            "--format",
            "csv",
        ],
        &[],
    );
    let n: u64 = rows.lines().last().unwrap().trim().parse().unwrap();
    assert!(n > 0 && n < run.created(), "{rows}");
}

#[test]
fn a_small_folded_trace_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let run = record(folder.path(), &["--fold", "1ms"], &["20"]);
    let packed = std::fs::read(&run.trace).unwrap();
    assert!(packed.starts_with(&[0x1f, 0x8b]));
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(packed.as_slice())
        .read_to_end(&mut plain)
        .unwrap();
    assert!(plain.starts_with(&workspan_trace::header::MAGIC));
    assert!(packed.len() < plain.len());
    // Packing changes no output about the run, nor whether reading folds further.
    let unpacked = folder.path().join("unpacked.wspan");
    std::fs::write(&unpacked, &plain).unwrap();
    let said = |command: &[&str], trace: &Path| {
        let said = ask(command, &[trace]);
        let lines = said.lines().filter(|line| !line.contains(".wspan"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for command in [
        // The report that fits a screen depends on how long the name of its file is.
        &["report", "--long"][..],
        &["report", "--long", "--grain", "10ms"],
        &["timeline"],
    ] {
        let lines = said(command, &run.trace);
        assert!(lines.len() > 5, "{lines:?}");
        assert_eq!(lines, said(command, &unpacked), "{command:?}");
    }
    // A truncated trace is damaged, and no figure overwrites an intact one.
    let cut = folder.path().join("cut.wspan");
    std::fs::write(&cut, &packed[..packed.len() / 2]).unwrap();
    let refused = |arguments: &[&str], path: &Path, why: &str| {
        let mut command = Command::new(WORKSPAN);
        let output = command.args(arguments).arg(path).output().unwrap();
        let on_error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && on_error.contains(why),
            "{on_error}"
        );
    };
    refused(&["report"], &cut, "can't be uncompressed");
    let trace = run.trace.to_str().unwrap();
    refused(
        &["plot", "--kind", "profile", trace, "--format", "svg", "-o"],
        &run.trace,
        "is a trace",
    );
    // The next run may use the name of a removed trace.
    std::fs::rename(folder.path().join("tiny"), folder.path().join("again")).unwrap();
    let again = Command::new(WORKSPAN)
        .args(["record", "--no-report", "-o"])
        .arg(&run.trace)
        .arg("--")
        .arg(folder.path().join("again"))
        .arg("10")
        .output()
        .unwrap();
    assert!(
        again.status.success(),
        "{}",
        String::from_utf8_lossy(&again.stderr)
    );
    let plain = std::fs::read(&run.trace).unwrap();
    assert!(plain.starts_with(&workspan_trace::header::MAGIC));
}

#[test]
fn openmp_tasks_fold() {
    let test = "openmp_tasks_fold";
    for compiler in native::openmp_compilers(test) {
        let folder = tempfile::tempdir().unwrap();
        let program = native::compile(&compiler, "short.c", folder.path(), &["-fopenmp"]);
        folds(&program, folder.path());
    }
}

#[test]
fn onetbb_tasks_fold() {
    let folder = tempfile::tempdir().unwrap();
    match native::try_compile("g++", "short_tbb.cpp", folder.path(), &["-ltbb"]) {
        Some(program) => folds(&program, folder.path()),
        None => native::skipped("onetbb_tasks_fold", "no g++ with oneTBB"),
    }
}

#[test]
fn a_killed_process_has_each_task_once() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    // From within the first chunk to after many turns.
    for last in [700, 3_000, 9_001, 20_000, 40_003, 50_000] {
        for flags in [
            &["--fold", "10us"][..],
            &["--fold", "1ms"],
            &["--fold", "auto", "--max-size", "1MB"],
            &["--fold", "off"],
        ] {
            let last = last.to_string();
            let run = record(folder.path(), flags, &["23", &last]);
            assert_eq!(run.created().to_string(), last);
            assert_eq!(run.tasks(), run.created(), "{flags:?}");
        }
    }
}

#[test]
fn what_is_asked_wrongly_is_said() {
    for (flags, said) in [
        (["--fold", "soon"], "expected auto, off, steals, or a time"),
        (["--max-size", "much"], "expected a number of bytes"),
    ] {
        let output = Command::new(WORKSPAN)
            .arg("record")
            .args(flags)
            .args(["--", "true"])
            .output()
            .unwrap();
        let on_error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && on_error.contains(said),
            "{on_error}"
        );
    }
}
