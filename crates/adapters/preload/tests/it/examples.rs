//! The programs of examples/, compiled with the command lines of its README: they compile, run as
//! usual when recorded, and are recorded correctly.

use std::process::Command;

use crate::native::{Run, compiler, root, run, skipped};
use workspan_dag::TaskKind;

/// Compiles and runs the examples called `name`, with each command line that compiles them; `check`
/// gets the command line and the run.
fn each(name: &str, arguments: &[&str], check: impl Fn(&str, &Run)) {
    let readme = std::fs::read_to_string(root().join("examples/README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut found = 0;
    for line in readme.lines().filter_map(|line| line.strip_prefix("    ")) {
        let words: Vec<&str> = line.split(' ').collect();
        if !words.contains(&name) {
            continue;
        }
        found += 1;
        let Some(command) = compiler(words[0]) else {
            skipped(&format!("example {name}"), &format!("no {}", words[0]));
            continue;
        };
        let program = folder.path().join(name);
        let mut compile = Command::new(command);
        compile.args(["-Wall", "-Wextra"]).current_dir(root());
        for word in &words[1..] {
            if *word == name {
                compile.arg(&program);
            } else {
                compile.arg(word);
            }
        }
        let output = compile.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let absent = ["omp.h", "oneapi/tbb", "-ltbb", "-lomp"]
            .iter()
            .find(|what| {
                said.contains(**what)
                    && (said.contains("No such file")
                        || said.contains("not found")
                        || said.contains("cannot find"))
            });
        if let (false, Some(absent)) = (output.status.success(), absent) {
            skipped(
                &format!("example {name}"),
                &format!("{} finds no {absent}", words[0]),
            );
            continue;
        }
        assert!(output.status.success() && said.is_empty(), "{line}: {said}");
        let run = run(&program, arguments, &[("OMP_NUM_THREADS", "2")]);
        run.assert_same(line);
        check(line, &run);
    }
    assert!(found > 0, "examples/README.md has no line for {name}");
}

fn runtime(run: &Run) -> &str {
    run.dag.meta.runtime.as_deref().unwrap_or_default()
}

#[test]
fn openmp_tasks_in_c() {
    each("treesum", &["12"], |line, run| {
        // Two tasks per node, in the four levels above the grain.
        assert_eq!(run.count(TaskKind::Deferred), 30, "{line}");
        assert!(runtime(run).contains("OpenMP"), "{line}: {}", runtime(run));
    });
}

#[test]
fn an_openmp_loop_in_cpp() {
    each("mandelbrot", &["40"], |line, run| {
        // A chunk is a task in addition to the two threads' own.
        assert_eq!(run.count(TaskKind::Deferred), 0, "{line}");
        let compiler = workspan_toolchains::named(line.split(' ').next().unwrap());
        let has_chunks = compiler.is_none_or(|compiler| compiler.tells_loop_chunks());
        let least = if has_chunks { 12 } else { 2 + 2 };
        let inline = run.count(TaskKind::Inline);
        assert!(inline >= least, "{line}: {inline}");
    });
}

#[test]
fn openmp_dependences_in_fortran() {
    each("heat", &[], |line, run| {
        assert_eq!(run.count(TaskKind::Deferred), 320, "{line}");
        // Every block's second step and later ones depend on what was before.
        assert!(
            run.dag.depends.len() >= 312,
            "{line}: {}",
            run.dag.depends.len()
        );
    });
}

#[test]
fn tasks_of_one_tbb() {
    each("quicksort", &["200000"], |line, run| {
        assert!(
            run.count(TaskKind::Deferred) > 50,
            "{line}: {}",
            run.count(TaskKind::Deferred)
        );
        assert!(runtime(run).contains("oneTBB"), "{line}: {}", runtime(run));
    });
}

#[test]
fn one_source_for_many_runtimes() {
    each("knapsack", &["16"], |line, run| {
        assert!(
            run.count(TaskKind::Deferred) >= 255,
            "{line}: {}",
            run.count(TaskKind::Deferred)
        );
        assert_eq!(run.recorded.stdout, b"best value 453\n", "{line}");
    });
}

#[test]
fn a_thread_pool_written_by_hand() {
    each("pool", &[], |_, run| {
        assert_eq!(run.count(TaskKind::Deferred), 64);
        assert_eq!(run.dag.meta.workers, 3);
        assert_eq!(runtime(run), "pool.c");
        assert_eq!(run.dag.regions.len(), 64);
    });
}

#[test]
fn a_program_marked_up_by_six_calls() {
    // The contents of its trace are tested in headers.rs.
    each("calls", &[], |_, run| {
        assert_eq!(run.count(TaskKind::Deferred), 7)
    });
}
