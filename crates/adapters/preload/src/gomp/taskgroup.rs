//! `taskgroup`: a tree scope from its start to its end. Its site is its start's, as the end may be called by a jump. The
//! groups that `taskloop` and reductions open inside of libgomp do not come here.

use std::cell::RefCell;

use workspan_recorder::adapter;
use workspan_recorder::wire::primitive;

use super::real::Entry;
use super::shim::{Call, entries};
use crate::sites;

thread_local! {
    /// Scope and site of the groups this thread's tasks are in; of those at the bottom, where tasks lie on each other.
    static OPEN: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

entries! { starts, start: GOMP_taskgroup_start = 0 }
entries! { ends, end: GOMP_taskgroup_end = 0 }

unsafe extern "C-unwind" fn start(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    if !h.is_null() {
        let site = sites::at(call.return_address(), primitive::TASKGROUP, true);
        // SAFETY: the handle is this thread's.
        let scope = unsafe { adapter::scope_open(h, true) };
        // At the very end of a thread there is no list any more.
        let _ = OPEN.try_with(|open| open.borrow_mut().push((scope, site)));
    }
    // SAFETY: the arguments are the entry point's.
    unsafe { call.forward(entry.real()) }
}

unsafe extern "C-unwind" fn end(call: &mut Call, entry: &Entry) -> usize {
    let h = adapter::handle();
    let group = OPEN.try_with(|open| open.borrow_mut().pop()).ok().flatten();
    // SAFETY: the arguments are the entry point's; the handle is this thread's.
    unsafe {
        match group {
            Some((scope, site)) if !h.is_null() => {
                adapter::wait_scope(h, site, scope);
                let result = call.forward(entry.real());
                adapter::resume(h);
                result
            }
            _ => call.forward(entry.real()),
        }
    }
}
