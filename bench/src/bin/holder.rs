//! One task creates all the others, small ones: every task that another worker runs has to be taken
//! from the creator, one by one (Huynh's thesis, 2017: slow steals from one worker that holds all
//! tasks). `holder [TASKS] [ROUNDS]`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::numbers::chain;

fn main() -> ExitCode {
    let arguments = Arguments::parse("holder [TASKS=20000] [ROUNDS=1000]");
    let (tasks, rounds) = (arguments.number(0, 20_000), arguments.number(1, 1_000));
    let sum = AtomicU64::new(0);
    timed(&arguments, || hold(tasks, rounds, &sum));
    let sum = sum.into_inner();
    finish(&format!("held {tasks} tasks, sum {sum}"), true)
}

fn hold(tasks: usize, rounds: usize, sum: &AtomicU64) {
    rayon::scope(|scope| {
        for i in 0..tasks {
            scope.spawn(move |_| {
                sum.fetch_add(chain(i as u64, rounds), Ordering::Relaxed);
            });
        }
    });
}
