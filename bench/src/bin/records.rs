//! Reads N records of text into numbers and computes on each. With `--read serial` one strand reads
//! them all; with `--read parallel` GRAIN records are a task. `records [N] [GRAIN] [ROUNDS] [--read
//! serial|parallel]`; ROUNDS of arithmetic each.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::loops::{pfor_mut, pfor_reduce};
use workspan_bench::numbers::{chain, mixed};

const USAGE: &str = "records [N=1000000] [GRAIN=10000] [ROUNDS=20] [--read serial|parallel]";

/// Twenty digits and a line end.
const WIDTH: usize = 21;

fn main() -> ExitCode {
    let arguments = Arguments::parse(USAGE);
    let (n, grain, rounds) = (
        arguments.number(0, 1_000_000),
        arguments.number(1, 10_000).max(1),
        arguments.number(2, 20),
    );
    let parallel = match arguments.option("read", "serial") {
        "serial" => false,
        "parallel" => true,
        other => {
            eprintln!("--read is serial or parallel, not `{other}`\nusage: {USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut text = vec![b'\n'; n * WIDTH];
    pfor_mut(&mut text, WIDTH, 0, grain, &|first, lines| {
        write(lines, first);
    });
    let mut numbers = vec![0u64; n];
    let sum = timed(&arguments, || {
        if parallel {
            pfor_mut(&mut numbers, 1, 0, grain, &|first, numbers| {
                read(&text[first * WIDTH..], numbers);
            });
        } else {
            read(&text, &mut numbers);
        }
        compute(&numbers, grain, rounds)
    });
    let expected = (0..n.min(1 << 16)).all(|i| numbers[i] == mixed(i as u64));
    finish(&format!("read {n} records, sum {sum}"), expected)
}

/// Writes lines, the first of them number `first`.
fn write(lines: &mut [u8], first: usize) {
    for (i, line) in lines.chunks_exact_mut(WIDTH).enumerate() {
        let mut number = mixed((first + i) as u64);
        for digit in line[..WIDTH - 1].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
}

fn read(lines: &[u8], numbers: &mut [u64]) {
    for (line, number) in lines.chunks_exact(WIDTH).zip(numbers) {
        let digits = line[..WIDTH - 1].iter();
        *number = digits.fold(0u64, |n, d| {
            n.wrapping_mul(10).wrapping_add(u64::from(d - b'0'))
        });
    }
}

fn compute(numbers: &[u64], grain: usize, rounds: usize) -> u64 {
    let sum_of = |part: &[u64]| {
        let sum = |sum: u64, &n: &u64| sum.wrapping_add(chain(n, rounds));
        part.iter().fold(0, sum)
    };
    let part = |first: usize, last: usize| sum_of(&numbers[first..last]);
    pfor_reduce(0, numbers.len(), grain, &part, &u64::wrapping_add).unwrap_or(0)
}
