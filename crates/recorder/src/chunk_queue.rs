//! Keeps only parts of a run: chunks of events that belong to none of them are reused, so that the
//! file stops growing.
//!
//! All chunks of events have the same size then. A full chunk goes to the end of the queue. A
//! thread whose chunk is full writes its records to the place of the first one of the queue if that
//! is not needed, otherwise to a new piece of the file. The file therefore has runs of consecutive
//! chunks of each thread. Each chunk begins with the state that the thread had open
//! ([`workspan_trace::thread_state`]), so reading can begin there.

use core::sync::atomic::Ordering;
use std::collections::VecDeque;
use std::path::Path;

use crate::abi::Handle;
use crate::kept_parts::{Parts, Signals};
use crate::lock::Lock;
use crate::spool::{ChunkPlace, MappedChunk};
use crate::wire::{self, Kind};
use workspan_trace::thread_state::ThreadState;

/// The size of all chunks of events, in bytes.
pub(crate) const SIZE: usize = 64 << 10;

/// The longest time that a signal may take from the user to the recorder, in nanoseconds.
const SIGNAL_DELAY_NS: u64 = 10_000_000;

/// The largest error of a time known here, compared with the finished trace, in nanoseconds.
const TIME_TOLERANCE_NS: u64 = 1_000_000;

static ASKED: Lock<Option<Parts>> = Lock::new(None);

/// Sets the parts of the run that the next recording keeps.
pub fn keep(parts: Parts) {
    if let Ok(mut asked) = ASKED.lock() {
        *asked = Some(parts).filter(|parts| !parts.is_all());
    }
}

/// A full chunk.
#[derive(Debug, Clone, Copy)]
struct FullChunk {
    /// The interval in which it was filled, in nanoseconds.
    from: u64,
    to: u64,
    place: ChunkPlace,
}

/// The queue of full chunks.
pub(crate) struct ChunkQueue {
    parts: Parts,
    start: u64,
    signals: Option<Signals>,
    full: Lock<VecDeque<FullChunk>>,
}

impl ChunkQueue {
    /// The ring, if parts were requested, for a process that began at `start`. `folder` is the
    /// folder of its spool file.
    pub(crate) fn from_environment(folder: &Path, start: u64) -> Option<ChunkQueue> {
        let parts = ASKED.lock().ok()?.take()?;
        if parts.triggered {
            crate::kept_parts::tell_calls(folder);
        }
        Some(ChunkQueue {
            parts,
            start,
            signals: Signals::map(folder),
            full: Lock::new(VecDeque::new()),
        })
    }

    /// Adds a chunk that was filled between these moments and is no longer written to.
    pub(crate) fn put(&self, from: u64, to: u64, place: ChunkPlace) {
        if let Ok(mut full) = self.full.lock() {
            full.push_back(FullChunk { from, to, place });
        }
    }

    /// The place of a chunk that is not needed at this moment.
    pub(crate) fn take(&self, now: u64) -> Option<ChunkPlace> {
        let signals = self.signals.as_ref().map(Signals::until_now);
        let signals = signals.unwrap_or_default();
        if self.parts.triggered && !signals.is_empty() {
            return None;
        }
        let kept_intervals = self.parts.intervals(self.start, &signals, now)?;
        // Chunks that are kept for now may be released later.
        let moves = self.parts.ring.is_some() && signals.is_empty();
        let mut full = self.full.lock().ok()?;
        while let Some(first) = full.front().copied() {
            if first.to.saturating_add(SIGNAL_DELAY_NS) >= now {
                return None;
            }
            let overlaps = |&(from, to): &(u64, u64)| {
                first.from <= to.saturating_add(TIME_TOLERANCE_NS)
                    && from <= first.to.saturating_add(TIME_TOLERANCE_NS)
            };
            let is_kept = kept_intervals.iter().any(overlaps);
            if is_kept && moves {
                return None;
            }
            full.pop_front();
            if !is_kept {
                return Some(first.place);
            }
        }
        None
    }
}

/// Applies the records in a thread's chunk to its state.
pub(crate) fn pass(open: &mut ThreadState, chunk: &MappedChunk) {
    let committed = chunk.committed().load(Ordering::Relaxed) as usize;
    let length = committed.min(chunk.capacity());
    // SAFETY: the chunk is mapped, and its thread, which calls this, writes nothing to it
    // meanwhile.
    let payload = unsafe { core::slice::from_raw_parts(chunk.payload(), length) };
    open.pass_all(payload);
}

/// Writes the thread's state at the head of its new chunk.
///
/// # Safety
/// The handle is the calling thread's and has an empty chunk of [`SIZE`].
pub(crate) unsafe fn restart(handle: *mut Handle, open: &ThreadState) {
    let mut operands = Vec::new();
    open.operands(&mut operands);
    // A stack this deep is about to overflow.
    if operands.len() > SIZE / 2 {
        return;
    }
    // SAFETY: a head and the operands fit the chunk.
    unsafe {
        let p = wire::put_head((*handle).cursor, Kind::Restart, 0);
        core::ptr::copy_nonoverlapping(operands.as_ptr(), p, operands.len());
        Handle::commit(handle, p.add(operands.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(parts: Parts) -> ChunkQueue {
        ChunkQueue {
            parts,
            start: 0,
            signals: None,
            full: Lock::new(VecDeque::new()),
        }
    }

    fn place(offset: u64) -> ChunkPlace {
        ChunkPlace { offset, size: SIZE }
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn only_what_is_too_old_serves_again() {
        let ring = ring(Parts {
            ring: Some(100 * MS),
            ..Parts::default()
        });
        assert_eq!(ring.take(1_000 * MS), None);
        ring.put(5 * MS, 10 * MS, place(1));
        ring.put(6 * MS, 20 * MS, place(2));
        assert_eq!(ring.take(111 * MS), None);
        assert_eq!(ring.take(112 * MS), Some(place(1)));
        assert_eq!(ring.take(112 * MS), None);
        assert_eq!(ring.take(1_000 * MS), Some(place(2)));
    }

    #[test]
    fn what_lies_before_and_after_serves_again_and_what_is_wanted_never() {
        let ring = ring(Parts {
            delay: Some(100 * MS),
            duration: Some(50 * MS),
            ..Parts::default()
        });
        ring.put(0, 40 * MS, place(1));
        ring.put(40 * MS, 98 * MS, place(2));
        ring.put(98 * MS, 101 * MS, place(3));
        ring.put(120 * MS, 150 * MS, place(4));
        ring.put(152 * MS, 160 * MS, place(5));
        // A signal that needs the chunk may be on its way.
        assert_eq!(ring.take(50 * MS), None);
        assert_eq!(ring.take(51 * MS), Some(place(1)));
        assert_eq!(ring.take(160 * MS), Some(place(2)));
        assert_eq!(ring.take(160 * MS), None);
        assert_eq!(ring.take(200 * MS), Some(place(5)));
        assert_eq!(ring.take(1_000 * MS), None);
    }
}
