//! oneTBB programs of very short tasks, recorded within a budget that holds from the first task on, on 1, 2 and 4 threads: they print what they
//! print unrecorded, most of their tasks are left out, and what is told of the rest stands by what is known.

#![allow(clippy::unwrap_used, reason = "a test that can not go on has failed")]

#[path = "tbb/graph.rs"]
#[allow(dead_code, reason = "each test uses a part")]
mod graph;
#[path = "native/left_out.rs"]
mod left_out;
#[path = "tbb/machine.rs"]
#[allow(dead_code, reason = "each test uses a part")]
mod machine;
mod native;

use std::path::Path;

use left_out::{BUDGET, Seen, seen};
use machine::Machine;
use workspan_analysis::{Options, report};

/// Runs one of a source's programs bare and within the budget: what it printed, what was left out, and the least and the most tasks that there
/// are said to have been.
fn budgeted(
    machine: &Machine,
    source: &str,
    what: &str,
    threads: &str,
) -> (String, Seen, (u64, u64)) {
    let program = machine.compile(source, &["-O2", "-g"]);
    let name = format!("{what} at {threads} threads, {}", machine.name);
    let bare = program.bare(&[what, threads]);
    let budget = [("WORKSPAN_MAX_OVERHEAD", Path::new(BUDGET))];
    let run = program.record_with(&[what, threads], &budget);
    assert_eq!(run.printed, bare, "{name}: not as it is unrecorded");
    let dag = run.dag();
    graph::check(&dag, &name);
    let report = report(&dag, &Options::default()).unwrap();
    let tasks = dag.tasks.len() as u64;
    let within = report
        .work_span
        .estimated
        .map_or((tasks, tasks), |e| e.tasks);
    let seen = seen(&std::fs::read(run.file()).unwrap());
    println!(
        "{name}: {} created, {} subtrees, {} parts, {} sampled; {within:?}",
        seen.creates,
        seen.subtrees.len(),
        seen.parts,
        seen.sampled
    );
    (bare, seen, within)
}

/// How a way of the program is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Most of its tasks are left out.
    Most,
    /// Some may be, before it is seen that there is more to them.
    Some,
    /// They are handed to groups from further out, so that nearly everything is recorded.
    Little,
}

fn check(what: &str, left: Left) {
    for machine in Machine::all(&format!("{what} within a budget")) {
        for threads in ["1", "2", "4"] {
            let name = format!("{what} at {threads} threads, {}", machine.name);
            let (printed, seen, (low, high)) = budgeted(&machine, "short", what, threads);
            let tasks: u64 = printed.split_whitespace().nth(1).unwrap().parse().unwrap();
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
                // Intervals hold 95 of 100 times, on a machine with nothing else to do (crates/analysis/tests/budget.rs): here they are near.
                assert!(
                    low / 8 <= tasks && tasks <= high * 8,
                    "{name}: {tasks} in {low} to {high}"
                );
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

/// Programs of one construct each (`tbb.rs` says what they record in full).
fn constructs(source: &str, all: &[&str]) {
    for machine in Machine::all(&format!("{source} within a budget")) {
        for what in all {
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
