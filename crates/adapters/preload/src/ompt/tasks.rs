//! Explicit tasks: their creation, and what the scheduler does with them.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::time::Instant;

use workspan_recorder::TABLE;
use workspan_recorder::adapter;
use workspan_recorder::front::Handle;
use workspan_recorder::wire::{create, primitive};

use super::ffi::{Data, Flags, flag, status};
use super::task_side_table::{DETACHED, FULFILLED, GROUPS};
use super::task_word::{self, FINAL, IMPLICIT, INLINE, LASTING, LEFT, ON_STACK, UNTIED};
use super::thread_state::{self, PendingBegin, ThreadState};
use super::worksharing;
use crate::unrecorded;

/// Of these flags a plain task has but the first.
const PLAIN: Flags = flag::EXPLICIT | flag::TARGET | flag::TASKWAIT | flag::UNTIED;

/// `ompt_callback_task_create_t`. Most tasks that are left out come no further than this, nor than the first lines of other callbacks; what those
/// lines call they call last, so that they need no stack.
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
        // SAFETY: what the runtime hands out is valid during the call, or null.
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

/// The same for other tasks.
#[inline(never)]
extern "C" fn create_any(
    encountering: *mut Data,
    _frame: *const c_void,
    task: *mut Data,
    flags: Flags,
    has_dependences: c_int,
    return_address: usize,
) {
    // SAFETY: what the runtime hands out is valid during the call, or null.
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
    create(encountering, task, flags, has_dependences, return_address);
}

/// The word of a plain task that is left out with what it is created in.
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

/// A task is created that may have to be recorded.
#[inline(never)]
fn create(
    encountering: u64,
    task: &mut Data,
    flags: Flags,
    has_dependences: c_int,
    return_address: usize,
) {
    let Some(thread) = thread_state::current() else {
        return;
    };
    thread.write_pending_begin();
    if flags & (flag::EXPLICIT | flag::TARGET) == 0 {
        if flags & flag::TASKWAIT != 0 {
            // No task: a taskwait with dependences, or what an undeferred task with some waits for.
            thread.dependence_wait = thread.site(return_address, primitive::TASKWAIT);
            task.value = 0;
        }
        return;
    }
    let site = match worksharing::taskloop_site(encountering, return_address) {
        Some(site) => site,
        None => thread.site(return_address, primitive::TASK),
    };
    // In a team of one all tasks are undeferred, for the runtime's sake: what the program says counts.
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
    // SAFETY: the handle is this thread's.
    let mut create = || unsafe {
        let number = adapter::task_create(h, kind, site, 0);
        if inline {
            // The wait shares the tick of the create, as the resume will that of the end.
            adapter::wait_task_at(h, site, number, (*h).last);
        }
        let brief = task_word::brief(number, site, level);
        task.value = brief.unwrap_or_else(|| task_word::pack(number)) | lasting;
    };
    if thread.left_out.subtree().is_none() {
        create();
    } else {
        // SAFETY: as above.
        unsafe { thread.left_out.paused(create) };
    }
    thread.work_here();
}

/// `ompt_callback_task_schedule_t`. `next` is null when nothing else runs by that.
pub(super) extern "C" fn task_schedule(prior: *mut Data, how: c_int, next: *mut Data) {
    if prior.is_null() {
        return;
    }
    if let Some(thread) = thread_state::existing() {
        // SAFETY: the runtime's tasks are valid during the call, and the words of those that run here this thread's to write.
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

/// What the scheduler does with tasks that are recorded, or more than run.
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
                if goes_back(thread, prior, next) {
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
                    thread.left_out.paused(|| adapter::signal(h, 0, signal));
                    FULFILLED.put(prior, signal);
                }
            }
            status::LATE_FULFILL => {
                thread.write_pending_begin();
                if let Some((signal, stop)) = DETACHED.take(prior) {
                    let h = thread.h;
                    thread.left_out.paused(|| {
                        adapter::signal(h, 0, signal);
                        adapter::resume_left(h, stop);
                        adapter::task_end(h);
                    });
                }
            }
            status::TASKWAIT_COMPLETE => match thread.left_out.subtree() {
                Some(subtree) => subtree.end_wait(),
                None => {
                    adapter::resume(thread.h);
                }
            },
            _ => {}
        }
    }
}

/// Looks at a task's word that another thread is about to write, before the thread sleeps between them.
const LOOKS: u32 = 1000;
/// How long it goes on looking: on a busy machine that thread may not get a CPU for long.
const PATIENCE: Duration = Duration::from_secs(2);
/// It looked for so long once, and in vain: somebody tells nothing, and is not waited for again.
static IN_VAIN: AtomicBool = AtomicBool::new(false);

/// A part of an untied task is queued by the part before, whose thread may not have told yet that it left: its word says then that it runs there. `next`
/// starts here once that is told, which takes a few instructions of a thread that waits for nobody, or is looked at often enough.
///
/// # Safety
/// `next` is a task of the runtime that is about to run on the lane's thread.
#[inline]
unsafe fn await_part(thread: &ThreadState, next: *mut Data) {
    const ELSEWHERE: u64 = UNTIED | ON_STACK;
    // SAFETY: the caller's.
    unsafe {
        if (*next).value & (ELSEWHERE | IMPLICIT) == ELSEWHERE && !thread.untied.contains(&next) {
            look_until_left(next);
        }
    }
}

