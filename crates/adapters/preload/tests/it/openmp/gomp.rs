//! Unusual calls of libgomp's entry points, one program each. They are recorded correctly, and run
//! as without recording.

use super::canonical::{canonical, squeezed};
use super::run::{Program, Runtime, build, dag, skipped};
use workspan_dag::{Dag, EndKind, NONE, TaskKind};

/// The program, built by gcc; `None`, with a line with the reason, if there is no gcc.
fn built(file: &str) -> Option<Program> {
    build(Runtime::Gnu, file)
        .map_err(|why| skipped(&format!("gomp {file}"), &why))
        .ok()
}

/// Runs it with and without recording, with the same output. Returns the DAG, which satisfies the
/// invariants.
fn recorded(program: &Program, threads: usize, arguments: &[&str]) -> Dag {
    let bare = program.bare(threads, arguments);
    let (output, traces) = program.recorded(threads, arguments);
    assert_eq!(output, bare, "not as it is unrecorded");
    assert!(bare.status.success(), "{bare:?}");
    assert_eq!(traces.len(), 1);
    let dag = dag(&traces[0]);
    super::invariants::hold(
        &traces[0],
        &dag,
        &format!("{arguments:?} {threads} threads"),
    );
    dag
}

fn canonical_text(program: &Program, threads: usize, arguments: &[&str]) -> String {
    squeezed(&canonical(
        &recorded(program, threads, arguments),
        &program.source,
    ))
}

fn line_of(program: &Program, name: &str) -> u32 {
    let mark = format!("@{name} ");
    let line = program.source.lines().position(|l| l.contains(&mark));
    line.unwrap() as u32 + 1
}

/// The functions of waits, each with its line.
fn waits(dag: &Dag) -> Vec<(String, u32)> {
    let ends = (0..dag.strands.len()).filter(|&s| dag.strands.end_kind[s] == EndKind::Wait);
    let known = ends.map(|s| dag.strands.to[s]).filter(|&at| at != NONE);
    let places = known.map(|at| &dag.places[at as usize]);
    places
        .filter(|place| place.primitive.as_deref() == Some("taskwait"))
        .map(|place| {
            (
                place.function.clone().unwrap_or_default(),
                place.line.unwrap_or(0),
            )
        })
        .collect()
}

#[test]
fn regions_in_two_calls_run_and_are_told() {
    let Some(program) = built("old_calls.c") else {
        return;
    };
    for threads in [1, 2, 4] {
        assert_eq!(
            canonical_text(&program, threads, &[]),
            squeezed(
                &"parallel body x$N { } parallel shared x$N { loop shared 5 * { } }"
                    .replace("$N", &threads.to_string())
            )
        );
    }
}

#[test]
fn a_wait_called_by_a_jump_is_known_by_the_function_that_ends_with_it() {
    let Some(program) = built("last_call.c") else {
        return;
    };
    let mut found = waits(&recorded(&program, 2, &[]));
    found.sort();
    let function = |name: &str| (name.to_owned(), line_of(&program, name));
    assert_eq!(
        found,
        [
            function("called_inside"),
            function("ends_with_it"),
            function("main"),
        ]
    );
}

#[test]
fn large_and_aligned_blocks_and_loops_of_many_tasks_need_no_more_stack() {
    let Some(program) = built("blocks.c") else {
        return;
    };
    for threads in [1, 2] {
        let dag = recorded(&program, threads, &[]);
        let created = dag.tasks.kind.iter();
        let deferred = created.filter(|&&k| k == TaskKind::Deferred).count();
        assert_eq!(deferred, 100_000 + 2 * 20);
    }
}

#[test]
fn a_detached_task_that_runs_at_once_waits_for_its_event() {
    let Some(program) = built("detach_at_once.c") else {
        return;
    };
    for threads in [2, 4] {
        assert_eq!(
            canonical_text(&program, threads, &[]),
            squeezed(
                &"parallel region x$N { 1 * {
                    task fulfil { signal } included at-once { await-signal }
                    included itself { signal await-signal } wait } }"
                    .replace("$N", &threads.to_string())
            )
        );
    }
}

#[test]
fn exceptions_inside_of_tasks_and_cancelled_regions_are_no_matter() {
    let Some(program) = built("unwinding.cpp") else {
        return;
    };
    for threads in [1, 2, 4] {
        let bare = program.bare(threads, &[]);
        let (output, traces) = program.recorded(threads, &[]);
        assert_eq!(output, bare, "not as it is unrecorded");
        let dag = dag(&traces[0]);
        let begun = (0..dag.tasks.len())
            .filter(|&t| dag.tasks.kind[t] == TaskKind::Deferred && dag.tasks.first[t] != NONE);
        assert!(begun.count() >= 100, "all tasks that throw have run");
        // libgomp may drop tasks of a cancelled group, which is the only warning.
        let warnings = dag.meta.warnings.iter();
        let others: Vec<_> = warnings.filter(|w| !w.contains("never began")).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

#[test]
fn a_thread_that_waits_for_the_private_copies_runs_tasks_meanwhile() {
    let Some(program) = built("copyprivate_tasks.c") else {
        return;
    };
    for threads in [1, 2, 4] {
        assert_eq!(
            canonical_text(&program, threads, &[]),
            squeezed(
                &"parallel region x$N { 1 * { 20 * task task { } } }"
                    .replace("$N", &threads.to_string())
            )
        );
    }
}

/// LLVM's libomp has libgomp's entry points too. A GCC program that runs on it is recorded only
/// through OMPT, which must see the caller.
#[test]
fn a_gcc_program_on_libomp_is_told_once() {
    let Some(program) = built("task.c") else {
        return;
    };
    let Some(libomp) = workspan_toolchains::libomp() else {
        return skipped("a gcc program on libomp", "no libomp");
    };
    let bare = program.bare(2, &[]);
    let (output, traces) = program.recorded_with(2, &[], |command| {
        let ours = command
            .get_envs()
            .find(|(key, _)| *key == "LD_PRELOAD")
            .and_then(|(_, value)| value)
            .unwrap()
            .to_owned();
        let mut both = ours;
        both.push(":");
        both.push(&libomp);
        command.env("LD_PRELOAD", both);
    });
    assert_eq!(output, bare);
    let dag = dag(&traces[0]);
    let runtime = dag.meta.runtime.as_deref().unwrap_or_default();
    assert!(
        runtime.contains("OMPT") && !runtime.contains("libgomp"),
        "{runtime}"
    );
    assert_eq!(
        squeezed(&canonical(&dag, &program.source)),
        squeezed("parallel region x2 { 1 * { task a { task b { } wait } task c { } wait } }")
    );
}
