//! oneTBB programs of very short tasks, recorded within a budget that applies from the first task
//! on, on 1, 2 and 4 threads. Their output is the same as without recording, most of their tasks
//! are skipped, and the trace's data about the skipped ones are correct.

use std::path::Path;

use super::machine::Machine;
use crate::native::left_out::{BUDGET, Seen, seen};

/// Runs one of a source's programs with and without the budget. Returns its output, the skipped
/// subtrees, and the number of tasks that the program reports.
fn budgeted(machine: &Machine, source: &str, what: &str, threads: &str) -> (String, Seen, u64) {
    let program = machine.compile(source, &["-O2", "-g"]);
    let name = format!("{what} at {threads} threads, {}", machine.name);
    let bare = program.bare(&[what, threads]);
    let budget = [("WORKSPAN_MAX_OVERHEAD", Path::new(BUDGET))];
    let run = program.record_with(&[what, threads], &budget);
    assert_eq!(run.printed, bare, "{name}: not as it is unrecorded");
    let dag = run.dag();
    super::graph::check(&dag, &name);
    let seen = seen(&std::fs::read(run.file()).unwrap());
    let tasks = seen.tasks(&dag, &name);
    println!(
        "{name}: {} created, {} subtrees, {} parts, {} sampled; {tasks} in all",
        seen.creates,
        seen.subtrees.len(),
        seen.parts,
        seen.sampled
    );
    (bare, seen, tasks)
}

/// The expectation for a program's way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Most of its tasks are skipped.
    Most,
    /// Some may be skipped before it turns out that they do more.
    Some,
    /// They create into groups from further out, so nearly everything is recorded.
    Little,
}

fn check(what: &str, left: Left) {
    for machine in Machine::all(&format!("{what} within a budget")) {
        // Arenas, groups and pieces of loops are tasks that the programs do not count.
        let program = machine.compile("short", &["-O2", "-g"]);
        let in_full = program.record(&[what, "1"]);
        let in_full = seen(&std::fs::read(in_full.file()).unwrap()).creates;
        for threads in ["1", "2", "4"] {
            let name = format!("{what} at {threads} threads, {}", machine.name);
            let (printed, seen, counted) = budgeted(&machine, "short", what, threads);
            let tasks: u64 = printed.split_whitespace().nth(1).unwrap().parse().unwrap();
            assert_eq!(counted, in_full, "{name}");
            match left {
                Left::Little => assert!(
                    (seen.creates + seen.parts) * 10 >= tasks * 9,
                    "{name}: {seen:?}"
                ),
                Left::Most => assert!(!seen.subtrees.is_empty(), "{name}"),
                Left::Some => {}
            }
            if threads == "1" && left == Left::Most {
                assert!((seen.creates + seen.parts) * 2 < tasks, "{name}: {seen:?}");
            }
        }
    }
}

macro_rules! ways {
    ($($way:ident: $left:ident);+ $(;)?) => {$(
        #[test]
        fn $way() {
            check(stringify!($way), Left::$left);
        }
    )+};
}

ways! {
    fib: Most;
    invoke: Most;
    loops: Most;
    grow: Little;
    deep: Little;
    thrown: Some;
    suspended: Some;
    mixed: Some;
}

/// Programs of one construct each (`tbb.rs` has the constructs that are recorded in full).
fn constructs(source: &str, all: &[&str]) {
    for machine in Machine::all(&format!("{source} within a budget")) {
        for what in all.iter().filter(|what| machine.waits_for(what)) {
            budgeted(&machine, source, what, "4");
        }
    }
}

#[test]
fn algorithms() {
    constructs(
        "algorithms",
        &[
            "fib",
            "for",
            "reduce",
            "deterministic",
            "invoke",
            "nested",
            "context",
            "each",
            "feeder",
            "pipeline",
            "flow",
            "join",
            "scan",
            "sort",
        ],
    );
}

#[test]
fn arenas() {
    constructs(
        "arenas",
        &[
            "execute",
            "full",
            "enqueue",
            "isolate",
            "cancel",
            "exceptions",
            "suspend",
            "buried",
            "inside",
            "callback",
            "threads",
        ],
    );
}
