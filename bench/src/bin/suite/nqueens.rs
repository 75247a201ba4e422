//! `nqueens N CUTOFF`: counts placements of N queens. A task for each column of a row, also for
//! those that are refused; waits at each node; from row CUTOFF on serial. An irregular tree.

use crate::program::{Arguments, Outcome, Program, outcome};

const MAX_QUEENS: usize = 16;
const SOLUTIONS: [u64; MAX_QUEENS + 1] = [
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365_596, 2_279_184, 14_772_512,
];

/// The column of the queen of each row.
#[derive(Clone, Copy, Default)]
struct Board {
    columns: [i8; MAX_QUEENS],
}

impl Board {
    fn accepts(&self, row: usize, queen: i8) -> bool {
        self.columns[..row].iter().enumerate().all(|(i, &other)| {
            let distance = (row - i) as i8;
            other != queen && other != queen - distance && other != queen + distance
        })
    }

    fn with(mut self, row: usize, queen: i8) -> Self {
        self.columns[row] = queen;
        self
    }
}

fn serial(board: Board, n: usize, row: usize) -> u64 {
    if row == n {
        return 1;
    }
    (0..n as i8)
        .filter(|&queen| board.accepts(row, queen))
        .map(|queen| serial(board.with(row, queen), n, row + 1))
        .sum()
}

fn parallel(board: Board, n: usize, row: usize, cutoff: usize) -> u64 {
    if row == n || row >= cutoff {
        return serial(board, n, row);
    }
    let mut found = [0; MAX_QUEENS];
    rayon::scope(|scope| {
        for (queen, out) in (0..n as i8).zip(&mut found) {
            scope.spawn(move |_| {
                if board.accepts(row, queen) {
                    *out = parallel(board.with(row, queen), n, row + 1, cutoff);
                }
            });
        }
    });
    found.iter().sum()
}

fn run(arguments: &Arguments) -> Outcome {
    let n = arguments.number(0).min(MAX_QUEENS);
    let found = arguments.timed(|| parallel(Board::default(), n, 0, arguments.number(1)));
    outcome(found == SOLUTIONS[n], format!("nqueens({n}) = {found}"))
}

pub const PROGRAM: Program = Program {
    name: "nqueens",
    usage: "[N] [CUTOFF]",
    test: [8, 3, 0, 0, 0],
    small: [13, 4, 0, 0, 0],
    large: [14, 7, 0, 0, 0],
    run,
};
