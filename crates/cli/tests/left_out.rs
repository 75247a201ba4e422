//! What it costs that a task is left out, from its measurement in the runtime's library to the report.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod native;
mod project;

use std::fs;
use std::path::{Path, PathBuf};

use native::{compile, openmp_compilers, skipped, try_compile};
use project::{WORKSPAN, bare, printed, said, trace_of};
use serde_json::Value;
use workspan_dag::LEFT_OUT_TASK;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::{Note, entries};
use workspan_trace::reader::Tolerance;
use workspan_trace::seal::copy_sealed;
use workspan_trace::{Trace, TraceWriter};

/// The tree of that Fibonacci number: some 600,000 tasks, which last some 50 ms.
const SIZE: &str = "26";

fn recorded(program: &Path) -> PathBuf {
    let folder = program.parent().unwrap();
    let output = bare(WORKSPAN)
        .current_dir(folder)
        .env("OMP_NUM_THREADS", "1")
        .args(["record", "--no-report", "--max-overhead", "5%", "--"])
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

/// Work, and recording taken out, in ticks.
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

/// Writes the trace without what it says of tasks left out.
fn write_without(trace: &Trace<'_>, to: &Path) {
    let file = fs::File::create(to).unwrap();
    let mut writer = TraceWriter::new(file, trace.header).unwrap();
    copy_sealed(trace, &[ChunkKind::Notes], &mut writer).unwrap();
    let rest = notes(trace)
        .into_iter()
        .filter(|note| note.key != LEFT_OUT_TASK);
    writer
        .all_entries(ChunkKind::Notes, rest, Note::encode)
        .unwrap();
    writer.finish().unwrap();
}

fn check(program: &Path) {
    let path = recorded(program);
    let other = path.with_extension("other");
    let bytes = fs::read(&path).unwrap();
    let trace = Trace::open(&bytes).unwrap();
    let notes = notes(&trace);
    let cost = notes.iter().find(|note| note.key == LEFT_OUT_TASK);
    let cost: f64 = cost.unwrap().value.parse().unwrap();
    assert!(cost > 0.0 && cost < 1e5, "{cost}");
    write_without(&trace, &other);

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

#[test]
fn work_is_without_what_leaving_out_openmps_tasks_costs() {
    for compiler in openmp_compilers("work_is_without_what_leaving_out_openmps_tasks_costs") {
        let folder = tempfile::tempdir().unwrap();
        check(&compile(&compiler, "short.c", folder.path(), &["-fopenmp"]));
    }
}

#[test]
fn work_is_without_what_leaving_out_onetbbs_tasks_costs() {
    let folder = tempfile::tempdir().unwrap();
    match try_compile("g++", "short_tbb.cpp", folder.path(), &["-ltbb"]) {
        Some(program) => check(&program),
        None => skipped("oneTBB's tasks left out", "no g++ with oneTBB"),
    }
}

/// Each library there is was measured, and of others it is said why not.
#[test]
fn calibrate_tells_of_tasks_left_out() {
    let calibrate = |flags: &[&str]| {
        let output = bare(WORKSPAN)
            .arg("calibrate")
            .args(flags)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", said(&output));
        printed(&output)
    };
    let told: Value = serde_json::from_str(&calibrate(&["--json"])).unwrap();
    let costs = told["left_out_tasks"].as_array().unwrap();
    for cost in costs {
        let ns = |key: &str| cost[key].as_f64().unwrap();
        assert!(ns("bare_ns") > 1.0 && ns("bare_ns") < 1e5, "{cost}");
        assert!(ns("left_out_ns") > 0.0 && ns("left_out_ns") < 1e5, "{cost}");
        assert!(Path::new(cost["library"].as_str().unwrap()).is_absolute());
    }
    let text = calibrate(&[]);
    for runtime in ["GNU OpenMP", "LLVM OpenMP", "oneTBB"] {
        let start = format!("a task left out, {runtime}");
        let line = text.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("{runtime}: {text}"));
        assert!(
            line.contains(" ns ") || line.contains("not measured: "),
            "{line}"
        );
    }
}
