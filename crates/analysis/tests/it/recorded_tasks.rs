//! The measured cost of a task recorded in full ([`workspan_dag::note_keys::RECORDED_TASK`]), from
//! a trace's note to the report.

use std::path::Path;

use workspan_analysis::{Options, Report, report};
use workspan_dag::Dag;
use workspan_dag::note_keys::RECORDED_TASK;
use workspan_reader::OpenOptions;
use workspan_test_kit::{TraceFile, lane};
use workspan_trace::entry::Note;
use workspan_trace::wire::Kind;

/// A root creates two tasks and waits for them; the strands take 300, 100, 100, 160, 8 and 40
/// ticks.
const RECORDS: [(u64, Kind, &[u64]); 10] = [
    (0, Kind::Root, &[]),
    (300, Kind::Create, &[1, 0]),
    (400, Kind::Create, &[1, 0]),
    (500, Kind::Wait, &[0, 0]),
    (500, Kind::Begin, &[0, 1]),
    (660, Kind::End, &[]),
    (670, Kind::Begin, &[0, 2]),
    (678, Kind::End, &[]),
    (700, Kind::Resume, &[]),
    (740, Kind::End, &[]),
];

/// The run of a trace with these notes.
fn run(notes: &[(&str, &str)]) -> Dag {
    let lane = lane(&RECORDS);
    let notes = notes.iter().map(|&(key, value)| Note::new(key, value));
    let file = TraceFile {
        notes: notes.collect(),
        pairs: vec![(0, 0), (lane.now, lane.now)],
        end: Some((lane.now, lane.now)),
        threads: vec![vec![(0, lane.bytes)]],
        ..TraceFile::default()
    };
    let bytes = file.bytes();
    let dag = workspan_reader::open::read(Path::new("t"), &bytes, &OpenOptions::default()).unwrap();
    assert_eq!(dag.meta.warnings, [""; 0]);
    dag
}

fn of(dag: &Dag, raw: bool) -> Report {
    let options = Options {
        raw,
        ..Options::default()
    };
    report(dag, &options).unwrap()
}

/// (probe cost, work, span, recording).
fn measured_with(notes: &[(&str, &str)]) -> (u64, u128, u128, u128) {
    let dag = run(notes);
    let report = of(&dag, false);
    let breakdown = &report.breakdown;
    assert_eq!(breakdown.total(), 740);
    assert_eq!(breakdown.work, report.work_span.work);
    assert_eq!(
        breakdown.delay + breakdown.no_work_sched + breakdown.no_work_app,
        32
    );
    (
        dag.meta.probe_cost,
        report.work_span.work,
        report.work_span.span,
        breakdown.recording,
    )
}

#[test]
fn probes_cost_what_measured_tasks_say() {
    const PROBE: (&str, &str) = ("probe_cost_ticks", "3");
    // 36 ticks for six strands, with two probes each.
    assert_eq!(measured_with(&[PROBE]), (3, 672, 516, 36));
    // 48 for the three strands of a task are 8 a probe. The strand of 8 ticks has no more than 8.
    assert_eq!(
        measured_with(&[PROBE, (RECORDED_TASK, "48.00")]),
        (8, 620, 476, 88)
    );
    // At most four times the calibrated cost, and not less than it.
    assert_eq!(
        measured_with(&[PROBE, (RECORDED_TASK, "600")]),
        (12, 580, 444, 128)
    );
    assert_eq!(
        measured_with(&[PROBE, (RECORDED_TASK, "12")]),
        (3, 672, 516, 36)
    );
    // Without calibration, the cost is not known.
    assert_eq!(measured_with(&[(RECORDED_TASK, "48")]), (0, 708, 540, 0));
}

#[test]
fn raw_times_and_the_run_itself_are_the_same_with_and_without_the_note() {
    let probe = ("probe_cost_ticks", "3");
    let (plain, noted) = (run(&[probe]), run(&[probe, (RECORDED_TASK, "48")]));
    assert_eq!(of(&plain, true), of(&noted, true));
    assert_eq!(plain.strands, noted.strands);
    assert_eq!(plain.tasks, noted.tasks);
    assert_eq!(plain.meta.facts[2..5], noted.meta.facts[2..5]);
    let named = |dag: &Dag| dag.meta.facts.iter().any(|(key, _)| key == RECORDED_TASK);
    assert!(!named(&noted));
    // The correction is more than a tenth, and is therefore stated.
    assert_eq!(of(&plain, false).uncertainty(), None);
    assert_eq!(of(&noted, false).uncertainty().map(|u| u.0), Some(88));
}
