//! Matrix product by divide and conquer: the output is cut in quarters, the inner dimension in
//! halves, one after the other. `matmul [N] [GRAIN]`; blocks of GRAIN rows and columns are
//! multiplied serially.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::loops::pfor_mut;
use workspan_bench::numbers::{checksum, mixed_float};

/// A block of a row-major matrix that is only read.
#[derive(Clone, Copy)]
struct Block<'a> {
    rows: &'a [Vec<f64>],
    column: usize,
    columns: usize,
}

impl<'a> Block<'a> {
    fn of(rows: &'a [Vec<f64>]) -> Self {
        Self {
            rows,
            column: 0,
            columns: rows.first().map_or(0, Vec::len),
        }
    }
    fn split_rows(self, at: usize) -> (Self, Self) {
        let (top, bottom) = self.rows.split_at(at);
        (
            Self { rows: top, ..self },
            Self {
                rows: bottom,
                ..self
            },
        )
    }
    fn split_columns(self, at: usize) -> (Self, Self) {
        let right = Self {
            column: self.column + at,
            columns: self.columns - at,
            ..self
        };
        (
            Self {
                columns: at,
                ..self
            },
            right,
        )
    }
    fn row(self, i: usize) -> &'a [f64] {
        &self.rows[i][self.column..self.column + self.columns]
    }
}

/// The rows of a block that is written: a slice of each of its matrix rows.
type Output<'a> = Vec<&'a mut [f64]>;

fn main() -> ExitCode {
    let arguments = Arguments::parse("matmul [N=512] [GRAIN=64]");
    let (n, grain) = (
        arguments.number(0, 512).max(1),
        arguments.number(1, 64).max(1),
    );
    let filled = |seed: u64| -> Vec<Vec<f64>> {
        let row = |i: usize| {
            (0..n)
                .map(|j| mixed_float(seed + (i * n + j) as u64))
                .collect()
        };
        let mut rows = vec![Vec::new(); n];
        pfor_mut(&mut rows, 1, 0, 16, &|first, part| {
            for (i, filled) in (first..).zip(part) {
                *filled = row(i);
            }
        });
        rows
    };
    let (a, b) = (filled(0), filled((n * n) as u64));
    let mut c = vec![vec![0.0; n]; n];
    let rows = c.iter_mut().map(Vec::as_mut_slice).collect();
    timed(&arguments, || {
        multiply(Block::of(&a), Block::of(&b), rows, grain)
    });
    let sum = checksum(c.iter().flatten());
    finish(
        &format!("multiplied {n} x {n}, checksum {sum:016x}"),
        agrees(&a, &b, &c),
    )
}

/// Freivalds' check: C·x = A·(B·x) for a vector x of -1 … 1.
fn agrees(a: &[Vec<f64>], b: &[Vec<f64>], c: &[Vec<f64>]) -> bool {
    let times = |m: &[Vec<f64>], x: &[f64]| -> Vec<f64> {
        m.iter()
            .map(|row| row.iter().zip(x).map(|(m, x)| m * x).sum())
            .collect()
    };
    let x: Vec<f64> = (0..a.len()).map(|i| mixed_float(!(i as u64))).collect();
    let (expected, found) = (times(a, &times(b, &x)), times(c, &x));
    expected
        .iter()
        .zip(&found)
        .all(|(e, f)| (e - f).abs() <= 1e-7 * a.len() as f64)
}

fn multiply(a: Block, b: Block, mut c: Output, grain: usize) {
    let (rows, inner, columns) = (a.rows.len(), a.columns, b.columns);
    if rows <= grain && columns <= grain {
        if inner > grain {
            let half = inner / 2;
            let ((a1, a2), (b1, b2)) = (a.split_columns(half), b.split_rows(half));
            multiply(a1, b1, c.iter_mut().map(|row| &mut **row).collect(), grain);
            multiply(a2, b2, c, grain);
        } else {
            multiply_serial(a, b, &mut c);
        }
    } else if rows >= columns {
        let half = rows / 2;
        let (top, bottom) = a.split_rows(half);
        let below = c.split_off(half);
        // The second side can be stolen: it is the task of tp.h.
        rayon::join(
            || multiply(bottom, b, below, grain),
            || multiply(top, b, c, grain),
        );
    } else {
        let half = columns / 2;
        let (left, right) = b.split_columns(half);
        let (c1, c2): (Output, Output) = c.into_iter().map(|row| row.split_at_mut(half)).unzip();
        rayon::join(
            || multiply(a, right, c2, grain),
            || multiply(a, left, c1, grain),
        );
    }
}

fn multiply_serial(a: Block, b: Block, c: &mut [&mut [f64]]) {
    for (i, out) in c.iter_mut().enumerate() {
        for (k, &x) in a.row(i).iter().enumerate() {
            for (out, &y) in out.iter_mut().zip(b.row(k)) {
                *out += x * y;
            }
        }
    }
}
