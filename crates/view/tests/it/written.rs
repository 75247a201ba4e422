//! A recorded run, written record by record.

use workspan_fold::{Fold, FoldOptions, StealKind};
use workspan_test_kit::{TraceFile, in_file, put_record};
use workspan_trace::wire::Kind;

/// The records of a thread.
#[derive(Default)]
pub struct Thread {
    bytes: Vec<u8>,
    /// The time of the last record, in nanoseconds.
    now: u64,
}

impl Thread {
    /// Writes a record at `t`.
    pub fn put(&mut self, t: u64, kind: Kind, operands: &[u64]) {
        put_record(&mut self.bytes, kind, t - self.now, operands);
        self.now = t;
    }

    /// Folds everything shorter than `grain` nanoseconds, as the recorder does.
    pub fn folded(self, grain: u64) -> Thread {
        let options = FoldOptions {
            grain,
            max_tasks: u64::MAX,
            thieves: StealKind::default(),
            unfolded_sites: Vec::new(),
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
    TraceFile {
        threads: threads
            .iter()
            .map(|thread| vec![(0, thread.bytes.clone())])
            .collect(),
        sites: (1..3).map(|line| (1, in_file("src/a.rs", line))).collect(),
        end: Some((end, end)),
        ..TraceFile::default()
    }
    .bytes()
}
