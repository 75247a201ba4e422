//! Recorded traces of runtimes in which a wait can go on before the ends of its tasks are recorded.

use workspan_dag::{Dag, EndKind, StartKind};
use workspan_trace::wire::Kind;

use crate::writer::{File, Lane, dag, lane, strands};

use EndKind as E;
use StartKind as S;

/// The root waits for two tasks from 10 to 50; a thief runs the second one.
fn lanes(thief: &[(u64, Kind, &[u64])]) -> [Lane; 2] {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (1, Kind::Worker, &[0, 0]),
        (5, Kind::Create, &[1, 1]),
        (6, Kind::Create, &[1, 1]),
        (10, Kind::Wait, &[0, 0]),
        (12, Kind::Begin, &[0, 1]),
        (20, Kind::End, &[]),
        (50, Kind::Resume, &[]),
        (100, Kind::End, &[]),
    ]);
    let mut other = lane(&[(2, Kind::Worker, &[0, 1])]);
    for &(t, kind, operands) in thief {
        other.at(t, kind, operands);
    }
    [main, other]
}

fn late_run(lanes: [Lane; 2]) -> Dag {
    dag(&File {
        notes: vec![("ends", "late")],
        ..File::new(lanes, Some(100))
    })
}

const EXPECTED: [(u32, u32, u64, u64, S, E); 6] = [
    (0, 0, 0, 5, S::Begin, E::Create),
    (0, 0, 5, 6, S::AfterCreate, E::Create),
    (0, 0, 6, 10, S::AfterCreate, E::Wait),
    (1, 0, 12, 20, S::Begin, E::End),
    (2, 1, 30, 50, S::Begin, E::End),
    (0, 0, 50, 100, S::AfterWait, E::End),
];

#[test]
fn an_end_told_after_what_waited_for_it_went_on_was_by_then() {
    let dag = late_run(lanes(&[(30, Kind::Begin, &[0, 2]), (60, Kind::End, &[])]));
    assert_eq!(strands(&dag), EXPECTED);
    assert_eq!(dag.meta.warnings, [""; 0]);
    // It is not shown as a fact.
    assert!(dag.meta.facts.iter().all(|(key, _)| key != "ends"));
}

#[test]
fn an_end_that_the_process_did_not_live_to_tell_was_by_then() {
    let dag = late_run(lanes(&[(30, Kind::Begin, &[0, 2])]));
    assert_eq!(strands(&dag), EXPECTED);
    assert_eq!(dag.meta.warnings, [""; 0]);
}

#[test]
fn a_task_that_began_after_the_wait_for_it_was_over_contradicts_it_all_the_same() {
    let dag = late_run(lanes(&[(60, Kind::Begin, &[0, 2]), (70, Kind::End, &[])]));
    assert!(dag.meta.warnings[0].contains("clamped"));
    assert_eq!(strands(&dag)[5], (0, 0, 70, 100, S::AfterWait, E::End));
}

#[test]
fn where_ends_are_told_in_time_a_late_one_is_a_contradiction() {
    let lanes = lanes(&[(30, Kind::Begin, &[0, 2]), (60, Kind::End, &[])]);
    let dag = dag(&File::new(lanes, Some(100)));
    assert!(dag.meta.warnings[0].contains("clamped"));
    assert_eq!(strands(&dag)[5], (0, 0, 60, 100, S::AfterWait, E::End));
}
