//! Runs two analyses of a large run in parallel.

use workspan_dag::Dag;
use workspan_dag::cancel::inherit;

/// Minimum number of strands at which a second thread saves more than it costs.
const MIN_STRANDS_FOR_A_THREAD: usize = 100_000;

/// Runs both closures: for a large run `a` on a thread of its own, otherwise `b` before `a`. So `a`
/// may wait for a message from `b`.
pub(crate) fn run_both<A: Send, B>(
    dag: &Dag,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B,
) -> (A, B) {
    if dag.strands.len() < MIN_STRANDS_FOR_A_THREAD {
        let second = b();
        return (a(), second);
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(inherit(a));
        let second = b();
        match other.join() {
            Ok(first) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
