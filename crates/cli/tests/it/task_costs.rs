//! The cost of recorded and skipped tasks, from the constants of their runtime to the report.

use std::fs;
use std::path::{Path, PathBuf};

use crate::native::{compile, openmp_compilers, skipped, try_compile};
use crate::project::{WORKSPAN, bare, printed, said, trace_of};
use serde_json::Value;
use workspan_dag::note_keys::{RECORDED_TASK, SKIPPED_TASK};
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{Note, entries};
use workspan_trace::reader::Tolerance;
use workspan_trace::sealed_copy::copy_sealed;
use workspan_trace::{Trace, TraceWriter};

/// The tree of that Fibonacci number: some 600,000 tasks, which last some 50 ms.
const SIZE: &str = "26";

fn recorded(program: &Path, most: &str) -> PathBuf {
    let folder = program.parent().unwrap();
    let output = bare(WORKSPAN)
        .current_dir(folder)
        .env("OMP_NUM_THREADS", "1")
        .args(["record", "--no-report", "--max-overhead", most, "--"])
        .args([program, Path::new(SIZE)])
        .output()
        .unwrap();
    assert_eq!(
        printed(&output).lines().next(),
        Some("fib 121393"),
        "{}",
        said(&output)
    );
    trace_of(&output, folder)
}

/// The notes of a trace.
fn notes(trace: &Trace<'_>) -> Vec<Note> {
    let chunks = trace.chunks(Tolerance::Strict).map(|chunk| chunk.unwrap());
    let notes = chunks.filter(|chunk| chunk.kind == ChunkKind::Notes);
    notes
        .flat_map(|chunk| entries(chunk.payload).filter_map(Note::decode))
        .collect()
}

/// Work and recording, in ticks.
fn reported(trace: &Path) -> (f64, f64) {
    let output = bare(WORKSPAN)
        .args(["report", "--json"])
        .arg(trace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let work = report["work"].as_f64().unwrap();
    let recording = report["breakdown"]["recording"].as_f64().unwrap();
    (work, recording)
}

/// Writes the trace with other notes.
fn write_with(trace: &Trace<'_>, notes: impl Iterator<Item = Note>, to: &Path) {
    let file = fs::File::create(to).unwrap();
    let mut writer = TraceWriter::new(file, trace.header).unwrap();
    copy_sealed(trace, &[ChunkKind::Notes], &mut writer).unwrap();
    writer
        .all_entries(ChunkKind::Notes, notes, Note::encode)
        .unwrap();
    writer.finish().unwrap();
}

/// The number that a trace's note has.
fn number(notes: &[Note], key: &str) -> Option<f64> {
    let note = notes.iter().find(|note| note.key == key);
    note.map(|note| note.value.parse().unwrap())
}

/// The cost of skipped tasks is noted and taken out of the work.
fn check_skipped(program: &Path) {
    let path = recorded(program, "5%");
    let other = path.with_extension("other");
    let bytes = fs::read(&path).unwrap();
    let trace = Trace::open(&bytes).unwrap();
    let notes = notes(&trace);
    let cost = number(&notes, SKIPPED_TASK).unwrap();
    assert!(cost > 0.0 && cost < 1e5, "{cost}");
    let others = notes.into_iter().filter(|note| note.key != SKIPPED_TASK);
    write_with(&trace, others, &other);

    let (work, recording) = reported(&path);
    let (work_without, recording_without) = reported(&other);
    let what = format!(
        "{}: {work} + {recording}, without the note {work_without} + {recording_without}",
        program.display()
    );
    assert!(
        work < work_without && recording > recording_without,
        "{what}"
    );
    // What is taken out goes from the one to the other, rounded for each strand.
    let (all, all_without) = (work + recording, work_without + recording_without);
    assert!((all - all_without).abs() < all / 100.0, "{what}");
}

/// What `info` says a probe costs, in ticks.
fn probe_cost(trace: &Path) -> f64 {
    let output = bare(WORKSPAN)
        .args(["info", "--json"])
        .arg(trace)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    info["probe_cost"].as_f64().unwrap()
}

/// The cost of recorded tasks is noted and taken out of the work.
fn check_in_full(program: &Path) {
    let path = recorded(program, "off");
    let other = path.with_extension("other");
    let bytes = fs::read(&path).unwrap();
    let trace = Trace::open(&bytes).unwrap();
    let notes = notes(&trace);
    let cost = number(&notes, RECORDED_TASK).unwrap();
    assert!(cost > 0.0 && cost < 1e5, "{cost}");
    let calibrated = number(&notes, "probe_cost_ticks").unwrap();
    let probe = (cost / 6.0).round().clamp(calibrated, 4.0 * calibrated);
    assert_eq!(probe_cost(&path), probe);

    // More is taken out if a task costs more.
    let three_times = |note: Note| match note.key == RECORDED_TASK {
        true => Note::new(RECORDED_TASK, (18.0 * calibrated).to_string()),
        false => note,
    };
    write_with(&trace, notes.iter().cloned().map(three_times), &other);
    assert_eq!(probe_cost(&other), 3.0 * calibrated);
    let (work, recording) = reported(&other);
    let without = notes.iter().filter(|note| note.key != RECORDED_TASK);
    write_with(&trace, without.cloned(), &other);
    assert_eq!(probe_cost(&other), calibrated);
    let (work_without, recording_without) = reported(&other);
    let what = format!(
        "{}: {work} + {recording}, without the note {work_without} + {recording_without}",
        program.display()
    );
    assert!(
        work < work_without && recording > recording_without * 1.5,
        "{what}"
    );
    assert_eq!(work + recording, work_without + recording_without, "{what}");
}

fn check(program: &Path) {
    check_skipped(program);
    check_in_full(program);
}

#[test]
fn work_is_without_what_recording_openmps_tasks_costs() {
    for compiler in openmp_compilers("work_is_without_what_recording_openmps_tasks_costs") {
        let folder = tempfile::tempdir().unwrap();
        check(&compile(&compiler, "short.c", folder.path(), &["-fopenmp"]));
    }
}

#[test]
fn work_is_without_what_recording_onetbbs_tasks_costs() {
    let folder = tempfile::tempdir().unwrap();
    match try_compile("g++", "short_tbb.cpp", folder.path(), &["-ltbb"]) {
        Some(program) => check(&program),
        None => skipped("what oneTBB's tasks cost", "no g++ with oneTBB"),
    }
}

#[test]
fn calibrate_prints_what_tasks_cost() {
    let calibrate = |flags: &[&str]| {
        let output = bare(WORKSPAN)
            .arg("calibrate")
            .args(flags)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        printed(&output)
    };
    let json: Value = serde_json::from_str(&calibrate(&["--json"])).unwrap();
    for cost in json["left_out_tasks"].as_array().unwrap() {
        for key in ["left_out_ns", "recorded_ns"] {
            let ns = cost[key].as_f64().unwrap();
            assert!(ns > 0.0 && ns < 1e5, "{cost}");
        }
    }
    let text = calibrate(&[]);
    for runtime in ["GNU OpenMP", "LLVM OpenMP", "oneTBB"] {
        for what in ["a skipped task", "a recorded task"] {
            let start = format!("{what}, {runtime}");
            assert!(text.lines().any(|line| line.starts_with(&start)), "{text}");
        }
    }
}
