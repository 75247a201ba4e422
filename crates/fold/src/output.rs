//! The records that come out: appended, and taken back from a mark on when what stands there is
//! folded.

use std::ops::Range;

use workspan_trace::entry::push_varint;
use workspan_trace::wire::{Kind, RECORDER};

/// A place between two records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Bytes put out before it.
    pub at: u64,
    /// Time of the record before it.
    pub last: u64,
}

/// Records put out and not yet taken away. Those that go out as they came are copied many at a
/// time: they wait in the piece that was fed.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// The piece, and which part of it comes after `bytes`.
    piece: Vec<u8>,
    waiting: Range<usize>,
    /// Bytes taken away before these.
    gone: u64,
    /// What the first record's ticks count from.
    pub base: u64,
    last: u64,
    started: bool,
}

impl Output {
    /// The first record's ticks count from here.
    pub(crate) fn start(&mut self, base: u64) {
        if !self.started {
            (self.started, self.base, self.last) = (true, base, base);
        }
    }

    /// The records that are looked at next are these.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        self.flush();
        self.piece.clear();
        self.piece.extend_from_slice(piece);
        self.waiting = 0..0;
    }

    /// Nothing waits.
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

    /// Where a mark is in the bytes that are there.
    fn index(&self, mark: Mark) -> usize {
        (mark.at.saturating_sub(self.gone) as usize).min(self.bytes.len())
    }

    /// Appends the record in this part of the piece as it came: `before` is the time its ticks
    /// counted from, `t` its own.
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

    /// Appends it with its ticks counted from another time.
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

    /// Appends a record that is nothing but a head.
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

    /// Appends bytes that are no record.
    pub(crate) fn copy_bad(&mut self, bytes: &[u8]) {
        self.flush();
        self.bytes.extend_from_slice(bytes);
    }

    /// Puts `records`, at the time of the record before `to`, in place of what stands between the
    /// marks. Returns where they end.
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

    /// What stands before the mark, and what its ticks count from.
    pub(crate) fn before(&self, mark: Mark) -> (&[u8], u64) {
        (self.bytes.get(..self.index(mark)).unwrap_or(&[]), self.base)
    }

    /// What stands after it; its ticks count from the mark's time.
    pub(crate) fn after(&self, mark: Mark) -> &[u8] {
        self.bytes.get(self.index(mark)..).unwrap_or(&[])
    }

    /// Takes away what stands before the mark.
    pub(crate) fn take(&mut self, mark: Mark) {
        let end = self.index(mark);
        self.bytes.drain(..end);
        self.gone += end as u64;
        self.base = mark.last;
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + self.waiting.len()
    }
}

/// Appends a record's head; `code` is its kind in the head's low 5 bits.
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
