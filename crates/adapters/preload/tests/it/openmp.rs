//! OpenMP programs, one for each construct, compiled by gcc (libgomp) and clang (libomp), on 1, 2
//! and 4 threads. Their output is the same as without recording, and the recorded DAG, as a text
//! without the schedule (`openmp/canonical.rs`), is that of the program.
//!
//! An expectation is such a text. `$N` is the number of threads. A line that begins with `gnu:`,
//! `llvm:`, `one:`, `two:`, `four:` or `many:` (threads) applies only to those runs, and `llvm
//! one:` to runs with both properties. `chunks:` applies to runtimes that report each chunk of a
//! loop, `shares:` to all others. Chunks of a loop whose name begins with `some-` are not counted.

mod budget;
mod canonical;
mod differences;
mod ends;
mod gomp;
mod invariants;
mod ompt;
mod run;

use canonical::{canonical, squeezed};
use run::{Program, Runtime, build, dag, skipped};
use workspan_dag::{Dag, NONE, OffCpuReason, Steals, TaskKind};
use workspan_toolchains::Compiler;

/// The expectation for a run with this many threads.
fn expected(text: &str, compiler: &Compiler, threads: usize) -> String {
    let holds = |condition: &str| match condition {
        "gnu" => compiler.family == Runtime::Gnu,
        "llvm" => compiler.family == Runtime::Llvm,
        "chunks" => compiler.tells_loop_chunks(),
        "shares" => !compiler.tells_loop_chunks(),
        "one" => threads == 1,
        "two" => threads == 2,
        "four" => threads == 4,
        "many" => threads > 1,
        _ => panic!("{condition}: no such condition"),
    };
    let mut kept = String::new();
    for line in text.lines() {
        let (conditions, rest) = line.rsplit_once(':').unwrap_or(("", line));
        if conditions.split_whitespace().all(holds) {
            kept.push_str(rest);
            kept.push('\n');
        }
    }
    squeezed(&kept.replace("$N", &threads.to_string()))
}

/// The alternatives of a text with `<one|other>`; the schedule decides which of them a run shows.
fn alternatives(text: &str) -> Vec<String> {
    let Some((before, rest)) = text.split_once('<') else {
        return vec![text.to_owned()];
    };
    let (choice, after) = rest.split_once('>').unwrap();
    let texts = choice.split('|');
    texts
        .map(|text| squeezed(&format!("{before}{text}{after}")))
        .collect()
}

/// Runs a program on 1, 2 and 4 threads; `more` checks what the text does not contain.
fn check(runtime: Runtime, file: &str, text: &str, more: impl Fn(&Dag, usize)) {
    let program = match build(runtime, file) {
        Ok(program) => program,
        Err(why) => return skipped(&format!("openmp {file} by {runtime:?}"), &why),
    };
    for threads in [1, 2, 4] {
        let what = format!("{file} by {} on {threads}", program.compiler);
        if let Some(why) = program.compiler.lacks(file, threads) {
            skipped(&format!("openmp {what}"), &why);
            continue;
        }
        let dag = run_alike(&program, threads, &what);
        let found = squeezed(&canonical(&dag, &program.source));
        let expected = expected(text, program.compiler, threads);
        assert!(
            alternatives(&expected).contains(&found) || text == UNTOLD,
            "{what}\n   found {found}\nexpected {expected}"
        );
        more(&dag, threads);
    }
}

/// Runs it with and without recording. The output must be the same, and the recorded run must
/// satisfy the invariants.
fn run_alike(program: &Program, threads: usize, what: &str) -> Dag {
    let bare = program.bare(threads, &[]);
    let (recorded, traces) = program.recorded(threads, &[]);
    assert_eq!(recorded, bare, "{what}: not as it is unrecorded");
    assert!(bare.status.success(), "{what}: {bare:?}");
    assert_eq!(traces.len(), 1, "{what}");
    let dag = dag(&traces[0]);
    invariants::hold(&traces[0], &dag, what);
    dag
}

