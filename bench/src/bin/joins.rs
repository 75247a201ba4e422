//! The cost of a join: batches of uncut fib inside the pool. `joins [N] [BATCHES] [ROUNDS]` does
//! ROUNDS of work in every task, and prints the least and the median ns per join over the batches
//! and the process's peak memory in KiB, three numbers in one line. `joins --work ROUNDS` prints
//! the least ns that many rounds take.

use std::process::ExitCode;
use std::time::Instant;

use workspan_bench::command::Arguments;
use workspan_bench::numbers::mixed;

fn main() -> ExitCode {
    let arguments = Arguments::parse("joins [N=16] [BATCHES=200] [ROUNDS=0] [--work ROUNDS]");
    if let Ok(rounds) = arguments.option("work", "").parse() {
        println!("{:.2}", least_ns(rounds));
        return ExitCode::SUCCESS;
    }
    let (n, batches, rounds) = (
        arguments.number(0, 16).clamp(2, 40),
        arguments.number(1, 200).max(1),
        arguments.number(2, 0),
    );
    let count = joins(n) as f64;
    let mut times = Vec::with_capacity(batches);
    // Inside the pool: a join from outside costs a hand-over, which is not measured here.
    rayon::join(
        || {
            for _ in 0..batches {
                let started = Instant::now();
                std::hint::black_box(if rounds == 0 {
                    fib(std::hint::black_box(n))
                } else {
                    working_fib(std::hint::black_box(n), rounds)
                });
                times.push(started.elapsed().as_nanos() as f64 / count);
            }
        },
        || (),
    );
    times.sort_by(f64::total_cmp);
    let (least, median) = (times[0], times[times.len() / 2]);
    println!("{least:.2} {median:.2} {}", peak_kib().unwrap_or(0));
    ExitCode::SUCCESS
}

fn fib(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Fib with work in every task, before its join if it has one.
fn working_fib(n: usize, rounds: usize) -> u64 {
    let done = work(n as u64, rounds);
    if n < 2 {
        return done;
    }
    let (a, b) = rayon::join(|| working_fib(n - 1, rounds), || working_fib(n - 2, rounds));
    done ^ a.wrapping_add(b)
}

/// A chain in which every round needs the previous one.
fn work(seed: u64, rounds: usize) -> u64 {
    (0..rounds).fold(std::hint::black_box(seed), |x, _| mixed(x))
}

fn least_ns(rounds: usize) -> f64 {
    let once = |seed| {
        let started = Instant::now();
        std::hint::black_box(work(seed, rounds));
        started.elapsed().as_nanos() as f64
    };
    (0..500).map(once).fold(f64::INFINITY, f64::min)
}

/// Joins of an uncut fib: one for every call with n of at least 2. Counted without running, as
/// measurements of the whole process include it too.
fn joins(n: usize) -> u64 {
    let (mut below, mut here) = (0, 0);
    for _ in 2..=n {
        (below, here) = (here, 1 + below + here);
    }
    here
}

/// Peak memory of this process (`VmHWM`); `None` if the kernel does not provide it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
