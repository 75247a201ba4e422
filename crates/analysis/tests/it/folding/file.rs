//! Recorded files of lanes, as they are and folded.

use std::io::Cursor;
use std::path::Path;

use workspan_dag::Dag;
use workspan_fold::{Fold, FoldOptions};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_trace::entry::{ClockPair, Finished, Label, Note, Site, SitePosition};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

use crate::folding::program::Lane;
use crate::random::dice::Dice;

/// Reads a file of these chunks of records: by thread, each with what its first record's ticks
/// count from.
pub fn dag(threads: &[Chunks], end: u64, steals: &str) -> Dag {
    let bytes = bytes(threads, end, steals, 0);
    read(Path::new("t"), &bytes, &OpenOptions::default()).unwrap()
}

/// The file; probes cost so many ticks.
pub fn bytes(threads: &[Chunks], end: u64, steals: &str, probe: u64) -> Vec<u8> {
    noted(threads, end, steals, probe, &[])
}

/// The same with a measured cost of recording: the ticks that it adds to the three strands of a
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

/// The same of a run that was folded while it was recorded.
pub fn folded_bytes(threads: &[Chunks], end: u64, steals: &str, probe: u64) -> Vec<u8> {
    let below = Note::new("folded below", "10 µs");
    noted(threads, end, steals, probe, &[below])
}

fn noted(threads: &[Chunks], end: u64, steals: &str, probe: u64, more: &[Note]) -> Vec<u8> {
    let header = FileHeader {
        clock: ClockKind::Tsc,
        pid: 1,
        start_ns: 1_000,
        ..FileHeader::default()
    };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
    for (thread, chunks) in (0..).zip(threads) {
        for (seq, (base, bytes)) in (0..).zip(chunks) {
            writer.events(thread, seq, (*base, 0), bytes).unwrap();
        }
    }
    let sites = (0..6).map(|id| Site {
        id,
        primitive: 1,
        position: SitePosition::Location {
            file: "a.rs".into(),
            line: id + 1,
            column: 1,
        },
    });
    writer
        .all_entries(ChunkKind::Sites, sites, Site::encode)
        .unwrap();
    let labels = (0..).zip(["x", "y"]).map(|(id, text)| Label {
        id,
        text: text.into(),
    });
    writer
        .all_entries(ChunkKind::Labels, labels, Label::encode)
        .unwrap();
    writer
        .all_entries(
            ChunkKind::Notes,
            [
                Note::new("steals", steals),
                Note::new("probe_cost_ticks", probe.to_string()),
            ]
            .into_iter()
            .chain(more.iter().cloned()),
            Note::encode,
        )
        .unwrap();
    let pairs = [
        ClockPair {
            ticks: 0,
            ns: 1_000,
        },
        ClockPair {
            ticks: 2_000_000,
            ns: 1_001_000,
        },
    ];
    writer
        .all_entries(ChunkKind::Clock, pairs, ClockPair::encode)
        .unwrap();
    let finished = Finished {
        ticks: end,
        ns: 1_000 + end / 2,
        dropped: 0,
        threads: threads.len() as u64,
    };
    writer
        .all_entries(ChunkKind::Finished, [finished], Finished::encode)
        .unwrap();
    writer.finish().unwrap().into_inner()
}

/// A thread's chunks: ticks that each counts from, and its records.
pub type Chunks = Vec<(u64, Vec<u8>)>;

/// The lanes as they are.
pub fn plain(lanes: &[Lane]) -> Vec<Chunks> {
    lanes.iter().map(|l| vec![(0, l.bytes.clone())]).collect()
}

/// The lanes folded, fed in pieces of any size.
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
