//! C++ programs on oneTBB, run with the library preloaded: their traces must have the right graphs,
//! whatever the schedule, on the system's oneTBB and on the newest available one. `cargo xtask test
//! runtimes` tests older ones, down to that of the oldest supported distribution.

mod budget;
mod graph;
mod machine;
mod places;

use graph::{canonical, check, count, is_outermost};
use machine::Machine;
use workspan_dag::{Dag, TaskKind};

const THREADS: [&str; 3] = ["1", "2", "4"];

/// Runs one of a source's programs on every machine at 1, 2 and 4 threads. Each run's DAG is passed
/// to `judge` after the general checks.
fn each(source: &str, what: &str, judge: impl Fn(&Dag, &str)) {
    for machine in Machine::all(what) {
        if !machine.waits_for(what) {
            continue;
        }
        let program = machine.compile(source, &["-O2", "-g"]);
        for threads in THREADS {
            let name = format!("{what} at {threads} threads, {}", machine.name);
            let run = program.record(&[what, threads]);
            assert_eq!(run.printed, program.bare(&[what, threads]), "{name}");
            let dag = run.dag();
            check(&dag, &name);
            let runtime = dag.meta.runtime.clone().unwrap_or_default();
            assert!(runtime.starts_with("oneTBB 202"), "{name}: {runtime}");
            judge(&dag, &name);
        }
    }
}

/// A program with a known graph.
fn graph(source: &str, what: &str, expected: &str) {
    each(source, what, |dag, name| {
        assert_eq!(canonical(dag, 0), expected, "{name}");
        assert_eq!(count(dag, TaskKind::Root), 1, "{name}");
    });
}

/// The actions of a task that splits `leaves` leaves into halves and spawns the right one.
fn split(leaves: usize, leaf: &str) -> String {
    match leaves {
        1 => leaf.to_owned(),
        _ => {
            let half = split(leaves / 2, leaf);
            format!("D({half}){half}")
        }
    }
}

/// A `parallel_for` or a similar algorithm, with `simple_partitioner`.
fn halves(leaves: usize) -> String {
    format!("I({})w{leaves}", split(leaves, ""))
}

/// Roots, and the threads that the program started.
fn roots(dag: &Dag) -> Vec<u32> {
    let all = 0..dag.tasks.len() as u32;
    all.filter(|&t| is_outermost(dag, t)).collect()
}

#[test]
fn task_groups_that_call_themselves() {
    fn fib(n: u32) -> String {
        match n {
            0 | 1 => String::new(),
            _ => format!("D({}){}w1", fib(n - 1), fib(n - 2)),
        }
    }
    let expected = fib(20);
    assert_eq!(expected.matches('D').count(), 10_945);
    graph("algorithms", "fib", &expected);
}

#[test]
fn loops_and_reductions_split_in_halves() {
    for what in ["for", "reduce", "deterministic"] {
        graph("algorithms", what, &halves(64));
    }
}

#[test]
fn invoke_splits_from_four_functions_on() {
    graph("algorithms", "invoke", "D(D()D())D()I()w5D()I()w2");
}

#[test]
fn groups_and_loops_inside_of_each_other() {
    let inner = format!("D({})", halves(8)).repeat(4);
    let outer = format!("D({inner}I()w5)").repeat(3);
    graph("algorithms", "nested", &format!("{outer}w3"));
}

#[test]
fn one_context_for_a_loop_and_the_loops_inside() {
    graph(
        "algorithms",
        "context",
        &format!("I({})w4", split(4, &halves(8))),
    );
}

#[test]
fn items_of_a_list_go_in_blocks_of_four() {
    // A block runs three items as children and one itself; the root appears again for each block.
    each("algorithms", "each", |dag, name| {
        assert_eq!(dag.tasks.len(), 1 + 1000 + 250 + 251, "{name}");
    });
}

#[test]
fn items_fed_are_waited_for_by_the_whole_loop_alone() {
    fn item(i: u32) -> String {
        match i {
            2048.. => String::new(),
            _ => format!("D({})D({})", item(2 * i), item(2 * i + 1)),
        }
    }
    graph("algorithms", "feeder", &format!("I(I({})w1)w4095", item(1)));
}

#[test]
fn pipelines_have_a_task_for_each_stage() {
    each("algorithms", "pipeline", |dag, name| {
        assert_eq!(dag.tasks.len(), 1 + 2000 * 3 + 1, "{name}");
        assert_eq!(count(dag, TaskKind::Root), 1, "{name}");
    });
}

#[test]
fn nodes_of_a_flow_graph_are_waited_for_by_the_graph() {
    graph(
        "algorithms",
        "flow",
        &format!("{}w4000", "D(I())".repeat(2000)),
    );
    // The schedule decides which of two inputs comes last, and creates the task that joins them.
    each("algorithms", "join", |dag, name| {
        let found = canonical(dag, 0);
        assert!(found.ends_with("w1200"), "{name}");
        assert_eq!(dag.tasks.len(), 1 + 300 * 4, "{name}");
    });
}

#[test]
fn scans_and_sorts() {
    for what in ["scan", "sort"] {
        each("algorithms", what, |dag, name| {
            assert!(dag.tasks.len() > 7, "{name}");
            assert_eq!(count(dag, TaskKind::Detached), 0, "{name}");
            let waits = (0..dag.waits.after.len()).map(|w| dag.waits.tasks.get(w).len());
            assert_eq!(waits.sum::<usize>(), dag.tasks.len() - 1, "{name}");
        });
    }
}

