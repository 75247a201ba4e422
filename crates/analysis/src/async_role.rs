//! What a thread of an async runtime is for: its workers poll futures, its blocking pool runs what
//! would hold them up.
//!
//! Tokio gives both the same name, and a worker begins on a thread of the blocking pool. So the
//! functions on the thread's stacks decide first.

use workspan_dag::{Dag, ThreadId};

/// What a thread of an async runtime is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsyncRole {
    /// It polls futures.
    Worker,
    /// It runs what blocks or takes long (`spawn_blocking`).
    Blocking,
}

/// Parts of function names on the stacks of such threads.
const FUNCTIONS: [(&str, AsyncRole); 6] = [
    ("multi_thread::worker", AsyncRole::Worker),
    ("async_executor::", AsyncRole::Worker),
    ("async_global_executor::", AsyncRole::Worker),
    ("blocking::task::BlockingTask", AsyncRole::Blocking),
    ("tokio::runtime::blocking::pool", AsyncRole::Blocking),
    ("blocking::Executor", AsyncRole::Blocking),
];

/// Beginnings of thread names, for threads without a stack that tells. Tokio's are of either kind,
/// and mostly workers.
const NAMES: [(&str, AsyncRole); 5] = [
    ("tokio-runtime-w", AsyncRole::Worker),
    ("tokio-rt-worker", AsyncRole::Worker),
    ("async-std/runti", AsyncRole::Worker),
    ("smol-", AsyncRole::Worker),
    ("blocking-", AsyncRole::Blocking),
];

/// What the thread is for, if it is one of an async runtime. O(samples and stops).
pub fn async_role(dag: &Dag, thread: ThreadId) -> Option<AsyncRole> {
    let samples = &dag.samples;
    let sampled = samples.thread.iter().zip(&samples.stack);
    let sampled = sampled.filter(|at| *at.0 == thread).map(|at| *at.1);
    let stops = samples.stops.iter().filter(|stop| stop.thread == thread);
    let mut stacks: Vec<u32> = sampled.chain(stops.map(|stop| stop.stack)).collect();
    stacks.sort_unstable();
    stacks.dedup();
    let functions = || {
        let frames = stacks
            .iter()
            .flat_map(|&stack| samples.stacks.get(stack as usize));
        frames.map(|&frame| samples.frames[frame as usize].function.as_str())
    };
    let by_stack = FUNCTIONS
        .iter()
        .find(|(part, _)| functions().any(|name| name.contains(part)));
    let name = dag
        .meta
        .thread_names
        .get(thread as usize)
        .map_or("", String::as_str);
    let by_name = || NAMES.iter().find(|(start, _)| name.starts_with(start));
    by_stack.or_else(by_name).map(|&(_, role)| role)
}
