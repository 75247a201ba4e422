//! Two questions about a large run at once.

use workspan_dag::Dag;
use workspan_dag::cancel::inherit;

/// From so many strands on, a thread costs less than it saves.
const WORTH_A_THREAD: usize = 100_000;

/// Does both: for a large run the first on a thread of its own, else the second before the first. So the first may wait
/// for what the second tells it.
pub(crate) fn run_both<A: Send, B>(
    dag: &Dag,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B,
) -> (A, B) {
    if dag.strands.len() < WORTH_A_THREAD {
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
