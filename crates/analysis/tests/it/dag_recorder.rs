//! Measures of DAG Recorder files that were computed manually; its own `.stat` has the same counts.

use std::path::Path;

use workspan_analysis::statistics::{DagSummary, statistics};
use workspan_analysis::{Breakdown, Options, Report, report};
use workspan_dag::{Dag, EdgeKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;

use crate::dag_file::{EDGES, Node, file, folded_child, one_child};

fn opened(nodes: &[Node], edges: &[(i32, i64, i64)]) -> Dag {
    let bytes = file(2, nodes, edges);
    read(Path::new("a.dag"), &bytes, &OpenOptions::default()).unwrap()
}

fn measured(nodes: &[Node], edges: &[(i32, i64, i64)]) -> Report {
    report(&opened(nodes, edges), &Options::default()).unwrap()
}

fn summary(nodes: &[Node]) -> DagSummary {
    let dag = opened(nodes, &[]);
    statistics(&dag, &Options::default()).unwrap().dag
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
}

fn parts(of: &Breakdown) -> (u128, u128, u128) {
    (of.work, of.delay, of.no_work_sched + of.no_work_app)
}

/// Worker 0: other 0-4, create 4-10, wait 10-12, end 20-25; worker 1: the child 11-20, ready at 10.
#[test]
fn work_span_delay_and_no_work_of_one_child() {
    let report = measured(&one_child(), &EDGES);
    let ws = &report.work_span;
    assert_eq!((ws.work, ws.span), (4 + 6 + 2 + 9 + 5, 4 + 6 + 9 + 5));
    assert_eq!((ws.tasks, ws.spawns, ws.syncs, ws.steals), (2, 1, 1, 1));
    // Worker 1 was free for 10 ticks, then a tick late; worker 0 in 12-20 and worker 1 in 20-25.
    assert_eq!(parts(&report.breakdown), (26, 1, 10 + 8 + 5));
}

/// The child has 7 ticks of work on a path of 5 in its 9 ticks: 2 more are delay.
#[test]
fn work_span_delay_and_no_work_of_a_folded_child() {
    let report = measured(&folded_child(), &[]);
    let ws = &report.work_span;
    assert_eq!((ws.work, ws.span), (24, 4 + 6 + 5 + 5));
    assert_eq!((ws.tasks, ws.spawns, ws.syncs), (3, 2, 2));
    assert_eq!(parts(&report.breakdown), (24, 3, 23));
}

/// From the `.stat` of the unfolded file: create_task 1, wait_tasks 1, end_task 2, T1 26, T_inf 24,
/// elapsed 25, 8 nodes.
#[test]
fn the_quantities_of_a_stat_file() {
    let of = summary(&one_child());
    assert_eq!((of.creates, of.waits, of.others, of.ends), (1, 1, 1, 2));
    assert_eq!((of.work, of.span, of.delay, of.no_work), (26, 24, 1, 23));
    assert_eq!((of.workers, of.elapsed), (2, 25));
    near(Some(of.work_per_worker()), 13.0);
    near(Some(of.greedy_time()), 37.0);
    near(of.parallelism(), 26.0 / 24.0);
    near(Some(of.greedy_speedup()), 26.0 / 37.0);
    near(of.observed_speedup(), 26.0 / 25.0);
    near(of.observed_over_greedy(), 37.0 / 25.0);
    near(of.task_granularity(), 26.0);
    near(of.interval_granularity(), 5.2);
    assert_eq!((of.dag_nodes, of.materialized_nodes), (8, 8));
    near(of.compression_ratio(), 1.0);
    let edges = |kind| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| of.edges.of(kind, a, b));
    assert_eq!(edges(EdgeKind::Create), [0, 1, 0, 0]);
    assert_eq!(edges(EdgeKind::CreateContinuation), [1, 0, 0, 0]);
    assert_eq!(edges(EdgeKind::WaitContinuation), [1, 0, 0, 0]);
    assert_eq!(edges(EdgeKind::YieldContinuation), [1, 0, 0, 0]);
    assert_eq!(edges(EdgeKind::End), [0, 0, 1, 0]);
}

/// The folded file has 7 of the 13 nodes: the child contains a create, a wait, a section, a task
/// and two ends.
#[test]
fn the_quantities_of_a_folded_file() {
    let of = summary(&folded_child());
    assert_eq!((of.creates, of.waits, of.others, of.ends), (2, 2, 1, 3));
    assert_eq!((of.work, of.span, of.delay, of.no_work), (24, 20, 3, 23));
    assert_eq!((of.dag_nodes, of.materialized_nodes), (13, 7));
    near(of.compression_ratio(), 7.0 / 13.0);
    near(of.task_granularity(), 13.0);
    near(of.interval_granularity(), 26.0 / 8.0);
    assert_eq!(of.edges.of(EdgeKind::Create, 1, 1), 1);
    assert_eq!(of.edges.of(EdgeKind::End, 1, 1), 1);
    assert_eq!(of.edges.of(EdgeKind::Create, 0, 1), 1);
}
