//! What happens to a handle when its thread ends, or continues as the thread of a forked child.

use core::ffi::c_void;
use core::ptr;
use std::sync::OnceLock;

use super::chunks::{count_dropped, use_scratch};
use super::{Gone, Own, Owner, folding, kept_chunks, name, owner_of, read_cpu_clock, revive};
use crate::abi::{HAS_ROOT, Handle, IS_WORKER};
use crate::process::{self, RetiredThread};
use crate::system::{self, KeepErrno};
use crate::wire::Kind;

/// The destructor's round in which the handle is given up. The key's destructor runs up to four
/// times for a thread that puts its value back. The thread's last records may come from other
/// destructors, so the handle is given up late.
const LATE_ROUNDS: u8 = 2;

/// The function that is called at a thread's end.
static AT_ENDS: OnceLock<fn()> = OnceLock::new();

/// [`crate::adapter::at_thread_ends`].
pub(crate) fn at_ends(call: fn()) {
    let _ = AT_ENDS.set(call);
}

/// Destructor of the key: the thread ends.
pub(crate) unsafe extern "C" fn thread_ends(value: *mut c_void) {
    let _errno = KeepErrno::new();
    let owner = value.cast::<Owner>();
    let Some(recording) = process::recording() else {
        return;
    };
    // SAFETY: the value is the calling thread's owner; after the last round no code uses it.
    unsafe {
        if (*owner).rounds < LATE_ROUNDS {
            (*owner).rounds += 1;
            system::pthread_setspecific(recording.key, value);
            return;
        }
        let handle = &raw mut (*owner).handle;
        if (*handle).flags & HAS_ROOT != 0 {
            Handle::event(handle, Kind::End);
        }
        if (*handle).flags & IS_WORKER != 0 {
            Handle::event(handle, Kind::WorkerEnd);
        }
        name::update(recording, &mut *owner);
        if let Some(readings) = &recording.readings {
            readings.end(recording, (*handle).thread);
        }
        read_cpu_clock(recording, &mut *owner);
        if let Some(chunk) = (*owner).chunk.take() {
            let ended = folding::end(recording, &mut *owner, chunk);
            if recording.ring.is_some() {
                kept_chunks::seal(recording, chunk, (*handle).last);
            } else if !ended && (*owner).chunks == 1 {
                (*owner).rest = recording.spool.trim(chunk);
            } else if !ended {
                recording.spool.seal(chunk, true);
            }
        } else {
            count_dropped(recording, &(*owner).handle);
        }
        (*owner).counters = None;
        (*owner).at_base = None;
        (*owner).off_cpu = Vec::new();
        use_scratch(&mut *owner);
        Own::set(ptr::null_mut());
        Gone::set(ptr::NonNull::dangling().as_ptr());
        if let Some(call) = AT_ENDS.get() {
            call();
        }
        if let Ok(mut ended) = recording.ended.lock() {
            ended.push(RetiredThread(owner));
        }
    }
}

/// Makes the calling thread's handle write to scratch memory from now on.
pub(crate) fn abandon() {
    let handle = Own::get();
    // SAFETY: the handle is the calling thread's or null.
    if unsafe { handle.as_ref() }.is_some_and(|handle| handle.table.is_null()) {
        // SAFETY: the handle is the calling thread's.
        unsafe { revive(handle) };
        return;
    }
    // SAFETY: the owner is the calling thread's or null.
    if let Some(owner) = unsafe { owner_of(handle).as_mut() } {
        owner.chunk = None;
        // The parent uses the events too; the child's descriptors are closed by its next exec.
        core::mem::forget(owner.counters.take());
        core::mem::forget(owner.folder.take());
        use_scratch(owner);
    }
}
