//! Explicit tasks: their creation, and the scheduler's events.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::time::Instant;

use workspan_recorder::TABLE;
use workspan_recorder::adapter;
use workspan_recorder::wire::{create, primitive};

use super::ffi::{Data, Flags, flag, status};
use super::silent_end;
use super::task_side_table::{DETACHED, FULFILLED, GROUPS};
use super::task_word::{self, BEGINNING, FINAL, IMPLICIT, INLINE, LASTING, LEFT, ON_STACK, UNTIED};
use super::thread_state::{self, PendingBegin, ThreadState};
use super::worksharing;
use crate::skipped_subtree;

/// A plain task has only `EXPLICIT` of these flags.
const PLAIN: Flags = flag::EXPLICIT | flag::TARGET | flag::TASKWAIT | flag::UNTIED;

/// `ompt_callback_task_create_t`. Most skipped tasks run only this function, and the first lines of
/// other callbacks. These make only tail calls, so they need no stack.
pub(super) extern "C" fn task_create(
    encountering: *mut Data,
    frame: *const c_void,
    task: *mut Data,
    flags: Flags,
    has_dependences: c_int,
    return_address: usize,
) {
    if is_plain(flags, has_dependences)
        && let Some(thread) = thread_state::existing()
        // SAFETY: each is null, or valid during the call.
        && let (Some(encountering), Some(task)) = unsafe { (encountering.as_ref(), task.as_mut()) }
        && let Some(word) = thread.left_out.create_again(encountering.value, return_address)
    {
        thread.has_false_if = false;
        task.value = word;
        return;
    }
    create_any(
        encountering,
        frame,
        task,
        flags,
        has_dependences,
        return_address,
    );
}

fn is_plain(flags: Flags, has_dependences: c_int) -> bool {
    flags & PLAIN == flag::EXPLICIT && has_dependences == 0
}

/// [`task_create`] for other tasks.
#[inline(never)]
extern "C" fn create_any(
    encountering: *mut Data,
    _frame: *const c_void,
    task: *mut Data,
    flags: Flags,
    has_dependences: c_int,
    return_address: usize,
) {
    let running = encountering;
    // SAFETY: each is null, or valid during the call.
    let (encountering, Some(task)) = (unsafe {
        (
            encountering.as_ref().map_or(0, |task| task.value),
            task.as_mut(),
        )
    }) else {
        return;
    };
    if is_plain(flags, has_dependences)
        && let Some(thread) = thread_state::existing()
        && let Some(word) = left_out(thread, encountering, flags, return_address)
    {
        thread.has_false_if = false;
        task.value = word;
        return;
    }
    create(
        (running, encountering),
        task,
        flags,
        has_dependences,
        return_address,
    );
}

/// The word of a plain task that is skipped together with its creator.
#[inline]
fn left_out(
    thread: &mut ThreadState,
    encountering: u64,
    flags: Flags,
    return_address: usize,
) -> Option<u64> {
    if !thread.left_out.is_inside() {
        return None;
    }
    let site = match worksharing::taskloop_site(encountering, return_address) {
        Some(site) => site,
        None => {
            let site = thread.cached_site(return_address, primitive::TASK)?;
            thread.left_out.created(return_address, site);
            site
        }
    };
    let (level, at_once) = (
        task_word::level(encountering) + 1,
        flags & flag::UNDEFERRED != 0,
    );
    thread.left_out.create(site, level, at_once)
}

