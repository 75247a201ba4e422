//! Fibonacci numbers by the defining recursion: the smallest task there is.
//! `fib [N] [GRAIN]`; below GRAIN the recursion is serial.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};

fn main() -> ExitCode {
    let arguments = Arguments::parse("fib [N=32] [GRAIN=2]");
    let (n, grain) = (arguments.number(0, 32).min(90), arguments.number(1, 2));
    let found = timed(&arguments, || fib(n, grain.max(2)));
    finish(&format!("fib({n}) = {found}"), found == by_loop(n))
}

fn fib(n: usize, grain: usize) -> u64 {
    if n < grain {
        return serial(n);
    }
    let (a, b) = rayon::join(|| fib(n - 1, grain), || fib(n - 2, grain));
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
