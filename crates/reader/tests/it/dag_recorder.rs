//! Files of DAG Recorder: their tasks, strands and edges, and damage.

use std::path::Path;

use workspan_dag::meta::Steals;
use workspan_dag::{Dag, EdgeKind, Error, TaskKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;

use crate::dag_file::*;

const STRICT: OpenOptions = OpenOptions {
    allow_truncated: false,
    raw: false,
    grain: workspan_reader::open::Grain::None,
    index: workspan_reader::open::Index::None,
};

fn opened(bytes: &[u8]) -> Dag {
    read(Path::new("a.dag"), bytes, &STRICT).unwrap()
}

fn error(bytes: &[u8]) -> String {
    let error: Error = read(Path::new("a.dag"), bytes, &STRICT).unwrap_err();
    error.to_string()
}

fn edges(dag: &Dag) -> [u32; 7] {
    let mut counts = [0; 7];
    for s in 0..dag.strands.len() as u32 {
        dag.for_each_predecessor(s, |_, kind: EdgeKind| counts[kind as usize] += 1);
    }
    counts
}

#[test]
fn each_kind_of_interval_and_edge_is_read() {
    let dag = opened(&file(2, &one_child(), &EDGES));
    assert_eq!((dag.tasks.len(), dag.strands.len()), (2, 5));
    assert_eq!(dag.tasks.kind, [TaskKind::Root, TaskKind::Deferred]);
    assert_eq!(dag.tasks.number(1), 6, "a task has its node's number");
    assert_eq!(dag.strands.start, [0, 4, 10, 11, 20]);
    assert_eq!(dag.strands.end, [4, 10, 12, 20, 25]);
    assert_eq!(dag.strands.thread, [0, 0, 0, 1, 0]);
    // create, create-continuation, wait-continuation, other-continuation, end.
    assert_eq!(edges(&dag), [1, 1, 1, 1, 1, 0, 0]);
    let site = &dag.places[dag.tasks.site[1] as usize];
    assert_eq!((site.label.as_str(), site.line), ("a.c:12", Some(12)));
    assert_eq!(dag.meta.workers, 2);
    assert_eq!(dag.meta.steals, Steals::Child);
    assert_eq!(dag.meta.warnings, [""; 0]);
    let facts: Vec<&str> = dag.meta.facts.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(facts, ["format", "start clock", "not told by the format"]);
    assert!(dag.meta.facts[2].1.contains("the rate of its clock"));
}

#[test]
fn a_folded_task_is_one_strand_with_its_counts() {
    let dag = opened(&file(2, &folded_child(), &[]));
    assert_eq!((dag.tasks.len(), dag.folded.len()), (2, 1));
    let (strand, record) = dag.folded.iter().next().unwrap();
    assert_eq!(dag.strands.task[strand as usize], 1);
    let counts = (record.tasks, record.spawns, record.syncs, record.strands);
    assert_eq!(counts, (1, 1, 1, 4));
    assert_eq!((record.work, record.span, record.between), (7, 5, 2));
    assert_eq!(record.ready_integral, 2);
}

#[test]
fn a_folded_section_keeps_its_own_wait() {
    let mut nodes = one_child();
    nodes.truncate(4);
    nodes[2] = Node {
        worker: (0, -1),
        inside: Some((17, 15)),
        intervals: [1, 1, 0, 1],
        children: (0, 0),
        ..nodes[2].clone()
    };
    let dag = opened(&file(2, &nodes, &[]));
    assert_eq!(dag.tasks.len(), 1);
    let (strand, record) = dag.folded.iter().next().unwrap();
    assert_eq!(dag.strands.thread[strand as usize], 0);
    assert_eq!((record.tasks, record.syncs, record.strands), (1, 0, 3));
    assert_eq!(edges(&dag), [0, 0, 1, 1, 0, 0, 0]);
    assert!(
        dag.meta.warnings[0].contains("several workers: 1"),
        "{:?}",
        dag.meta.warnings
    );
}

#[test]
fn continuations_that_moved_say_what_thieves_take() {
    let mut nodes = one_child();
    // The child at once on worker 0, the wait on worker 1.
    nodes[6].worker = (0, 0);
    nodes[7] = node(END, (10, 20), 0, (30, 31));
    nodes[5].worker = (1, 1);
    let dag = opened(&file(2, &nodes, &[]));
    assert_eq!(dag.meta.steals, Steals::Continuation);
}

#[test]
fn counters_are_the_strands_own() {
    let mut nodes = one_child();
    nodes[7].counters = [0, 12, 0, 0];
    let dag = opened(&file(2, &nodes, &[]));
    assert_eq!(dag.counters.len(), 1);
    assert_eq!(dag.counters[0].name, "counter-1");
    assert_eq!(dag.counters[0].values, [(3, 12)]);
}

#[test]
fn damage_is_told_with_its_place() {
    let whole = file(2, &one_child(), &EDGES);
    for length in 1..whole.len() {
        let message = error(&whole[..length]);
        assert!(message.starts_with("a.dag: "), "{length}: {message}");
    }
    // The first line (45 bytes) and the numbers (32 bytes) come before the nodes.
    let at = |node: usize| 45 + 32 + 432 * node;
    let with = |change: &dyn Fn(&mut Vec<Node>)| {
        let mut nodes = one_child();
        change(&mut nodes);
        error(&file(2, &nodes, &[]))
    };
    let message = with(&|nodes| nodes[5].kind = 9);
    let byte = at(5);
    assert_eq!(
        message,
        format!("a.dag: byte {byte}: node 5: kind 9; expected 0 to 5")
    );
    let message = with(&|nodes| nodes[4].children.0 = -4);
    assert!(
        message.contains("node 4: has a child -4 nodes away"),
        "{message}"
    );
    let message = with(&|nodes| nodes[4].children.0 = i64::MAX);
    assert!(message.contains("node 4: has a child"), "{message}");
    let message = with(&|nodes| nodes[6].children = (-1, 1));
    assert!(message.contains("node 6"), "{message}");
    let message = with(&|nodes| nodes[4].children.0 = 1);
    assert!(
        message.contains("node 5: is created; expected a task") || message.contains("two nodes"),
        "{message}"
    );
    let message = with(&|nodes| nodes[5].kind = OTHER);
    assert!(
        message.contains("node 2: is not closed by its last child"),
        "{message}"
    );
    let message = with(&|nodes| nodes[7].worker = (2, 2));
    assert!(
        message.contains("node 7: worker 2; expected one of 2 workers"),
        "{message}"
    );
    let message = with(&|nodes| nodes[1].time = (4, 3));
    assert!(
        message.contains("node 1: ends at 3, before its start at 4"),
        "{message}"
    );
    let message = with(&|nodes| nodes.push(node(END, (0, 1), 0, (1, 1))));
    assert!(message.contains("node 8: belongs to no task"), "{message}");
    let message = error(&file(2, &one_child(), &[(5, 0, 1)]));
    assert!(message.contains("edge 0 of kind 5"), "{message}");
    let older = String::from_utf8_lossy(&whole[..45]).replace("1.24", "1.23");
    let message = error(&[older.as_bytes(), &whole[45..]].concat());
    assert!(
        message.contains("version 1.23 of DAG Recorder's format; expected 1.24"),
        "{message}"
    );
}

#[test]
fn without_its_names_a_file_is_read_if_that_is_allowed() {
    let whole = file(2, &one_child(), &EDGES);
    let allowed = OpenOptions {
        allow_truncated: true,
        ..STRICT
    };
    let nodes = 45 + 32 + 432 * 8;
    let dag = read(Path::new("a.dag"), &whole[..nodes + 10], &allowed).unwrap();
    assert_eq!(dag.strands.len(), 5);
    assert_eq!(dag.places[dag.tasks.site[1] as usize].label, "?");
    assert!(read(Path::new("a.dag"), &whole[..nodes - 1], &allowed).is_err());
}
