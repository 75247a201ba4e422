//! The suite in tp.h C++: every program prints the same on every runtime, and its tasks are the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::native;

/// Runtimes with the compilers that build programs for them. The first one tells its tasks by workspan.h from one thread.
const RUNTIMES: [(&str, &[&str], &[&str]); 4] = [
    ("serial elision", &["g++"], &["-DTP_WORKSPAN"]),
    ("GNU OpenMP", &["g++"], &["-DTP_OPENMP", "-fopenmp"]),
    (
        "LLVM OpenMP",
        &["clang++"],
        &["-DTP_OPENMP", "-fopenmp=libomp"],
    ),
    ("oneTBB", &["g++"], &["-DTP_TBB", "-ltbb"]),
];

/// All 21 programs.
const PROGRAMS: usize = 21;

/// Their tasks depend on the schedule, as they prune by what was found so far.
const SCHEDULE_DEPENDENT: [&str; 1] = ["floorplan.h"];

fn build(compilers: &[&str], flags: &[&str], program: &Path) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut said = format!("none of {} is there", compilers.join(", "));
    for compiler in compilers
        .iter()
        .filter_map(|name| workspan_toolchains::named(name))
    {
        let compiler = compiler.command.as_str();
        let mut compile = Command::new(compiler);
        compile.args(["-std=c++11", "-O1", "-g", "-Wall", "-Wextra", "-pedantic"]);
        compile.arg("-I").arg(root.join("include"));
        compile
            .arg(root.join("bench/tp/suite/suite.cpp"))
            .args(flags);
        let Ok(output) = compile.arg("-o").arg(program).output() else {
            continue;
        };
        said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            assert_eq!(said, "", "{compiler} warns of the suite");
            return Ok(());
        }
        // A missing runtime is one thing, a suite that does not compile another.
        assert!(
            !said.contains("bench/tp/suite/"),
            "{compiler} {flags:?}: {said}"
        );
    }
    Err(said.lines().next().unwrap_or_default().to_owned())
}

fn printed(program: &Path, workers: &str) -> String {
    let mut run = Command::new(program);
    run.args(["all", "--size", "test", "--workers", workers]);
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// How many tasks each spawn site of the suite has.
fn tasks(program: &Path, folder: &Path) -> BTreeMap<String, u64> {
    let trace = folder.join("suite.wspan");
    let workspan = env!("CARGO_BIN_EXE_workspan");
    let record = Command::new(workspan)
        .args(["record", "--no-report", "--max-overhead", "off", "-o"])
        .arg(&trace)
        .arg("--")
        .arg(program)
        .args(["all", "--size", "test", "--workers", "2"])
        .env("WORKSPAN_NO_PERF", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&record.stderr);
    assert!(record.status.success(), "{said}");
    let report = Command::new(workspan)
        .args(["report", "--json"])
        .arg(&trace)
        .output()
        .unwrap();
    std::fs::remove_file(&trace).unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let mut found = BTreeMap::new();
    for site in report["sites"].as_array().unwrap() {
        let Some(file) = site["file"].as_str() else {
            continue;
        };
        let name = file.rsplit('/').next().unwrap();
        // suite.h opens the parallel region: its implicit tasks are OpenMP's own.
        if name != "suite.h" && !SCHEDULE_DEPENDENT.contains(&name) {
            let place = format!("{name}:{}", site["line"]);
            found.insert(place, site["count"].as_u64().unwrap());
        }
    }
    found
}

#[test]
fn all_programs_have_the_same_results_and_tasks_on_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let program = |i: usize| -> PathBuf { folder.path().join(format!("suite-{i}")) };
    let built: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..RUNTIMES.len())
            .map(|i| {
                let (_, compilers, flags) = RUNTIMES[i];
                let program = program(i);
                scope.spawn(move || build(compilers, flags, &program))
            })
            .collect();
        jobs.into_iter().map(|job| job.join().unwrap()).collect()
    });
    let mut first: Option<(String, BTreeMap<String, u64>)> = None;
    for (i, (runtime, ..)) in RUNTIMES.iter().enumerate() {
        if let Err(why) = &built[i] {
            native::skipped(&format!("the suite on {runtime}"), why);
            continue;
        }
        let lines = printed(&program(i), "2");
        assert_eq!(lines, printed(&program(i), "4"), "{runtime}: 4 workers");
        let sites = tasks(&program(i), folder.path());
        let (expected, shape) = first.get_or_insert_with(|| (lines.clone(), sites.clone()));
        assert_eq!(*expected, lines, "{runtime}");
        assert_eq!(*shape, sites, "{runtime}: tasks by spawn site");
    }
    let Some((lines, sites)) = first else {
        return;
    };
    assert_eq!(lines.lines().count(), PROGRAMS);
    // Numbers that follow from the arguments: fib(20) to depth 6, 12 proteins, 10 x 10 blocks' steps.
    let count = |file: &str| -> u64 {
        let of_file = sites.iter().filter(|(site, _)| site.starts_with(file));
        of_file.map(|(_, count)| count).sum()
    };
    assert_eq!(count("fib.h"), 63);
    assert_eq!(count("alignment.h"), 66);
    assert_eq!(count("uts.h"), 524);
    assert_eq!(count("strassen.h"), 56);
    assert_eq!(count("swaptions.h"), 31);
    assert!(lines.contains("nqueens(8) = 92\n"), "{lines}");
}
