//! Explicit tasks that run within their creator's call: `if(0)`, and those of final tasks.

use workspan_recorder::adapter;
use workspan_recorder::front::Handle;
use workspan_recorder::wire::{create, primitive};

use super::header::{self, BlockLayout, DETACH, FINAL, Header, UNDEFERRED, WAITED};
use super::task::{Arguments, CopyFunction, body, resume_at, run_in_frame, wait_for};
use super::task_frame::{self, TaskFrame};
use super::{detach, pool};
use crate::site_cache;

/// What the creator of a task that runs at once shares with it.
pub(super) struct UndeferredState {
    has_run: bool,
    /// The body has run, and waits for an event.
    waits: bool,
}

/// The task runs within the call, on this thread, after what it depends on.
///
/// # Safety
/// `h` is the calling thread's live handle, `parent` its current frame, and the arguments are the entry point's.
#[cold]
pub(super) unsafe fn run_undeferred(
    h: *mut Handle,
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
    // SAFETY: the handle is this thread's; header and `shared` outlive the task.
    unsafe {
        pool::note_runtime();
        let waited = arguments.dependences();
        if let Some(on) = &waited {
            adapter::wait_dependences(h, arguments.site(), on);
            header.flags |= WAITED;
        }
        let copies = arguments.copy.is_some();
        if !copies {
            header.data = arguments.data;
        }
        let copy: CopyFunction = header::copy::<{ size_of::<Header>() }>;
        let at = (&raw mut header).cast::<u8>();
        arguments.give(body, at, copies.then_some(copy), layout);
        // One that was cancelled has not run.
        if (*shared).waits || waited.is_some() && !(*shared).has_run {
            adapter::resume(h);
        }
    }
}

/// The body of a task that runs within its creator's call.
///
/// # Safety
/// `h` is the calling thread's live handle, `header` one of [`run_undeferred`] and `data` its block.
#[cold]
pub(super) unsafe fn undeferred_body(h: *mut Handle, header: *mut Header, data: *mut u8) {
    // SAFETY: as in `body`; the creator waits below on this thread's stack.
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
            adapter::resume(h);
        }
        let site = site_cache::at(function, primitive::TASK, false);
        let task = adapter::task_create(h, create::INLINE, site, 0);
        adapter::task_begin(h, task);
        let below = task_frame::current();
        run_in_frame(h, function, data, flags, below);
        task_frame::set_current(below);
        if flags & DETACH != 0 {
            let site = site_cache::at(function, primitive::DETACH, false);
            if detach::body_has_run(h, words[0], site) {
                (*shared).waits = true;
                wait_for(h, site, task, (*h).last);
                return;
            }
        } else {
            adapter::task_end(h);
        }
        wait_for(h, site, task, (*h).last);
        resume_at(h, (*h).last);
    }
}
