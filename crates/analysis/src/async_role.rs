//! The roles of threads of an async runtime: workers poll futures, and the blocking pool runs code
//! that would block them.
//!
//! Tokio gives both kinds the same name, and a worker begins on a thread of the blocking pool. So
//! the functions on the thread's stacks decide first.

use workspan_dag::Dag;

/// The role of a thread of an async runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsyncRole {
    /// Polls futures.
    Worker,
    /// Runs code that blocks or takes long (`spawn_blocking`).
    Blocking,
}

/// Parts of function names on the stacks of such threads; the first one that a thread has decides.
const FUNCTIONS: [(&str, AsyncRole); 6] = [
    ("multi_thread::worker", AsyncRole::Worker),
    ("async_executor::", AsyncRole::Worker),
    ("async_global_executor::", AsyncRole::Worker),
    ("blocking::task::BlockingTask", AsyncRole::Blocking),
    ("tokio::runtime::blocking::pool", AsyncRole::Blocking),
    ("blocking::Executor", AsyncRole::Blocking),
];

/// Beginnings of thread names, for threads without a revealing stack. Tokio uses one name for both
/// kinds, and most are workers.
const NAMES: [(&str, AsyncRole); 5] = [
    ("tokio-runtime-w", AsyncRole::Worker),
    ("tokio-rt-worker", AsyncRole::Worker),
    ("async-std/runti", AsyncRole::Worker),
    ("smol-", AsyncRole::Worker),
    ("blocking-", AsyncRole::Blocking),
];

/// The role of each thread of an async runtime; `None` for other threads. O(samples + stops +
/// threads).
pub fn async_roles(dag: &Dag) -> Vec<Option<AsyncRole>> {
    let samples = &dag.samples;
    // By stack: the first of the functions that is on it, as an index into the list.
    let frames: Vec<Option<usize>> = samples
        .frames
        .iter()
        .map(|frame| {
            let mut functions = FUNCTIONS.iter();
            functions.position(|(part, _)| frame.function.contains(part))
        })
        .collect();
    let of_stack: Vec<Option<usize>> = (0..samples.stacks.len())
        .map(|stack| {
            let on_it = samples.stacks.get(stack).iter();
            on_it.filter_map(|&frame| frames[frame as usize]).min()
        })
        .collect();
    let mut by_stack: Vec<Option<usize>> = vec![None; dag.meta.threads as usize];
    let sampled = samples.thread.iter().zip(&samples.stack);
    let sampled = sampled.map(|(&thread, &stack)| (thread, stack));
    let stopped = samples.stops.iter().map(|stop| (stop.thread, stop.stack));
    for (thread, stack) in sampled.chain(stopped) {
        let of_thread = &mut by_stack[thread as usize];
        let both = [*of_thread, of_stack[stack as usize]];
        *of_thread = both.into_iter().flatten().min();
    }
    let roles = by_stack.iter().enumerate().map(|(thread, function)| {
        let name = dag.meta.thread_names.get(thread).map_or("", String::as_str);
        let by_name = || NAMES.iter().find(|(start, _)| name.starts_with(start));
        let role = function.map(|i| &FUNCTIONS[i]).or_else(by_name);
        role.map(|&(_, role)| role)
    });
    roles.collect()
}
