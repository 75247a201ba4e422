//! Answers packed together, with an eye on their size.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::answer::Reply;

/// Answers for a report.
#[derive(Debug)]
pub(super) struct Pack {
    raw: Vec<u8>,
    keys: BTreeSet<String>,
    /// What they take compressed, each group by itself: together they take no more, but for their
    /// common head.
    used: u64,
    room: u64,
    /// Whether anything was taken because there was room.
    more: bool,
}

/// Answers that belong together, not yet taken.
pub(super) type Group = Vec<(String, Reply)>;

impl Pack {
    /// Nothing yet, and room for so many compressed bytes.
    pub(super) fn new(room: u64) -> Pack {
        Pack {
            raw: Vec::new(),
            keys: BTreeSet::new(),
            used: 0,
            room,
            more: false,
        }
    }

    /// Takes them whatever they need.
    pub(super) fn must(&mut self, group: Group) {
        let (bytes, keys) = self.write(group);
        self.used += compressed(&bytes);
        self.raw.extend(bytes);
        self.keys.extend(keys);
    }

    /// Keeps room for what is taken at the end.
    pub(super) fn reserve(&mut self, reply: &Reply) {
        self.used += compressed(reply.bytes());
    }

    /// Takes them when afterwards no more than `share` of the room is used; false when not.
    pub(super) fn may(&mut self, group: Group, share: f64) -> bool {
        let (bytes, keys) = self.write(group);
        if keys.is_empty() {
            return true;
        }
        let used = self.used + compressed(&bytes);
        if used as f64 > self.room as f64 * share {
            return false;
        }
        self.used = used;
        self.more = true;
        self.raw.extend(bytes);
        self.keys.extend(keys);
        true
    }

    /// The share of the room that is used once `part` of what is left is used too.
    pub(super) fn with(&self, part: f64) -> f64 {
        let used = self.used as f64 / (self.room as f64).max(1.0);
        used + part * (1.0 - used).max(0.0)
    }

    /// True when nothing was taken but what has to be.
    pub(super) fn is_least(&self) -> bool {
        !self.more
    }

    /// True when the answer to `key` is there.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// True when `share` of the room is used.
    pub(super) fn is_full(&self, share: f64) -> bool {
        self.used as f64 >= self.room as f64 * share
    }

    /// Those not there yet, as bytes.
    fn write(&self, group: Group) -> (Vec<u8>, Vec<String>) {
        let mut bytes = Vec::new();
        let mut keys: Vec<String> = Vec::new();
        for (key, reply) in group {
            if self.keys.contains(&key) || keys.contains(&key) {
                continue;
            }
            let kind = match reply {
                Reply::Json(_) => 0,
                Reply::Planes(_) => 1,
            };
            bytes.extend((key.len() as u32).to_le_bytes());
            bytes.extend(key.as_bytes());
            bytes.push(kind);
            bytes.extend((reply.bytes().len() as u32).to_le_bytes());
            bytes.extend(reply.bytes());
            keys.push(key);
        }
        (bytes, keys)
    }

    /// All of them, compressed.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let count = (self.keys.len() as u32).to_le_bytes();
        // Writing to memory can't fail.
        let _ = encoder.write_all(&count);
        let _ = encoder.write_all(&self.raw);
        encoder.finish().unwrap_or_default()
    }
}

fn compressed(bytes: &[u8]) -> u64 {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory can't fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default().len() as u64
}
