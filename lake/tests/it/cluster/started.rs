//! Tests that start a scheduler and executors.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use workspan_lake::queries;

use super::{Cluster, asked, text};
use crate::recorded;
use crate::sqlite::{answer, answer_of};
use crate::{add, files, traces};

/// Compares the rows of all prepared queries.
fn same_rows(root: &Path) {
    let cluster = Cluster::start(2, &[]);
    let address = cluster.address();
    for query in queries::all() {
        let there = answer_of(root, query.name, &["--cluster", &address]);
        assert_eq!(there, answer(root, query.name), "{}", query.name);
    }
}

#[test]
#[ignore = "needs Ballista's programs: cargo xtask test lake"]
fn a_cluster_has_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 20));
    for (i, part) in traces.chunks(5).enumerate() {
        let tag = format!("commit=c{i}");
        add(&root, part, &["--detail", "--tag", &tag]);
    }
    same_rows(&root);
}

#[test]
#[ignore = "needs recorded runs and Ballista's programs: cargo xtask test lake"]
fn recorded_runs_have_the_same_rows_in_a_cluster() {
    same_rows(recorded::lake());
}

#[test]
#[ignore = "needs Ballista's programs: cargo xtask test lake"]
fn damaged_files_and_those_of_no_run_are_left_out_in_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let (root, traces) = (folder.path().join("lake"), traces(folder.path(), 5));
    add(&root, &traces, &["--project", "p"]);
    // One file has corrupted bytes in its middle, and one belongs to a run that was not completed.
    let sites = files(&root.join("v1/sites"));
    let mut bytes = std::fs::read(&sites[2]).unwrap();
    // Only the first page is corrupted, so that the executors find it.
    bytes[4..40].fill(0xa5);
    std::fs::write(&sites[2], bytes).unwrap();
    let runs = files(&root.join("v1/runs"));
    let is_other = |path: &&PathBuf| path.file_name() != sites[2].file_name();
    std::fs::remove_file(runs.iter().find(is_other).unwrap()).unwrap();

    let cluster = Cluster::start(2, &[]);
    let query = "select project, count(distinct run), sum(tasks), count(distinct label) from sites group by project";
    let there = asked(&root, query, Some(&cluster.address()));
    let said = text(&there.stderr);
    assert_eq!(there.status.code(), Some(1), "{said}");
    let name = sites[2].file_name().unwrap().to_str().unwrap();
    assert!(said.contains(name), "{said}");
    assert!(text(&there.stdout).contains("p,3,"), "{there:?}");
    // A query that reads no table of the lake needs no cluster.
    let plan = asked(
        &root,
        "explain select label from sites",
        Some(&cluster.address()),
    );
    assert!(text(&plan.stdout).contains("DataSourceExec"), "{plan:?}");
}

/// A query over pairs of strands: some seconds of work in several stages.
const LONG_QUERY: &str = "select a.run, a.level, count(*) as n, sum((a.time + b.time) % 1009) as m from strands a \
    join strands b on a.run = b.run and (a.time + b.time) % 3 > 0 group by a.run, a.level order by a.run, a.level";

#[test]
#[ignore = "needs Ballista's programs: cargo xtask test lake"]
fn an_executor_that_is_killed_in_the_middle_of_a_query_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    add(&root, &wide_traces(folder.path(), 24), &["--detail"]);
    let expected = asked(&root, LONG_QUERY, None);
    assert!(expected.status.success(), "{}", text(&expected.stderr));
    let (mut killed, mut moments) = (0, [0.5, 0.3, 0.7, 0.2, 0.8].iter().cycle());
    for _ in 0..10 {
        let mut cluster = Cluster::start(2, &[]);
        let begun = Instant::now();
        let there = asked(&root, LONG_QUERY, Some(&cluster.address()));
        assert_eq!(text(&there.stdout), text(&expected.stdout));
        let span = begun.elapsed();
        let mut command = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
        command
            .arg("sql")
            .arg(&root)
            .args([
                LONG_QUERY,
                "--format",
                "csv",
                "--cluster",
                &cluster.address(),
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(span.mul_f64(*moments.next().unwrap()));
        cluster.executors[0].kill().unwrap();
        let is_in_the_middle = child.try_wait().unwrap().is_none();
        let there = child.wait_with_output().unwrap();
        let said = text(&there.stderr);
        assert!(there.status.success(), "{said}");
        assert_eq!(text(&there.stdout), text(&expected.stdout), "{said}");
        killed += usize::from(is_in_the_middle);
        if killed == 2 {
            return;
        }
    }
    panic!("no executor was killed in the middle of a query");
}

/// An executor that is stopped, or whose host is gone, closes no connection. Others may wait for
/// its data for ever.
#[test]
#[ignore = "needs Ballista's programs: cargo xtask test lake"]
fn an_executor_that_stops_without_a_sign_ends_in_the_same_answer_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    add(&root, &wide_traces(folder.path(), 24), &["--detail"]);
    let expected = asked(&root, LONG_QUERY, None);
    let mut stopped = 0;
    for moment in [0.5, 0.3, 0.7, 0.2, 0.8] {
        // The scheduler gives an executor up after 6 seconds.
        let cluster = Cluster::start(2, &[]);
        let address = cluster.address();
        let begun = Instant::now();
        asked(&root, LONG_QUERY, Some(&address));
        let alone = begun.elapsed();
        // Two attempts on one executor, and the time in which the loss is noticed.
        let limit = alone.as_secs() * 4 + 30;
        let mut query = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
        query.arg("sql").arg(&root).arg(LONG_QUERY);
        query.args(["--format", "csv", "--cluster", &address]);
        query.args(["--timeout", &format!("{limit}s")]);
        query.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut query = query.spawn().unwrap();
        std::thread::sleep(alone.mul_f64(moment));
        signal("-STOP", cluster.executors[0].id());
        let is_in_the_middle = query.try_wait().unwrap().is_none();
        let there = query.wait_with_output().unwrap();
        let said = text(&there.stderr);
        eprintln!("stopped at {moment}: {} {said}", there.status);
        if there.status.success() {
            assert_eq!(text(&there.stdout), text(&expected.stdout), "{said}");
        } else {
            assert!(said.contains(&format!("within {limit} s")), "{said}");
            assert!(
                said.contains("End the executors, start them again"),
                "{said}"
            );
        }
        stopped += usize::from(is_in_the_middle);
        if stopped == 2 {
            return;
        }
    }
    panic!("no executor was stopped in the middle of a query");
}

