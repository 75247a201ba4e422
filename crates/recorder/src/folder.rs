//! A thread's chunks, folded.
//!
//! Front ends write records as ever, into one of two chunks of the file that take turns. When one
//! is full, its records go through [`Fold`]; what is still open to folding is put at the beginning
//! of the other chunk, and what is not is put out in a chunk of its own once it is large enough. At
//! every moment a reader finds each record exactly once, wherever the process is killed
//! ([`workspan_trace::hand_off`]):
//!
//! * The other chunk does not count while records are put there.
//! * While nothing is put out, the other chunk has the same number as the one that was full and a
//!   *turn* one higher; of two chunks that are not sealed, of one number, the later turn counts.
//! * When records are put out, first the other chunk gets the next number: it does not count, as
//!   there is one before it that is not sealed. Then what is put out gets the number of the chunk
//!   that was full: it is sealed, and a sealed one counts, so that with one store the full chunk
//!   counts no longer and the other one does.

use crate::process::Recording;
use crate::spool::{Mapped, Piece};
use workspan_fold::{Fold, OffWindow};
use workspan_trace::chunk::{ChunkHeader, ChunkKind, TURNS, turn_flags};
use workspan_trace::event::{Event, Events};
use workspan_trace::hand_off;
use workspan_trace::wire::{self, Kind};

/// Size of the two chunks. What is in them when the process ends stays unfolded, and they should
/// stay in the CPU's cache; a turn costs as much as some hundred records.
const SIZE: usize = 32 << 10;
/// Less than this waits to be put out.
const WORTHWHILE: usize = 4 << 10;
/// What may still be folded is not kept back beyond this.
const PENDING: usize = SIZE / 2 - WORTHWHILE;
/// The longest record that is sure to fit what is left of a chunk.
pub(crate) const LONGEST: usize = SIZE / 4;
/// Sizes of the pieces of the file that are put out to.
const PIECES: [usize; 2] = [32 << 10, 256 << 10];

/// What a thread has counted, and where its chunk's first record counts from.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChunkStart {
    pub tasks: u64,
    pub scopes: u64,
    pub base: u64,
}

/// A thread that folds.
pub(crate) struct Folder {
    fold: Fold,
    kept: u64,
    /// The chunk that is not written to.
    other: Option<Mapped>,
    /// Bytes at the beginning of the one that is written to which were fed already, and the time
    /// after them.
    prefix: usize,
    base: u64,
    piece: Option<Piece>,
    turn: u8,
    /// Ticks that the last turn took, and in which of them the thread was off the CPU.
    took: u64,
    took_off: u64,
    /// What the next chunk begins with; kept for its memory. A sample in the allocator may be taken
    /// for one of the program's.
    first: Vec<u8>,
}

/// Where a thread writes next.
pub(crate) struct Next {
    pub chunk: Mapped,
    /// Bytes that are in it already.
    pub used: usize,
}

impl ChunkStart {
    /// Counts on over a chunk's records.
    pub(crate) fn walk(&mut self, records: &[u8]) {
        let mut at = 0;
        while let Some(&head) = records.get(at) {
            let operands = at + 1 + usize::from(head >> 5);
            match head & 31 {
                // Most records have no operand, or only one.
                kind if BARE.contains(&kind) => at = operands,
                JOIN => {
                    at = operands;
                    if wire::get_varint(records, &mut at).is_none() {
                        return;
                    }
                    self.tasks += 2;
                }
                _ => {
                    let mut events = Events::new(records.get(at..).unwrap_or(&[]), 0);
                    match events.next().map(|(_, event)| event) {
                        Some(Event::Create { .. } | Event::Root | Event::Part { .. }) => {
                            self.tasks += 1;
                        }
                        Some(Event::Scope { .. } | Event::Team { .. }) => self.scopes += 1,
                        Some(_) => {}
                        None => return,
                    }
                    at += events.offset();
                }
            }
        }
    }
}

const JOIN: u8 = Kind::Join as u8;
/// Kinds of records that are nothing but a head.
const BARE: [u8; 4] = [
    Kind::End as u8,
    Kind::Next as u8,
    Kind::EndResume as u8,
    Kind::Resume as u8,
];

