//! Waits: each opens or closes the scope of the context it waits for.

use std::ffi::c_void;

use workspan_recorder::adapter::{self, Stop};
use workspan_recorder::front::Handle;
use workspan_recorder::wire::{create, primitive};

use super::budget::{self, Paused};
use super::call_site::{self, Call};
use super::task::{self, Scope, Task};
use super::task_class::TaskClass;
use super::task_frame::{
    FrameKind, TaskFrame, current_thread, has_task, link, set_top, top, went_on,
};
use super::{become_worker, context, next_symbol};

/// The frame's task goes on when the real wait has returned or thrown.
struct Waiting {
    frame: *mut TaskFrame,
    context: usize,
    /// What was waited for, to be closed in the context; 0 for nothing.
    scope: u64,
    /// Where its task stopped, if a wait was told.
    stop: Option<Stop>,
}

impl Drop for Waiting {
    #[inline]
    fn drop(&mut self) {
        let h = adapter::handle();
        // SAFETY: the frame encloses the wait; the stack may have moved to another thread, whose handle and state
        // these are; the context outlives the wait.
        unsafe {
            let thread = current_thread();
            set_top(thread, self.frame);
            (*self.frame).waits = std::ptr::null();
            if self.scope != 0 {
                context::close(self.context, self.scope);
            }
            if !h.is_null() {
                if !(*thread).worker {
                    become_worker(h, thread);
                }
                let at_once = went_on(h, thread);
                if let Some(stop) = self.stop {
                    adapter::go_on(h, stop, at_once);
                }
            }
        }
    }
}

/// `r1::wait(wait context, context)`.
///
/// # Safety
/// As oneTBB's; the last two say where the call was made.
pub(super) unsafe extern "C-unwind" fn wait(
    waited: *mut c_void,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the caller's; the state is this thread's.
    unsafe {
        if let Some(subtree) = budget::waiting(link(current_thread()), context) {
            return subtree
                .wait(|| next_symbol::WAIT.get(call_site::returns_to(from, sp))(waited, context));
        }
        wait_recorded(waited, context, from, sp);
    }
}

/// The same where the wait is not left out. Of its own, as what is waited for often runs on the same stack.
///
/// # Safety
/// As [`wait`].
#[inline(never)]
unsafe extern "C-unwind" fn wait_recorded(
    waited: *mut c_void,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point hands on what its call has.
    let next = next_symbol::WAIT.get(unsafe { call_site::returns_to(from, sp) });
    let h = adapter::handle();
    if h.is_null() {
        // SAFETY: the caller's.
        return unsafe { next(waited, context) };
    }
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let thread = current_thread();
        let frame = top(thread);
        if !has_task(h, frame) {
            return next(waited, context);
        }
        let _paused = Paused::if_left_out(frame);
        if !(*thread).worker {
            become_worker(h, thread);
        }
        let site = call_site::plain(Call::made(from, sp), primitive::TASKGROUP);
        let open = context::scope(context);
        let scope = if open != 0 && !is_inside(frame, open) {
            adapter::wait_scope_at(h, site, open, Handle::now(h));
            open
        } else {
            0
        };
        // A task of the context itself waits for what it created: the scope is somebody else's to wait for.
        let children =
            scope == 0 && (open != 0 || (*frame).is_in(context) || context::inside(context) != 0);
        if children {
            adapter::wait_children(h, site);
        }
        let waiting = Waiting {
            frame,
            context,
            scope,
            stop: (scope != 0 || children).then(|| adapter::stopped(h)),
        };
        (*frame).waits = waited.cast();
        next(waited, context);
        drop(waiting);
    }
}

/// Whether a task that runs on this stack, from the frame outwards, is a member of the scope.
///
/// # Safety
/// `frame` is a live chain.
unsafe fn is_inside(mut frame: *mut TaskFrame, scope: u64) -> bool {
    // SAFETY: parents outlive their children.
    unsafe {
        while !frame.is_null() && (*frame).kind == FrameKind::Task {
            if (*frame).scope == scope {
                return true;
            }
            // What it opened itself it may wait for.
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
/// As [`wait`].
pub(super) unsafe extern "C-unwind" fn execute_and_wait(
    task: *mut Task,
    task_context: usize,
    waited: *mut c_void,
    context: usize,
    from: usize,
    sp: usize,
) {
    // SAFETY: the entry point hands on what its call has.
    let next = next_symbol::EXECUTE_AND_WAIT.get(unsafe { call_site::returns_to(from, sp) });
    let h = adapter::handle();
    if h.is_null() {
        // SAFETY: the caller's.
        return unsafe { next(task, task_context, waited, context) };
    }
    // SAFETY: the caller's; the handle is this thread's.
    unsafe {
        let thread = current_thread();
        let frame = top(thread);
        let class = if has_task(h, frame) {
            TaskClass::of(task)
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
        let _paused = Paused::if_left_out(frame);
        if !(*thread).worker {
            become_worker(h, thread);
        }
        let site = if (*frame).inside && (*frame).is_in(task_context) && (*frame).site != 0 {
            (*frame).site
        } else {
            call_site::site(Call::made(from, sp), class, class.primitive)
        };
        let open = context::scope(context);
        // What this task spawned into the context before is waited for here too.
        let scope = if open != 0 && open == (*frame).opened {
            open
        } else {
            let fresh = adapter::scope_open_at(h, false, Handle::now(h));
            if context::open(context, fresh) == fresh {
                (*frame).opened = fresh;
            }
            fresh
        };
        // A part of an algorithm that runs in the same context.
        let outer = match ((*frame).is_in(task_context), (*frame).outer) {
            (false, _) => 0,
            (true, 0) => (*frame).scope,
            (true, outer) => outer,
        };
        let into = Scope { of: scope, outer };
        task::adopt(h, frame, task, class, (create::INLINE, site), into, true);
        adapter::wait_scope_at(h, site, scope, (*h).last);
        let waiting = Waiting {
            frame,
            context,
            scope,
            stop: Some(adapter::stopped(h)),
        };
        (*frame).waits = waited.cast();
        next(task, task_context, waited, context);
        drop(waiting);
    }
}

/// `r1::parallel_pipeline(context, tokens, filters)`: its stages are spawned by libtbb, for this call.
///
/// # Safety
/// As [`wait`].
pub(super) unsafe extern "C-unwind" fn pipeline(
    context: usize,
    tokens: usize,
    filters: *mut c_void,
    from: usize,
    sp: usize,
) {
    /// Puts back what stood there before, after an exception too.
    struct Before(call_site::CallChain);
    impl Drop for Before {
        fn drop(&mut self) {
            call_site::stand_in_again(self.0);
        }
    }
    // SAFETY: the entry point hands on what its call has.
    let call = unsafe { Call::made(from, sp) };
    let before = Before(call_site::stand_in(call));
    // SAFETY: the caller's.
    unsafe { next_symbol::PIPELINE.get(call_site::returns_to(from, sp))(context, tokens, filters) };
    drop(before);
}
