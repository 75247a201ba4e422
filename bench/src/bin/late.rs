//! A task creates one child, works as long as the child will, then waits for it. Started at once,
//! on a free worker, the child costs nothing; left until its parent waits, it doubles the time
//! (Huynh's thesis, 2017: children delayed until the wait). `late [STEPS] [ROUNDS]`.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::numbers::chain;

fn main() -> ExitCode {
    let arguments = Arguments::parse("late [STEPS=200] [ROUNDS=200000]");
    let (steps, rounds) = (arguments.number(0, 200), arguments.number(1, 200_000));
    let all = || {
        let one = |sum: u64, seed| sum.wrapping_add(step(seed, rounds));
        (0..steps as u64).fold(0, one)
    };
    let sum = timed(&arguments, || rayon::scope(|_| all()));
    finish(&format!("stepped {steps} times, sum {sum}"), true)
}

fn step(seed: u64, rounds: usize) -> u64 {
    let mut child = 0;
    let own = rayon::scope(|scope| {
        scope.spawn(|_| child = chain(seed, rounds));
        chain(!seed, rounds)
    });
    own.wrapping_add(child)
}