/// Creates a task that may have to be recorded. The task that encounters it comes with its word.
#[inline(never)]
fn create(
    (running, encountering): (*mut Data, u64),
    task: &mut Data,
    flags: Flags,
    has_dependences: c_int,
    return_address: usize,
) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.runs(running);
    thread.write_pending_begin();
    if flags & (flag::EXPLICIT | flag::TARGET) == 0 {
        if flags & flag::TASKWAIT != 0 {
            // Not a task: a `taskwait` with dependences, or the wait of an undeferred task for its
            // dependences.
            thread.dependence_wait = thread.site(return_address, primitive::TASKWAIT);
            task.value = 0;
        }
        return;
    }
    let site = match worksharing::taskloop_site(encountering, return_address) {
        Some(site) => site,
        None => thread.site(return_address, primitive::TASK),
    };
    // In a team of one the runtime makes all tasks undeferred. The program's own clause counts.
    let has_false_if = core::mem::take(&mut thread.has_false_if);
    let undeferred = flags & flag::UNDEFERRED != 0;
    let level = task_word::level(encountering) + 1;
    let is_more = has_dependences != 0 || flags & (flag::UNTIED | flag::TARGET) != 0;
    if is_more {
        thread.left_out.is_more();
    }
    if (undeferred || !is_more)
        && let Some(word) = thread.left_out.create(site, level, undeferred)
    {
        task.value = word;
        return;
    }
    let inline = undeferred && (thread.team_size > 1 || has_false_if || encountering & FINAL != 0);
    thread.at_once = undeferred;
    let (kind, mut lasting) = if inline {
        (create::INLINE, INLINE)
    } else {
        (create::DEFERRED, 0)
    };
    if flags & flag::FINAL != 0 {
        lasting |= FINAL;
    }
    if flags & flag::UNTIED != 0 {
        lasting |= UNTIED;
    }
    let h = thread.h;
    let mut create = || {
        let number = h.task_create(kind, site, 0);
        if inline {
            // The wait shares the tick of the create, as the resume will share that of the end.
            h.wait_task_at(site, number, h.last());
        }
        let brief = task_word::brief(number, site, level);
        task.value = brief.unwrap_or_else(|| task_word::pack(number)) | lasting;
    };
    if thread.left_out.subtree().is_none() {
        create();
    } else {
        thread.left_out.paused(create);
    }
    thread.work_here();
}

/// `ompt_callback_task_schedule_t`. `next` is null if the event starts nothing else.
pub(super) extern "C" fn task_schedule(prior: *mut Data, how: c_int, next: *mut Data) {
    if prior.is_null() {
        return;
    }
    if let Some(thread) = thread_state::existing() {
        match how {
            status::SWITCH | status::YIELD => thread.runs(prior),
            // An untied task may have ended on another thread, and complete on this one.
            status::COMPLETE | status::CANCEL | status::DETACH if prior != thread.current => {
                thread.runs(next);
            }
            _ => {}
        }
        // SAFETY: the runtime's tasks are valid during the call; this thread may write the words of
        // tasks that run here.
        unsafe {
            match how {
                status::SWITCH | status::YIELD
                    if !next.is_null() && thread.left_out.is_own((*next).value) =>
                {
                    thread.current = next;
                    return thread.left_out.enter(next);
                }
                status::COMPLETE if task_word::is_unrecorded((*prior).value) => {
                    thread.current = next;
                    return thread.left_out.end((*prior).value);
                }
                _ => {}
            }
        }
    }
    schedule(prior, how, next);
}

