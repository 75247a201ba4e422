//! Explicit tasks: their creation, and the scheduler's events.

mod untied;

use core::ffi::{c_int, c_void};

use workspan_recorder::TABLE;
use workspan_recorder::wire::{create, primitive};

use super::ffi::{Data, Flags, flag, status};
use super::silent_end;
use super::task_side_table::{DETACHED, FULFILLED};
use super::task_word::{self, FINAL, IMPLICIT, INLINE, LEFT, ON_STACK, UNTIED};
use super::thread_state::{self, ThreadState};
use super::worksharing;
use crate::skipped_subtree;
use untied::{await_part, begin_part, returns_to_prior};
pub(super) use untied::{close, leave};

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
