//! Parts of untied tasks that end without an event.
//!
//! libomp counts the parts of an untied task that are queued or running. A part that comes to its
//! end queues the next one first and is subtracted afterwards. If its thread loses the CPU in
//! between, the last part may end before that, on another thread. That thread then gets no event at
//! all, and the *late* thread gets the event that the task completes.
//!
//! Here the two threads synchronise with one lock. The late thread leaves the time
//! ([`is_elsewhere`]), and the part's thread writes the end at its next event, at that time or now,
//! whichever is earlier ([`write`]). If that event comes first and shows that another task runs,
//! the part's thread writes that the task left ([`found`]), and the late thread resumes and ends
//! it. The task's memory is valid until the late thread has been here.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;

use super::ffi::Data;
use super::task_side_table::FULFILLED;
use super::task_word::{self, BEGINNING, IMPLICIT, INLINE, ON_STACK, UNTIED};
use super::tasks;
use super::thread_state::{PendingBegin, ThreadState};

/// The end of a task, as the late thread leaves it.
struct SilentEnd {
    task: usize,
    /// Which part of that task ([`task_word::part`]). Its memory may be another task's by now.
    part: u64,
    at: u64,
    signal: Option<u64>,
}

static COUNT: AtomicUsize = AtomicUsize::new(0);
static ENDS: Mutex<Vec<SilentEnd>> = Mutex::new(Vec::new());

/// Whether some thread has an end to write.
#[inline]
pub(super) fn is_any() -> bool {
    COUNT.load(Ordering::Acquire) != 0
}

/// Whether the last part of a task that completes on this thread ran on another thread, which has
/// to write the end.
///
/// # Safety
/// `task` is a task of the runtime that completes in this callback.
pub(super) unsafe fn is_elsewhere(thread: &ThreadState, task: *mut Data) -> bool {
    // SAFETY: the word is aligned, and valid during the callback.
    let word = unsafe { AtomicU64::from_ptr(&raw mut (*task).value) };
    const ELSEWHERE: u64 = UNTIED | ON_STACK;
    let is_running = || {
        let word = word.load(Ordering::Acquire);
        word & (ELSEWHERE | IMPLICIT | INLINE) == ELSEWHERE
    };
    if !is_running() || thread.untied.contains(&task) {
        return false;
    }
    let Ok(mut ends) = ENDS.lock() else {
        return false;
    };
    if !is_running() {
        return false;
    }
    ends.push(SilentEnd {
        task: task as usize,
        part: task_word::part(word.load(Ordering::Relaxed)),
        at: thread.h.now(),
        signal: FULFILLED.take(task),
    });
    COUNT.store(ends.len(), Ordering::Release);
    true
}

/// Removes and returns the end of the thread's innermost part.
fn take(ends: &mut Vec<SilentEnd>, thread: &ThreadState, task: *mut Data) -> Option<SilentEnd> {
    let part = match thread.pending_begin {
        PendingBegin::Task { word, .. } => word | BEGINNING,
        _ => task_word::part_on_stack(0, 0, thread.h.thread()),
    };
    let part = task_word::part(part);
    let at = ends
        .iter()
        .position(|end| end.task == task as usize && end.part == part)?;
    let end = ends.swap_remove(at);
    COUNT.store(ends.len(), Ordering::Release);
    Some(end)
}

/// Writes the end of the thread's innermost part if the late thread has left one.
#[cold]
pub(super) fn write(thread: &mut ThreadState) {
    let Some(&task) = thread.untied.last() else {
        return;
    };
    let end = match ENDS.lock() {
        Ok(mut ends) => take(&mut ends, thread, task),
        Err(_) => None,
    };
    if let Some(end) = end {
        write_end(thread, task, end);
    }
}

/// The runtime reports that `running` runs here, and the innermost task should be a part. If
/// `running` is below that part, the part has ended.
#[cold]
pub(super) fn found(thread: &mut ThreadState, running: *mut Data) {
    // SAFETY: null, or a task that is valid during the callback.
    let is_below = match unsafe { running.as_ref() } {
        Some(task) if task.value & (UNTIED | IMPLICIT) == UNTIED => {
            thread.untied.contains(&running)
        }
        Some(task) => task_word::is_running(task.value),
        None => false,
    };
    if !is_below {
        return;
    }
    let task = thread.current;
    let Ok(mut ends) = ENDS.lock() else { return };
    match take(&mut ends, thread, task) {
        Some(end) => write_end(thread, task, end),
        None => {
            thread.write_pending_begin();
            // SAFETY: the late thread has yet to take the lock, so the task is not freed.
            unsafe { tasks::leave(thread, task) };
        }
    }
    drop(ends);
    thread.current = running;
}

/// Writes the end; the memory of the task may be gone.
fn write_end(thread: &mut ThreadState, task: *mut Data, end: SilentEnd) {
    let h = thread.h;
    if let PendingBegin::Task { since, word } = thread.pending_begin {
        thread.pending_begin = PendingBegin::None;
        h.task_begin_at(task_word::unpack(word), since);
    }
    let at = end.at.min(h.now()).max(h.last());
    if let Some(signal) = end.signal {
        h.wait_signal_at(0, signal, at);
        h.resume_at(at);
    }
    h.task_end_at(at);
    thread.forget(task);
    thread.groups.retain(|group| group.owner != task);
    thread.current = core::ptr::null_mut();
    // SAFETY: the address is compared, not followed.
    unsafe { tasks::close(thread, task) };
}
