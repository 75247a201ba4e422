//! Writes recorded traces by hand, and returns the runs read from them.

use std::path::Path;

use workspan_dag::{Dag, EndKind, StartKind};
use workspan_reader::OpenOptions;
use workspan_reader::open::read;
use workspan_test_kit::{Chunks, TraceFile, in_file};
pub use workspan_test_kit::{Lane, lane};
use workspan_trace::ClockKind;
use workspan_trace::entry::{Note, RankCall, SitePosition, WaitsEntry};
use workspan_trace::wire::Kind;

/// A file of these threads. Sites 1 and 2 are a.rs:1 and a.rs:2; labels 0 and 1 are x and y.
pub struct File {
    pub lanes: Vec<Lane>,
    /// The end of the process; `None` if it was killed.
    pub end: Option<u64>,
    /// The number of chunks that each thread's records are cut into.
    pub pieces: usize,
    /// From this byte on, the first thread's records are in a chunk of their own, which counts from
    /// 0 again.
    pub cut: Option<usize>,
    /// The kernel's off-CPU times by thread, in a chunk behind all the thread's own.
    pub off_cpu: Vec<Lane>,
    /// The primitive of the sites.
    pub primitive: u8,
    /// Further notes.
    pub notes: Vec<(&'static str, &'static str)>,
    /// Calls of MPI of the first thread.
    pub rank_calls: Vec<RankCall>,
    /// What threads waited for.
    pub waits: Vec<WaitsEntry>,
}

impl File {
    pub fn new(lanes: impl IntoIterator<Item = Lane>, end: Option<u64>) -> File {
        File {
            lanes: lanes.into_iter().collect(),
            end,
            pieces: 1,
            cut: None,
            off_cpu: Vec::new(),
            primitive: 1,
            notes: Vec::new(),
            rank_calls: Vec::new(),
            waits: Vec::new(),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let threads = (0..).zip(&self.lanes).map(|(thread, lane)| {
            if let Some(cut) = self.cut.filter(|_| thread == 0) {
                let (first, rest) = lane.bytes.split_at(cut);
                return vec![(0, first.to_vec()), (0, rest.to_vec())];
            }
            let mut chunks = match self.pieces {
                1 => vec![(0, lane.bytes.clone())],
                pieces => cut(lane, pieces),
            };
            let off_cpu = self.off_cpu.get(thread);
            let off_cpu = off_cpu.filter(|lane| !lane.bytes.is_empty());
            chunks.extend(off_cpu.map(|lane| (0, lane.bytes.clone())));
            chunks
        });
        let site = |position| (self.primitive, position);
        let notes = [("name", "hand")];
        let notes = notes.iter().chain(&self.notes);
        TraceFile {
            clock: ClockKind::Tsc,
            threads: threads.collect(),
            sites: vec![
                site(SitePosition::Label("?".into())),
                site(in_file("a.rs", 1)),
                site(in_file("a.rs", 2)),
            ],
            labels: vec!["x", "y"],
            notes: notes.map(|&(key, value)| Note::new(key, value)).collect(),
            pairs: vec![(0, 1_000), (2_000_000, 1_001_000)],
            rank_calls: self.rank_calls.clone(),
            waits: self.waits.clone(),
            end: self.end.map(|ticks| (ticks, 1_000 + ticks / 2)),
        }
        .bytes()
    }
}

/// Cuts the lane into `pieces` chunks, between records. The ticks of a chunk count from the last
/// record before it.
fn cut(lane: &Lane, pieces: usize) -> Chunks {
    let mut walk = workspan_trace::event::Events::new(&lane.bytes, 0);
    let mut cuts = vec![(0, 0)];
    while let Some((t, _)) = walk.next() {
        cuts.push((t, walk.offset()));
    }
    let size = cuts.len().div_ceil(pieces).max(1);
    let last = *cuts.last().unwrap();
    let pieces = (1..).zip(cuts.chunks(size)).map(|(next, piece)| {
        let next: &(u64, usize) = cuts.get(next * size).unwrap_or(&last);
        (piece[0].0, lane.bytes[piece[0].1..next.1].to_vec())
    });
    pieces.collect()
}

/// The run read from a file.
pub fn dag(file: &File) -> Dag {
    read(Path::new("t"), &file.bytes(), &OpenOptions::default()).unwrap()
}

/// (task, thread, start, end, start kind, end kind) of every strand.
pub fn strands(dag: &Dag) -> Vec<(u32, u32, u64, u64, StartKind, EndKind)> {
    let s = &dag.strands;
    let strand = |i: usize| {
        let why = (s.start_kind[i], s.end_kind[i]);
        (s.task[i], s.thread[i], s.start[i], s.end[i], why.0, why.1)
    };
    (0..s.len()).map(strand).collect()
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
