//! `taskgroup`: a tree scope from its start to its end. Its site is its start's, as the end may be called by a jump. The
//! groups that `taskloop` and reductions open inside of libgomp do not come here. One in an unrecorded subtree is a wait alone.

use std::cell::RefCell;

use workspan_recorder::adapter;
use workspan_recorder::wire::primitive;

use super::entry_points::{Call, entries};
use super::next_symbol::Entry;
use super::task_frame;
use crate::site_cache;

/// The scope of a group in an unrecorded subtree.
const NONE: u64 = 0;

thread_local! {
    /// Scope and site of the groups this thread's tasks are in; of those at the bottom, where tasks lie on each other.
    static OPEN: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

entries! { starts, start: GOMP_taskgroup_start = 0 }
entries! { ends, end: GOMP_taskgroup_end = 0 }

unsafe extern "C-unwind" fn start(call: &mut Call, entry: &Entry) -> usize {
    let (h, frame) = task_frame::here();
    if !h.is_null() {
        // SAFETY: the handle and the frame are this thread's.
        let (scope, site) = unsafe {
            if (*frame).skip.is_null() {
                let site = site_cache::at(call.return_address(), primitive::TASKGROUP, true);
                (adapter::scope_open(h, true), site)
            } else {
                (NONE, 0)
            }
        };
        // At the very end of a thread there is no list any more.
        let _ = OPEN.try_with(|open| open.borrow_mut().push((scope, site)));
    }
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.next_symbol()) }
}

unsafe extern "C-unwind" fn end(call: &mut Call, entry: &Entry) -> usize {
    let (h, frame) = task_frame::here();
    let group = OPEN.try_with(|open| open.borrow_mut().pop()).ok().flatten();
    // SAFETY: the arguments are the entry point's; the handle and the frame are this thread's.
    unsafe {
        match (group, (*frame).skip.as_ref()) {
            (Some((NONE, _)), Some(subtree)) => subtree.wait(|| call.forward(entry.next_symbol())),
            (Some((scope, site)), _) if !h.is_null() && scope != NONE => {
                adapter::wait_scope(h, site, scope);
                let result = call.forward(entry.next_symbol());
                adapter::resume(h);
                result
            }
            _ => call.forward(entry.next_symbol()),
        }
    }
}
