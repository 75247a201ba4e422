//! Traces that tests write by hand: a thread's records one by one ([`Lane`]), and the file that
//! consists of them and of tables ([`TraceFile`]).

#![allow(
    clippy::unwrap_used,
    reason = "written for tests: a file in memory always has room"
)]

use std::io::Cursor;

use workspan_trace::entry::{
    ClockPair, Finished, Label, Note, RankCall, RankCallsEntry, Site, SitePosition, StackEntry,
    WaitsEntry, push_varint,
};
use workspan_trace::wire::{Kind, put_head};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};

/// Appends a record `delta` ticks after the previous one.
pub fn put_record(out: &mut Vec<u8>, kind: Kind, delta: u64, operands: &[u64]) {
    let mut room = [0u8; 16];
    // SAFETY: a head takes 9 bytes at most.
    let end = unsafe { put_head(room.as_mut_ptr(), kind, delta) };
    let length = end as usize - room.as_ptr() as usize;
    out.extend_from_slice(&room[..length]);
    for &operand in operands {
        push_varint(out, operand);
    }
}

/// A thread's records, at times that the test gives. Times count from 0.
#[derive(Debug, Default, Clone)]
pub struct Lane {
    /// The encoded records.
    pub bytes: Vec<u8>,
    /// Time of the last record.
    pub now: u64,
}

impl Lane {
    /// Adds a record at `t`.
    pub fn at(&mut self, t: u64, kind: Kind, operands: &[u64]) -> &mut Lane {
        put_record(&mut self.bytes, kind, t - self.now, operands);
        self.now = t;
        self
    }
}

/// Makes a lane of records, each given by its time, kind and operands.
pub fn lane(records: &[(u64, Kind, &[u64])]) -> Lane {
    let mut lane = Lane::default();
    for &(t, kind, operands) in records {
        lane.at(t, kind, operands);
    }
    lane
}

/// A thread's chunks: for each, the time from which its ticks count, and its records.
pub type Chunks = Vec<(u64, Vec<u8>)>;

/// A trace file. Empty tables are left out.
#[derive(Debug, Clone)]
pub struct TraceFile {
    /// The unit of ticks.
    pub clock: ClockKind,
    /// The chunks of each thread.
    pub threads: Vec<Chunks>,
    /// The primitive that each site calls ([`workspan_trace::wire::primitive`]), and its position.
    pub sites: Vec<(u8, SitePosition)>,
    /// The labels, by number.
    pub labels: Vec<&'static str>,
    /// The notes.
    pub notes: Vec<Note>,
    /// Pairs of times on both clocks: ticks and nanoseconds.
    pub pairs: Vec<(u64, u64)>,
    /// MPI calls of the first thread.
    pub rank_calls: Vec<RankCall>,
    /// The waits of threads. All stacks are the empty stack 0.
    pub waits: Vec<WaitsEntry>,
    /// The end of the process, in ticks and nanoseconds; `None` if the process was killed.
    pub end: Option<(u64, u64)>,
}

impl Default for TraceFile {
    fn default() -> TraceFile {
        TraceFile {
            clock: ClockKind::Nanoseconds,
            threads: Vec::new(),
            sites: Vec::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            pairs: vec![(0, 0)],
            rank_calls: Vec::new(),
            waits: Vec::new(),
            end: None,
        }
    }
}

/// The position at a line of `file`.
pub fn in_file(file: &str, line: u32) -> SitePosition {
    SitePosition::Location {
        file: file.into(),
        line,
        column: 1,
    }
}

impl TraceFile {
    /// Encodes the file.
    pub fn bytes(&self) -> Vec<u8> {
        let header = FileHeader {
            clock: self.clock,
            pid: 1,
            start_ns: self.pairs.first().map_or(0, |pair| pair.1),
            ..FileHeader::default()
        };
        let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
        for (thread, chunks) in (0..).zip(&self.threads) {
            for (seq, (base, bytes)) in (0..).zip(chunks) {
                writer.events(thread, seq, (*base, 0), bytes).unwrap();
            }
        }
        let sites = (0..)
            .zip(&self.sites)
            .map(|(id, (primitive, position))| Site {
                id,
                primitive: *primitive,
                position: position.clone(),
            });
        entries(&mut writer, ChunkKind::Sites, sites, Site::encode);
        let labels = (0..).zip(&self.labels).map(|(id, &text)| Label {
            id,
            text: text.into(),
        });
        entries(&mut writer, ChunkKind::Labels, labels, Label::encode);
        let notes = self.notes.iter().cloned();
        entries(&mut writer, ChunkKind::Notes, notes, Note::encode);
        let pairs = self
            .pairs
            .iter()
            .map(|&(ticks, ns)| ClockPair { ticks, ns });
        entries(&mut writer, ChunkKind::Clock, pairs, ClockPair::encode);
        let calls = (!self.rank_calls.is_empty()).then(|| RankCallsEntry {
            thread: 0,
            calls: self.rank_calls.clone(),
        });
        let kind = ChunkKind::RankCalls;
        entries(&mut writer, kind, calls.into_iter(), RankCallsEntry::encode);
        let empty = StackEntry {
            id: 0,
            frames: Vec::new(),
        };
        let stacks = (!self.waits.is_empty()).then_some(empty).into_iter();
        entries(&mut writer, ChunkKind::Stacks, stacks, StackEntry::encode);
        let waits = self.waits.iter().cloned();
        entries(&mut writer, ChunkKind::Waits, waits, WaitsEntry::encode);
        let finished = self.end.iter().map(|&(ticks, ns)| Finished {
            ticks,
            ns,
            dropped: 0,
            threads: self.threads.len() as u64,
        });
        entries(&mut writer, ChunkKind::Finished, finished, Finished::encode);
        writer.finish().unwrap().into_inner()
    }
}

/// Writes a table if it is not empty.
fn entries<T>(
    writer: &mut TraceWriter<Cursor<Vec<u8>>>,
    kind: ChunkKind,
    all: impl Iterator<Item = T>,
    encode: impl Fn(&T, &mut Vec<u8>),
) {
    let mut all = all.peekable();
    if all.peek().is_some() {
        writer.all_entries(kind, all, encode).unwrap();
    }
}
