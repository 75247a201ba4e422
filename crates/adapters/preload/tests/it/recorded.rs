//! C programs that use workspan.h, run with the library preloaded, and their traces.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::native::library;
use workspan_dag::{Dag, EndKind, TaskKind};
use workspan_reader::OpenOptions;

/// Compiles `tests/programs/<name>.c`.
fn compile(name: &str, folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join(name);
    let status = Command::new("cc")
        .args([
            "-std=gnu11",
            "-O1",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pthread",
            "-I",
        ])
        .arg(here.join("../../../include"))
        .arg(here.join(format!("tests/programs/{name}.c")))
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success(), "cc failed on {name}.c");
    program
}

/// Runs the program with the library. Returns the folder of its spool files and the program's
/// output.
fn run(name: &str, arguments: &[&str]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    let program = compile(name, folder.path());
    let spool = folder.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let output = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", library())
        .env("WORKSPAN_SPOOL_DIR", &spool)
        .output()
        .unwrap();
    (folder, output)
}

/// The only trace of the run.
fn trace(folder: &tempfile::TempDir) -> Dag {
    let files: Vec<PathBuf> = std::fs::read_dir(folder.path().join("spool"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    workspan_reader::open(&files[0], &OpenOptions::default()).unwrap()
}

fn count(dag: &Dag, kind: TaskKind) -> usize {
    dag.tasks.kind.iter().filter(|&&k| k == kind).count()
}

fn says(dag: &Dag, what: &str) -> bool {
    dag.meta.warnings.iter().any(|w| w.contains(what))
}

#[test]
fn a_pool_written_by_hand_is_told_as_it_was() {
    let (folder, output) = run("pool", &[]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "100 1\n");
    let dag = trace(&folder);
    assert_eq!(count(&dag, TaskKind::Root), 1);
    assert_eq!(count(&dag, TaskKind::Deferred), 100);
    assert_eq!(count(&dag, TaskKind::Inline), 1);
    assert_eq!(
        (dag.meta.workers, dag.meta.threads),
        (2, 3),
        "two workers and the main thread"
    );
    assert_eq!(dag.meta.runtime.as_deref(), Some("pool.c 1.0"));
    assert_eq!(dag.meta.name.as_deref(), Some("pool"));
    assert!(dag.meta.ticks_per_second > 1_000_000);
    // The workers are tasks until they register as workers.
    assert_eq!(count(&dag, TaskKind::Detached), 2);
    let mut kinds = dag.tasks.kind.iter();
    let first = kinds.position(|&k| k == TaskKind::Deferred).unwrap();
    let site = &dag.places[dag.tasks.site[first] as usize];
    let source = include_str!("../programs/pool.c");
    let line = source
        .lines()
        .position(|l| l.contains("CREATE = WORKSPAN_HERE"))
        .unwrap()
        + 1;
    assert_eq!(site.line, Some(line as u32));
    assert!(site.file.as_ref().unwrap().ends_with("programs/pool.c"));
    // Roots run outside of the pool, the tasks on workers.
    assert_eq!(dag.strands.thread[dag.tasks.first[0] as usize], 2);
    let mut deferred = (0..dag.tasks.len()).filter(|&t| dag.tasks.kind[t] == TaskKind::Deferred);
    assert!(deferred.all(|t| dag.strands.thread[dag.tasks.first[t] as usize] < 2));
    let waits: Vec<usize> = (0..dag.waits.after.len())
        .map(|w| dag.waits.tasks.get(w).len())
        .collect();
    assert_eq!(waits, [0, 100, 1, 1, 1], "the last two join the workers");
    assert_eq!(dag.waits.signals.get(0).len(), 1);
    assert_eq!(dag.steals.len(), 100);
    assert!(dag.steals.iter().all(|s| s.thief < 2 && s.victim == 2));
    let named = |name: &str| dag.labels.iter().position(|l| l == name).unwrap() as u32;
    let regions = |name: &str| {
        dag.regions
            .iter()
            .filter(|r| r.label == named(name))
            .count()
    };
    assert_eq!((regions("work"), regions("produce")), (100, 1));
    assert!(
        dag.regions
            .iter()
            .find(|r| r.label == named("produce"))
            .unwrap()
            .tree
    );
    assert_eq!(dag.parts.len(), 1);
    assert_eq!(dag.counters.len(), 1);
    assert_eq!(dag.counters[0].values.iter().map(|v| v.1).sum::<u64>(), 700);
    assert_eq!(
        dag.strands
            .end_kind
            .iter()
            .filter(|&&k| k == EndKind::Yield)
            .count(),
        2,
        "yield, and the inline child"
    );
    assert!(!says(&dag, "orderly"), "{:?}", dag.meta.warnings);
}

#[test]
fn a_program_that_is_not_recorded_runs_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("pool", folder.path());
    for preloaded in [false, true] {
        let mut command = Command::new(&program);
        if preloaded {
            // Without a folder the library changes nothing: the program sees LD_PRELOAD.
            command.env("LD_PRELOAD", library());
        }
        let output = command.output().unwrap();
        let expected = if preloaded { (90, "") } else { (7, "100 0\n") };
        assert_eq!(output.status.code(), Some(expected.0));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected.1);
    }
}