/// # Safety
/// As [`await_part`].
#[cold]
unsafe fn look_until_left(next: *mut Data) {
    // SAFETY: the caller's.
    let word = unsafe { AtomicU64::from_ptr(&raw mut (*next).value) };
    let is_left = || word.load(Ordering::Acquire) & ON_STACK == 0;
    for _ in 0..LOOKS {
        if is_left() {
            return;
        }
        std::thread::yield_now();
    }
    let _errno = adapter::KeepErrno::new();
    let since = Instant::now();
    while !is_left() {
        if IN_VAIN.load(Ordering::Relaxed) || since.elapsed() > PATIENCE {
            IN_VAIN.store(true, Ordering::Relaxed);
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// True when a part of an untied task is over, and the task below goes on: otherwise `next` starts. In a team of one the
/// parts of an untied task run inside of each other, and both are the same task.
///
/// # Safety
/// Both are tasks of the runtime.
#[inline]
unsafe fn goes_back(thread: &ThreadState, prior: *mut Data, next: *mut Data) -> bool {
    // SAFETY: the caller's.
    let word = unsafe { (*next).value };
    if word & (UNTIED | IMPLICIT) == UNTIED {
        return thread.untied.contains(&next);
    }
    task_word::is_running(word)
        || prior == next && matches!(thread.pending_begin, PendingBegin::Task(_))
}

/// # Safety
/// `task` is a task of the runtime that starts on this thread.
#[inline]
unsafe fn begin(thread: &mut ThreadState, task: *mut Data) {
    thread.write_pending_begin();
    // SAFETY: the caller's.
    unsafe {
        let word = (*task).value;
        if word & (LEFT | UNTIED) != 0 {
            return begin_part(thread, task);
        }
        (*task).value = task_word::on_stack(word, task_word::level(word));
        if task_word::is_unrecorded(word) {
            let name = task_word::unpack(word);
            unrecorded::part(thread.h, name, task_word::site(word));
        } else {
            let now = begin_time(thread);
            adapter::task_begin_at(thread.h, task_word::unpack(word), now);
        }
        let in_team = !thread.member.is_null();
        thread.left_out.begun(thread.h, task, word, in_team);
    }
}

/// A task that begins where it was created does so at the tick of its create.
///
/// # Safety
/// The lane's handle is this thread's.
#[inline]
unsafe fn begin_time(thread: &mut ThreadState) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        if core::mem::take(&mut thread.at_once) {
            (*thread.h).last
        } else {
            Handle::now(thread.h)
        }
    }
}

/// # Safety
/// As [`begin`].
#[cold]
unsafe fn begin_part(thread: &mut ThreadState, task: *mut Data) {
    thread.untied.push(task);
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let word = (*task).value;
        if word & LEFT == 0 {
            thread.pending_begin = PendingBegin::Task(begin_time(thread));
            return thread.left_out.begun(thread.h, task, word, false);
        }
        (*task).value = word & LASTING | ON_STACK;
        adapter::resume_left(thread.h, task_word::unpack(word));
        thread.left_out.begun(thread.h, task, word, false);
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
unsafe fn leave(thread: &mut ThreadState, task: *mut Data) {
    thread.forget(task);
    if let PendingBegin::Task(_) = thread.pending_begin {
        // The part was empty: the task has not begun.
        thread.pending_begin = PendingBegin::None;
        // SAFETY: the caller's; the handle is this thread's.
        unsafe { close(thread, task) };
        return;
    }
    thread.write_pending_begin();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let word = (*task).value;
        if word & ON_STACK == 0 || word & UNTIED == 0 {
            return;
        }
        while let Some(group) = thread.groups.pop_if(|group| group.owner == task) {
            GROUPS.put(task, group);
        }
        let stop = adapter::leave(thread.h, 0);
        // Whoever begins its next part may wait for that.
        let left = word & LASTING | LEFT | task_word::pack(stop);
        AtomicU64::from_ptr(&raw mut (*task).value).store(left, Ordering::Release);
        close(thread, task);
    }
}

/// An untied task is gone from this thread, or a part of it is: it goes on with what was set aside for that.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
unsafe fn close(thread: &mut ThreadState, task: *mut Data) {
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        if let Some(over) = thread.left_out.close(task) {
            thread.left_out.closed(thread.h, over);
        }
    }
}

/// # Safety
/// `task` is a task of the runtime that ends on this thread, and none of a subtree that is left out.
#[inline]
unsafe fn end(thread: &mut ThreadState, task: *mut Data) {
    thread.write_pending_begin();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
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
                adapter::task_begin_at(thread.h, task_word::unpack(word), now);
            }
        }
        thread.forget(task);
        let over = thread.left_out.close(task);
        if let Some(signal) = FULFILLED.take(task) {
            adapter::wait_signal(thread.h, 0, signal);
            adapter::resume(thread.h);
        }
        if word & INLINE == 0 {
            adapter::task_end(thread.h);
        } else {
            adapter::task_end_resume(thread.h);
        }
        if let Some(over) = over {
            thread.left_out.closed(thread.h, over);
        }
    }
}

/// The body of a detached task is over before its event was fulfilled.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
unsafe fn detach(thread: &mut ThreadState, task: *mut Data) {
    thread.forget(task);
    thread.left_out.is_more();
    // SAFETY: the caller's; the subtree is this thread's.
    if unsafe { thread.left_out.leave(task) } {
        if let Some(subtree) = thread.left_out.subtree() {
            // SAFETY: as above.
            unsafe { subtree.lose_a_task() };
        }
        return;
    }
    thread.write_pending_begin();
    let signal = (TABLE.signal_new)();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let over = thread.left_out.close(task);
        adapter::wait_signal(thread.h, 0, signal);
        let stop = adapter::leave(thread.h, 0);
        if (*task).value & INLINE != 0 {
            // The runtime goes on without it.
            adapter::resume(thread.h);
        }
        DETACHED.put(task, (signal, stop));
        if let Some(over) = over {
            thread.left_out.closed(thread.h, over);
        }
    }
}
