//! Provides enough stack if the user's limit is too low.

use std::thread;

use rustix::process::{Resource, getrlimit};

/// Minimum size of the stack in bytes. With less, deep calls (the parser of the command line, a
/// large report) would end the process by a signal.
const MIN_STACK_BYTES: u64 = 1 << 20;
/// Size in bytes of the stack of the thread that does the work instead: the default of Linux.
const STACK_BYTES: usize = 8 << 20;

/// Runs `work`, in a thread with enough stack if `ulimit -s` is too low.
pub fn with_enough<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let limit = getrlimit(Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= MIN_STACK_BYTES) {
        return work();
    }
    thread::scope(|scope| {
        let started = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work);
        match started.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(value)) => value,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => {
                crate::say!("workspan: no thread with enough stack: {error}; raise `ulimit -s`");
                std::process::exit(1)
            }
        }
    })
}
