//! Folds a thread's chunks.
//!
//! Front ends write records as usual, into one of two chunks of the file that take turns. When one
//! is full, its records go through [`Fold`]. Records that may still be folded are put at the
//! beginning of the other chunk. All others are written out to a chunk of their own once there are
//! enough of them. At every moment a reader finds each record exactly once, wherever the process is
//! killed ([`workspan_trace::hand_off`]):
//!
//! * The other chunk does not count while records are put there.
//! * While nothing is written out, the other chunk has the same number as the full one and a *turn*
//!   that is one higher. Of two unsealed chunks with the same number, the later turn counts.
//! * When records are written out, the other chunk first gets the next number. It does not count,
//!   because there is an unsealed one before it. Then the records are written to a sealed chunk
//!   with the number of the full chunk. A sealed chunk counts, so that with one store the full
//!   chunk no longer counts and the other one does.

use crate::process::Recording;
use crate::spool::{MappedChunk, Piece};
use workspan_fold::{Fold, OffCpuWindow};
use workspan_trace::chunk::{ChunkHeader, ChunkKind, TURNS, turn_flags};
use workspan_trace::event::{Event, Events};
use workspan_trace::hand_off;
use workspan_trace::wire::{self, Kind};

/// The size of the two chunks. Records that are in them when the process ends stay unfolded, and
/// they should stay in the CPU's cache. A turn costs as much as some hundred records.
const SIZE: usize = 32 << 10;
/// Fewer bytes than this wait to be written out.
const MIN_WRITTEN_BYTES: usize = 4 << 10;
/// The largest number of bytes of records that are kept because they may still be folded.
const MAX_PENDING_BYTES: usize = SIZE / 2 - MIN_WRITTEN_BYTES;
/// The length of the longest record that always fits in the rest of a chunk.
pub(crate) const MAX_RECORD_BYTES: usize = SIZE / 4;
/// Sizes of the pieces of the file that records are written out to: the first, and all others.
const PIECES: [usize; 2] = [32 << 10, 256 << 10];

/// A thread's counts, and the time from which its chunk's first record counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChunkStart {
    pub tasks: u64,
    pub scopes: u64,
    pub base: u64,
}

/// The state of a thread that folds.
pub(crate) struct Folder {
    fold: Fold,
    unfolded_sites: u64,
    /// The chunk that the thread does not write to.
    other: Option<MappedChunk>,
    /// Bytes at the beginning of the thread's chunk that were fed already, and the time after them.
    prefix: usize,
    base: u64,
    piece: Option<Piece>,
    turn: u8,
    /// The ticks that the last turn took, and those in which the thread was off the CPU.
    took: u64,
    took_off: u64,
    /// The beginning of the next chunk; kept for its memory. A sample in the allocator could be
    /// mistaken for one of the program's.
    first: Vec<u8>,
}

/// The place at which a thread continues to write.
pub(crate) struct Next {
    pub chunk: MappedChunk,
    /// The number of bytes that are in it already.
    pub used: usize,
}

impl ChunkStart {
    /// Advances the counts over a chunk's records.
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
                        Some(Event::Create { .. } | Event::Root | Event::StolenPart { .. }) => {
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
/// Kinds of records that consist of a head only.
const BARE: [u8; 4] = [
    Kind::End as u8,
    Kind::Next as u8,
    Kind::EndResume as u8,
    Kind::Resume as u8,
];

impl Folder {
    /// Starts to fold with the full chunk whose last record is at time `last`. Does nothing if
    /// folding is not wanted or there is no space.
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
        if !grain.may_fold(recording, after.tasks - tasks, last.saturating_sub(base)) {
            *before = after;
            return None;
        }
        Some(Box::new(Folder {
            fold: Fold::new(thread, (tasks, scopes), grain.options(recording)),
            unfolded_sites: grain.unfolded_site_count(),
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

    /// Takes a turn: the thread's `full` chunk has these records, the last of which is at time
    /// `last`. The chunk's number is `number`, which increases when records are written out. `None`
    /// if there is no space; the chunk then stays as it is.
    pub(crate) fn turn(
        &mut self,
        recording: &Recording,
        (full, records): (MappedChunk, &[u8]),
        thread: u32,
        number: &mut u32,
        last: u64,
    ) -> Option<Next> {
        self.feed(recording, records);
        self.fold.keep_pending_below(MAX_PENDING_BYTES);
        let puts_out = self.fold.firm().0.len() >= MIN_WRITTEN_BYTES;
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
            // SAFETY: no thread writes to it, and it does not count.
            unsafe { recording.spool.drop(other) };
            return None;
        }
        *number += u32::from(puts_out);
        let used = first.len();
        (self.prefix, self.base, self.first) = (used, last, first);
        if full.capacity() == other.capacity() {
            self.other = Some(full);
        } else {
            // SAFETY: no thread writes to it any more, and it no longer counts.
            unsafe { recording.spool.drop(full) };
        }
        Some(Next { chunk: other, used })
    }

    /// The last turn took `ticks`, for `off` of which the thread was off the CPU. The thread's
    /// chunk has a record of that in `length` bytes, which are not fed.
    pub(crate) fn took(&mut self, ticks: u64, off: u64, length: usize) {
        (self.took, self.took_off) = (ticks, off);
        self.prefix += length;
    }

    /// Adds windows in which the thread was off the CPU while it made the records of its chunk.
    pub(crate) fn off_cpu(&mut self, windows: &[OffCpuWindow]) {
        for &window in windows {
            self.fold.off_cpu(window);
        }
    }

    /// The thread's chunk has its last records: writes out everything. Returns false if there is no
    /// space; the chunk then stays as it is.
    pub(crate) fn end(
        &mut self,
        recording: &Recording,
        (full, records): (MappedChunk, &[u8]),
        (thread, number): (u32, u32),
    ) -> bool {
        self.feed(recording, records);
        self.fold.finish();
        if self.put_out(recording, (thread, number)).is_none() {
            return false;
        }
        // SAFETY: no thread writes to it any more, and it no longer counts.
        unsafe { recording.spool.drop(full) };
        true
    }

    /// Releases what the thread no longer needs. Its chunk stays.
    pub(crate) fn close(self: Box<Self>, recording: &Recording) {
        if let Some(other) = self.other {
            // SAFETY: no thread writes to it, and it does not count.
            unsafe { recording.spool.drop(other) };
        }
        if let Some(piece) = self.piece {
            recording.spool.end_piece(piece);
        }
    }

    /// Writes the firm records as the thread's chunk with this number, sealed.
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
            if grain.unfolded_site_count() != self.unfolded_sites {
                self.unfolded_sites = grain.unfolded_site_count();
                self.fold.set_unfolded_sites(grain.unfolded_sites());
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

/// A record without effect, which only advances the time by `ticks`.
fn moment(out: &mut Vec<u8>, ticks: u64) {
    let mut room = [0u8; wire::SLACK];
    // SAFETY: a head and a varint are far shorter than the room.
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
        // SAFETY: a head and a varint are far shorter than the room.
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