#[test]
#[ignore = "needs Ballista's programs: cargo xtask test lake"]
fn a_cluster_that_does_not_answer_in_time_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    add(&root, &wide_traces(folder.path(), 2), &["--detail"]);
    let cluster = Cluster::start(1, &[]);
    signal("-STOP", cluster.executors[0].id());
    let mut query = Command::new(env!("CARGO_BIN_EXE_workspan-lake"));
    query.arg("sql").arg(&root).arg(LONG_QUERY);
    query.args(["--cluster", &cluster.address(), "--timeout", "2s"]);
    let output = query.output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("within 2 s"), "{said}");
    assert!(said.contains("--executor-timeout-seconds"), "{said}");
}

fn signal(which: &str, process: u32) {
    let sent = Command::new("kill")
        .args([which, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Traces of `n` programs with 300 tasks each. One worker creates the tasks and another one runs
/// them.
fn wide_traces(folder: &Path, n: u64) -> Vec<PathBuf> {
    let made = (0..n).map(|run| {
        let mut text = String::from(
            "{\"workspan_trace\":1,\"workers\":2,\"time_unit\":\"ns\",\"steals\":\"child\",\"name\":\"wide\"}\n",
        );
        let mut event = |t: u64, what: &str| text.push_str(&format!("{{\"t\":{t},{what}}}\n"));
        event(0, "\"ev\":\"begin\",\"w\":0,\"task\":0");
        for task in 1..=300 {
            let created = format!(
                "\"ev\":\"create\",\"w\":0,\"task\":0,\"child\":{task},\"site\":\"wide.c:{}\"",
                task % 7
            );
            event(task * 10, &created);
            event(task * 10, "\"ev\":\"resume\",\"w\":0,\"task\":0");
        }
        event(4000, "\"ev\":\"wait\",\"w\":0,\"task\":0");
        let mut now = 5000;
        for task in 1..=300 {
            event(now, &format!("\"ev\":\"begin\",\"w\":1,\"task\":{task}"));
            now += 100 + (task * 7919 + run * 104_729) % 997;
            event(now, &format!("\"ev\":\"end\",\"w\":1,\"task\":{task}"));
        }
        event(now, "\"ev\":\"resume\",\"w\":0,\"task\":0");
        event(now + 10, "\"ev\":\"end\",\"w\":0,\"task\":0");
        let path = folder.join(format!("wide-{run}.jsonl"));
        std::fs::write(&path, text).unwrap();
        path
    });
    made.collect()
}

#[test]
#[ignore = "needs Ballista's programs: cargo xtask test lake"]
fn a_scheduler_without_executors_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("lake");
    add(&root, &traces(folder.path(), 1), &[]);
    let mut cluster = Cluster::start(1, &[]);
    let executor = &mut cluster.executors[0];
    executor.kill().unwrap();
    executor.wait().unwrap();
    cluster.wait_until("misses its executor", |answer| answer.contains(" 503 "));
    let output = asked(&root, "select count(*) from runs", Some(&cluster.address()));
    let said = text(&output.stderr);
    assert!(said.contains("has no executors"), "{said}");
    assert!(
        said.contains("ballista-executor --scheduler-host"),
        "{said}"
    );
}
