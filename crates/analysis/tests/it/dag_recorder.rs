//! Measures of files of DAG Recorder that were worked out by hand; its own `.stat` counts the same.

use std::path::Path;

use workspan_analysis::{Breakdown, Options, Report, report};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;

use crate::dag_file::{EDGES, Node, file, folded_child, one_child};

fn measured(nodes: &[Node], edges: &[(i32, i64, i64)]) -> Report {
    let bytes = file(2, nodes, edges);
    let dag = read(Path::new("a.dag"), &bytes, &OpenOptions::default()).unwrap();
    report(&dag, &Options::default()).unwrap()
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

/// The child holds 7 ticks of work on a path of 5 in its 9 ticks: 2 more are delay.
#[test]
fn work_span_delay_and_no_work_of_a_folded_child() {
    let report = measured(&folded_child(), &[]);
    let ws = &report.work_span;
    assert_eq!((ws.work, ws.span), (24, 4 + 6 + 5 + 5));
    assert_eq!((ws.tasks, ws.spawns, ws.syncs), (3, 2, 2));
    assert_eq!(parts(&report.breakdown), (24, 3, 23));
}