#[test]
fn a_killed_process_leaves_all_it_did() {
    use std::os::unix::process::ExitStatusExt;
    let (folder, output) = run("ends", &["kill", "50000"]);
    assert_eq!(output.status.signal(), Some(9));
    let dag = trace(&folder);
    assert_eq!(dag.tasks.len(), 50_002);
    assert_eq!(dag.waits.after.len(), 50_000);
    assert!(says(&dag, "was killed or ended by _exit or exec"));
    let end = |task: usize| dag.strands.end[dag.tasks.last[task] as usize];
    assert_eq!(
        end(0),
        end(50_001),
        "what was open ends at the last moment seen"
    );
}

/// Two threads move full chunks all the time, and get in each other's way.
#[test]
fn a_process_killed_while_it_moves_records_leaves_each_once() {
    const LARGE: u64 = 4 << 20;
    let folder = tempfile::tempdir().unwrap();
    let program = compile("ends", folder.path());
    for round in 0..12u32 {
        let spool = folder.path().join("spool");
        std::fs::create_dir(&spool).unwrap();
        let mut child = Command::new(&program)
            .args(["two", "1000000000"])
            .env("LD_PRELOAD", library())
            .env("WORKSPAN_SPOOL_DIR", &spool)
            .spawn()
            .unwrap();
        let size = || {
            let file = std::fs::read_dir(&spool).unwrap().next();
            file.map_or(0, |file| file.unwrap().metadata().unwrap().len())
        };
        while size() < LARGE && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(u64::from(round) * 137));
        child.kill().unwrap();
        child.wait().unwrap();
        let dag = trace(&folder);
        for what in ["damaged", "missing", "twice", "had not stopped"] {
            assert!(!says(&dag, what), "{:?}", dag.meta.warnings);
        }
        // Records take about 20 bytes per task, and all pieces except the last ones are full of
        // them.
        assert!(dag.tasks.len() > 100_000, "{}", dag.tasks.len());
        let all = 0..dag.tasks.len() as u32;
        let roots: Vec<u32> = all
            .filter(|&t| {
                matches!(
                    dag.tasks.kind[t as usize],
                    TaskKind::Root | TaskKind::Detached
                )
            })
            .collect();
        assert_eq!(roots.len(), 2, "the main thread and the one it started");
        for root in roots {
            let children = (0..dag.tasks.len()).filter(|&t| dag.tasks.parent[t] == root);
            let created = children.filter(|&t| dag.tasks.kind[t] != TaskKind::Detached);
            let created = created.count();
            let waited = (0..dag.waits.after.len())
                .filter(|&w| dag.strands.task[dag.waits.after[w] as usize] == root);
            // One task at a time, each waited for except possibly the last.
            let open = created - waited.count();
            assert!(open <= 1, "{open} tasks of root {root} are not waited for");
        }
        std::fs::remove_dir_all(&spool).unwrap();
    }
}

#[test]
fn exits_without_destructors_and_from_inside_a_task_are_told() {
    let (folder, output) = run("ends", &["_exit", "1000"]);
    assert_eq!(output.status.code(), Some(5));
    let dag = trace(&folder);
    assert_eq!(dag.tasks.len(), 1_001);
    assert!(says(&dag, "was killed or ended by _exit or exec"));

    let (folder, output) = run("ends", &["exit_inside", "1000"]);
    assert_eq!(output.status.code(), Some(6));
    let dag = trace(&folder);
    assert_eq!(dag.tasks.len(), 1_002);
    assert!(!says(&dag, "orderly"), "{:?}", dag.meta.warnings);
}

#[test]
fn a_forked_child_runs_unrecorded() {
    let (folder, output) = run("ends", &["fork", "20"]);
    assert_eq!(output.status.code(), Some(0));
    let dag = trace(&folder);
    assert_eq!(dag.tasks.len(), 31, "20 before and 10 after, and the root");
    assert!(dag.meta.warnings.is_empty(), "{:?}", dag.meta.warnings);
}

#[test]
fn many_short_threads_are_so_many_tasks() {
    let (folder, output) = run("ends", &["threads", "1000"]);
    assert_eq!(output.status.code(), Some(0));
    let dag = trace(&folder);
    assert_eq!(count(&dag, TaskKind::Root), 1);
    assert_eq!(count(&dag, TaskKind::Detached), 1_000);
    assert_eq!(dag.tasks.len(), 3_001);
    assert_eq!(
        dag.meta.workers, 2,
        "no pool: the main thread, and one other at a time"
    );
    let unresolved = "Sites have no source lines";
    let mut warnings = dag.meta.warnings.iter();
    assert!(
        warnings.all(|warning| warning.starts_with(unresolved)),
        "{:?}",
        dag.meta.warnings
    );
}

#[test]
fn no_room_is_no_signal_but_a_warning() {
    let (folder, output) = run("ends", &["limit", "200000"]);
    assert_eq!(output.status.code(), Some(0));
    let dag = trace(&folder);
    assert!(
        dag.tasks.len() > 1_000 && dag.tasks.len() < 200_000,
        "{}",
        dag.tasks.len()
    );
    assert!(
        says(&dag, "because the disk was full"),
        "{:?}",
        dag.meta.warnings
    );
}
