//! The last records in the chunks of folding threads are folded after the process ended: no measure
//! changes, wherever it ended.

use std::io::Cursor;
use std::path::Path;

use workspan_fold::ThreadTails;
use workspan_fold::{Fold, FoldOptions, StealKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_trace::chunk::FLAGS_AT;
use workspan_trace::event::Events;
use workspan_trace::header::HEADER_SIZE;
use workspan_trace::reader::Tolerance;
use workspan_trace::sealed_copy::copy_with_records;
use workspan_trace::wire::Kind;
use workspan_trace::{FileHeader, Trace, TraceWriter};

use crate::folding::file::{self, Chunks};
use crate::folding::program::{self, Habits, Lane};
use crate::folding::{habits, measures};
use crate::random::dice::Dice;

/// The chunks of a thread that folds the records before record `from`. The last chunk has
/// everything that was open then, and the later records. With `finishes`, nothing could be folded
/// any more.
fn left(
    thread: u32,
    lane: &Lane,
    (from, finishes): (usize, bool),
    options: &FoldOptions,
) -> Chunks {
    let at = lane.starts.get(from).copied().unwrap_or(lane.bytes.len());
    let mut walk = Events::new(&lane.bytes, 0);
    let mut now = 0;
    while walk.offset() < at {
        now = walk.next().unwrap().0;
    }
    let mut fold = Fold::new(thread, (0, 0), options.clone());
    fold.feed(&lane.bytes[..at], 0);
    if finishes {
        fold.finish();
    }
    let firm = (fold.firm().1, fold.firm().0.to_vec());
    let (pending, base) = fold.pending();
    let mut last = Lane::default();
    (last.bytes, last.now) = (pending.to_vec(), fold.last());
    // As the recorder writes it, so that later records count from now.
    last.put(now, Kind::Readings, &[0]);
    last.bytes.extend_from_slice(&lane.bytes[at..]);
    vec![firm, (base, last.bytes)]
}

/// The files that the process leaves: each thread's last chunk is not sealed.
fn spool(mut file: Vec<u8>) -> Vec<u8> {
    let trace = Trace::open(&file).unwrap();
    let header = FileHeader {
        length: 0,
        ..trace.header
    };
    let chunks = trace.chunks(Tolerance::Strict).map(Result::unwrap);
    let last: Vec<u64> = chunks
        .filter(|c| c.kind == workspan_trace::ChunkKind::Events && c.seq == 1)
        .map(|c| c.offset)
        .collect();
    for offset in last {
        file[offset as usize + FLAGS_AT] = 0;
    }
    file[..HEADER_SIZE].copy_from_slice(&header.encode());
    file
}

#[test]
fn what_was_done_last_is_folded_and_no_measure_changes() {
    let (mut fewer, mut same) = (0, 0);
    for case in 0..120 {
        let mut dice = Dice::new(case);
        let mut habits = habits(&mut dice);
        if dice.percent(70) {
            // Much folds early.
            habits = Habits {
                threads: 1 + dice.below(2),
                steals: 1,
                step: 6,
                tasks: 400,
                joins_only: true,
                ..Habits::default()
            };
        }
        let (lanes, end) = program::run(&mut dice, habits);
        let (thieves, steals) = dice.pick(&[
            (StealKind::TakeChildren, "child"),
            (StealKind::TakeContinuations, "continuation"),
        ]);
        let options = FoldOptions {
            grain: dice.pick(&[30, 100, 300, 1000]),
            max_tasks: u64::MAX,
            thieves,
            unfolded_sites: vec![],
            memory: 1 << 30,
        };
        let mut chunks = Vec::new();
        for (thread, lane) in (0..).zip(&lanes) {
            let until = dice.below(lane.starts.len().max(1));
            let finishes = dice.percent(70);
            chunks.push(left(thread, lane, (until, finishes), &options));
        }
        let spool = spool(file::bytes(&chunks, end, steals, 0));
        let trace = Trace::open(&spool).unwrap();
        let sealed = |tails: &ThreadTails| {
            let mut writer = TraceWriter::new(Cursor::new(Vec::new()), trace.header).unwrap();
            copy_with_records(&trace, &[], |chunk| tails.instead_of(chunk), &mut writer).unwrap();
            let bytes = writer.finish().unwrap().into_inner();
            read(Path::new("t"), &bytes, &OpenOptions::default()).unwrap()
        };
        let tails = ThreadTails::fold(&trace, &options);
        let (before, after) = (sealed(&ThreadTails::default()), sealed(&tails));
        assert_eq!(before.meta.warnings, after.meta.warnings, "case {case}");
        if after.tasks.len() < before.tasks.len() {
            fewer += 1;
        } else {
            same += 1;
        }
        let plain = file::dag(&file::plain(&lanes), end, steals);
        for burden in [0, 1, 50, 1000] {
            assert_eq!(
                measures(&plain, burden),
                measures(&after, burden),
                "case {case}, burden {burden}, {habits:?}, {options:?}"
            );
        }
    }
    // Threads that had folded nothing by then stay unchanged.
    assert!(fewer > 20 && same > 0, "{fewer} {same}");
}
