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
use super::kept::{DETACHED, FULFILLED, GROUPS};
use super::lane::{self, Lane, Late};
use super::loops;
use super::word::{self, FINAL, IMPLICIT, INLINE, LASTING, LEFT, ON_STACK, UNTIED};
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
        && let Some(lane) = lane::known()
        // SAFETY: what the runtime hands out is valid during the call, or null.
        && let (Some(encountering), Some(task)) = unsafe { (encountering.as_ref(), task.as_mut()) }
        && let Some(word) = lane.left_out.create_again(encountering.value, return_address)
    {
        lane.said_if = false;
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
        && let Some(lane) = lane::known()
        && let Some(word) = left_out(lane, encountering, flags, return_address)
    {
        lane.said_if = false;
        task.value = word;
        return;
    }
    create(encountering, task, flags, has_dependences, return_address);
}

/// The word of a plain task that is left out with what it is created in.
#[inline]
fn left_out(
    lane: &mut Lane,
    encountering: u64,
    flags: Flags,
    return_address: usize,
) -> Option<u64> {
    if !lane.left_out.is_inside() {
        return None;
    }
    let site = match loops::taskloop_site(encountering, return_address) {
        Some(site) => site,
        None => {
            let site = lane.seen_site(return_address, primitive::TASK)?;
            lane.left_out.created(return_address, site);
            site
        }
    };
    let (level, at_once) = (word::level(encountering) + 1, flags & flag::UNDEFERRED != 0);
    lane.left_out.create(site, level, at_once)
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
    let Some(lane) = lane::of_thread() else {
        return;
    };
    lane.settle();
    if flags & (flag::EXPLICIT | flag::TARGET) == 0 {
        if flags & flag::TASKWAIT != 0 {
            // No task: a taskwait with dependences, or what an undeferred task with some waits for.
            lane.dependence_wait = lane.site(return_address, primitive::TASKWAIT);
            task.value = 0;
        }
        return;
    }
    let site = match loops::taskloop_site(encountering, return_address) {
        Some(site) => site,
        None => lane.site(return_address, primitive::TASK),
    };
    // In a team of one all tasks are undeferred, for the runtime's sake: what the program says counts.
    let said_if = core::mem::take(&mut lane.said_if);
    let undeferred = flags & flag::UNDEFERRED != 0;
    let level = word::level(encountering) + 1;
    let is_more = has_dependences != 0 || flags & (flag::UNTIED | flag::TARGET) != 0;
    if is_more {
        lane.left_out.is_more();
    }
    if (undeferred || !is_more)
        && let Some(word) = lane.left_out.create(site, level, undeferred)
    {
        task.value = word;
        return;
    }
    let inline = undeferred && (lane.team_size > 1 || said_if || encountering & FINAL != 0);
    lane.at_once = undeferred;
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
    let h = lane.h;
    // SAFETY: the handle is this thread's.
    let mut create = || unsafe {
        let number = adapter::task_create(h, kind, site, 0);
        if inline {
            // The wait shares the tick of the create, as the resume will that of the end.
            adapter::wait_task_at(h, site, number, (*h).last);
        }
        let brief = word::brief(number, site, level);
        task.value = brief.unwrap_or_else(|| word::pack(number)) | lasting;
    };
    if lane.left_out.subtree().is_none() {
        create();
    } else {
        // SAFETY: as above.
        unsafe { lane.left_out.paused(create) };
    }
    lane.work_here();
}

