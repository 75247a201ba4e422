//! Runs of many processes: ranks of MPI, of which one is late, and what `make` starts.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::native::{skipped, try_compile};
use crate::project::{WORKSPAN, bare, printed, read, said};

/// Names of compilers and launchers of Open MPI and of MPICH.
const LIBRARIES: [(&str, &[&str], &[&str]); 2] = [
    (
        "mpicc.openmpi",
        &["mpirun.openmpi", "--oversubscribe"],
        &["openmpi-bin and libopenmpi-dev"],
    ),
    (
        "mpicc.mpich",
        &["mpiexec.hydra"],
        &["mpich and libmpich-dev"],
    ),
];

fn is_there(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    found.is_ok_and(|output| output.status.success())
}

/// The report of `ranks` ranks of the program, as JSON, and what was said.
pub(crate) fn report(
    folder: &Path,
    launcher: &[&str],
    ranks: &str,
    program: &Path,
    how: &str,
) -> (Value, String) {
    let trace = folder.join(format!("{how}.wspan"));
    let mut command = bare(WORKSPAN);
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .args(["record", "--no-report", "-o"])
        .arg(&trace)
        .arg("--")
        .args(launcher)
        .args(["-n", ranks])
        .arg(program)
        .arg(how);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(printed(&output).trim(), expected(how, ranks), "{how}");
    let text = said(&output);
    let mut command = bare(WORKSPAN);
    let output = command.args(["report", "--json"]).arg(&trace).output();
    (
        serde_json::from_str(&printed(&output.unwrap())).unwrap(),
        text,
    )
}

/// The output of the program.
fn expected(how: &str, ranks: &str) -> &'static str {
    match (how, ranks) {
        ("collective", "3") => "3",
        ("collective", "4") => "6",
        _ => "1",
    }
}

/// The lines of the fixture with that comment.
pub(crate) fn line(comment: &str) -> u64 {
    let source = include_str!("../fixtures/native/late_rank.c");
    let mut lines = (1..).zip(source.lines());
    lines.find(|(_, line)| line.ends_with(comment)).unwrap().0
}

pub(crate) fn compiled(compiler: &str, folder: &Path) -> Option<PathBuf> {
    is_there(compiler).then(|| try_compile(compiler, "late_rank.c", folder, &[]).unwrap())
}

#[test]
fn the_late_rank_is_named_with_the_line_that_waits() {
    for (compiler, launcher, packages) in LIBRARIES {
        let folder = tempfile::tempdir().unwrap();
        let Some(program) = compiled(compiler, folder.path()) else {
            skipped(
                "the_late_rank_is_named_with_the_line_that_waits",
                &format!("no {compiler} ({})", packages[0]),
            );
            continue;
        };
        for how in ["collective", "message", "request", "any"] {
            let (report, text) = report(folder.path(), launcher, "3", &program, how);
            assert!(text.contains("3 ranks are one run in it"), "{text}");
            let findings = report["findings"].as_array().unwrap();
            // Other processes on this machine may have cost more, but none in this program.
            let late = findings.iter().find(|f| f["id"] == "late-rank");
            let late = late.unwrap_or_else(|| panic!("{compiler} {how}: {report:#}"));
            let at = &late["blocked_in"];
            assert_eq!(at["late"]["rank"], 1, "{compiler} {how}: {late:#}");
            let waits = line(&format!("// waits: {how}"));
            assert_eq!(at["line"], waits, "{compiler} {how}: {late:#}");
            let ranks = report["processes"].as_array().unwrap();
            let ticks = |rank: usize, key: &str| ranks[rank][key].as_u64().unwrap();
            assert_eq!(ranks.len(), 3, "{report:#}");
            for other in [0, 2] {
                assert!(ticks(other, "waited") > ticks(1, "waited"), "{ranks:#?}");
                assert!(ticks(1, "awaited") > ticks(other, "awaited"), "{ranks:#?}");
            }
            // A rank that polls does not work.
            let work = |rank: usize| ticks(rank, "work");
            assert!(work(1) > work(0) && work(1) > work(2), "{ranks:#?}");
        }
    }
}

#[test]
fn ranks_are_processes_of_one_run_in_every_format() {
    let (compiler, launcher, packages) = LIBRARIES[1];
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compiled(compiler, folder.path()) else {
        let why = format!("no {compiler} ({})", packages[0]);
        return skipped("ranks_are_processes_of_one_run_in_every_format", &why);
    };
    let (before, _) = report(folder.path(), launcher, "2", &program, "message");
    let trace = folder.path().join("message.wspan");
    let dag = read(&trace);
    let titles: Vec<String> = dag.meta.processes.list.iter().map(|p| p.title()).collect();
    assert_eq!(titles, ["rank 0", "rank 1"]);
    assert_eq!(dag.meta.workers, 2);
    assert!(!dag.handoffs.is_empty());
    let text = folder.path().join("run.txt");
    let mut command = bare(WORKSPAN);
    command
        .args(["export", "--format", "text", "-o"])
        .arg(&text);
    let output = command.arg(&trace).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(read(&text).meta.processes, dag.meta.processes);
    let mut command = bare(WORKSPAN);
    let output = command.args(["report", "--json"]).arg(&text).output();
    let after: Value = serde_json::from_str(&printed(&output.unwrap())).unwrap();
    for key in ["work", "span", "processes", "breakdown"] {
        assert_eq!(after[key], before[key], "{key}");
    }
}

#[test]
fn what_make_starts_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let makefile = "all: a b\na b:\n\t@sleep 0.2; expr 1 + 1\n";
    std::fs::write(folder.path().join("Makefile"), makefile).unwrap();
    if !is_there("make") {
        return skipped("what_make_starts_is_one_run", "no make");
    }
    let trace = folder.path().join("make.wspan");
    let mut command = bare(WORKSPAN);
    command.args(["record", "--no-report", "-o"]).arg(&trace);
    command.args(["--", "make", "-j2"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(printed(&output), "2\n2\n");
    assert!(
        said(&output).contains("are one run in it"),
        "{}",
        said(&output)
    );
    let dag = read(&trace);
    let names: Vec<&str> = dag
        .meta
        .processes
        .list
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    // A process that only starts others is not part of the run.
    assert!(
        names.contains(&"sleep") && !names.contains(&"make"),
        "{names:?}"
    );
}
