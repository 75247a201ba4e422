//! The records that come out: appended, and taken back from a mark on when what stands there is folded.

use crate::wire::Kind;

/// A place between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    /// Bytes put out before it.
    pub at: u64,
    /// Time of the record before it.
    pub last: u64,
}

/// Records put out and not yet taken away.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    /// Bytes taken away before these.
    gone: u64,
    /// What the first record's ticks count from.
    pub base: u64,
    last: u64,
    started: bool,
}

impl Output {
    /// The first record's ticks count from here.
    pub(super) fn start(&mut self, base: u64) {
        if !self.started {
            (self.started, self.base, self.last) = (true, base, base);
        }
    }

    /// The place after the last record.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            at: self.gone + self.bytes.len() as u64,
            last: self.last,
        }
    }

    /// Where a mark is in the bytes that are there.
    fn index(&self, mark: Mark) -> usize {
        (mark.at.saturating_sub(self.gone) as usize).min(self.bytes.len())
    }

    /// Appends a record as it came: `before` is the time its ticks counted from, `t` its own.
    pub(super) fn copy(&mut self, before: u64, t: u64, record: &[u8]) {
        if self.last == before {
            self.bytes.extend_from_slice(record);
        } else if let Some((&first, rest)) = record.split_first() {
            let rest = rest.get(usize::from(first >> 5)..).unwrap_or(&[]);
            head(&mut self.bytes, first & 31, t.saturating_sub(self.last));
            self.bytes.extend_from_slice(rest);
        }
        self.last = t;
    }

    /// Appends a record that is nothing but a head.
    pub(super) fn put(&mut self, kind: Kind, t: u64) {
        head(&mut self.bytes, kind as u8, t.saturating_sub(self.last));
        self.last = t;
    }

    /// Appends bytes that are no record.
    pub(super) fn copy_bad(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Puts `records`, at the time of the record before `to`, in place of what stands between the marks.
    /// Returns where they end.
    pub(super) fn replace(&mut self, from: Mark, to: Mark, records: &[u8]) -> Mark {
        let (start, end) = (self.index(from), self.index(to));
        self.bytes.splice(start..end, records.iter().copied());
        Mark {
            at: from.at + records.len() as u64,
            last: to.last,
        }
    }

    /// What stands before the mark, and what its ticks count from.
    pub(super) fn before(&self, mark: Mark) -> (&[u8], u64) {
        (self.bytes.get(..self.index(mark)).unwrap_or(&[]), self.base)
    }

    /// What stands after it; its ticks count from the mark's time.
    pub(super) fn after(&self, mark: Mark) -> &[u8] {
        self.bytes.get(self.index(mark)..).unwrap_or(&[])
    }

    /// Takes away what stands before the mark.
    pub(super) fn take(&mut self, mark: Mark) {
        let end = self.index(mark);
        self.bytes.drain(..end);
        self.gone += end as u64;
        self.base = mark.last;
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len()
    }
}

/// Appends a record's head; `code` is its kind in the head's low 5 bits.
pub(super) fn head(out: &mut Vec<u8>, code: u8, delta: u64) {
    let delta = delta.min((1 << 56) - 1);
    let n = (71 - delta.leading_zeros() as usize) / 8;
    let word = u64::from(code) | (n as u64) << 5 | delta << 8;
    out.extend_from_slice(word.to_le_bytes().get(..=n).unwrap_or(&[]));
}

/// Appends the head of a record of one of the further kinds.
pub(super) fn extended_head(out: &mut Vec<u8>, kind: Kind, delta: u64) {
    head(out, Kind::Extended as u8, delta);
    out.push(kind as u8);
}