#[test]
fn the_standard_librarys_parallel_algorithms() {
    each("standard", "all", |dag, name| {
        assert!(dag.tasks.len() > 100, "{name}");
        assert_eq!(count(dag, TaskKind::Root), 1, "{name}");
    });
}

#[test]
fn what_an_arena_executes_is_the_callers() {
    let expected = [16, 8, 4].map(halves).concat();
    graph("arenas", "execute", &expected);
    // Three threads find the arena full: their tasks go on where there is a place, possibly on the
    // main thread.
    each("arenas", "full", |dag, name| {
        let mut found: Vec<String> = roots(dag).iter().map(|&r| canonical(dag, r)).collect();
        found.sort_by_key(String::len);
        assert_eq!(found, [8, 8, 8, 64].map(halves), "{name}");
    });
}

#[test]
fn what_is_enqueued_is_detached_unless_a_group_waits() {
    let expected = format!("{}{}w10", "X()".repeat(100), "D()".repeat(10));
    graph("arenas", "enqueue", &expected);
}

#[test]
fn isolated_loops() {
    graph(
        "arenas",
        "isolate",
        &format!("I({})w8", split(8, &halves(16))),
    );
}

#[test]
fn exceptions_and_cancellation() {
    let cancel = format!("{}w1000{}", "D()".repeat(1000), halves(4));
    graph("arenas", "cancel", &cancel);
    each("arenas", "exceptions", |dag, name| {
        assert_eq!(count(dag, TaskKind::Root), 1, "{name}");
        // The schedule decides how far a loop got before it was cancelled.
        let found = canonical(dag, 0);
        let groups = format!("{}w10I(", "D()".repeat(10));
        assert_eq!(found.matches(&groups).count(), 20, "{name}: {found}");
    });
}

/// Runs a program with a known graph eight times, because the stack that a thread is on differs
/// between runs.
fn suspended(what: &str, expected: &str, threads: usize) {
    for _ in 0..8 {
        each("arenas", what, |dag, name| {
            assert_eq!(canonical(dag, 0), expected, "{name}");
            assert_eq!(roots(dag).len(), threads, "{name}");
        });
    }
}

#[test]
fn suspended_tasks_wait_for_a_signal() {
    let one = format!("D(s{})", halves(8));
    suspended("suspend", &format!("{}w20", one.repeat(20)), 2);
}

#[test]
fn waits_below_a_suspended_task_go_on_where_its_stack_does() {
    let one = "D(D(s)D(s)D(s)w3)";
    suspended("buried", &format!("{}w4", one.repeat(4)), 13);
    let inner = format!("I({})w4", split(4, "s"));
    suspended("inside", &format!("I({})w4", split(4, &inner)), 17);
}

#[test]
fn what_a_callback_does_is_its_suspended_tasks() {
    let first = format!("D(s{})", halves(4)).repeat(10);
    let second = "D(D()s)".repeat(10);
    suspended("callback", &format!("{first}w10{second}w20"), 1);
}

#[test]
fn threads_from_outside_are_roots() {
    each("arenas", "threads", |dag, name| {
        let found: Vec<String> = roots(dag).iter().map(|&r| canonical(dag, r)).collect();
        let expected = [String::new(), halves(32), halves(32), halves(32)];
        assert_eq!(found, expected, "{name}");
    });
}

/// The places at which tasks of a program were created: (primitive, file's line or label), without
/// duplicates.
fn created(machine: &Machine, flags: &[&str], what: &str) -> Vec<(String, places::At)> {
    let run = machine.compile("algorithms", flags).record(&[what, "2"]);
    places::of_tasks(&run.file())
}

#[test]
fn tasks_are_known_by_the_line_that_spawned_them() {
    let test = "tasks_are_known_by_the_line_that_spawned_them";
    for machine in Machine::all(test) {
        for flags in [["-O2", "-g"], ["-O0", "-g"]] {
            if flags[0] == "-O0" && !machine.is_system() {
                continue;
            }
            for (what, primitive, pattern) in [
                ("fib", "task", "group.run([&a, n]"),
                ("flow", "flow graph", "twice.try_put(i)"),
                ("for", "parallel_for", "static void run_for()"),
                (
                    "reduce",
                    "parallel_reduce",
                    "static void reduce(Run run)|static void run_reduce()",
                ),
                ("scan", "parallel_scan", "static void run_scan()"),
                ("invoke", "parallel_invoke", "static void run_invoke()"),
                ("each", "parallel_for_each", "static void run_each()"),
                ("sort", "parallel_sort", "static void run_sort()"),
                (
                    "pipeline",
                    "parallel_pipeline",
                    "static void run_pipeline()",
                ),
            ] {
                let name = format!("{what}, {flags:?}, {}", machine.name);
                let found = created(&machine, &flags, what);
                assert!(!found.is_empty(), "{name}");
                for (kind, at) in found {
                    assert_eq!(kind, primitive, "{name}");
                    assert!(
                        at.is_in(include_str!("../tbb/algorithms.cpp"), pattern),
                        "{name}: {at:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn without_debug_information_by_the_type_of_their_body() {
    let test = "without_debug_information_by_the_type_of_their_body";
    for machine in Machine::all(test).into_iter().filter(Machine::is_system) {
        for (what, start) in [
            ("fib", "fib"),
            ("for", "run_for"),
            ("pipeline", "stage_task"),
        ] {
            let name = format!("{what}, {}", machine.name);
            for (_, at) in created(&machine, &["-O2", "-s"], what) {
                assert!(at.0.label.starts_with(start), "{name}: {at:?}");
                assert_eq!(at.0.line, None, "{name}");
            }
        }
    }
}
