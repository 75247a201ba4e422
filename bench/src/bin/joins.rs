//! What a join costs: batches of uncut fib inside the pool. `joins [N] [BATCHES]` prints the least and the median ns per
//! join over the batches, two numbers in one line.

use std::process::ExitCode;
use std::time::Instant;

use workspan_bench::command::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse("joins [N=16] [BATCHES=200]");
    let (n, batches) = (
        arguments.number(0, 16).clamp(2, 40),
        arguments.number(1, 200).max(1),
    );
    let count = joins(n) as f64;
    let mut times = Vec::with_capacity(batches);
    // Inside the pool: a join from outside costs a hand-over, which is not what is asked here.
    rayon::join(
        || {
            for _ in 0..batches {
                let started = Instant::now();
                std::hint::black_box(fib(std::hint::black_box(n)));
                times.push(started.elapsed().as_nanos() as f64 / count);
            }
        },
        || (),
    );
    times.sort_by(f64::total_cmp);
    println!("{:.2} {:.2}", times[0], times[times.len() / 2]);
    ExitCode::SUCCESS
}

fn fib(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Joins of an uncut fib: one for every call with n of at least 2.
fn joins(n: usize) -> u64 {
    if n < 2 {
        0
    } else {
        1 + joins(n - 1) + joins(n - 2)
    }
}
