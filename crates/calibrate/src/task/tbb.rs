//! oneTBB's tasks, each spawned into a context of its own and waited for, as a `task_group`'s.

use std::ffi::c_void;
use std::ptr;

use super::least;
use crate::library::Library;
use crate::tbb::{Context, Functions, Table, Task, WaitContext};

#[repr(C)]
struct Fib {
    task: Task,
    functions: *const Functions,
    wait: *const WaitContext,
    n: u32,
    result: u32,
}

static FIB: Table = Table::new(run);

/// Nanoseconds a task.
pub(super) fn measure(library: &Library) -> Result<f64, String> {
    let functions = Functions::of(library)?;
    Ok(least(|n| as_task(&functions, n, || 0)))
}

/// A task of that size beside `rest`; the sum of both.
#[inline]
fn as_task(functions: &Functions, n: u32, rest: impl FnOnce() -> u32) -> u32 {
    let (mut context, mut wait) = (Context::new(), WaitContext::new(1));
    let mut task = Fib {
        task: Task::new(&FIB),
        functions,
        wait: &raw const wait,
        n,
        result: 0,
    };
    let (context, task) = (&raw mut context, &raw mut task);
    // SAFETY: context, wait and task stay where they are until the task has ended, for which the call waits.
    unsafe {
        (functions.initialize)(context);
        (functions.spawn)(task.cast(), context);
        let rest = rest();
        (functions.wait)(&raw mut wait, context);
        (functions.destroy)(context);
        (*task).result + rest
    }
}

extern "C" fn run(task: *mut Task, _: *mut c_void) -> *mut Task {
    let task = task.cast::<Fib>();
    // SAFETY: the task is a `Fib`, whose creator waits for it; its last act is to release that wait.
    unsafe {
        let functions = &*(*task).functions;
        (*task).result = fib(functions, (*task).n);
        functions.release((*task).wait);
    }
    ptr::null_mut()
}

fn fib(functions: &Functions, n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    as_task(functions, n - 1, || fib(functions, n - 2))
}
