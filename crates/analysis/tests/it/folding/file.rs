//! Recorded files of lanes, as they are and folded.

use std::path::Path;

use workspan_dag::Dag;
use workspan_fold::{Fold, FoldOptions};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
pub use workspan_test_kit::Chunks;
use workspan_test_kit::{TraceFile, in_file};
use workspan_trace::ClockKind;
use workspan_trace::entry::Note;

use crate::folding::program::Lane;
use crate::random::dice::Dice;

/// Reads a file with these chunks of records: by thread, each with the base of its first record's
/// ticks.
pub fn dag(threads: &[Chunks], end: u64, steals: &str) -> Dag {
    let bytes = bytes(threads, end, steals, 0);
    read(Path::new("t"), &bytes, &OpenOptions::default()).unwrap()
}

/// The file, with probes of `probe` ticks.
pub fn bytes(threads: &[Chunks], end: u64, steals: &str, probe: u64) -> Vec<u8> {
    noted(threads, end, steals, probe, &[])
}

/// The file with a measured cost of recording: the ticks that it adds to the three strands of a
/// task.
pub fn measured_bytes(
    threads: &[Chunks],
    end: u64,
    steals: &str,
    (probe, task): (u64, u64),
) -> Vec<u8> {
    let task = Note::new(workspan_dag::note_keys::RECORDED_TASK, task.to_string());
    noted(threads, end, steals, probe, &[task])
}

/// The file of a run that was folded during recording.
pub fn folded_bytes(threads: &[Chunks], end: u64, steals: &str, probe: u64) -> Vec<u8> {
    let below = Note::new("folded below", "10 µs");
    noted(threads, end, steals, probe, &[below])
}

fn noted(threads: &[Chunks], end: u64, steals: &str, probe: u64, more: &[Note]) -> Vec<u8> {
    let notes = [
        Note::new("steals", steals),
        Note::new("probe_cost_ticks", probe.to_string()),
    ];
    TraceFile {
        clock: ClockKind::Tsc,
        threads: threads.to_vec(),
        sites: (1..7).map(|line| (1, in_file("a.rs", line))).collect(),
        labels: vec!["x", "y"],
        notes: notes.into_iter().chain(more.iter().cloned()).collect(),
        pairs: vec![(0, 1_000), (2_000_000, 1_001_000)],
        end: Some((end, 1_000 + end / 2)),
        ..TraceFile::default()
    }
    .bytes()
}

/// The lanes as they are.
pub fn plain(lanes: &[Lane]) -> Vec<Chunks> {
    lanes.iter().map(|l| vec![(0, l.bytes.clone())]).collect()
}

/// The lanes folded, passed in pieces of any size.
pub fn folded(lanes: &[Lane], options: &FoldOptions, dice: &mut Dice) -> (Vec<Chunks>, u64) {
    let mut folds = 0;
    let mut threads = Vec::new();
    for (thread, lane) in (0..).zip(lanes) {
        let mut fold = Fold::new(thread, (0, 0), options.clone());
        let mut chunks = Vec::new();
        let mut walk = workspan_trace::event::Events::new(&lane.bytes, 0);
        let (mut from, mut base, mut now) = (0, 0, 0);
        loop {
            for _ in 0..1 + dice.below(60) {
                if let Some((t, _)) = walk.next() {
                    now = t;
                }
            }
            let to = walk.offset();
            fold.feed(&lane.bytes[from..to], base);
            (from, base) = (to, now);
            if to == lane.bytes.len() {
                fold.finish();
            }
            let (firm, counts_from) = fold.firm();
            if !firm.is_empty() {
                chunks.push((counts_from, firm.to_vec()));
            }
            fold.take_firm();
            if to == lane.bytes.len() {
                break;
            }
        }
        assert!(fold.pending().0.is_empty());
        folds += fold.folded();
        threads.push(chunks);
    }
    (threads, folds)
}
