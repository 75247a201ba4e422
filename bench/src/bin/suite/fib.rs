//! `fib N CUTOFF`: Fibonacci numbers by two recursive calls, the first of which is a task; from
//! depth CUTOFF on serial. A balanced binary tree of tiny tasks.

use crate::program::{Arguments, Outcome, Program, outcome};

fn serial(n: usize) -> u64 {
    if n < 2 {
        n as u64
    } else {
        serial(n - 1) + serial(n - 2)
    }
}

fn parallel(n: usize, depth: usize) -> u64 {
    if n < 2 || depth == 0 {
        return serial(n);
    }
    let (b, a) = rayon::join(|| parallel(n - 2, depth - 1), || parallel(n - 1, depth - 1));
    a + b
}

fn run(arguments: &Arguments) -> Outcome {
    let (n, cutoff) = (arguments.number(0).min(90), arguments.number(1));
    let found = arguments.timed(|| parallel(n, cutoff));
    let (expected, _) = (0..n).fold((0u64, 1u64), |(a, b), _| (b, a + b));
    outcome(found == expected, format!("fib({n}) = {found}"))
}

pub const PROGRAM: Program = Program {
    name: "fib",
    usage: "[N] [CUTOFF]",
    test: [20, 6, 0, 0, 0],
    small: [41, 12, 0, 0, 0],
    large: [47, 19, 0, 0, 0],
    run,
};
