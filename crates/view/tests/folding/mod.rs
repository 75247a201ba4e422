//! A recorded run read whole and through the fold.

use std::io::Cursor;

use serde_json::Value;
use workspan_dag::OpenOptions;
use workspan_dag::open::Grain;
use workspan_trace::entry::{ClockPair, Finished, Site, SitePosition, push_varint};
use workspan_trace::wire::{Kind, put_head};
use workspan_trace::{ChunkKind, ClockKind, FileHeader, TraceWriter};
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

/// The records of one worker.
#[derive(Default)]
struct Worker {
    bytes: Vec<u8>,
    now: u64,
    /// Where the next record is.
    t: u64,
}

impl Worker {
    fn put(&mut self, kind: Kind, operands: &[u64]) {
        let mut room = [0u8; 16];
        // SAFETY: a head takes 9 bytes at most.
        let end = unsafe { put_head(room.as_mut_ptr(), kind, self.t - self.now) };
        let length = end as usize - room.as_ptr() as usize;
        self.bytes.extend_from_slice(&room[..length]);
        for &operand in operands {
            push_varint(&mut self.bytes, operand);
        }
        self.now = self.t;
    }

    /// A tree of joins, two sites in turns, below the task that runs.
    fn tree(&mut self, depth: u64) {
        self.t += 11 + depth;
        if depth == 0 {
            return;
        }
        self.put(Kind::Join, &[depth % 2]);
        self.tree(depth - 1);
        self.put(Kind::End, &[]);
        self.put(Kind::Next, &[]);
        self.tree(depth - 1);
        self.put(Kind::EndResume, &[]);
        self.t += 7;
    }
}

pub fn trace(depth: u64) -> Vec<u8> {
    let mut worker = Worker::default();
    worker.put(Kind::Worker, &[0, 0]);
    worker.put(Kind::Root, &[]);
    worker.tree(depth);
    worker.put(Kind::End, &[]);
    let header = FileHeader {
        clock: ClockKind::Nanoseconds,
        pid: 1,
        ..FileHeader::default()
    };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), header).unwrap();
    writer.events(0, 0, (0, 0), &worker.bytes).unwrap();
    let sites = (0u32..2).map(|id| Site {
        id,
        primitive: 1,
        position: SitePosition::Location {
            file: "src/a.rs".into(),
            line: 1 + id,
            column: 1,
        },
    });
    writer
        .all_entries(ChunkKind::Sites, sites, Site::encode)
        .unwrap();
    let pairs = [ClockPair { ticks: 0, ns: 0 }];
    writer
        .all_entries(ChunkKind::Clock, pairs, ClockPair::encode)
        .unwrap();
    let finished = [Finished {
        ticks: worker.t,
        ns: worker.t,
        dropped: 0,
        threads: 1,
    }];
    writer
        .all_entries(ChunkKind::Finished, finished, Finished::encode)
        .unwrap();
    writer.finish().unwrap().into_inner()
}

pub fn session(folder: &tempfile::TempDir, grain: Grain) -> Session {
    let path = folder.path().join("run.wspan");
    if !path.exists() {
        std::fs::write(&path, trace(9)).unwrap();
    }
    let opening = OpenOptions {
        grain,
        ..OpenOptions::default()
    };
    let settings = Settings {
        opening,
        ..Settings::default()
    };
    let session = Session::new(&[path], settings).unwrap();
    session.load();
    session
}

pub fn json(session: &Session, url: &str) -> Value {
    serde_json::from_slice(answer(session, &format!("api/v1/{url}")).unwrap().bytes()).unwrap()
}
