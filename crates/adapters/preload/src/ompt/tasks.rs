//! Explicit tasks: their creation, dependences, and what the scheduler does with them.

use core::ffi::{c_int, c_void};

use workspan_recorder::TABLE;
use workspan_recorder::adapter;
use workspan_recorder::front::Handle;
use workspan_recorder::wire::{create, dependence, primitive};

use super::ffi::{self, Data, Dependence, Flags, flag, status};
use super::kept::{DETACHED, FULFILLED, GROUPS};
use super::lane::{self, Lane, Late};
use super::loops;
use super::word::{self, FINAL, IMPLICIT, INLINE, LASTING, LEFT, ON_STACK, UNTIED};

/// Dependences of one task that are told without taking memory.
const FEW: usize = 16;

/// `ompt_callback_task_create_t`.
pub(super) extern "C" fn task_create(
    encountering: *mut Data,
    _frame: *const c_void,
    task: *mut Data,
    flags: Flags,
    _has_dependences: c_int,
    return_address: usize,
) {
    let Some(lane) = lane::of_thread() else {
        return;
    };
    // SAFETY: what the runtime hands out is valid during the call, or null.
    let (encountering, Some(task)) = (unsafe {
        (
            encountering.as_ref().map_or(0, |task| task.value),
            task.as_mut(),
        )
    }) else {
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
    // SAFETY: the handle is this thread's.
    unsafe {
        let number = adapter::task_create(lane.h, kind, site, 0);
        if inline {
            // The wait shares the tick of the create, as the resume will that of the end.
            adapter::wait_task_at(lane.h, site, number, (*lane.h).last);
        }
        task.value = word::pack(number) | lasting;
    }
    lane.work_here();
}

/// `ompt_callback_dependences_t`.
pub(super) extern "C" fn dependences(task: *mut Data, list: *const Dependence, count: c_int) {
    let Some(lane) = lane::of_thread() else {
        return;
    };
    let (Ok(count), false) = (usize::try_from(count), list.is_null()) else {
        return;
    };
    // SAFETY: the runtime says that there are that many, for the call.
    let told = unsafe { core::slice::from_raw_parts(list, count) };
    let mut few = [(0, 0); FEW];
    let mut many = Vec::new();
    let mut length = 0;
    for (kind, address) in told.iter().filter_map(clause) {
        if length < FEW {
            few[length] = (kind, address);
        } else {
            if many.is_empty() {
                many.extend_from_slice(&few);
            }
            many.push((kind, address));
        }
        length += 1;
    }
    let on = if many.is_empty() {
        &few[..length]
    } else {
        &many[..]
    };
    // SAFETY: the handle is this thread's; the runtime's task is valid during the call.
    unsafe {
        let word = task.as_ref().map_or(0, |task| task.value);
        if word == 0 {
            adapter::wait_dependences(lane.h, lane.dependence_wait, on);
        } else if word & (IMPLICIT | ON_STACK | LEFT) == 0 && !on.is_empty() {
            adapter::depends(lane.h, word::unpack(word), on);
        }
    }
}

/// A `depend` clause as the trace has it; those of `ordered` (doacross) are none between tasks.
fn clause(told: &Dependence) -> Option<(u64, u64)> {
    let kind = match told.kind {
        ffi::dependence::IN => dependence::IN,
        ffi::dependence::OUT | ffi::dependence::INOUT => dependence::OUT,
        ffi::dependence::MUTEXINOUTSET => dependence::MUTEX,
        ffi::dependence::INOUTSET => dependence::INOUT_SET,
        ffi::dependence::OUT_ALL_MEMORY | ffi::dependence::INOUT_ALL_MEMORY => {
            return Some((dependence::ALL, 0));
        }
        _ => return None,
    };
    Some((kind, told.variable))
}

/// `ompt_callback_task_schedule_t`. `next` is null when nothing else runs by that.
pub(super) extern "C" fn task_schedule(prior: *mut Data, how: c_int, next: *mut Data) {
    let Some(lane) = lane::of_thread() else {
        return;
    };
    if prior.is_null() {
        return;
    }
    // SAFETY: the runtime's tasks are valid during the call, and the words of those that run here this thread's to write.
    unsafe {
        match how {
            status::COMPLETE => {
                end(lane, prior);
                lane.current = next;
            }
            status::CANCEL => {
                end(lane, prior);
                lane.groups.retain(|group| group.owner != prior);
                lane.current = next;
            }
            status::SWITCH | status::YIELD if !next.is_null() => {
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
                let signal = (TABLE.signal_new)();
                adapter::signal(lane.h, 0, signal);
                FULFILLED.put(prior, signal);
            }
            status::LATE_FULFILL => {
                lane.settle();
                if let Some((signal, stop)) = DETACHED.take(prior) {
                    adapter::signal(lane.h, 0, signal);
                    adapter::resume_left(lane.h, stop);
                    adapter::task_end(lane.h);
                }
            }
            status::TASKWAIT_COMPLETE => {
                adapter::resume(lane.h);
            }
            _ => {}
        }
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
        (*task).value = word & LASTING | ON_STACK;
        let now = begin_time(lane);
        adapter::task_begin_at(lane.h, word::unpack(word), now);
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
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let word = (*task).value;
        if word & LEFT == 0 {
            lane.late = Late::Task(begin_time(lane));
            return;
        }
        (*task).value = word & LASTING | ON_STACK;
        adapter::resume_left(lane.h, word::unpack(word));
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
    if let Late::Task(_) = lane.late {
        // The part was empty: the task has not begun.
        lane.late = Late::No;
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
        (*task).value = word & LASTING | LEFT | word::pack(stop);
    }
}

/// # Safety
/// `task` is a task of the runtime that ends on this thread.
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
        if let Some(signal) = FULFILLED.take(task) {
            adapter::wait_signal(lane.h, 0, signal);
            adapter::resume(lane.h);
        }
        if word & INLINE == 0 {
            adapter::task_end(lane.h);
        } else {
            adapter::task_end_resume(lane.h);
        }
    }
}

/// The body of a detached task is over before its event was fulfilled.
///
/// # Safety
/// `task` is a task of the runtime that ran on this thread.
unsafe fn detach(lane: &mut Lane, task: *mut Data) {
    lane.settle();
    let signal = (TABLE.signal_new)();
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        adapter::wait_signal(lane.h, 0, signal);
        let stop = adapter::leave(lane.h, 0);
        if (*task).value & INLINE != 0 {
            // The runtime goes on without it.
            adapter::resume(lane.h);
        }
        DETACHED.put(task, (signal, stop));
    }
}
