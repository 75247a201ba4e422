//! A recorded run read whole and through the fold.

#[path = "../written/mod.rs"]
mod written;

use serde_json::Value;
use workspan_dag::OpenOptions;
use workspan_dag::open::Grain;
use workspan_trace::wire::Kind;
use workspan_view::session::Settings;
use workspan_view::{Session, answer};

use written::Thread;

/// The records of one worker.
#[derive(Default)]
struct Worker {
    records: Thread,
    /// Where the next record is.
    t: u64,
}

impl Worker {
    fn put(&mut self, kind: Kind, operands: &[u64]) {
        self.records.put(self.t, kind, operands);
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
    written::trace(&[worker.records], worker.t)
}

pub fn session(folder: &tempfile::TempDir, grain: Grain) -> Session {
    session_of(folder, 9, grain)
}

/// Of a tree of so many levels.
pub fn session_of(folder: &tempfile::TempDir, depth: u64, grain: Grain) -> Session {
    let path = folder.path().join("run.wspan");
    if !path.exists() {
        std::fs::write(&path, trace(depth)).unwrap();
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
