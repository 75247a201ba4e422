//! workspan.h and tp.h compile without a warning in every dialect that they support, and the six
//! fork-join calls record the tasks of the program.

use std::path::Path;
use std::process::Command;

use crate::native::{builds, compiler, root, run, skipped};
use workspan_dag::{EndKind, TaskKind};

/// Compiles without any output from the compiler.
fn compile(command: &str, flags: &[&str], source: &Path, program: &Path) {
    let mut compile = Command::new(command);
    compile.args(["-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"]);
    compile
        .arg(root().join("include"))
        .args(&flags[..1])
        .arg(source)
        .arg("-o")
        .arg(program);
    let output = compile.args(&flags[1..]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{command} {flags:?}: {said}"
    );
}

fn program(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

#[test]
fn workspan_h_is_clean_c99_and_cpp11_with_gcc_and_clang() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("clean");
    for (name, standard, language) in [
        ("gcc", "-std=c99", "c"),
        ("gcc", "-std=c17", "c"),
        ("g++", "-std=c++11", "c++"),
        ("g++", "-std=c++20", "c++"),
        ("clang", "-std=c99", "c"),
        ("clang++", "-std=c++11", "c++"),
        ("clang++", "-std=c++20", "c++"),
    ] {
        let Some(command) = compiler(name) else {
            skipped(&format!("workspan.h as {language}"), &format!("no {name}"));
            continue;
        };
        for define in ["-DNONE", "-DBEFORE", "-DWORKSPAN_OFF"] {
            let flags = [standard, define, "-x", language];
            let mut compile = Command::new(&command);
            compile
                .args(["-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
                .arg(root().join("include"));
            // In strict C, dlsym and the rest of POSIX are declared only on request; C++ compilers
            // request them by themselves.
            compile
                .args(flags)
                .args(["-U_GNU_SOURCE", "-D_GNU_SOURCE"])
                .arg(program("clean.c"));
            let output = compile.arg("-o").arg(&out).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && said.is_empty(),
                "{command} {flags:?}: {said}"
            );
            let output = Command::new(&out).output().unwrap();
            assert_eq!(output.stdout, b"1\n", "{command} {flags:?}");
        }
    }
}

#[test]
fn tp_h_is_clean_on_every_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let source = root().join("examples/knapsack.cpp");
    for (name, runtime) in [
        ("g++", &["-std=c++11", "-DTP_SERIAL"][..]),
        ("g++", &["-std=c++20", "-DTP_WORKSPAN"]),
        ("g++", &["-std=c++11", "-DTP_OPENMP", "-fopenmp"]),
        ("g++", &["-std=c++11", "-DTP_TBB", "-ltbb"]),
        ("clang++", &["-std=c++20", "-DTP_SERIAL"]),
        ("clang++", &["-std=c++11", "-DTP_WORKSPAN"]),
        ("clang++", &["-std=c++11", "-DTP_OPENMP", "-fopenmp"]),
        ("clang++", &["-std=c++17", "-DTP_TBB", "-ltbb"]),
    ] {
        let what = format!("tp.h, {name} {}", runtime[1]);
        let Some(command) = compiler(name) else {
            skipped(&what, "no such compiler");
            continue;
        };
        let header = match runtime[1] {
            "-DTP_OPENMP" => "omp.h",
            "-DTP_TBB" => "oneapi/tbb/task_group.h",
            _ => "limits",
        };
        let probe = format!("#include <{header}>\nint main() {{}}\n");
        if !builds(&command, "c++", &probe, &runtime[2..]) {
            skipped(&what, &format!("no <{header}>"));
            continue;
        }
        let out = folder.path().join("knapsack");
        compile(&command, runtime, &source, &out);
        let output = Command::new(&out)
            .env("OMP_NUM_THREADS", "3")
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "best value 762\n",
            "{what}"
        );
    }
}

#[test]
fn the_six_calls_tell_spawns_and_plain_calls() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("calls");
    compile(
        "gcc",
        &["-std=c99", "-D_GNU_SOURCE", "-pthread"],
        &root().join("examples/calls.c"),
        &out,
    );
    let run = run(&out, &[], &[]);
    run.assert_same("calls.c");
    // Every call of fib(15) is a task; the tasks with a thread of their own are the spawns of the
    // three upper levels.
    let calls = 2 * 987 - 1;
    assert_eq!(run.count(TaskKind::Deferred), 7);
    assert_eq!(run.count(TaskKind::Inline), calls - 7);
    assert_eq!(
        run.count(TaskKind::Root),
        1,
        "the threads run spawned tasks alone"
    );
    assert_eq!(
        run.dag.waits.after.len(),
        calls + 7,
        "a sync for each spawn, a wait for each plain call, a join of each thread"
    );
    let deepest = (0..run.dag.tasks.len()).map(|mut task| {
        let mut level = 0;
        while task != 0 {
            task = run.dag.tasks.parent[task] as usize;
            level += 1;
        }
        level
    });
    assert_eq!(
        deepest.max(),
        Some(15),
        "fib(15), fib(14) ... fib(1) call each other"
    );
}

#[test]
fn a_task_that_pauses_goes_on_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("pause");
    compile(
        "gcc",
        &["-std=c99", "-D_GNU_SOURCE", "-pthread"],
        &program("pause.c"),
        &out,
    );
    let run = run(&out, &[], &[]);
    run.assert_same("pause.c");
    let dag = &run.dag;
    // The root, the paused task, the thread, and the child.
    assert_eq!((dag.tasks.len(), run.count(TaskKind::Deferred)), (4, 2));
    assert_eq!(dag.tasks.kind[2], TaskKind::Detached);
    assert_eq!(dag.tasks.parent[3], 1, "the child is the paused task's");
    let thread = |strand: u32| dag.strands.thread[strand as usize];
    let (first, last) = (dag.tasks.first[1], dag.tasks.last[1]);
    assert_eq!(
        thread(last),
        thread(dag.tasks.first[0]),
        "it ended on the main thread"
    );
    assert_ne!(thread(first), thread(last));
    assert_eq!(
        thread(dag.tasks.first[3]),
        thread(first),
        "the child ran where it was spawned"
    );
    let yields = dag
        .strands
        .end_kind
        .iter()
        .filter(|&&k| k == EndKind::Yield)
        .count();
    assert_eq!(
        yields, 4,
        "the pause, and whenever a task begins or goes on above the root or the thread's own"
    );
}
