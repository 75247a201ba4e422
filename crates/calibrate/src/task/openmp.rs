//! OpenMP's tasks, in a team of one: about half of them with a function that copies their argument block.

use std::ffi::c_void;

use super::least;
use crate::library::Library;
use crate::openmp::{Copied, Functions};

struct Team {
    functions: Functions,
    ns: f64,
}

/// What the argument block of a task holds.
#[derive(Clone, Copy)]
struct Fib {
    functions: *const Functions,
    n: u32,
    result: *mut u32,
}

/// Nanoseconds a task.
pub(super) fn measure(library: &Library) -> Result<f64, String> {
    let functions = Functions::of(library)?;
    let mut team = Team { functions, ns: 0.0 };
    // SAFETY: the region ends before this returns, and the team outlives it.
    unsafe { functions.parallel(1, region, (&raw mut team).cast()) };
    Ok(team.ns)
}

extern "C" fn region(team: *mut c_void) {
    // SAFETY: the region's one thread has the team for itself.
    let team = unsafe { &mut *team.cast::<Team>() };
    let functions = &team.functions;
    // SAFETY: in a region.
    team.ns = least(|n| unsafe { as_task(functions, n, || 0) });
}

/// A task of that size beside `rest`; the sum of both.
///
/// # Safety
/// In a region.
#[inline]
unsafe fn as_task(functions: &Functions, n: u32, rest: impl FnOnce() -> u32) -> u32 {
    let mut result = 0;
    let data = Fib {
        functions,
        n,
        result: &raw mut result,
    };
    // What that changes of libgomp's tasks is more than what most else does.
    let copied = match n % 2 {
        0 => Copied::AsBytes,
        _ => Copied::ByFunction,
    };
    // SAFETY: the caller's; the result is there until the task has been waited for.
    unsafe {
        functions.task(task, data, copied);
        let rest = rest();
        functions.taskwait();
        result + rest
    }
}

extern "C" fn task(data: *mut c_void) {
    // SAFETY: the data is a copy of what the task was created with, whose creator waits for it.
    unsafe {
        let Fib {
            functions,
            n,
            result,
        } = *data.cast::<Fib>();
        *result = fib(&*functions, n);
    }
}

/// # Safety
/// In a region.
unsafe fn fib(functions: &Functions, n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    // SAFETY: the caller's.
    unsafe { as_task(functions, n - 1, || fib(functions, n - 2)) }
}
