//! Counts the placements of N queens that do not attack each other: an irregular tree of scoped
//! tasks. `nqueens [N] [GRAIN]`; from row GRAIN on a task counts serially.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use workspan_bench::command::{Arguments, finish, timed};

/// Solutions for 0 … 16 queens.
const SOLUTIONS: [u64; 17] = [
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365_596, 2_279_184, 14_772_512,
];

/// The rows up to now: attacked columns and diagonals as bits of the next row.
#[derive(Clone, Copy, Default)]
struct Board {
    columns: u32,
    left: u32,
    right: u32,
}

impl Board {
    fn with(self, queen: u32) -> Self {
        Self {
            columns: self.columns | queen,
            left: (self.left | queen) << 1,
            right: (self.right | queen) >> 1,
        }
    }

    fn free(self, n: usize) -> u32 {
        !(self.columns | self.left | self.right) & ((1u32 << n) - 1)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse("nqueens [N=12] [GRAIN=4]");
    let (n, grain) = (arguments.number(0, 12).clamp(1, 16), arguments.number(1, 4));
    let found = AtomicU64::new(0);
    timed(&arguments, || {
        rayon::scope(|scope| place(scope, Board::default(), n, 0, grain, &found))
    });
    let found = found.into_inner();
    finish(&format!("nqueens({n}) = {found}"), found == SOLUTIONS[n])
}

fn place<'s>(
    scope: &rayon::Scope<'s>,
    board: Board,
    n: usize,
    row: usize,
    grain: usize,
    found: &'s AtomicU64,
) {
    if row >= grain.min(n) {
        found.fetch_add(count(board, n, row), Ordering::Relaxed);
        return;
    }
    let mut free = board.free(n);
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        scope.spawn(move |scope| place(scope, board.with(queen), n, row + 1, grain, found));
    }
}

fn count(board: Board, n: usize, row: usize) -> u64 {
    if row == n {
        return 1;
    }
    let (mut free, mut found) = (board.free(n), 0);
    while free != 0 {
        let queen = free & free.wrapping_neg();
        free ^= queen;
        found += count(board.with(queen), n, row + 1);
    }
    found
}
