//! One task creates small tasks faster than they are run, and now and then a long one. If the queue
//! is bounded, the creator has to run tasks itself; while it runs a long one, it creates none, and
//! the others run dry (Huynh's thesis, 2017). `queue [TASKS] [ROUNDS] [EVERY]`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::numbers::chain;

fn main() -> ExitCode {
    let arguments = Arguments::parse("queue [TASKS=20000] [ROUNDS=400] [EVERY=2000]");
    let (tasks, rounds) = (arguments.number(0, 20_000), arguments.number(1, 400));
    let every = arguments.number(2, 2_000).max(1);
    let sum = AtomicU64::new(0);
    timed(&arguments, || fill(tasks, rounds, every, &sum));
    let sum = sum.into_inner();
    finish(&format!("queued {tasks} tasks, sum {sum}"), true)
}

fn fill(tasks: usize, rounds: usize, every: usize, sum: &AtomicU64) {
    rayon::scope(|scope| {
        for i in 0..tasks {
            let mine = if i % every == every / 2 {
                rounds * every
            } else {
                rounds
            };
            scope.spawn(move |_| {
                sum.fetch_add(chain(i as u64, mine), Ordering::Relaxed);
            });
        }
    });
}
