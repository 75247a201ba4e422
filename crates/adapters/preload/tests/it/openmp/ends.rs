//! Processes that end inside a region, or fork there.

use std::os::unix::process::ExitStatusExt;

use workspan_dag::{Dag, TaskKind};

use super::invariants;
use super::run::{Program, Runtime, build, dag, skipped};

/// Runs `ends.c` with this argument on two threads, with and without recording, with the same
/// output.
fn run(runtime: Runtime, how: &str) -> Option<(Program, std::process::Output, Vec<Vec<u8>>)> {
    let program = match build(runtime, "ends.c") {
        Ok(program) => program,
        Err(why) => {
            skipped(&format!("openmp ends.c by {runtime:?}"), &why);
            return None;
        }
    };
    let bare = program.bare(2, &[how]);
    let (recorded, traces) = program.recorded(2, &[how]);
    assert_eq!(recorded, bare, "{how} by {runtime:?}");
    Some((program, recorded, traces))
}

/// Checks that a hundred tasks were created and joined, whatever happened afterwards.
fn is_whole(dag: &Dag, how: &str) {
    let tasks = &dag.tasks;
    let explicit: Vec<usize> = (0..tasks.len())
        .filter(|&t| tasks.kind[t] == TaskKind::Deferred)
        .collect();
    assert_eq!(explicit.len(), 100, "{how}");
    let creator = tasks.parent[explicit[0]];
    assert!(
        explicit.iter().all(|&t| tasks.parent[t] == creator),
        "{how}"
    );
    assert_eq!(tasks.kind[creator as usize], TaskKind::Inline, "{how}");
    let joined = (0..dag.waits.after.len()).find(|&w| dag.waits.plain[w]);
    let joined = dag.waits.tasks.get(joined.expect("the taskwait"));
    assert_eq!(joined.len(), 100, "{how}");
    // Open tasks end with the trace.
    let end = |t: usize| dag.strands.end[tasks.last[t] as usize];
    assert_eq!(end(creator as usize), end(0), "{how}");
}

fn check(runtime: Runtime, how: &str, ended: impl Fn(&std::process::ExitStatus) -> bool) {
    let Some((_program, output, traces)) = run(runtime, how) else {
        return;
    };
    assert!(ended(&output.status), "{how}: {output:?}");
    assert_eq!(traces.len(), 1, "{how}");
    let dag = dag(&traces[0]);
    is_whole(&dag, how);
    let cut = |warning: &&str| warning.contains("was killed or ended by _exit or exec");
    let orderly = how == "exit";
    let warnings = invariants::unexpected_warnings(&dag);
    assert_eq!(!warnings.iter().any(cut), orderly, "{how}: {warnings:?}");
    assert!(warnings.iter().all(cut), "{how}: {warnings:?}");
}

fn forks(runtime: Runtime) {
    let Some((_program, output, traces)) = run(runtime, "fork") else {
        return;
    };
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n100\n");
    assert_eq!(traces.len(), 1, "the child is none of the recorded");
    let dag = dag(&traces[0]);
    let warnings = invariants::unexpected_warnings(&dag);
    assert!(warnings.is_empty(), "{warnings:?}");
    let explicit = dag.tasks.kind.iter().filter(|&&k| k == TaskKind::Deferred);
    assert_eq!(explicit.count(), 100);
}

macro_rules! ends {
    ($($name:ident => $how:literal, $ended:expr;)+) => {$(
        mod $name {
            use super::*;

            #[test]
            fn gnu() {
                check(Runtime::Gnu, $how, $ended);
            }
            #[test]
            fn llvm() {
                check(Runtime::Llvm, $how, $ended);
            }
        }
    )+};
}

ends! {
    exit_inside => "exit", |status| status.code() == Some(3);
    quick_exit_inside => "_exit", |status| status.code() == Some(4);
    abort_inside => "abort", |status| status.signal() == Some(6);
    killed_inside => "kill", |status| status.signal() == Some(9);
}

mod fork_inside {
    use super::*;

    #[test]
    fn gnu() {
        forks(Runtime::Gnu);
    }
    #[test]
    fn llvm() {
        forks(Runtime::Llvm);
    }
}
