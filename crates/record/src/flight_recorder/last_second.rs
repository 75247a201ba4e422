//! The breakdown of the worker time of the last second, while the program runs.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use workspan_analysis::{Breakdown, Options, report};
use workspan_dag::build::{Mode, build};
use workspan_reader::OpenOptions;
use workspan_reader::open::Grain;
use workspan_trace::chunk::ChunkKind;
use workspan_trace::entry::ClockPair;
use workspan_trace::window::{Window, copy_window};
use workspan_trace::{Trace, TraceWriter};

use crate::kernel::clock::Clock;

/// The length of the examined time, in nanoseconds.
const EXAMINED_NS: u64 = 1_000_000_000;

/// The spool files of recorded processes.
pub(super) fn spools(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut spools: Vec<PathBuf> = files.map(|file| file.path()).collect();
    spools.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "spool")
    });
    spools.sort();
    spools
}

/// The breakdown of each process that had tasks in that time.
pub(super) fn breakdowns(spool: &Path) -> Vec<Breakdown> {
    let spools = spools(spool);
    spools.iter().filter_map(|spool| breakdown(spool)).collect()
}

fn breakdown(spool: &Path) -> Option<Breakdown> {
    let bytes = std::fs::read(spool).ok()?;
    let trace = Trace::open(&bytes).ok()?;
    let now = workspan_recorder::monotonic_raw_ns();
    let clock = Clock::from_trace(&trace);
    let pair = |ns: u64| ClockPair {
        ticks: clock.ticks(ns),
        ns,
    };
    if now < trace.header.start_ns.saturating_add(EXAMINED_NS) {
        return None;
    }
    let window = Window {
        from: pair(now - EXAMINED_NS),
        to: pair(now),
    };
    // These chunks contain no times.
    let except = [
        ChunkKind::Maps,
        ChunkKind::CpuReadings,
        ChunkKind::WaitLog,
        ChunkKind::Notes,
    ];
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).ok()?;
    copy_window(&trace, &window, &except, &mut writer).ok()?;
    let part = writer.finish().ok()?.into_inner();
    let options = OpenOptions {
        allow_truncated: true,
        grain: Grain::Nanoseconds(10_000),
        ..OpenOptions::default()
    };
    let raw = workspan_reader::recorded::read(&part, &options).ok()?;
    let dag = build(raw, Mode::Repair).ok()?;
    let whole = report(&dag, &Options::default()).ok()?;
    let is_parallel = dag.tasks.len() > 1;
    is_parallel.then_some(whole.breakdown)
}
