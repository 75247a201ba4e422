//! Writes recorded traces by hand, and shows what is read from them.

use std::io::Cursor;
use std::path::Path;

use workspan_dag::{Dag, EndKind, StartKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_trace::entry::{
    ClockPair, Finished, Label, Note, RankCall, RankCallsEntry, Site, SitePosition, push_varint,
};
use workspan_trace::wire::{Kind, put_head};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

/// A thread's records, at times of its own choice.
#[derive(Default, Clone)]
pub struct Lane {
    pub bytes: Vec<u8>,
    now: u64,
}

impl Lane {
    /// A record at `t`.
    pub fn at(&mut self, t: u64, kind: Kind, operands: &[u64]) -> &mut Lane {
        let mut room = [0u8; 16];
        // SAFETY: a head takes 8 bytes at most.
        let end = unsafe { put_head(room.as_mut_ptr(), kind, t - self.now) };
        let length = end as usize - room.as_ptr() as usize;
        self.bytes.extend_from_slice(&room[..length]);
        for &v in operands {
            push_varint(&mut self.bytes, v);
        }
        self.now = t;
        self
    }
}

/// A file of these threads. Sites 1 and 2 are a.rs:1 and a.rs:2; labels 0 and 1 are x and y.
pub struct File {
    pub lanes: Vec<Lane>,
    /// End of the process; none: it was killed.
    pub end: Option<u64>,
    /// Pieces each thread's records are cut into.
    pub pieces: usize,
    /// From this byte on the first thread's records are a chunk of their own, which counts from 0
    /// again.
    pub cut: Option<usize>,
    /// By thread, times off the CPU as the kernel tells them: in a chunk behind all the thread's
    /// own.
    pub off_cpu: Vec<Lane>,
    /// Further notes.
    pub notes: Vec<(&'static str, &'static str)>,
    /// Calls of MPI of the first thread.
    pub rank_calls: Vec<RankCall>,
}

impl File {
    pub fn new(lanes: impl IntoIterator<Item = Lane>, end: Option<u64>) -> File {
        File {
            lanes: lanes.into_iter().collect(),
            end,
            pieces: 1,
            cut: None,
            off_cpu: Vec::new(),
            notes: Vec::new(),
            rank_calls: Vec::new(),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let header = FileHeader {
            clock: ClockKind::Tsc,
            pid: 1,
            start_ns: 1_000,
            ..FileHeader::default()
        };
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
        for (thread, lane) in (0..).zip(&self.lanes) {
            if let Some(cut) = self.cut.filter(|_| thread == 0) {
                let (first, rest) = lane.bytes.split_at(cut);
                writer.events(thread, 0, (0, 0), first).unwrap();
                writer.events(thread, 1, (0, 0), rest).unwrap();
                continue;
            }
            let off_cpu = self.off_cpu.get(thread as usize);
            let off_cpu = off_cpu.filter(|lane| !lane.bytes.is_empty());
            if self.pieces == 1 {
                writer.events(thread, 0, (0, 0), &lane.bytes).unwrap();
                if let Some(off_cpu) = off_cpu {
                    writer.events(thread, 1, (0, 0), &off_cpu.bytes).unwrap();
                }
                continue;
            }
            // Cut between records: each chunk counts from the last record of the one before.
            let (mut walk, mut cuts) = (
                workspan_trace::event::Events::new(&lane.bytes, 0),
                vec![(0, 0)],
            );
            while let Some((t, _)) = walk.next() {
                cuts.push((t, walk.offset()));
            }
            let size = cuts.len().div_ceil(self.pieces).max(1);
            let last = *cuts.last().unwrap();
            for (seq, piece) in (0..).zip(cuts.chunks(size)) {
                let next = cuts.get((seq as usize + 1) * size).unwrap_or(&last);
                writer
                    .events(
                        thread,
                        seq,
                        (piece[0].0, 0),
                        &lane.bytes[piece[0].1..next.1],
                    )
                    .unwrap();
            }
            if let Some(off_cpu) = off_cpu {
                let seq = cuts.chunks(size).len() as u32;
                writer.events(thread, seq, (0, 0), &off_cpu.bytes).unwrap();
            }
        }
        let positions = [
            SitePosition::Label("?".into()),
            SitePosition::Location {
                file: "a.rs".into(),
                line: 1,
                column: 1,
            },
            SitePosition::Location {
                file: "a.rs".into(),
                line: 2,
                column: 1,
            },
        ];
        let sites = (0..).zip(positions).map(|(id, position)| Site {
            id,
            primitive: 1,
            position,
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
                [("name", "hand")]
                    .iter()
                    .chain(&self.notes)
                    .map(|&(key, value)| Note::new(key, value)),
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
        if !self.rank_calls.is_empty() {
            let calls = RankCallsEntry {
                thread: 0,
                calls: self.rank_calls.clone(),
            };
            writer
                .all_entries(ChunkKind::RankCalls, [calls], |calls, out| {
                    calls.encode(out)
                })
                .unwrap();
        }
        if let Some(ticks) = self.end {
            let finished = Finished {
                ticks,
                ns: 1_000 + ticks / 2,
                dropped: 0,
                threads: self.lanes.len() as u64,
            };
            writer
                .all_entries(ChunkKind::Finished, [finished], Finished::encode)
                .unwrap();
        }
        writer.finish().unwrap().into_inner()
    }
}

/// A thread's records.
pub fn lane(records: &[(u64, Kind, &[u64])]) -> Lane {
    let mut lane = Lane::default();
    for &(t, kind, operands) in records {
        lane.at(t, kind, operands);
    }
    lane
}

/// What is read from a file.
pub fn dag(file: &File) -> Dag {
    read(Path::new("t"), &file.bytes(), &OpenOptions::default()).unwrap()
}

/// (task, thread, start, end, why it starts, how it ends) of every strand.
pub fn strands(dag: &Dag) -> Vec<(u32, u32, u64, u64, StartKind, EndKind)> {
    let s = &dag.strands;
    let told = |i: usize| {
        let why = (s.start_kind[i], s.end_kind[i]);
        (s.task[i], s.thread[i], s.start[i], s.end[i], why.0, why.1)
    };
    (0..s.len()).map(told).collect()
}

/// The main thread installs into a pool of two; its join's first half is stolen.
pub fn installed() -> [Lane; 3] {
    let main = lane(&[
        (0, Kind::Root, &[]),
        (5, Kind::Pool, &[0, 2]),
        (10, Kind::Yield, &[0]),
        (90, Kind::Resume, &[]),
        (95, Kind::PoolEnd, &[0]),
        (100, Kind::End, &[]),
    ]);
    let first = lane(&[
        (6, Kind::Worker, &[0, 0]),
        (12, Kind::ResumeYielded, &[0, 0]),
        (20, Kind::Join, &[2]),
        (40, Kind::End, &[]),
        (70, Kind::Resume, &[]),
        (80, Kind::Leave, &[0]),
        (94, Kind::WorkerEnd, &[]),
    ]);
    let thief = lane(&[
        (7, Kind::Worker, &[0, 1]),
        (8, Kind::Sleep, &[]),
        (25, Kind::Wake, &[]),
        (26, Kind::Steal, &[2, 0, 1, 0]),
        (30, Kind::Begin, &[1, 0]),
        (65, Kind::End, &[]),
        (93, Kind::WorkerEnd, &[]),
    ]);
    [main, first, thief]
}
