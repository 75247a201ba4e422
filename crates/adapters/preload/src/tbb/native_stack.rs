//! The stack on which a thread was started. oneTBB creates other stacks, for tasks that run while
//! others are suspended.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;

use workspan_recorder::adapter::KeepErrno;

/// glibc's `pthread_attr_t` has 56 bytes, 64 on AArch64.
#[repr(C, align(16))]
struct Attributes([u8; 128]);

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_getattr_np(thread: usize, attributes: *mut Attributes) -> c_int;
    fn pthread_attr_getstack(
        attributes: *const Attributes,
        lowest: *mut *mut c_void,
        size: *mut usize,
    ) -> c_int;
    fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
}

/// The calling thread's own stack; empty if it is unknown.
#[cold]
pub(super) fn native() -> Range<usize> {
    let _errno = KeepErrno::new();
    let mut attributes = Attributes([0; 128]);
    let (mut lowest, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the buffer is larger than the attributes; the first call initialises them, and they
    // are destroyed once.
    let known = unsafe {
        pthread_getattr_np(pthread_self(), &mut attributes) == 0 && {
            let known = pthread_attr_getstack(&attributes, &mut lowest, &mut size) == 0;
            pthread_attr_destroy(&mut attributes);
            known
        }
    };
    match known {
        true => lowest as usize..(lowest as usize).saturating_add(size),
        false => 0..0,
    }
}

#[cfg(test)]
mod tests {
    use super::native;

    #[test]
    fn a_local_of_a_thread_lies_on_its_own_stack_alone() {
        let thread = native();
        let there = std::thread::spawn(|| {
            let local = 0u8;
            let own = native();
            assert!(own.contains(&(&raw const local as usize)));
            own
        });
        let there = there.join().expect("the thread found its stack");
        let local = 0u8;
        assert!(thread.contains(&(&raw const local as usize)));
        assert!(!there.contains(&(&raw const local as usize)));
    }
}
