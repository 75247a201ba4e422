//! A recorded run, written record by record.

use std::io::Cursor;

use workspan_fold::{Fold, FoldOptions, Thieves};
use workspan_trace::entry::{ClockPair, Finished, Site, SitePosition, push_varint};
use workspan_trace::wire::{Kind, put_head};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

/// The records of a thread.
#[derive(Default)]
pub struct Thread {
    bytes: Vec<u8>,
    /// Of the last record, in nanoseconds.
    now: u64,
}

impl Thread {
    /// A record at `t`.
    pub fn put(&mut self, t: u64, kind: Kind, operands: &[u64]) {
        let mut room = [0u8; 16];
        // SAFETY: a head takes 9 bytes at most.
        let end = unsafe { put_head(room.as_mut_ptr(), kind, t - self.now) };
        let length = end as usize - room.as_ptr() as usize;
        self.bytes.extend_from_slice(&room[..length]);
        for &operand in operands {
            push_varint(&mut self.bytes, operand);
        }
        self.now = t;
    }

    /// The same with what takes less than `grain` nanoseconds folded, as the recorder folds it.
    pub fn folded(self, grain: u64) -> Thread {
        let options = FoldOptions {
            grain,
            max_tasks: u64::MAX,
            thieves: Thieves::default(),
            kept: Vec::new(),
            memory: 1 << 20,
        };
        let mut fold = Fold::new(0, (0, 0), options);
        fold.feed(&self.bytes, 0);
        fold.finish();
        let (bytes, counts_from) = fold.firm();
        assert_eq!(counts_from, 0);
        Thread {
            bytes: bytes.to_vec(),
            now: self.now,
        }
    }
}

/// The trace of a run with two spawn sites that ended at `end`.
pub fn trace(threads: &[Thread], end: u64) -> Vec<u8> {
    let header = FileHeader {
        clock: ClockKind::Nanoseconds,
        pid: 1,
        ..FileHeader::default()
    };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
    for (number, thread) in (0u32..).zip(threads) {
        writer.events(number, 0, (0, 0), &thread.bytes).unwrap();
    }
    let sites = (0u32..2).map(|id| Site {
        id,
        primitive: 1,
        position: SitePosition::Location {
            file: "src/a.rs".into(),
            line: 1 + id,
            column: 1,
        },
    });
    let kind = ChunkKind::Sites;
    writer.all_entries(kind, sites, Site::encode).unwrap();
    let pairs = [ClockPair { ticks: 0, ns: 0 }];
    let kind = ChunkKind::Clock;
    writer.all_entries(kind, pairs, ClockPair::encode).unwrap();
    let finished = [Finished {
        ticks: end,
        ns: end,
        dropped: 0,
        threads: threads.len() as u64,
    }];
    let kind = ChunkKind::Finished;
    writer
        .all_entries(kind, finished, Finished::encode)
        .unwrap();
    writer.finish().unwrap().into_inner()
}
