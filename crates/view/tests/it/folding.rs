//! A recorded run, read in full and with folding.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use workspan_reader::OpenOptions;
use workspan_reader::open::Grain;
use workspan_trace::wire::Kind;
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

use crate::written;
use crate::written::Thread;

/// The records of one worker.
#[derive(Default)]
struct Worker {
    records: Thread,
    /// The time of the next record.
    t: u64,
}

impl Worker {
    fn put(&mut self, kind: Kind, operands: &[u64]) {
        self.records.put(self.t, kind, operands);
    }

    /// Writes a tree of joins with two alternating sites, below the running task.
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

/// A trace of a tree with `depth` levels; `fold` changes its records as the recorder may.
pub fn trace(depth: u64, fold: impl FnOnce(Thread) -> Thread) -> Vec<u8> {
    let mut worker = Worker::default();
    worker.put(Kind::Worker, &[0, 0]);
    worker.put(Kind::Root, &[]);
    worker.tree(depth);
    worker.put(Kind::End, &[]);
    written::trace(&[fold(worker.records)], worker.t)
}

pub fn session(folder: &tempfile::TempDir, grain: Grain) -> Session {
    session_of(folder, 9, grain)
}

/// A session of a tree with `depth` levels.
pub fn session_of(folder: &tempfile::TempDir, depth: u64, grain: Grain) -> Session {
    let path = folder.path().join("run.wspan");
    if !path.exists() {
        std::fs::write(&path, trace(depth, |records| records)).unwrap();
    }
    read(path, grain)
}

/// A session of the trace at `path`.
pub fn read(path: PathBuf, grain: Grain) -> Session {
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

/// The planes of an answer, by name.
pub fn planes(session: &Session, url: &str) -> BTreeMap<String, Vec<f64>> {
    let reply = answer(session, &format!("api/v1/{url}")).unwrap();
    let bytes = reply.bytes();
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert_eq!(header["truncated"], false);
    let mut at = (8 + length).next_multiple_of(8);
    let mut found = BTreeMap::new();
    for plane in header["planes"].as_array().unwrap() {
        let cell = |b: &[u8]| match b.len() {
            1 => f64::from(b[0]),
            2 => f64::from(u16::from_le_bytes(b.try_into().unwrap())),
            4 => f64::from(u32::from_le_bytes(b.try_into().unwrap())),
            _ => f64::from_le_bytes(b.try_into().unwrap()),
        };
        let size = match plane["type"].as_str().unwrap() {
            "u8" => 1,
            "u16" => 2,
            "u32" => 4,
            _ => 8,
        };
        let count = plane["length"].as_u64().unwrap() as usize;
        let cells = bytes[at..at + size * count].chunks(size).map(cell);
        found.insert(
            plane["name"].as_str().unwrap().to_owned(),
            cells.collect::<Vec<f64>>(),
        );
        at = (at + size * count).next_multiple_of(8);
    }
    found
}