impl Folder {
    /// Folds from the chunk on that is full and whose last record is of time `last`, or does not
    /// where that is not wanted or there is no room.
    pub(crate) fn begin(
        recording: &Recording,
        thread: u32,
        before: &mut ChunkStart,
        (records, last): (&[u8], u64),
    ) -> Option<Box<Folder>> {
        let grain = recording.grain.as_ref()?;
        let ChunkStart {
            tasks,
            scopes,
            base,
        } = *before;
        let mut after = *before;
        after.walk(records);
        if !grain.wanted(recording, after.tasks - tasks, last.saturating_sub(base)) {
            *before = after;
            return None;
        }
        Some(Box::new(Folder {
            fold: Fold::new(thread, (tasks, scopes), grain.options(recording)),
            kept: grain.kept_count(),
            other: None,
            prefix: 0,
            base,
            piece: None,
            turn: 0,
            took: 0,
            took_off: 0,
            first: Vec::new(),
        }))
    }

    /// The thread's `full` chunk has these records, and the last one is of time `last`. Its number
    /// is `number`, which grows by what is put out. `None`: there is no room, and the chunk stays
    /// as it is.
    pub(crate) fn turn(
        &mut self,
        recording: &Recording,
        (full, records): (Mapped, &[u8]),
        thread: u32,
        number: &mut u32,
        last: u64,
    ) -> Option<Next> {
        self.feed(recording, records);
        self.fold.keep_pending_below(PENDING);
        let puts_out = self.fold.firm().0.len() >= WORTHWHILE;
        let mut first = std::mem::take(&mut self.first);
        first.clear();
        let mut base = self.fold.pending().1;
        if !puts_out {
            let (firm, counts_from) = self.fold.firm();
            first.extend_from_slice(firm);
            base = counts_from;
        }
        first.extend_from_slice(self.fold.pending().0);
        // The next record counts its ticks from `last`.
        moment(&mut first, last.saturating_sub(self.fold.last()));
        self.turn = if puts_out { 0 } else { (self.turn + 1) % TURNS };
        let header = ChunkHeader {
            flags: turn_flags(self.turn),
            ..header(recording, thread, *number + u32::from(puts_out), base)
        };
        let (other, placed) = match self.other.take() {
            Some(other) => (other, hand_off::replace(&other, header, &first)),
            None => {
                let other = recording.spool.map(SIZE.max(recording.page))?;
                (other, hand_off::begin_with(&other, header, &first))
            }
        };
        if !placed || puts_out && self.put_out(recording, (thread, *number)).is_none() {
            // SAFETY: nobody writes to it, and it does not count.
            unsafe { recording.spool.drop(other) };
            return None;
        }
        *number += u32::from(puts_out);
        let used = first.len();
        (self.prefix, self.base, self.first) = (used, last, first);
        if full.capacity() == other.capacity() {
            self.other = Some(full);
        } else {
            // SAFETY: nobody writes to it any more, and it counts no longer.
            unsafe { recording.spool.drop(full) };
        }
        Some(Next { chunk: other, used })
    }

    /// The last turn took so many ticks, for `off` of which the thread was off the CPU. The chunk
    /// that is written to says so in `length` bytes, which are not to be fed.
    pub(crate) fn took(&mut self, ticks: u64, off: u64, length: usize) {
        (self.took, self.took_off) = (ticks, off);
        self.prefix += length;
    }

    /// The thread was off the CPU while it made the records of its chunk.
    pub(crate) fn off_cpu(&mut self, windows: &[OffWindow]) {
        for &window in windows {
            self.fold.off_cpu(window);
        }
    }

    /// The thread's chunk has its last records: all is put out. False: there is no room, and the
    /// chunk stays as it is.
    pub(crate) fn end(
        &mut self,
        recording: &Recording,
        (full, records): (Mapped, &[u8]),
        (thread, number): (u32, u32),
    ) -> bool {
        self.feed(recording, records);
        self.fold.finish();
        if self.put_out(recording, (thread, number)).is_none() {
            return false;
        }
        // SAFETY: nobody writes to it any more, and it counts no longer.
        unsafe { recording.spool.drop(full) };
        true
    }

