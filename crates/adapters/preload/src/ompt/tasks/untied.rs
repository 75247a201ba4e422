//! The parts of untied tasks: a part begins where the task is resumed, and ends where it leaves its
//! thread.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::time::Instant;

use workspan_recorder::adapter;

use super::begin_time;
use crate::ompt::ffi::Data;
use crate::ompt::task_side_table::GROUPS;
use crate::ompt::task_word::{self, BEGINNING, IMPLICIT, LASTING, LEFT, ON_STACK, UNTIED};
use crate::ompt::thread_state::{PendingBegin, ThreadState};

/// How often a thread reads a task's word that another thread is about to write, before it sleeps
/// between two reads.
const MAX_LOOKS: u32 = 1000;
/// How long it keeps reading. On a busy machine the other thread may not get a CPU for a long time.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// Whether a thread has waited that long without success. The event does not seem to come, so
/// threads no longer wait for one.
static HAS_TIMED_OUT: AtomicBool = AtomicBool::new(false);

/// Waits until a part of an untied task has left its thread. The part before queues the next one,
/// and its thread may not have recorded yet that the task left: the word then says that it runs
/// there. That takes the other thread only a few instructions, and it waits for no other thread.
///
/// # Safety
/// `next` is a task of the runtime that is about to run on this thread.
#[inline]
pub(super) unsafe fn await_part(thread: &ThreadState, next: *mut Data) {
    const ELSEWHERE: u64 = UNTIED | ON_STACK;
    // SAFETY: the runtime's task is valid during the callback. Another thread may write its word,
    // which is read again, atomically, before it is used.
    unsafe {
        if (*next).value & (ELSEWHERE | IMPLICIT) == ELSEWHERE && !thread.untied.contains(&next) {
            look_until_left(next);
        }
    }
}

/// # Safety
/// The same as for [`await_part`].
#[cold]
unsafe fn look_until_left(next: *mut Data) {
    // SAFETY: the word is aligned, and valid during the callback; the other thread stores it
    // atomically.
    let word = unsafe { AtomicU64::from_ptr(&raw mut (*next).value) };
    let is_left = || word.load(Ordering::Acquire) & ON_STACK == 0;
    for _ in 0..MAX_LOOKS {
        if is_left() {
            return;
        }
        std::thread::yield_now();
    }
    let _errno = adapter::KeepErrno::new();
    let since = Instant::now();
    while !is_left() {
        if HAS_TIMED_OUT.load(Ordering::Relaxed) || since.elapsed() > MAX_WAIT {
            HAS_TIMED_OUT.store(true, Ordering::Relaxed);
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Whether a part of an untied task is over and the task below goes on. If not, `next` starts. In a
/// team of one the parts of an untied task run inside each other, and both are the same task.
///
/// # Safety
/// Both are tasks of the runtime that are valid during the callback.
#[inline]
pub(super) unsafe fn returns_to_prior(
    thread: &ThreadState,
    prior: *mut Data,
    next: *mut Data,
) -> bool {
    // SAFETY: the task is valid, and this thread may read its word.
    let word = unsafe { (*next).value };
    if word & (UNTIED | IMPLICIT) == UNTIED {
        return thread.untied.contains(&next);
    }
    task_word::is_running(word)
        || prior == next && matches!(thread.pending_begin, PendingBegin::Task { .. })
}

/// # Safety
/// `task` is a task of the runtime that starts on this thread.
#[cold]
pub(super) unsafe fn begin_part(thread: &mut ThreadState, task: *mut Data) {
    thread.untied.push(task);
    // SAFETY: this thread may write the word of a task that starts here.
    unsafe {
        let word = (*task).value;
        if word & BEGINNING != LEFT {
            let since = begin_time(thread);
            thread.pending_begin = PendingBegin::Task { since, word };
            (*task).value = word | BEGINNING;
            return thread.left_out.task_begin(thread.h, task, word, false);
        }
        (*task).value = task_word::part_on_stack(word, 0, thread.h.thread());
        thread.h.resume_left(task_word::unpack(word));
        thread.left_out.task_begin(thread.h, task, word, false);
    }
    while let Some(group) = GROUPS.take(task) {
        thread.groups.push(group);
    }
}

/// A part of an untied task is over.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
#[cold]
pub(in crate::ompt) unsafe fn leave(thread: &mut ThreadState, task: *mut Data) {
    thread.forget(task);
    if let PendingBegin::Task { word, .. } = thread.pending_begin {
        // The part was empty: the task has not begun.
        thread.pending_begin = PendingBegin::None;
        // SAFETY: the task ran on this thread.
        unsafe {
            AtomicU64::from_ptr(&raw mut (*task).value).store(word, Ordering::Release);
            close(thread, task);
        }
        return;
    }
    thread.write_pending_begin();
    // SAFETY: this thread may write the task's word until it stores `LEFT`.
    unsafe {
        let word = (*task).value;
        if word & ON_STACK == 0 || word & UNTIED == 0 {
            return;
        }
        while let Some(group) = thread.groups.pop_if(|group| group.owner == task) {
            GROUPS.put(task, group);
        }
        let stop = thread.h.leave(0);
        // The thread that begins the next part may wait for this store.
        let left = word & LASTING | LEFT | task_word::pack(stop);
        AtomicU64::from_ptr(&raw mut (*task).value).store(left, Ordering::Release);
        close(thread, task);
    }
}

/// An untied task, or a part of it, has left this thread. The thread goes on with the task that was
/// suspended for it.
pub(in crate::ompt) unsafe fn close(thread: &mut ThreadState, task: *mut Data) {
    if let Some(over) = thread.left_out.close(task) {
        thread.left_out.closed(thread.h, over);
    }
}