/// One row per construct: its name, the program, the runtimes, the DAG, and additional checks.
macro_rules! rows {
    ($($name:ident: $file:literal by $($runtime:ident)+ => $text:literal $(, $more:expr)?;)+) => {$(
        mod $name {
            use super::*;

            const TEXT: &str = $text;

            rows! { @tests $file, [$($more)?], $($runtime)+ }
        }
    )+};
    (@tests $file:literal, $more:tt, gnu $($rest:ident)*) => {
        #[test]
        fn gnu() {
            check(Runtime::Gnu, $file, TEXT, rows!(@more $more));
        }
        rows! { @tests $file, $more, $($rest)* }
    };
    (@tests $file:literal, $more:tt, llvm $($rest:ident)*) => {
        #[test]
        fn llvm() {
            check(Runtime::Llvm, $file, TEXT, rows!(@more $more));
        }
        rows! { @tests $file, $more, $($rest)* }
    };
    (@tests $file:literal, $more:tt,) => {};
    (@more []) => { |_, _| {} };
    (@more [$more:expr]) => { $more };
}

rows! {
    task: "task.c" by gnu llvm => "
        parallel region x$N { 1 * { task a { task b { } wait } task c { } wait } }", run_is_known;

    undeferred: "undeferred.c" by gnu llvm => "
        parallel region x$N { 1 * {
            included a { } task b { included c { } } task d { } wait } }";

    untied: "untied.c" by gnu llvm => "
        parallel region x$N { 1 * { task u { task v { } wait task w { } wait } } }";

    detach: "detach.c" by gnu llvm => "
        parallel region x$N { 1 * {
            task late { await-signal } task fulfil { signal } wait
            task early { signal await-signal } wait } }";

    taskgroup: "taskgroup.c" by gnu llvm => "
        parallel region x$N { 1 * {
            tree ( task a { task b { } } tree ( task c { } ) )
            task d { } wait } }";

    depend: "depend.c" by gnu llvm => "
        parallel region x$N { 1 * {
            task a { } task b after 1 { } task c after 1 { } task d after 2,3 { }
            task e { } task f after 4,5 { } wait } }";

    mutexinoutset: "mutexinoutset.c" by gnu llvm => "
        parallel region x$N { 1 * {
            task a { } task m after 1 { } task n after 1 { } task z after 2,3 { } } }";

    // gcc has inoutset and omp_all_memory from version 13 on.
    inoutset: "inoutset.c" by llvm => "
        parallel region x$N { 1 * {
            task a { } task m after 1 { } task n after 1 { } task b { }
            task all after 2,3,4 { } task z after 5 { } } }";

    wait_depend: "wait_depend.c" by gnu llvm => "
        parallel region x$N { 1 * {
            task a { } task b { } await 1
            await 2 included c { } task d after 1 { } wait } }";

    taskloop: "taskloop.c" by gnu llvm => "
        parallel region x$N { 1 * {
            tree ( 4 * task number { } ) tree ( 3 * task size { } )
            2 * task nogroup { } wait
            tree ( 4 * task reduction { } ) } }";

    // gcc's code divides static loops by itself, without a call. libomp makes one chunk of a loop
    // if there is one thread.
    loops: "loops.c" by gnu llvm => "
        gnu: parallel even x$N { } parallel static x$N { }
        llvm: parallel even x$N { loop even $N * { } }
        llvm one: parallel static x$N { loop static 1 * { } } parallel dynamic x$N { loop dynamic 1 * { } }
        llvm many: parallel static x$N { loop static $N * { } }
        gnu: parallel dynamic x$N { loop dynamic 12 * { } }
        llvm many chunks: parallel dynamic x$N { loop dynamic 12 * { } }
        llvm many shares: parallel dynamic x$N { loop dynamic $N * { } }
        parallel some-guided x$N { loop some-guided some * { } }
        gnu: parallel runtime x$N { loop runtime 12 * { } }
        llvm many chunks: parallel runtime x$N { loop runtime 12 * { } }
        llvm many shares: parallel runtime x$N { loop runtime $N * { } }
        llvm one: parallel runtime x$N { loop runtime 1 * { } }
        gnu: parallel region x$N { loop first 3 * { } loop second 4 * { } / loop third 2 * { task task { } } }
        llvm many chunks: parallel region x$N { loop first 3 * { } loop second 4 * { } / loop third 2 * { task task { } } }
        llvm two shares: parallel region x2 { loop first 2 * { } loop second 2 * { } / <
        llvm two shares: loop third 2 * { task task { } }|loop third 1 * { } 1 * { 2 * task task { } }> }
        llvm four shares: parallel region x4 { loop first 4 * { } loop second 4 * { } / <
        llvm four shares: loop third 2 * { } 2 * { task task { } }|loop third 3 * { } 1 * { 2 * task task { } }> }
        llvm one: parallel region x$N { loop first 1 * { } loop second 1 * { } / loop third 1 * { 2 * task task { } } }";

    ordered: "ordered.c" by gnu llvm => "
        gnu: parallel region x$N { loop loop 6 * { } }
        llvm many chunks: parallel region x$N { loop loop 6 * { } }
        llvm many shares: parallel region x$N { loop loop $N * { } }
        llvm one: parallel region x$N { loop loop 1 * { } }";

    // If the runtime does not report chunks, each thread's share of a loop counts as one.
    //
    // gcc makes one call for a region that consists of sections. clang divides sections evenly,
    // like a static loop, in which every thread has a chunk, even if that is empty.
    sections: "sections.c" by gnu llvm => "
        gnu: parallel region x$N { loop region 2 * { } 1 * { task task { } } }
        llvm two: parallel region x$N { loop sections 1 * { } 1 * { task task { } } }
        llvm four: parallel region x$N { loop sections 3 * { } 1 * { task task { } } }
        llvm one: parallel region x$N { loop sections 1 * { task task { } } }";

    barrier: "barrier.c" by gnu llvm => "
        parallel region x$N { $N * { task a { } } / 1 * { task b { } } / 1 * { task c { } } / 1 * { task d { } } }",
        steals_are_of_tasks;

    locks: "locks.c" by gnu llvm => "
        parallel region x$N { }", locks_are_blocked;

    nested: "nested.c" by gnu llvm => "
        parallel outer x$N { $N * { parallel inner x2 { 1 * { task task { } } } } }";

    // To libomp the program is a team of one outside of regions, in which no task is deferred,
    // whatever the program says.
    outside: "outside.c" by gnu llvm => "
        gnu: included a { } wait parallel region x2 { } included b { } wait
        llvm: task a { } wait parallel region x2 { } task b { } wait";

    reduction: "reduction.c" by gnu llvm => "
        parallel region x$N { }
        gnu: parallel loop x$N { loop loop 4 * { } }
        llvm many chunks: parallel loop x$N { loop loop 4 * { } }
        llvm many shares: parallel loop x$N { loop loop $N * { } }
        llvm one: parallel loop x$N { loop loop 1 * { } }
        parallel group x$N { 1 * { tree ( 3 * task task { } ) } }";

    taskyield: "taskyield.c" by gnu llvm => "
        parallel region x$N { 1 * { task a { } task b { } wait } }";

    cancel: "cancel.c" by gnu llvm => "
        parallel region x$N { loop some-chunks some * { } / 1 * { task task { } } }
        parallel given-up x$N { }";

    firstprivate: "firstprivate.cpp" by gnu llvm => "
        parallel region x$N { 1 * { 3 * task task { } included at-once { } } }";

    // A team of one that a clause asks for is a region too.
    regions: "regions.c" by gnu llvm => "
        20 * parallel many x$N { } parallel three x3 { } parallel serial x1 { }
        parallel two x2 { 2 * { task task { } } }";

    copyprivate: "copyprivate.c" by gnu llvm => "
        parallel region x$N { 1 * { task task { } wait } }";

    doacross: "doacross.c" by gnu llvm => "
        gnu: parallel region x$N { loop loop 4 * { } }
        llvm one: parallel region x$N { loop loop 1 * { } }
        llvm many chunks: parallel region x$N { loop loop 4 * { } }
        llvm many shares: parallel region x$N { loop loop $N * { } }";

    chunk_tasks: "chunk_tasks.c" by gnu llvm => "
        gnu: parallel region x1 {
        gnu: loop loop 1 * { task a after 1 { } } 1 * { task a { } }
        gnu: 1 * { task b after 1 { } wait await 1,1 } }
        llvm: parallel region x1 {
        llvm: loop loop 1 * { task a { } task a after 1 { } }
        llvm: 1 * { task b after 2 { } wait await 1,2 } }";

    chunk_tasks_team: "chunk_tasks_team.c" by gnu llvm => "...", twelve_tasks_are_joined;

    fib: "fib.c" by gnu llvm => "...", fib_is_whole;

    spawner: "spawner.c" by gnu llvm => "
        parallel region x$N { 1 * { 2000 * task task { } } }";

    // clang puts each implicit task's tasks into a group that ends with the region, after the
    // barrier of the single construct.
    task_reduction: "task_reduction.c" by gnu llvm => "
        gnu: parallel region x$N { 1 * { 3 * task task { } } }
        llvm: parallel region x$N { 1 * { 3 * task task { } } /
        llvm one: 1 * { await 1,2,3 } }
        llvm two: 1 * { await 1,2,3 } 1 * { await none } }
        llvm four: 1 * { await 1,2,3 } 3 * { await none } }";

    // libomp defers no task of a team of one, so whether the program says so is not known.
    aligned: "aligned.cpp" by gnu llvm => "
        parallel region x$N { 1 * {
            2 * task task { } wait tree ( 4 * task loop { } )
        gnu: tree ( 2 * included at-once { } ) } }
        llvm one: tree ( 2 * task at-once { } ) } }
        llvm many: tree ( 2 * included at-once { } ) } }";

    orphans: "orphans.c" by gnu llvm => "
        gnu: loop some-loop some * { } tree ( included task { } ) tree ( 2 * inline taskloop { } )
        llvm: tree ( task task { } ) tree ( 2 * task taskloop { } )";

    locks_more: "locks_more.c" by gnu llvm => "
        gnu: parallel region x$N { loop region 16 * { } }
        llvm one: parallel region x$N { loop loop 1 * { } }
        llvm many chunks: parallel region x$N { loop loop 16 * { } }
        llvm many shares: parallel region x$N { loop loop $N * { } }";

    fortran: "tasks.f90" by gnu llvm => "
        parallel region x$N { 1 * { task a { } task b { } wait } }";
}

