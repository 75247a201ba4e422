//! `taskwait`, with and without dependences. The hot one of the entry points without arguments.

use workspan_recorder::adapter;
use workspan_recorder::wire::primitive;

use super::real::Entry;
use super::shim::returning;
use super::{call, depend, frame};

pub(super) static TASKWAIT: Entry = Entry::new(c"GOMP_taskwait", 0);
pub(super) static TASKWAIT_DEPEND: Entry = Entry::new(c"GOMP_taskwait_depend", 0);

returning! {
    GOMP_taskwait, TASKWAIT => taskwait;
    GOMP_taskwait_depend, TASKWAIT_DEPEND => taskwait_depend;
}

unsafe extern "C-unwind" fn taskwait(_: usize, return_address: usize) {
    // SAFETY: the real function has no arguments; the handle is this thread's.
    unsafe {
        let real: unsafe extern "C-unwind" fn() = core::mem::transmute(TASKWAIT.real());
        let (h, frame) = frame::here();
        if h.is_null() {
            return real();
        }
        if let Some(subtree) = (*frame).skip.as_ref() {
            return subtree.wait(|| real());
        }
        let site = call::site(return_address, primitive::TASKWAIT);
        adapter::wait_children(h, site);
        real();
        adapter::resume(h);
    }
}

unsafe extern "C-unwind" fn taskwait_depend(list: usize, return_address: usize) {
    // SAFETY: the real function's argument is the list given; the handle is this thread's.
    unsafe {
        let real: unsafe extern "C-unwind" fn(usize) = core::mem::transmute(TASKWAIT_DEPEND.real());
        let (h, frame) = frame::here();
        if h.is_null() {
            return real(list);
        }
        if let Some(subtree) = (*frame).skip.as_ref() {
            return subtree.wait(|| real(list));
        }
        let site = call::site(return_address, primitive::TASKWAIT);
        adapter::wait_dependences(h, site, &depend::read(list as *const usize));
        real(list);
        adapter::resume(h);
    }
}
