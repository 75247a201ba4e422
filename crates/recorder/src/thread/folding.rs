//! Folding of a thread's chunks ([`crate::chunk_folder`]): when it begins, and when it stops.

use core::panic::AssertUnwindSafe;

use std::panic;

use super::chunks::{records, use_chunk};
use super::{Owner, read_cpu_clock};
use crate::abi::Handle;
use crate::chunk_folder::Folder;
use crate::clock;
use crate::cpu_clock::{self, Reading};
use crate::process::Recording;
use crate::spool::MappedChunk;
use workspan_fold::OffCpuWindow;
use workspan_trace::wire::{self, Kind, RECORDER};

/// The largest number of windows that are remembered. Beyond it, the last one grows.
const MAX_WINDOWS: usize = 256;

/// Whether the thread's chunks can be folded.
pub(super) fn may_fold(recording: &Recording, owner: &Owner) -> bool {
    let whole = owner.counters.is_none() && owner.at_base.is_none();
    recording.grain.is_some() && !owner.unfolded && whole
}

/// Adds a window in which the thread was off the CPU while it made the records in its chunk.
pub(super) fn remember(windows: &mut Vec<OffCpuWindow>, off: OffCpuWindow) {
    let full = windows.len() >= MAX_WINDOWS;
    match windows.last_mut().filter(|_| full) {
        Some(last) => (last.to, last.ticks) = (off.to, last.ticks.saturating_add(off.ticks)),
        None => windows.push(off),
    }
}

/// The thread's chunk is full and may be folded. Returns the time at which that begins, in ticks.
pub(super) fn begins(recording: &Recording, owner: &mut Owner) -> u64 {
    if may_fold(recording, owner) {
        read_cpu_clock(recording, owner);
    }
    last_reading(owner)
}

/// A full chunk has been handled since `began`: reads the thread's CPU clock again.
pub(super) fn ends(recording: &Recording, owner: &mut Owner, began: u64) {
    owner.off_cpu.clear();
    let (reading, off) = cpu_clock::read_only(owner.handle.thread, &mut owner.cpu);
    let took = last_reading(owner).saturating_sub(began);
    match &mut owner.folder {
        // From here on the program runs, so the entry is written at the next full chunk.
        Some(folder) => {
            let length = write_turn(&mut owner.handle, took);
            folder.took(took, off.map_or(0, |off| off.ticks), length);
            owner.unwritten = reading;
        }
        None => {
            if let Some(reading) = reading {
                cpu_clock::write(recording, &reading);
            }
        }
    }
}

/// Writes a record of the turn to the new chunk: from the last record on, the thread folded for
/// `ticks`. If the process ends before the next turn, the chunk stays as it is, and readers take
/// that time out of the strand around it. Returns the length of the record.
fn write_turn(handle: &mut Handle, ticks: u64) -> usize {
    if handle.cursor >= handle.limit {
        return 0;
    }
    let begin = handle.cursor as usize;
    // SAFETY: the handle is the calling thread's. From a cursor below the limit there are SLACK
    // bytes, which is enough for a head and two varints.
    unsafe {
        let mut p = wire::put_head(handle.cursor, Kind::Off, 0);
        p = wire::put_varint(p, RECORDER);
        p = wire::put_varint(p, ticks);
        Handle::commit(handle, p);
        p as usize - begin
    }
}

/// The time of the last reading of the thread's CPU clock; now, if the clock is not read.
fn last_reading(owner: &Owner) -> u64 {
    owner.cpu.as_ref().map_or_else(clock::now, Reading::ticks)
}

/// Folds the full chunk, if that is wanted, and gives the handle the chunk that follows. Returns
/// false if it did not.
pub(super) fn fold_chunk(recording: &Recording, owner: &mut Owner, chunk: MappedChunk) -> bool {
    if !may_fold(recording, owner) {
        return false;
    }
    // SAFETY: the thread's own chunk, to which it writes again only after reading the records.
    let records = unsafe { records(chunk) };
    let thread = owner.handle.thread;
    let mut number = owner.chunks.saturating_sub(1);
    let last = owner.handle.last;
    // No panic is known there, but the caller is C code.
    let turned = panic::catch_unwind(AssertUnwindSafe(|| {
        if owner.folder.is_none() {
            owner.folder = Folder::begin(recording, thread, &mut owner.before, (records, last));
        }
        let folder = owner.folder.as_mut()?;
        folder.off_cpu(&owner.off_cpu);
        let next = folder.turn(recording, (chunk, records), thread, &mut number, last);
        Some(next.ok_or(SpoolFull))
    }));
    match turned {
        Ok(None) => false,
        Ok(Some(Ok(next))) => {
            owner.chunks = number + 1;
            use_chunk(owner, next.chunk, next.used);
            true
        }
        Ok(Some(Err(SpoolFull))) | Err(_) => {
            stop_folding(recording, owner);
            false
        }
    }
}

/// A chunk's records could not be written.
struct SpoolFull;

/// Stops folding the thread's records, including those in its chunk.
pub(super) fn stop_folding(recording: &Recording, owner: &mut Owner) {
    owner.unfolded = true;
    if let Some(folder) = owner.folder.take() {
        folder.close(recording);
    }
}

/// Folds the records in the thread's last chunk. Returns false if that chunk stays as it is.
pub(super) fn end(recording: &Recording, owner: &mut Owner, chunk: MappedChunk) -> bool {
    let Some(mut folder) = owner.folder.take() else {
        return false;
    };
    let name = (owner.handle.thread, owner.chunks.saturating_sub(1));
    // SAFETY: the thread's own chunk, to which it no longer writes.
    let records = unsafe { records(chunk) };
    folder.off_cpu(&owner.off_cpu);
    let end = AssertUnwindSafe(|| folder.end(recording, (chunk, records), name));
    let ended = panic::catch_unwind(end).unwrap_or(false);
    folder.close(recording);
    ended
}