/// For a run whose text would be too long: only `more` checks it.
const UNTOLD: &str = "...";

/// Checks the facts about the run as a whole.
fn run_is_known(dag: &Dag, threads: usize) {
    let meta = &dag.meta;
    assert_eq!(
        meta.workers as usize, threads,
        "the master and its team's threads"
    );
    assert_eq!(meta.steals, Steals::Child);
    let runtime = meta.runtime.as_deref().unwrap_or_default();
    let known = [
        "GNU OpenMP (libgomp)",
        "LLVM OpenMP (OMPT)",
        "Intel OpenMP (OMPT)",
    ];
    let one = known.iter().filter(|name| runtime.contains(**name)).count();
    assert_eq!(one, 1, "{runtime}");
    assert!(!runtime.contains(" + "), "{runtime}");
}

/// Checks that neither the tasks of the region, which the runtime assigns to its threads, nor the
/// region's own between two barriers are stolen.
fn steals_are_of_tasks(dag: &Dag, _threads: usize) {
    let report = workspan_analysis::report(dag, &workspan_analysis::Options::default()).unwrap();
    let tasks = dag.tasks.kind.iter().filter(|&&k| k == TaskKind::Deferred);
    let (steals, tasks) = (report.work_span.steals, tasks.count() as u64);
    assert!(steals <= tasks, "{steals} steals of {tasks} tasks");
}

