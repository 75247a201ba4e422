//! `taskwait`, with and without dependences. The plain one is the hottest entry point without
//! arguments.

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
    // SAFETY: libgomp's function has no arguments; the frame is this thread's.
    unsafe {
        let next: unsafe extern "C-unwind" fn() = core::mem::transmute(TASKWAIT.next_symbol());
        let (h, frame) = task_frame::here();
        let Some(h) = h else {
            return next();
        };
        if let Some(subtree) = (*frame).skip.as_ref() {
            return subtree.wait(|| next());
        }
        let site = call_site::site(return_address, primitive::TASKWAIT);
        h.wait_children(site);
        next();
        h.resume();
    }
}

unsafe extern "C-unwind" fn taskwait_depend(list: usize, return_address: usize) {
    // SAFETY: libgomp's function takes the list that was passed; the frame is this thread's.
    unsafe {
        let next: unsafe extern "C-unwind" fn(usize) =
            core::mem::transmute(TASKWAIT_DEPEND.next_symbol());
        let (h, frame) = task_frame::here();
        let Some(h) = h else {
            return next(list);
        };
        if let Some(subtree) = (*frame).skip.as_ref() {
            return subtree.wait(|| next(list));
        }
        let site = call_site::site(return_address, primitive::TASKWAIT);
        h.wait_dependences(site, &dependences::read(list as *const usize));
        next(list);
        h.resume();
    }
}