/// [`task_schedule`] for recorded tasks, and for events other than plain starts and ends.
#[inline(never)]
fn schedule(prior: *mut Data, how: c_int, next: *mut Data) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    // SAFETY: as in `task_schedule`.
    unsafe {
        match how {
            status::COMPLETE => {
                end(thread, prior);
                thread.current = next;
            }
            status::CANCEL => {
                if !thread.left_out.leave(prior) {
                    end(thread, prior);
                }
                thread.groups.retain(|group| group.owner != prior);
                thread.forget(prior);
                thread.current = next;
            }
            status::SWITCH | status::YIELD if !next.is_null() => {
                await_part(thread, next);
                if returns_to_prior(thread, prior, next) {
                    leave(thread, prior);
                } else {
                    begin(thread, next);
                }
                thread.current = next;
            }
            status::DETACH => {
                detach(thread, prior);
                thread.current = next;
            }
            status::EARLY_FULFILL => {
                thread.write_pending_begin();
                let h = thread.h;
                if !task_word::is_unrecorded((*prior).value) {
                    let signal = (TABLE.signal_new)();
                    thread.left_out.paused(|| h.signal(0, signal));
                    FULFILLED.put(prior, signal);
                }
            }
            status::LATE_FULFILL => {
                thread.write_pending_begin();
                if let Some((signal, stop)) = DETACHED.take(prior) {
                    let h = thread.h;
                    thread.left_out.paused(|| {
                        h.signal(0, signal);
                        h.resume_left(stop);
                        h.task_end();
                    });
                }
            }
            status::TASKWAIT_COMPLETE => match thread.left_out.subtree() {
                Some(subtree) => subtree.end_wait(),
                None => {
                    thread.h.resume();
                }
            },
            _ => {}
        }
    }
}

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
unsafe fn await_part(thread: &ThreadState, next: *mut Data) {
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
unsafe fn returns_to_prior(thread: &ThreadState, prior: *mut Data, next: *mut Data) -> bool {
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
#[inline]
unsafe fn begin(thread: &mut ThreadState, task: *mut Data) {
    thread.write_pending_begin();
    // SAFETY: this thread may write the word of a task that starts here.
    unsafe {
        let word = (*task).value;
        if word & (LEFT | UNTIED) != 0 {
            return begin_part(thread, task);
        }
        (*task).value = task_word::on_stack(word, task_word::level(word));
        if task_word::is_unrecorded(word) {
            let name = task_word::unpack(word);
            skipped_subtree::part(thread.h, name, task_word::site(word));
        } else {
            let now = begin_time(thread);
            thread.h.task_begin_at(task_word::unpack(word), now);
        }
        let in_team = !thread.member.is_null();
        thread.left_out.task_begin(thread.h, task, word, in_team);
    }
}

/// The time of a begin. A task that begins where it was created does so at the tick of its create.
#[inline]
unsafe fn begin_time(thread: &mut ThreadState) -> u64 {
    if core::mem::take(&mut thread.at_once) {
        thread.h.last()
    } else {
        thread.h.now()
    }
}

/// # Safety
/// The same as for [`begin`].
#[cold]
unsafe fn begin_part(thread: &mut ThreadState, task: *mut Data) {
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
pub(super) unsafe fn leave(thread: &mut ThreadState, task: *mut Data) {
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
pub(super) unsafe fn close(thread: &mut ThreadState, task: *mut Data) {
    if let Some(over) = thread.left_out.close(task) {
        thread.left_out.closed(thread.h, over);
    }
}

/// # Safety
/// `task` is a task of the runtime that ends on this thread, and not in a skipped subtree.
#[inline]
unsafe fn end(thread: &mut ThreadState, task: *mut Data) {
    thread.write_pending_begin();
    // SAFETY: this thread may write the word of a task that ends here, unless its last part ran on
    // another thread, which is checked first.
    unsafe {
        if silent_end::is_elsewhere(thread, task) {
            return;
        }
        let word = (*task).value;
        if word & ON_STACK == 0 {
            if word == 0 || word & IMPLICIT != 0 {
                return;
            }
            // Cancelled before it, or its next part, began.
            if word & LEFT != 0 {
                begin_part(thread, task);
            } else {
                let now = begin_time(thread);
                thread.h.task_begin_at(task_word::unpack(word), now);
            }
        }
        thread.forget(task);
        let over = thread.left_out.close(task);
        if let Some(signal) = FULFILLED.take(task) {
            thread.h.wait_signal(0, signal);
            thread.h.resume();
        }
        if word & INLINE == 0 {
            thread.h.task_end();
        } else {
            thread.h.task_end_resume();
        }
        if let Some(over) = over {
            thread.left_out.closed(thread.h, over);
        }
    }
}

/// The body of a detached task ends before its event is fulfilled.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
unsafe fn detach(thread: &mut ThreadState, task: *mut Data) {
    thread.forget(task);
    thread.left_out.is_more();
    // SAFETY: the task ends on this thread.
    if unsafe { thread.left_out.leave(task) } {
        if let Some(subtree) = thread.left_out.subtree() {
            subtree.uncount_task();
        }
        return;
    }
    thread.write_pending_begin();
    let signal = (TABLE.signal_new)();
    // SAFETY: this thread may read the word of a task that ran here.
    unsafe {
        let over = thread.left_out.close(task);
        thread.h.wait_signal(0, signal);
        let stop = thread.h.leave(0);
        if (*task).value & INLINE != 0 {
            // The runtime continues without it.
            thread.h.resume();
        }
        DETACHED.put(task, (signal, stop));
        if let Some(over) = over {
            thread.left_out.closed(thread.h, over);
        }
    }
}