/// Checks that a thread of the team waits for each of the twelve tasks before the region's end.
fn twelve_tasks_are_joined(dag: &Dag, _threads: usize) {
    let scopes = (0..dag.waits.after.len()).filter(|&w| dag.waits.scope[w] == NONE);
    let mut joined: Vec<u32> = scopes
        .flat_map(|w| dag.waits.tasks.get(w).to_vec())
        .filter(|&t| dag.tasks.kind[t as usize] == TaskKind::Deferred)
        .collect();
    joined.sort_unstable();
    joined.dedup();
    assert_eq!(joined.len(), 12);
}

/// fib(18) has two tasks per call except for calls that return at once, and each call waits for its
/// two tasks.
fn fib_is_whole(dag: &Dag, _threads: usize) {
    let kinds = &dag.tasks.kind;
    let created = (0..kinds.len()).filter(|&t| kinds[t] == TaskKind::Deferred);
    assert_eq!(created.count(), 2 * 4180);
    let waits = (0..dag.waits.after.len()).filter(|&w| dag.waits.plain[w]);
    let joined: Vec<usize> = waits.map(|w| dag.waits.tasks.get(w).len()).collect();
    assert_eq!(joined, vec![2; 4180]);
    let deepest = dag.tasks.level.iter().max();
    assert_eq!(deepest, Some(&(1 + 17)), "a task a call below the region's");
}

/// Checks that some thread waits for the critical section, and for the lock, while it is held.
fn locks_are_blocked(dag: &Dag, threads: usize) {
    let blocked = dag
        .offs
        .iter()
        .filter(|off| off.why == OffCpuReason::Blocked);
    assert!(threads == 1 || blocked.count() >= 2, "{:?}", dag.offs);
}
