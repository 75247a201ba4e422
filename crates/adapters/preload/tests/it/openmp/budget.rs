//! OpenMP programs of very short tasks, recorded within a budget that applies from the first task
//! on, on 1, 2 and 4 threads. Their output is the same as without recording, most of their tasks
//! are skipped, and the trace's data about the skipped ones are correct.

use super::run::{Program, Runtime, build, dag, skipped};
use crate::native::left_out::{BUDGET, Seen, seen};

/// Runs the program's `way` with and without the budget. Returns its number of tasks, and the
/// skipped subtrees.
fn budgeted(program: &Program, threads: usize, way: &str, what: &str) -> (u64, Seen) {
    let bare = program.bare(threads, &[way]);
    let (recorded, traces) = program.recorded_with(threads, &[way], |command| {
        command.env("WORKSPAN_MAX_OVERHEAD", BUDGET);
    });
    assert_eq!(recorded, bare, "{what}: not as it is unrecorded");
    assert!(bare.status.success(), "{what}: {bare:?}");
    assert_eq!(traces.len(), 1, "{what}");
    let dag = dag(&traces[0]);
    super::invariants::hold(&traces[0], &dag, what);
    let printed = String::from_utf8(bare.stdout).unwrap();
    let tasks = printed.split_whitespace().nth(2).unwrap().parse().unwrap();
    let seen = seen(&traces[0]);
    let counted = seen.tasks(&dag, what);
    // The program does not count the tasks of its loops.
    assert!(
        counted == tasks || tasks == 0,
        "{what}: {counted}, {seen:?}"
    );
    (tasks, seen)
}

/// How often a run on several threads is repeated if nothing was skipped in it.
const BUSY_RETRIES: usize = 4;

/// The expectation for a program's way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Most of its tasks are skipped.
    Most,
    /// It does more than create tasks and wait, so nearly everything is recorded.
    Little,
}

fn check(runtime: Runtime, way: &str, left: Left) {
    let program = match build(runtime, "short.c") {
        Ok(program) => program,
        Err(why) => return skipped(&format!("openmp budget by {runtime:?}"), &why),
    };
    for threads in [1, 2, 4] {
        let what = format!("{way} by {runtime:?} on {threads}");
        let (mut tasks, mut seen) = budgeted(&program, threads, way, &what);
        // Several threads on a busy machine may lose the CPU in every task whose time is taken.
        // Such tasks look long, and a short run may then be recorded in full.
        for _ in 0..BUSY_RETRIES {
            if threads == 1 || left == Left::Little || !seen.subtrees.is_empty() {
                break;
            }
            (tasks, seen) = budgeted(&program, threads, way, &what);
        }
        if threads == 1 && left == Left::Most {
            assert!(seen.creates + seen.parts < tasks, "{what}: {seen:?}");
        }
        if left == Left::Little {
            assert!(seen.creates * 10 >= tasks * 9, "{what}: {tasks}, {seen:?}");
        } else {
            assert!(!seen.subtrees.is_empty(), "{what}");
        }
    }
}

macro_rules! ways {
    ($($way:ident: $gnu:ident $(, $llvm:ident)?);+ $(;)?) => {$(
        mod $way {
            use super::*;

            #[test]
            fn gnu() {
                check(Runtime::Gnu, stringify!($way), Left::$gnu);
            }

            $(#[test]
            fn llvm() {
                check(Runtime::Llvm, stringify!($way), Left::$llvm);
            })?
        }
    )+};
}

ways! {
    fib: Most, Most;
    queens: Most, Most;
    group: Most, Most;
    scatter: Most, Most;
    chain: Little, Little;
    loops: Little, Little;
    // Without recording, too, libomp 19 sometimes does not finish untied tasks beside tasks with
    // priorities.
    mixed: Most;
}

/// No budget was requested: everything is recorded.
#[test]
fn without_a_budget_all_is_recorded() {
    let Ok(program) = build(Runtime::Gnu, "short.c") else {
        return skipped("openmp without a budget", "no compiler");
    };
    let (_, traces) = program.recorded(2, &["fib"]);
    let seen = seen(&traces[0]);
    assert_eq!(
        (seen.creates, seen.subtrees.len(), seen.sampled),
        (57_312, 0, 0)
    );
}

/// Programs of one construct each (`openmp.rs` has the constructs that are recorded in full).
const CONSTRUCTS: [&str; 14] = [
    "cancel.c",
    "depend.c",
    "detach.c",
    "fib.c",
    "firstprivate.cpp",
    "locks.c",
    "mutexinoutset.c",
    "nested.c",
    "spawner.c",
    "task_reduction.c",
    "taskgroup.c",
    "taskloop.c",
    "taskyield.c",
    "untied.c",
];

fn constructs(runtime: Runtime) {
    for file in CONSTRUCTS {
        let program = match build(runtime, file) {
            Ok(program) => program,
            Err(why) => return skipped(&format!("openmp budget by {runtime:?}"), &why),
        };
        let what = format!("{file} by {runtime:?}");
        let bare = program.bare(2, &[]);
        let (recorded, traces) = program.recorded_with(2, &[], |command| {
            command.env("WORKSPAN_MAX_OVERHEAD", BUDGET);
        });
        assert_eq!(recorded, bare, "{what}: not as it is unrecorded");
        super::invariants::hold(&traces[0], &dag(&traces[0]), &what);
    }
}

#[test]
fn constructs_gnu() {
    constructs(Runtime::Gnu);
}

#[test]
fn constructs_llvm() {
    constructs(Runtime::Llvm);
}
