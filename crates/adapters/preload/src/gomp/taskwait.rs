//! `taskwait`, with and without dependences. The hot one of the entry points without arguments.

use workspan_recorder::adapter;
use workspan_recorder::wire::primitive;

use super::entry_points::with_return_address;
use super::next_symbol::Entry;
use super::{call_site, dependences, task_frame};

pub(super) static TASKWAIT: Entry = Entry::new(c"GOMP_taskwait", 0);
pub(super) static TASKWAIT_DEPEND: Entry = Entry::new(c"GOMP_taskwait_depend", 0);

with_return_address! {
    GOMP_taskwait, TASKWAIT => taskwait;
    GOMP_taskwait_depend, TASKWAIT_DEPEND => taskwait_depend;
}

unsafe extern "C-unwind" fn taskwait(_: usize, return_address: usize) {
    // SAFETY: the real function has no arguments; the handle is this thread's.
    unsafe {
        let next: unsafe extern "C-unwind" fn() = core::mem::transmute(TASKWAIT.next_symbol());
        let (h, frame) = task_frame::here();
        if h.is_null() {
            return next();
        }
        if let Some(subtree) = (*frame).skip.as_ref() {
            return subtree.wait(|| next());
        }
        let site = call_site::site(return_address, primitive::TASKWAIT);
        adapter::wait_children(h, site);
        next();
        adapter::resume(h);
    }
}

unsafe extern "C-unwind" fn taskwait_depend(list: usize, return_address: usize) {
    // SAFETY: the real function's argument is the list given; the handle is this thread's.
    unsafe {
        let next: unsafe extern "C-unwind" fn(usize) =
            core::mem::transmute(TASKWAIT_DEPEND.next_symbol());
        let (h, frame) = task_frame::here();
        if h.is_null() {
            return next(list);
        }
        if let Some(subtree) = (*frame).skip.as_ref() {
            return subtree.wait(|| next(list));
        }
        let site = call_site::site(return_address, primitive::TASKWAIT);
        adapter::wait_dependences(h, site, &dependences::read(list as *const usize));
        next(list);
        adapter::resume(h);
    }
}
