//! The waits that are under way. A wait is logged when it ends; those of threads that still wait
//! when the process ends are logged then. Idle threads of a pool that is never shut down are an
//! example.
//!
//! A waiting thread takes one of a few slots by its id. If other threads have all of them, its wait
//! is not among the open ones, and is logged only if it ends. A thread that was cancelled in a wait
//! keeps its slot until another one with its id waits.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::{Entry, stack};
use crate::loaded_files::is_ours;
use workspan_recorder::wait_log::{self, Wait};

/// The number of slots.
const SLOTS: usize = 1024;
/// The number of slots in which a thread's wait can be.
const PROBES: usize = 2;

/// A wait that is under way.
struct Slot {
    /// The kernel's id of the thread; 0: free.
    tid: AtomicU32,
    /// When the wait began, in ticks; 0 until the other fields are set.
    begin: AtomicU64,
    entry: AtomicPtr<Entry>,
    object: AtomicUsize,
    returns_to: AtomicUsize,
}

static OPEN: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

impl Slot {
    const fn new() -> Slot {
        Slot {
            tid: AtomicU32::new(0),
            begin: AtomicU64::new(0),
            entry: AtomicPtr::new(core::ptr::null_mut()),
            object: AtomicUsize::new(0),
            returns_to: AtomicUsize::new(0),
        }
    }

    /// Takes the slot for the thread. Returns false if another thread has it.
    fn take(&self, tid: u32) -> bool {
        self.tid.load(Ordering::Relaxed) == 0
            && (self.tid)
                .compare_exchange(0, tid, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Frees the slot. Returns false if it is not the thread's any more.
    fn release(&self, tid: u32) -> bool {
        let freed = (self.tid).compare_exchange(tid, 0, Ordering::AcqRel, Ordering::Relaxed);
        freed.is_ok()
    }
}

fn candidates(tid: u32) -> impl Iterator<Item = &'static Slot> {
    (0..PROBES).map(move |probe| &OPEN[(tid as usize + probe) % SLOTS])
}

/// The slot that the thread has.
fn own(tid: u32) -> Option<&'static Slot> {
    candidates(tid).find(|slot| slot.tid.load(Ordering::Relaxed) == tid)
}

/// The calling thread is about to wait, since `begin`, in a call that returns to `returns_to`.
pub(super) fn begin(entry: &'static Entry, object: usize, begin: u64, returns_to: usize) {
    let tid = stack::tid();
    if tid == 0 {
        return;
    }
    let Some(slot) = own(tid).or_else(|| candidates(tid).find(|slot| slot.take(tid))) else {
        return;
    };
    // Its fields are not those of a wait until `begin` is set again.
    slot.begin.store(0, Ordering::Relaxed);
    let entry = core::ptr::from_ref(entry).cast_mut();
    slot.entry.store(entry, Ordering::Relaxed);
    slot.object.store(object, Ordering::Relaxed);
    slot.returns_to.store(returns_to, Ordering::Relaxed);
    slot.begin.store(begin, Ordering::Release);
}

/// The calling thread's wait is over.
pub(super) fn end() {
    let tid = stack::tid();
    if let Some(slot) = own(tid) {
        slot.begin.store(0, Ordering::Relaxed);
        slot.release(tid);
    }
}

/// Logs the open waits, at the end of the process.
pub(super) fn log_all() {
    let now = wait_log::now();
    if now == 0 {
        return;
    }
    for slot in &OPEN {
        let tid = slot.tid.load(Ordering::Relaxed);
        let begin = slot.begin.load(Ordering::Acquire);
        // SAFETY: the pointers are null or come from references to statics.
        let entry = unsafe { slot.entry.load(Ordering::Relaxed).as_ref() };
        let (Some(entry), false) = (entry, tid == 0 || begin == 0) else {
            continue;
        };
        let object = slot.object.load(Ordering::Relaxed);
        let returns_to = slot.returns_to.load(Ordering::Relaxed);
        let is_logged = wait_log::is_long(begin, now) && !is_ours(returns_to);
        if slot.release(tid) && is_logged {
            wait_log::wait(&Wait {
                tid,
                kind: entry.kind,
                begin,
                end: now,
                object,
                chain: wait_log::chain(&[returns_to]),
                by: 0,
                released_at: 0,
                released: now,
            });
        }
    }
}
