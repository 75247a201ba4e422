//! Waits. Each opens or closes the scope of the context that it waits for.

use std::ffi::c_void;

use workspan_recorder::adapter::{LiveHandle, Stop};
use workspan_recorder::wire::{create, primitive};

use super::budget::{self, PausedSkip};
use super::call_site::{self, Call};
use super::task::{self, Scope, Task};
use super::task_class::TaskClass;
use super::task_frame::{
    FrameKind, TaskFrame, current_thread, has_task, link, resume_root, set_top, top,
};
use super::{become_worker, context, next_symbol};

/// Lets the frame's task go on when libtbb's wait has returned or thrown.
struct WaitGuard {
    frame: *mut TaskFrame,
    context: usize,
    /// The scope that was waited for, to be removed from the context; 0 if there is none.
    scope: u64,
    /// The place where the task stopped, if a wait was recorded.
    stop: Option<Stop>,
}

impl Drop for WaitGuard {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: only this callback uses the handle.
        let h = unsafe { LiveHandle::current() };
        // SAFETY: the frame encloses the wait, and the context outlives it. The stack may have
        // moved, so the state is looked up now.
        unsafe {
            let thread = current_thread();
            set_top(thread, self.frame);
            (*self.frame).waits = std::ptr::null();
            if self.scope != 0 {
                context::close(self.context, self.scope);
            }
            if let Some(h) = h {
                if !(*thread).worker {
                    become_worker(h, thread);
                }
                let at_once = resume_root(h, thread);
                if let Some(stop) = self.stop {
                    h.go_on(stop, at_once);
                }
            }
        }
    }
}

/// `r1::wait(wait context, context)`.
///
/// # Safety
/// The same as for oneTBB's function; the last two arguments locate the call.
pub(super) unsafe extern "C-unwind" fn wait(
    waited: *mut c_void,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the arguments of the call; the state is this thread's.
    unsafe {
        if let Some(subtree) = budget::waiting(link(current_thread()), context) {
            return subtree
                .wait(|| next_symbol::WAIT.get(call_site::returns_to(from, sp))(waited, context));
        }
        wait_recorded(waited, context, from, sp);
    }
}

/// [`wait`] if the wait is not skipped. It is a separate function, because the tasks that are
/// waited for often run on the same stack.
///
/// # Safety
/// The same as for [`wait`].
#[inline(never)]
unsafe extern "C-unwind" fn wait_recorded(
    waited: *mut c_void,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point passes the registers of its call.
    let next = next_symbol::WAIT.get(unsafe { call_site::returns_to(from, sp) });
    // SAFETY: not used after libtbb's wait, which may return on another thread.
    let h = unsafe { LiveHandle::current() };
    let Some(h) = h else {
        // SAFETY: the arguments of the call.
        return unsafe { next(waited, context) };
    };
    // SAFETY: the arguments of the call; the state is this thread's.
    unsafe {
        let thread = current_thread();
        let frame = top(thread);
        if !has_task(h, frame) {
            return next(waited, context);
        }
        let _paused = PausedSkip::if_left_out(frame);
        if !(*thread).worker {
            become_worker(h, thread);
        }
        let site = call_site::plain(Call::made(from, sp), primitive::TASKGROUP);
        let open = context::scope(context);
        let scope = if open != 0 && !is_inside(frame, open) {
            h.wait_scope_at(site, open, h.now());
            open
        } else {
            0
        };
        // A task of the context waits only for its own children: another task waits for the scope.
        let children =
            scope == 0 && (open != 0 || (*frame).is_in(context) || context::inside(context) != 0);
        if children {
            h.wait_children(site);
        }
        let waiting = WaitGuard {
            frame,
            context,
            scope,
            stop: (scope != 0 || children).then(|| h.stopped()),
        };
        (*frame).waits = waited.cast();
        next(waited, context);
        drop(waiting);
    }
}

