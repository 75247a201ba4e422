//! Programs with threads of their own: each thread is a task, and a join is an edge.

use std::path::Path;
use std::process::Command;

use crate::native::compile;
use crate::project::{WORKSPAN, bare, printed, read, said};
use workspan_dag::{Dag, TaskKind};

fn record(folder: &Path, program: &Path) -> (Dag, String) {
    record_by(bare(WORKSPAN), folder, program)
}

/// Records with this `workspan`.
fn record_by(mut workspan: Command, folder: &Path, program: &Path) -> (Dag, String) {
    let trace = folder.join("run.wspan");
    workspan
        .arg("record")
        .arg("--no-report")
        .arg("-o")
        .arg(&trace);
    let output = workspan.arg("--").arg(program).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    (read(&trace), printed(&output))
}

/// The label of each thread task's site.
fn threads(dag: &Dag) -> Vec<&str> {
    let tasks = 0..dag.tasks.len();
    let places = tasks.map(|task| &dag.places[dag.tasks.site[task] as usize]);
    let threads = places.filter(|place| place.is_thread());
    threads.map(|place| place.label.as_str()).collect()
}

#[test]
fn threads_of_c_are_tasks_however_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("gcc", "plain_threads.c", folder.path(), &["-pthread"]);
    let expected = printed(&Command::new(&program).output().unwrap());
    assert_eq!(expected, "20000000 10000000 1 1\n");
    let (dag, output) = record(folder.path(), &program);
    assert_eq!(output, expected);
    let lines: Vec<&str> = threads(&dag)
        .iter()
        .filter_map(|label| label.rsplit_once(':'))
        .map(|(_, line)| line)
        .collect();
    assert_eq!(lines, ["44", "45", "48", "49", "55"], "{:?}", threads(&dag));
    assert!(dag.tasks.kind[1..].iter().all(|&k| k == TaskKind::Detached));
    let names = &dag.meta.thread_names;
    assert!(names.iter().any(|name| name == "returns"), "{names:?}");
    // No more than the two computing threads run at one moment.
    assert!(dag.meta.workers <= 2, "{}", dag.meta.workers);
}

#[test]
fn a_trace_says_on_which_cpus_a_thread_ran() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("gcc", "plain_threads.c", folder.path(), &["-pthread"]);
    let (dag, _) = record(folder.path(), &program);
    let known = dag.meta.cpu.as_ref().filter(|cpu| !cpu.threads.is_empty());
    let Some(known) = known else {
        println!("skipped: CPUs of threads: the kernel refuses perf events");
        return;
    };
    let topology = &dag.meta.topology;
    for &(thread, ns) in &known.threads {
        let cpus = topology.cpus_of(thread);
        let sum: u64 = cpus.iter().map(|on| on.ns).sum();
        // The time by CPU is that of the thread's whole life.
        assert!(sum >= ns, "{thread}: {ns} ns, by CPU {cpus:?}");
    }
    let by_cpu: u64 = topology.on_cpus.iter().map(|on| on.ns).sum();
    assert!(by_cpu <= known.of_threads(), "{by_cpu}, {known:?}");

    let mut on_one_cpu = bare("taskset");
    on_one_cpu.args(["-c", "0", WORKSPAN]);
    let one = tempfile::tempdir().unwrap();
    let (dag, _) = record_by(on_one_cpu, one.path(), &program);
    let cpus: Vec<u32> = dag.meta.topology.on_cpus.iter().map(|on| on.cpu).collect();
    assert!(
        !cpus.is_empty() && cpus.iter().all(|&cpu| cpu == 0),
        "{cpus:?}"
    );
}

/// A worker that has ended does not search for tasks, though its pool goes on.
#[test]
fn workers_that_ended_use_no_cpu_time() {
    let folder = tempfile::tempdir().unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include");
    let flags = [include, "-pthread"];
    let program = compile("gcc", "workers_end.c", folder.path(), &flags);
    let (dag, _) = record(folder.path(), &program);
    let known = dag.meta.cpu.as_ref().filter(|cpu| !cpu.threads.is_empty());
    if known.is_none() {
        println!("skipped: CPU time of workers that ended: the kernel refuses perf events");
        return;
    }
    let mut command = bare(WORKSPAN);
    command.args(["report", "--json"]);
    let output = command.arg(folder.path().join("run.wspan")).output();
    let report: serde_json::Value = serde_json::from_str(&printed(&output.unwrap())).unwrap();
    let ns = |key: &str| report["cpu"]["account"][key].as_u64().unwrap();
    // The main thread ran alone for fifty times as long as a worker.
    assert!(
        ns("between_tasks_ns") < ns("in_tasks_ns") / 4,
        "{}",
        report["cpu"]
    );
    let checks = report["checks"].as_array().unwrap();
    let parts = checks.iter().find(|c| c["check"] == "parts_within_process");
    assert_eq!(parts.unwrap()["holds"], true, "{checks:?}");
}

#[test]
fn a_thread_may_be_cancelled_while_its_records_begin() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("gcc", "cancelled_threads.c", folder.path(), &["-pthread"]);
    let (dag, output) = record(folder.path(), &program);
    assert_eq!(output, "200 cancelled\n");
    assert_eq!(threads(&dag).len(), 200);
}

#[test]
fn the_critical_path_runs_through_a_joined_thread() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("g++", "joined_threads.cpp", folder.path(), &["-pthread"]);
    let trace = folder.path().join("run.wspan");
    record(folder.path(), &program);
    let mut command = bare(WORKSPAN);
    let output = command.arg("report").arg("--json").arg(&trace).output();
    let report: serde_json::Value = serde_json::from_str(&printed(&output.unwrap())).unwrap();
    let sites = report["sites"].as_array().unwrap();
    let long = sites.iter().find(|site| site["line"] == 14).unwrap();
    // All of the longer thread is on the path, and nothing of the shorter one. How much of the path
    // that is depends on how fast the CPU was at each moment.
    let critical = |site: &serde_json::Value| site["critical_work"].as_f64().unwrap();
    let work = long["work"].as_f64().unwrap();
    assert!(critical(long) > 0.98 * work, "{report:#}");
    assert!(
        critical(long) < report["span"].as_f64().unwrap(),
        "{report:#}"
    );
    let short = sites.iter().find(|site| site["line"] == 15).unwrap();
    assert!(critical(short) < 0.05 * work, "{report:#}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn threads_that_wait_until_the_end_are_not_the_workers() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-pthread", "-fno-omit-frame-pointer"];
    let program = compile("gcc", "idle_threads.c", folder.path(), &flags);
    record(folder.path(), &program);
    let trace = folder.path().join("run.wspan");
    let rows = |query: &str| {
        let mut command = bare(WORKSPAN);
        let command = command.arg("sql").args(["--format", "csv"]).arg(&trace);
        printed(&command.arg(query).output().unwrap())
    };
    // The two that computed are workers, though the other three were there before them.
    let workers =
        rows("select sum(worker) from (select * from threads order by work desc limit 2)");
    assert_eq!(
        workers.lines().last(),
        Some("2"),
        "{}",
        rows("select * from threads")
    );
    // What the three waited for is known, although their waits never ended.
    let waits = rows("select count(*) from waits where kind = 'condition' and by_thread is null");
    assert_eq!(
        waits.lines().last(),
        Some("3"),
        "{}",
        rows("select * from waits")
    );
}
