//! The output records. They are appended, and removed again from a mark on when they are folded.

use std::ops::Range;

use workspan_trace::entry::push_varint;
use workspan_trace::wire::{Kind, RECORDER};

/// A place between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of bytes written before it.
    pub at: u64,
    /// The time of the record before it.
    pub last: u64,
}

/// Records that were written and not yet taken away. Records that are copied unchanged wait in the
/// piece that was fed, so that many can be copied at a time.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// The piece, and the part of it that comes after `bytes`.
    piece: Vec<u8>,
    waiting: Range<usize>,
    /// The number of bytes taken away before these.
    gone: u64,
    /// The time from which the first record's ticks count.
    pub base: u64,
    last: u64,
    started: bool,
}

impl Output {
    /// Sets the time from which the first record's ticks count.
    pub(crate) fn start(&mut self, base: u64) {
        if !self.started {
            (self.started, self.base, self.last) = (true, base, base);
        }
    }

    /// Sets the piece whose records are read next.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        self.flush();
        self.piece.clear();
        self.piece.extend_from_slice(piece);
        self.waiting = 0..0;
    }

    /// Copies the records that wait.
    pub(crate) fn flush(&mut self) {
        let some = self.piece.get(self.waiting.clone()).unwrap_or(&[]);
        self.bytes.extend_from_slice(some);
        self.waiting.start = self.waiting.end;
    }

    /// The place after the last record.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            at: self.gone + (self.bytes.len() + self.waiting.len()) as u64,
            last: self.last,
        }
    }

    /// The position of a mark in the bytes that are there.
    fn index(&self, mark: Mark) -> usize {
        (mark.at.saturating_sub(self.gone) as usize).min(self.bytes.len())
    }

    /// Appends the record in this part of the piece unchanged. `before` is the time from which its
    /// ticks counted; `t` is its own time.
    #[inline]
    pub(crate) fn copy(&mut self, before: u64, t: u64, record: Range<usize>) {
        if self.last != before {
            self.copy_later(t, record);
        } else if self.waiting.end == record.start {
            self.waiting.end = record.end;
        } else {
            self.flush();
            self.waiting = record;
        }
        self.last = t;
    }

    /// Appends the record with its ticks counted from another time.
    #[cold]
    fn copy_later(&mut self, t: u64, record: Range<usize>) {
        self.flush();
        let record = self.piece.get(record).unwrap_or(&[]);
        if let Some((&first, rest)) = record.split_first() {
            let rest = rest.get(usize::from(first >> 5)..).unwrap_or(&[]);
            head(&mut self.bytes, first & 31, t.saturating_sub(self.last));
            self.bytes.extend_from_slice(rest);
        }
    }

    /// Appends a record that consists of a head only.
    pub(crate) fn put(&mut self, kind: Kind, t: u64) {
        self.flush();
        head(&mut self.bytes, kind as u8, t.saturating_sub(self.last));
        self.last = t;
    }

    /// Appends a record: from `t` on, the thread ran the recorder for `ticks`.
    pub(crate) fn put_recorder(&mut self, t: u64, ticks: u64) {
        self.put(Kind::Off, t);
        push_varint(&mut self.bytes, RECORDER);
        push_varint(&mut self.bytes, ticks);
    }

    /// Appends bytes that are not a record.
    pub(crate) fn copy_bad(&mut self, bytes: &[u8]) {
        self.flush();
        self.bytes.extend_from_slice(bytes);
    }

    /// Replaces the bytes between the marks by `records`, at the time of the record before `to`.
    /// Returns the mark after them.
    pub(crate) fn replace(&mut self, from: Mark, to: Mark, records: &[u8]) -> Mark {
        self.flush();
        let (start, end) = (self.index(from), self.index(to));
        if end == self.bytes.len() {
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(records);
        } else {
            self.bytes.splice(start..end, records.iter().copied());
        }
        Mark {
            at: from.at + records.len() as u64,
            last: to.last,
        }
    }

    /// The records before the mark, and the time from which their ticks count.
    pub(crate) fn before(&self, mark: Mark) -> (&[u8], u64) {
        (self.bytes.get(..self.index(mark)).unwrap_or(&[]), self.base)
    }

    /// The records after the mark; their ticks count from the mark's time.
    pub(crate) fn after(&self, mark: Mark) -> &[u8] {
        self.bytes.get(self.index(mark)..).unwrap_or(&[])
    }

    /// Removes the records before the mark.
    pub(crate) fn take(&mut self, mark: Mark) {
        let end = self.index(mark);
        self.bytes.drain(..end);
        self.gone += end as u64;
        self.base = mark.last;
    }

    /// Memory used, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + self.waiting.len()
    }
}

/// Appends a record's head; `code` is the record's kind in the head's low 5 bits.
pub(crate) fn head(out: &mut Vec<u8>, code: u8, delta: u64) {
    let delta = delta.min((1 << 56) - 1);
    let n = (71 - delta.leading_zeros() as usize) / 8;
    let word = u64::from(code) | (n as u64) << 5 | delta << 8;
    out.extend_from_slice(word.to_le_bytes().get(..=n).unwrap_or(&[]));
}

/// Appends the head of a record of one of the further kinds.
pub(crate) fn extended_head(out: &mut Vec<u8>, kind: Kind, delta: u64) {
    head(out, Kind::Extended as u8, delta);
    out.push(kind as u8);
}
