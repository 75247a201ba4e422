//! Fibonacci numbers by the defining recursion: the smallest task there is.
//! `fib [N] [GRAIN]`; below GRAIN the recursion is serial.

use std::hint::black_box;
use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::numbers::chain;

fn main() -> ExitCode {
    let arguments = Arguments::parse("fib [N=32] [GRAIN=2] [ROUNDS=0]");
    let (n, grain) = (arguments.number(0, 32).min(90), arguments.number(1, 2));
    let (grain, rounds) = (grain.max(2), arguments.number(2, 0));
    let found = timed(&arguments, || match rounds {
        0 => fib(n, grain),
        _ => working(n, grain, rounds),
    });
    finish(&format!("fib({n}) = {found}"), found == by_loop(n))
}

fn fib(n: usize, grain: usize) -> u64 {
    if n < grain {
        return serial(n);
    }
    // The first side of a join runs here, the second can be stolen: it is the task of tp.h.
    let (b, a) = rayon::join(|| fib(n - 2, grain), || fib(n - 1, grain));
    a + b
}

/// Does work before each call that is not needed.
fn working(n: usize, grain: usize, rounds: usize) -> u64 {
    black_box(chain(n as u64, rounds));
    if n < grain {
        return serial(n);
    }
    let (b, a) = rayon::join(
        || working(n - 2, grain, rounds),
        || working(n - 1, grain, rounds),
    );
    a + b
}

fn serial(n: usize) -> u64 {
    if n < 2 {
        n as u64
    } else {
        serial(n - 1) + serial(n - 2)
    }
}

fn by_loop(n: usize) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}
