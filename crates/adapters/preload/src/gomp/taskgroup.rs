//! `taskgroup`: a tree scope from its start to its end. Its site is that of its start, because the
//! end may be called by a jump. Groups that `taskloop` and reductions open inside libgomp do not
//! come here. In a skipped subtree a group is only a wait.

use std::cell::RefCell;

use workspan_recorder::wire::primitive;

use super::entry_points::{Call, entries};
use super::next_symbol::Entry;
use super::task_frame;
use crate::site_cache;

/// The scope of a group in a skipped subtree.
const NONE: u64 = 0;

thread_local! {
    /// Scope and site of the groups that this thread's tasks are in. Several tasks may be on the
    /// stack, so the list has the groups of all of them, innermost last.
    static OPEN: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

entries! { starts, start: GOMP_taskgroup_start = 0 }
entries! { ends, end: GOMP_taskgroup_end = 0 }

unsafe extern "C-unwind" fn start(call: &mut Call, entry: &Entry) -> usize {
    let (h, frame) = task_frame::here();
    if let Some(h) = h {
        // SAFETY: the frame is this thread's.
        let (scope, site) = unsafe {
            if (*frame).skip.is_null() {
                let site = site_cache::at(call.return_address(), primitive::TASKGROUP, true);
                (h.scope_open(true), site)
            } else {
                (NONE, 0)
            }
        };
        // At the very end of a thread the list no longer exists.
        let _ = OPEN.try_with(|open| open.borrow_mut().push((scope, site)));
    }
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.next_symbol()) }
}

unsafe extern "C-unwind" fn end(call: &mut Call, entry: &Entry) -> usize {
    let (h, frame) = task_frame::here();
    let group = OPEN.try_with(|open| open.borrow_mut().pop()).ok().flatten();
    // SAFETY: the arguments are the entry point's; the frame is this thread's.
    unsafe {
        match (group, (*frame).skip.as_ref()) {
            (Some((NONE, _)), Some(subtree)) => subtree.wait(|| call.forward(entry.next_symbol())),
            (Some((scope, site)), _) if scope != NONE => {
                if let Some(h) = h {
                    h.wait_scope(site, scope);
                }
                let result = call.forward(entry.next_symbol());
                if let Some(h) = h {
                    h.resume();
                }
                result
            }
            _ => call.forward(entry.next_symbol()),
        }
    }
}
