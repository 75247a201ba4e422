//! Explicit tasks that run within their creator's call: those with `if(0)`, and children of final
//! tasks.

use workspan_recorder::adapter::LiveHandle;
use workspan_recorder::wire::{create, primitive};

use super::header::{self, BlockLayout, DETACH, FINAL, Header, UNDEFERRED, WAITED};
use super::task::{Arguments, CopyFunction, body, run_in_frame};
use super::task_frame::{self, TaskFrame};
use super::{detach, pool};
use crate::site_cache;

/// The state that a task that runs at once shares with its creator.
pub(super) struct UndeferredState {
    has_run: bool,
    /// Whether the body has run and the task waits for an event.
    waits: bool,
}

/// Runs the task within the call, on this thread, after the tasks it depends on.
///
/// # Safety
/// `parent` is the thread's current frame, and the arguments are the entry point's.
#[cold]
pub(super) unsafe fn run_undeferred(
    h: LiveHandle,
    arguments: &Arguments,
    layout: BlockLayout,
    parent: &TaskFrame,
) {
    let mut shared = UndeferredState {
        has_run: false,
        waits: false,
    };
    let shared = &raw mut shared;
    let mut header = arguments.header(layout, shared as u64, parent.in_team);
    header.flags |= UNDEFERRED;
    if parent.is_final {
        header.flags |= FINAL;
    }
    // SAFETY: the arguments are the entry point's; the header and `shared` outlive the task.
    unsafe {
        pool::note_runtime();
        let waited = arguments.dependences();
        if let Some(on) = &waited {
            h.wait_dependences(arguments.site(), on);
            header.flags |= WAITED;
        }
        let copies = arguments.copy.is_some();
        if !copies {
            header.data = arguments.data;
        }
        let copy: CopyFunction = header::copy::<{ size_of::<Header>() }>;
        let at = (&raw mut header).cast::<u8>();
        arguments.give(body, at, copies.then_some(copy), layout);
        // A cancelled task has not run.
        if (*shared).waits || waited.is_some() && !(*shared).has_run {
            h.resume();
        }
    }
}

/// The body of a task that runs within its creator's call.
///
/// # Safety
/// `header` is one that [`run_undeferred`] made, and `data` is its block.
#[cold]
pub(super) unsafe fn undeferred_body(h: LiveHandle, header: *mut Header, data: *mut u8) {
    // SAFETY: the creator waits below on this thread's stack, so its state is alive.
    unsafe {
        let Header {
            words,
            function,
            flags,
            ..
        } = *header;
        let shared = (*header).task as *mut UndeferredState;
        (*shared).has_run = true;
        if flags & WAITED != 0 {
            h.resume();
        }
        let site = site_cache::at(function, primitive::TASK, false);
        let task = h.task_create(create::INLINE, site, 0);
        h.task_begin(task);
        let below = task_frame::current();
        run_in_frame(h, function, data, flags, below);
        task_frame::set_current(below);
        if flags & DETACH != 0 {
            let site = site_cache::at(function, primitive::DETACH, false);
            if detach::body_has_run(h, words[0], site) {
                (*shared).waits = true;
                h.wait_task_at(site, task, h.last());
                return;
            }
        } else {
            h.task_end();
        }
        h.wait_task_at(site, task, h.last());
        h.resume_at(h.last());
    }
}