    /// Gives back what the thread has no more use for. Its chunk stays.
    pub(crate) fn close(self: Box<Self>, recording: &Recording) {
        if let Some(other) = self.other {
            // SAFETY: nobody writes to it, and it does not count.
            unsafe { recording.spool.drop(other) };
        }
        if let Some(piece) = self.piece {
            recording.spool.end_piece(piece);
        }
    }

    /// Writes what stays as it is as the thread's chunk of this number, sealed.
    fn put_out(&mut self, recording: &Recording, (thread, number): (u32, u32)) -> Option<()> {
        let (records, base) = self.fold.firm();
        let header = header(recording, thread, number, base);
        let usual = PIECES[usize::from(self.piece.is_some())].max(recording.page);
        let spool = &recording.spool;
        spool.put_out(&mut self.piece, usual, header, records)?;
        if let Some(grain) = recording.grain.as_ref().filter(|g| g.counts_strands()) {
            grain.put_out(strands(records));
        }
        self.fold.take_firm();
        Some(())
    }

    fn feed(&mut self, recording: &Recording, records: &[u8]) {
        if let Some(grain) = &recording.grain {
            self.fold.set_grain(grain.ticks(recording));
            if grain.kept_count() != self.kept {
                self.kept = grain.kept_count();
                self.fold.set_kept(grain.kept());
            }
        }
        if self.took > 0 {
            let off = std::mem::take(&mut self.took_off);
            self.fold.paused(std::mem::take(&mut self.took), off);
        }
        self.fold
            .feed(records.get(self.prefix..).unwrap_or(&[]), self.base);
    }
}

/// The header of a chunk whose records count from `base`.
fn header(recording: &Recording, thread: u32, seq: u32, base: u64) -> ChunkHeader {
    ChunkHeader {
        kind: ChunkKind::Events as u8,
        flags: 0,
        thread,
        seq,
        capacity: 0,
        committed: 0,
        base_ticks: base,
        base_ns: recording.ns_at(base),
        checksum: 0,
    }
}

/// The number of strands that begin in these records.
fn strands(records: &[u8]) -> u64 {
    let begins = Events::new(records, 0).filter(|(_, event)| {
        matches!(
            event,
            Event::Root
                | Event::Join { .. }
                | Event::Next
                | Event::Begin(_)
                | Event::Create { .. }
                | Event::Resume
                | Event::EndResume
                | Event::Member { .. }
        )
    });
    begins.count() as u64
}

/// A record that says nothing but that so many ticks went by.
fn moment(out: &mut Vec<u8>, ticks: u64) {
    let mut room = [0u8; wire::SLACK];
    // SAFETY: a head and a varint are far shorter.
    let length = unsafe {
        let p = wire::put_head(room.as_mut_ptr(), Kind::Readings, ticks);
        wire::put_varint(p, 0) as usize - room.as_ptr() as usize
    };
    out.extend_from_slice(room.get(..length).unwrap_or(&[]));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends a record of a kind with one operand.
    fn put(out: &mut Vec<u8>, kind: Kind, delta: u64, operand: Option<u64>) {
        let mut room = [0u8; wire::SLACK];
        // SAFETY: a head and a varint are far shorter.
        let length = unsafe {
            let mut p = wire::put_head(room.as_mut_ptr(), kind, delta);
            if let Some(operand) = operand {
                p = wire::put_varint(p, operand);
            }
            p as usize - room.as_ptr() as usize
        };
        out.extend_from_slice(&room[..length]);
    }

    #[test]
    fn tasks_are_counted_whatever_the_number_of_their_site() {
        for site in [0, 63, 64, 127, 128, 300, 20_000, 3 << 21] {
            let mut records = Vec::new();
            put(&mut records, Kind::Root, 5, None);
            for delta in [0, 7, 300, 70_000] {
                put(&mut records, Kind::Join, delta, Some(site));
                put(&mut records, Kind::End, delta, None);
                put(&mut records, Kind::Next, 0, None);
                put(&mut records, Kind::EndResume, delta, None);
            }
            let mut start = ChunkStart::default();
            start.walk(&records);
            assert_eq!((start.tasks, start.scopes), (9, 0), "site {site}");
        }
    }
}
