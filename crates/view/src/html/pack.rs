//! Packs answers, and keeps account of their compressed size.

use std::collections::BTreeSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::answer::Reply;

/// The answers of a report.
#[derive(Debug)]
pub(super) struct Pack {
    raw: Vec<u8>,
    keys: BTreeSet<String>,
    /// Compressed bytes, if each group is compressed separately. All of them compressed together
    /// are no larger, except for the common header.
    used: u64,
    room: u64,
    /// Whether an optional answer was added.
    more: bool,
}

/// Answers that belong together and are added together.
pub(super) type Group = Vec<(String, Reply)>;

impl Pack {
    /// An empty pack with room for `room` compressed bytes.
    pub(super) fn new(room: u64) -> Pack {
        Pack {
            raw: Vec::new(),
            keys: BTreeSet::new(),
            used: 0,
            room,
            more: false,
        }
    }

    /// Adds a group, even beyond the room.
    pub(super) fn must(&mut self, group: Group) {
        let (bytes, keys) = self.write(group);
        self.used += compressed(&bytes);
        self.raw.extend(bytes);
        self.keys.extend(keys);
    }

    /// Reserves room for an answer that is added at the end.
    pub(super) fn reserve(&mut self, reply: &Reply) {
        self.used += compressed(reply.bytes());
    }

    /// Adds a group if afterwards at most `share` of the room is used; otherwise returns false.
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

    /// The share of the room that is used if `part` of the free room is used in addition.
    pub(super) fn with(&self, part: f64) -> f64 {
        let used = self.used as f64 / (self.room as f64).max(1.0);
        used + part * (1.0 - used).max(0.0)
    }

    /// True if only required answers were added.
    pub(super) fn is_least(&self) -> bool {
        !self.more
    }

    /// True if the answer to `key` was added.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// True if at least `share` of the room is used.
    pub(super) fn is_full(&self, share: f64) -> bool {
        self.used as f64 >= self.room as f64 * share
    }

    /// The answers that were not added yet, encoded, with their keys.
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

    /// All answers, compressed.
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
