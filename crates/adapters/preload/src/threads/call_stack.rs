//! The calls that led to an entry point, found by unwinding the stack. Threads start so rarely that
//! the few microseconds for it do not matter.

use core::ffi::{c_int, c_void};

use crate::loaded_files::{is_ours, with_path_of};

/// Maximum number of return addresses kept. In an unoptimised Rust program there are a dozen
/// between `pthread_create` and the user's code.
const MAX_ADDRESSES: usize = 32;

/// `_URC_END_OF_STACK`: ends the unwinding.
const STOP: c_int = 5;

/// Libraries whose threads are workers of a runtime, by the beginnings of their file names. The
/// threads of MPI and of the libraries it loads watch its connections, and so do those of Gloo, by
/// which PyTorch's ranks communicate.
const RUNTIMES: [&[u8]; 14] = [
    b"libgomp",
    b"libomp",
    b"libiomp5",
    b"libtbb",
    b"libmpi",
    b"libopen-pal",
    b"libopen-rte",
    b"libprrte",
    b"libpmix",
    b"mca_",
    b"libucs",
    b"libuct",
    b"libfabric",
    b"libgloo",
];

/// The number of innermost frames that are searched for a runtime. There are several because a
/// sanitizer's function may be between the runtime and `pthread_create`.
const FRAMES_OF_CALLER: usize = 3;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Return addresses, innermost first, beginning outside of this library.
pub(super) struct CallStack {
    addresses: [usize; MAX_ADDRESSES],
    count: usize,
    /// Whether the calling code is this library's own.
    is_ours: bool,
}

impl CallStack {
    /// Captures the calling thread's stack.
    #[inline(never)]
    pub(super) fn capture() -> CallStack {
        let mut stack = CallStack {
            addresses: [0; MAX_ADDRESSES],
            count: 0,
            is_ours: false,
        };
        // SAFETY: the callback gets the type that it expects.
        unsafe { _Unwind_Backtrace(visit, (&raw mut stack).cast()) };
        stack
    }

    pub(super) fn addresses(&self) -> &[usize] {
        self.addresses.get(..self.count).unwrap_or(&[])
    }

    /// Whether a runtime, or this library, made the call.
    pub(super) fn is_in_runtime(&self) -> bool {
        let callers = self.addresses().iter().take(FRAMES_OF_CALLER);
        self.is_ours || callers.copied().any(is_runtime)
    }
}

unsafe extern "C" fn visit(context: *mut c_void, stack: *mut c_void) -> c_int {
    // SAFETY: `stack` is the one that `capture` passed, and `context` is the unwinder's.
    let (stack, address) = unsafe { (&mut *stack.cast::<CallStack>(), _Unwind_GetIP(context)) };
    if is_ours(address) {
        // The innermost frames are always ours; one further out means that we made the call.
        stack.is_ours |= stack.count > 0;
        return 0;
    }
    match stack.addresses.get_mut(stack.count) {
        Some(place) => *place = address,
        None => return STOP,
    }
    stack.count += 1;
    0
}

fn is_runtime(address: usize) -> bool {
    with_path_of(address, |path| {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        RUNTIMES.iter().any(|runtime| name.starts_with(runtime))
    })
    .unwrap_or(false)
}