/// `ompt_callback_task_schedule_t`. `next` is null when nothing else runs by that.
pub(super) extern "C" fn task_schedule(prior: *mut Data, how: c_int, next: *mut Data) {
    if prior.is_null() {
        return;
    }
    if let Some(lane) = lane::known() {
        // SAFETY: the runtime's tasks are valid during the call, and the words of those that run here this thread's to write.
        unsafe {
            match how {
                status::SWITCH | status::YIELD
                    if !next.is_null() && lane.left_out.is_own((*next).value) =>
                {
                    lane.current = next;
                    return lane.left_out.enter(next);
                }
                status::COMPLETE if word::is_unrecorded((*prior).value) => {
                    lane.current = next;
                    return lane.left_out.end((*prior).value);
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
    let Some(lane) = lane::of_thread() else {
        return;
    };
    // SAFETY: as in `task_schedule`.
    unsafe {
        match how {
            status::COMPLETE => {
                end(lane, prior);
                lane.current = next;
            }
            status::CANCEL => {
                if !lane.left_out.leave(prior) {
                    end(lane, prior);
                }
                lane.groups.retain(|group| group.owner != prior);
                lane.forget(prior);
                lane.current = next;
            }
            status::SWITCH | status::YIELD if !next.is_null() => {
                await_part(lane, next);
                if goes_back(lane, prior, next) {
                    leave(lane, prior);
                } else {
                    begin(lane, next);
                }
                lane.current = next;
            }
            status::DETACH => {
                detach(lane, prior);
                lane.current = next;
            }
            status::EARLY_FULFILL => {
                lane.settle();
                let h = lane.h;
                if !word::is_unrecorded((*prior).value) {
                    let signal = (TABLE.signal_new)();
                    lane.left_out.paused(|| adapter::signal(h, 0, signal));
                    FULFILLED.put(prior, signal);
                }
            }
            status::LATE_FULFILL => {
                lane.settle();
                if let Some((signal, stop)) = DETACHED.take(prior) {
                    let h = lane.h;
                    lane.left_out.paused(|| {
                        adapter::signal(h, 0, signal);
                        adapter::resume_left(h, stop);
                        adapter::task_end(h);
                    });
                }
            }
            status::TASKWAIT_COMPLETE => match lane.left_out.subtree() {
                Some(subtree) => subtree.end_wait(),
                None => {
                    adapter::resume(lane.h);
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
unsafe fn await_part(lane: &Lane, next: *mut Data) {
    const ELSEWHERE: u64 = UNTIED | ON_STACK;
    // SAFETY: the caller's.
    unsafe {
        if (*next).value & (ELSEWHERE | IMPLICIT) == ELSEWHERE && !lane.untied.contains(&next) {
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
unsafe fn goes_back(lane: &Lane, prior: *mut Data, next: *mut Data) -> bool {
    // SAFETY: the caller's.
    let word = unsafe { (*next).value };
    if word & (UNTIED | IMPLICIT) == UNTIED {
        return lane.untied.contains(&next);
    }
    word::is_running(word) || prior == next && matches!(lane.late, Late::Task(_))
}

/// # Safety
/// `task` is a task of the runtime that starts on this thread.
#[inline]
unsafe fn begin(lane: &mut Lane, task: *mut Data) {
    lane.settle();
    // SAFETY: the caller's.
    unsafe {
        let word = (*task).value;
        if word & (LEFT | UNTIED) != 0 {
            return begin_part(lane, task);
        }
        (*task).value = word::on_stack(word, word::level(word));
        if word::is_unrecorded(word) {
            let name = word::unpack(word);
            unrecorded::part(lane.h, name, word::site(word));
        } else {
            let now = begin_time(lane);
            adapter::task_begin_at(lane.h, word::unpack(word), now);
        }
        let in_team = !lane.member.is_null();
        lane.left_out.begun(lane.h, task, word, in_team);
    }
}

/// A task that begins where it was created does so at the tick of its create.
///
/// # Safety
/// The lane's handle is this thread's.
#[inline]
unsafe fn begin_time(lane: &mut Lane) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        if core::mem::take(&mut lane.at_once) {
            (*lane.h).last
        } else {
            Handle::now(lane.h)
        }
    }
}

/// # Safety
/// As [`begin`].
#[cold]
unsafe fn begin_part(lane: &mut Lane, task: *mut Data) {
    lane.untied.push(task);
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let word = (*task).value;
        if word & LEFT == 0 {
            lane.late = Late::Task(begin_time(lane));
            return lane.left_out.begun(lane.h, task, word, false);
        }
        (*task).value = word & LASTING | ON_STACK;
        adapter::resume_left(lane.h, word::unpack(word));
        lane.left_out.begun(lane.h, task, word, false);
    }
    while let Some(group) = GROUPS.take(task) {
        lane.groups.push(group);
    }
}

/// A part of an untied task is over.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
#[cold]
unsafe fn leave(lane: &mut Lane, task: *mut Data) {
    lane.forget(task);
    if let Late::Task(_) = lane.late {
        // The part was empty: the task has not begun.
        lane.late = Late::No;
        // SAFETY: the caller's; the handle is this thread's.
        unsafe { close(lane, task) };
        return;
    }
    lane.settle();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let word = (*task).value;
        if word & ON_STACK == 0 || word & UNTIED == 0 {
            return;
        }
        while let Some(group) = lane.groups.pop_if(|group| group.owner == task) {
            GROUPS.put(task, group);
        }
        let stop = adapter::leave(lane.h, 0);
        // Whoever begins its next part may wait for that.
        let left = word & LASTING | LEFT | word::pack(stop);
        AtomicU64::from_ptr(&raw mut (*task).value).store(left, Ordering::Release);
        close(lane, task);
    }
}

/// An untied task is gone from this thread, or a part of it is: it goes on with what was set aside for that.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
unsafe fn close(lane: &mut Lane, task: *mut Data) {
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        if let Some(over) = lane.left_out.close(task) {
            lane.left_out.closed(lane.h, over);
        }
    }
}

/// # Safety
/// `task` is a task of the runtime that ends on this thread, and none of a subtree that is left out.
#[inline]
unsafe fn end(lane: &mut Lane, task: *mut Data) {
    lane.settle();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let word = (*task).value;
        if word & ON_STACK == 0 {
            if word == 0 || word & IMPLICIT != 0 {
                return;
            }
            // Cancelled before it, or its next part, began.
            if word & LEFT != 0 {
                begin_part(lane, task);
            } else {
                let now = begin_time(lane);
                adapter::task_begin_at(lane.h, word::unpack(word), now);
            }
        }
        lane.forget(task);
        let over = lane.left_out.close(task);
        if let Some(signal) = FULFILLED.take(task) {
            adapter::wait_signal(lane.h, 0, signal);
            adapter::resume(lane.h);
        }
        if word & INLINE == 0 {
            adapter::task_end(lane.h);
        } else {
            adapter::task_end_resume(lane.h);
        }
        if let Some(over) = over {
            lane.left_out.closed(lane.h, over);
        }
    }
}

/// The body of a detached task is over before its event was fulfilled.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
unsafe fn detach(lane: &mut Lane, task: *mut Data) {
    lane.forget(task);
    lane.left_out.is_more();
    // SAFETY: the caller's; the subtree is this thread's.
    if unsafe { lane.left_out.leave(task) } {
        if let Some(subtree) = lane.left_out.subtree() {
            // SAFETY: as above.
            unsafe { subtree.lose_a_task() };
        }
        return;
    }
    lane.settle();
    let signal = (TABLE.signal_new)();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let over = lane.left_out.close(task);
        adapter::wait_signal(lane.h, 0, signal);
        let stop = adapter::leave(lane.h, 0);
        if (*task).value & INLINE != 0 {
            // The runtime goes on without it.
            adapter::resume(lane.h);
        }
        DETACHED.put(task, (signal, stop));
        if let Some(over) = over {
            lane.left_out.closed(lane.h, over);
        }
    }
}