/// Whether a task on this stack, from the frame outwards, is a member of the scope.
///
/// # Safety
/// `frame` is the front of a live chain.
unsafe fn is_inside(mut frame: *mut TaskFrame, scope: u64) -> bool {
    // SAFETY: parents outlive their children.
    unsafe {
        while !frame.is_null() && (*frame).kind == FrameKind::Task {
            if (*frame).scope == scope {
                return true;
            }
            // A task may wait for a scope that it opened itself.
            if (*frame).opened == scope {
                return false;
            }
            frame = (*frame).parent;
        }
        false
    }
}

/// `r1::execute_and_wait(task, its context, wait context, context waited for)`.
///
/// # Safety
/// The same as for [`wait`].
pub(super) unsafe extern "C-unwind" fn execute_and_wait(
    task: *mut Task,
    task_context: usize,
    waited: *mut c_void,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point passes the registers of its call.
    let next = next_symbol::EXECUTE_AND_WAIT.get(unsafe { call_site::returns_to(from, sp) });
    // SAFETY: not used after libtbb's wait, which may return on another thread.
    let h = unsafe { LiveHandle::current() };
    let Some(h) = h else {
        // SAFETY: the arguments of the call.
        return unsafe { next(task, task_context, waited, context) };
    };
    // SAFETY: the arguments of the call; the state is this thread's.
    unsafe {
        let thread = current_thread();
        let frame = top(thread);
        let class = if has_task(h, frame) {
            TaskClass::from_task(task)
        } else {
            None
        };
        let Some(class) = class else {
            return next(task, task_context, waited, context);
        };
        let name = context::inside(task_context);
        if let Some(subtree) = budget::waiting(frame, context).filter(|_| name != 0) {
            let call = Call::made(from, sp);
            budget::create(frame, task, task_context, name, call);
            return subtree.wait(|| next(task, task_context, waited, context));
        }
        let _paused = PausedSkip::if_left_out(frame);
        if !(*thread).worker {
            become_worker(h, thread);
        }
        let site = if (*frame).inside && (*frame).is_in(task_context) && (*frame).site != 0 {
            (*frame).site
        } else {
            call_site::site(Call::made(from, sp), class, class.primitive)
        };
        let open = context::scope(context);
        // This also waits for tasks that the current task spawned into the context before.
        let scope = if open != 0 && open == (*frame).opened {
            open
        } else {
            let fresh = h.scope_open_at(false, h.now());
            if context::open(context, fresh) == fresh {
                (*frame).opened = fresh;
            }
            fresh
        };
        // The scope of the whole, if this is a part of an algorithm that runs in the same context.
        let outer = match ((*frame).is_in(task_context), (*frame).outer) {
            (false, _) => 0,
            (true, 0) => (*frame).scope,
            (true, outer) => outer,
        };
        let into = Scope { of: scope, outer };
        task::adopt(h, frame, task, class, (create::INLINE, site), into, true);
        h.wait_scope_at(site, scope, h.last());
        let waiting = WaitGuard {
            frame,
            context,
            scope,
            stop: Some(h.stopped()),
        };
        (*frame).waits = waited.cast();
        next(task, task_context, waited, context);
        drop(waiting);
    }
}

/// `r1::parallel_pipeline(context, tokens, filters)`: libtbb spawns the stages on behalf of this
/// call.
///
/// # Safety
/// The same as for [`wait`].
pub(super) unsafe extern "C-unwind" fn pipeline(
    context: usize,
    tokens: usize,
    filters: *mut c_void,
    from: usize,
    sp: usize,
) {
    /// Restores the previous replacement, also after an exception.
    struct RestoreChain(call_site::CallChain);
    impl Drop for RestoreChain {
        fn drop(&mut self) {
            call_site::stand_in_again(self.0);
        }
    }
    // SAFETY: the entry point passes the registers of its call.
    let call = unsafe { Call::made(from, sp) };
    let before = RestoreChain(call_site::stand_in(call));
    // SAFETY: the arguments of the call.
    unsafe { next_symbol::PIPELINE.get(call_site::returns_to(from, sp))(context, tokens, filters) };
    drop(before);
}
