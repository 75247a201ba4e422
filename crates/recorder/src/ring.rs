//! Keeping the end of a run only: chunks that are older than asked for serve again, so that the file grows no further.
//!
//! All chunks of events have one size then. A full chunk goes to the end of the queue; a thread that needs one takes the
//! first of the queue when that is too old, else a new piece of the file. Chunks of one thread grow old in their order, so what is
//! left of a thread is the last of its chunks without a gap, and each begins with what the thread had open
//! ([`workspan_trace::open`]): reading can begin there.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::VecDeque;

use crate::front::Handle;
use crate::lock::Lock;
use crate::spool::{Mapped, Place};
use crate::wire::{self, Kind};
use workspan_trace::event::Events;
use workspan_trace::open::Open;

/// Size of all chunks of events.
pub(crate) const SIZE: usize = 64 << 10;

static LENGTH_NS: AtomicU64 = AtomicU64::new(0);

/// Has the recording that starts next keep the last so many nanoseconds at least; 0 = everything.
pub fn keep_last(ns: u64) {
    LENGTH_NS.store(ns, Ordering::Relaxed);
}

/// The chunks that are full.
pub(crate) struct Ring {
    length_ns: u64,
    full: Lock<VecDeque<(u64, Place)>>,
}

impl Ring {
    /// When one was asked for.
    pub(crate) fn asked() -> Option<Ring> {
        let length_ns = LENGTH_NS.load(Ordering::Relaxed);
        (length_ns > 0).then(|| Ring {
            length_ns,
            full: Lock::new(VecDeque::new()),
        })
    }

    /// A chunk was filled at this moment; nobody writes to it any more.
    pub(crate) fn put(&self, ns: u64, place: Place) {
        if let Ok(mut full) = self.full.lock() {
            full.push_back((ns, place));
        }
    }

    /// The place of a chunk that is too old at this moment.
    pub(crate) fn take(&self, ns: u64) -> Option<Place> {
        let mut full = self.full.lock().ok()?;
        let (filled, _) = full.front()?;
        if filled.saturating_add(self.length_ns) >= ns {
            return None;
        }
        full.pop_front().map(|(_, place)| place)
    }
}

/// Goes past what stands in a thread's chunk.
pub(crate) fn pass(open: &mut Open, chunk: &Mapped, base_ticks: u64) {
    let committed = chunk.committed().load(Ordering::Relaxed) as usize;
    let length = committed.min(chunk.capacity());
    // SAFETY: the chunk is mapped, and its thread, which calls this, writes nothing to it meanwhile.
    let payload = unsafe { core::slice::from_raw_parts(chunk.payload(), length) };
    for (_, event) in Events::new(payload, base_ticks) {
        open.pass(&event);
    }
}

/// Writes what the thread has open at the head of its new chunk.
///
/// # Safety
/// The handle is the calling thread's and has an empty chunk of [`SIZE`].
pub(crate) unsafe fn restart(handle: *mut Handle, open: &Open) {
    let mut operands = Vec::new();
    open.operands(&mut operands);
    // A stack so deep is about to overflow.
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

    #[test]
    fn only_what_is_too_old_serves_again() {
        let ring = Ring {
            length_ns: 100,
            full: Lock::new(VecDeque::new()),
        };
        let place = |offset| Place { offset, size: SIZE };
        assert_eq!(ring.take(1_000), None);
        ring.put(10, place(1));
        ring.put(20, place(2));
        assert_eq!(ring.take(110), None);
        assert_eq!(ring.take(111), Some(place(1)));
        assert_eq!(ring.take(111), None);
        assert_eq!(ring.take(1_000), Some(place(2)));
    }
}
