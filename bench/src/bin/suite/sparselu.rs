//! `sparselu BLOCKS SIZE --loop flat|halved`: LU factorisation of a sparse matrix of BLOCKS x
//! BLOCKS blocks. A step: the diagonal block, serially; a loop of tasks for its row and its column,
//! wait; a loop of tasks for the rest, wait. One task creates all others, or with `--loop halved`
//! the loops are halved into tasks.

use workspan_bench::numbers::mixed_float;

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut};

/// Empty if the matrix has no such block.
type Block = Vec<f64>;

#[derive(Clone)]
struct Matrix {
    size: usize,
    rows: Vec<Vec<Block>>,
}

impl Matrix {
    fn generated(blocks: usize, size: usize) -> Self {
        let block = |i: usize, j: usize| -> Block {
            if is_empty(i, j) {
                return Block::new();
            }
            let number = |k: usize| {
                let heavy = i == j && k / size == k % size;
                let seed = (i * blocks + j) * size * size + k;
                mixed_float(seed as u64)
                    + if heavy {
                        4.0 * (blocks * size) as f64
                    } else {
                        0.0
                    }
            };
            (0..size * size).map(number).collect()
        };
        let row = |i| (0..blocks).map(|j| block(i, j)).collect();
        Self {
            size,
            rows: (0..blocks).map(row).collect(),
        }
    }

    fn number(&self, i: usize, j: usize) -> f64 {
        let block = &self.rows[i / self.size][j / self.size];
        let index = i % self.size * self.size + j % self.size;
        block.get(index).copied().unwrap_or(0.0)
    }

    fn filled(&self) -> usize {
        let blocks = self.rows.iter().flatten();
        blocks.filter(|block| !block.is_empty()).count()
    }
}

fn is_empty(i: usize, j: usize) -> bool {
    if i.abs_diff(j) <= 1 {
        return false;
    }
    !i.min(j).is_multiple_of(3) || i % 2 == 1 || j % 2 == 1
}

fn factor(b: &mut [f64], n: usize) {
    for k in 0..n {
        let (done, below) = b.split_at_mut((k + 1) * n);
        let pivot = &done[k * n..];
        for row in below.chunks_exact_mut(n) {
            row[k] /= pivot[k];
            let x = row[k];
            for (out, above) in row[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                *out -= x * above;
            }
        }
    }
}

/// b becomes inverse(L) * b.
fn forward(pivot: &[f64], b: &mut [f64], n: usize) {
    for i in 1..n {
        let (above, row) = b.split_at_mut(i * n);
        for (k, above) in above.chunks_exact(n).enumerate() {
            let x = pivot[i * n + k];
            for (out, above) in row[..n].iter_mut().zip(above) {
                *out -= x * above;
            }
        }
    }
}

/// b becomes b * inverse(U).
fn divide(pivot: &[f64], b: &mut [f64], n: usize) {
    for row in b.chunks_exact_mut(n) {
        for (j, pivot) in pivot.chunks_exact(n).enumerate() {
            row[j] /= pivot[j];
            let x = row[j];
            for (out, above) in row[j + 1..].iter_mut().zip(&pivot[j + 1..]) {
                *out -= x * above;
            }
        }
    }
}

/// b becomes b - left * above; an empty one is filled.
fn update(left: &[f64], above: &[f64], b: &mut Block, n: usize) {
    if left.is_empty() || above.is_empty() {
        return;
    }
    if b.is_empty() {
        b.resize(n * n, 0.0);
    }
    for (out, left) in b.chunks_exact_mut(n).zip(left.chunks_exact(n)) {
        for (x, above) in left.iter().zip(above.chunks_exact(n)) {
            for (out, above) in out.iter_mut().zip(above) {
                *out -= x * above;
            }
        }
    }
}

fn flat_step(pivot: &[f64], right: &mut [Block], below: &mut [Vec<Block>], k: usize, n: usize) {
    rayon::scope(|scope| {
        for block in right.iter_mut().filter(|block| !block.is_empty()) {
            scope.spawn(move |_| forward(pivot, block, n));
        }
        let column = below.iter_mut().map(|row| &mut row[k]);
        for block in column.filter(|block| !block.is_empty()) {
            scope.spawn(move |_| divide(pivot, block, n));
        }
    });
    rayon::scope(|scope| {
        for row in below {
            let (left, rest) = row.split_at_mut(k + 1);
            let left = &left[k];
            for (block, above) in rest.iter_mut().zip(&*right) {
                if !left.is_empty() && !above.is_empty() {
                    scope.spawn(move |_| update(left, above, block, n));
                }
            }
        }
    });
}

fn halved_step(pivot: &[f64], right: &mut [Block], below: &mut [Vec<Block>], k: usize, n: usize) {
    let rest = right.len();
    let column = below.iter_mut().map(|row| &mut row[k]);
    let mut solves: Vec<&mut Block> = right.iter_mut().chain(column).collect();
    pfor_mut(&mut solves, 1, 0, 1, &|first, blocks| {
        for (i, block) in (first..).zip(blocks) {
            match block.is_empty() {
                true => {}
                false if i < rest => forward(pivot, block, n),
                false => divide(pivot, block, n),
            }
        }
    });
    let mut updates: Vec<(&Block, &Block, &mut Block)> = Vec::with_capacity(rest * rest);
    for row in below {
        let (left, blocks) = row.split_at_mut(k + 1);
        let left = &left[k];
        updates.extend(
            blocks
                .iter_mut()
                .zip(&*right)
                .map(|(b, above)| (left, above, b)),
        );
    }
    pfor_mut(&mut updates, 1, 0, 1, &|_, updates| {
        for (left, above, block) in updates {
            update(left, above, block, n);
        }
    });
}

fn factorise(m: &mut Matrix, halved: bool) {
    let n = m.size;
    for k in 0..m.rows.len() {
        let (done, below) = m.rows.split_at_mut(k + 1);
        let (before, right) = done[k].split_at_mut(k + 1);
        let pivot = &mut before[k];
        factor(pivot, n);
        if halved {
            halved_step(pivot, right, below, k, n);
        } else {
            flat_step(pivot, right, below, k, n);
        }
    }
}

/// The largest |A x - L (U x)| for a vector x of -1 ... 1, relative.
fn residual(m: &Matrix, lu: &Matrix) -> f64 {
    let n = m.rows.len() * m.size;
    let x: Vec<f64> = (0..n as u64).map(|i| mixed_float(!i)).collect();
    let y: Vec<f64> = (0..n)
        .map(|i| (i..n).map(|j| lu.number(i, j) * x[j]).sum())
        .collect();
    (0..n)
        .map(|i| {
            let expected: f64 = (0..n).map(|j| m.number(i, j) * x[j]).sum();
            let found = y[i] + (0..i).map(|j| lu.number(i, j) * y[j]).sum::<f64>();
            (expected - found).abs() / (1.0 + expected.abs())
        })
        .fold(0.0, f64::max)
}

fn run(arguments: &Arguments) -> Outcome {
    let (blocks, size) = (arguments.number(0).max(1), arguments.number(1).max(1));
    let halved = arguments.option("loop", "flat") == "halved";
    let m = Matrix::generated(blocks, size);
    let mut lu = m.clone();
    arguments.timed(|| factorise(&mut lu, halved));
    let last = blocks * size - 1;
    outcome(
        !arguments.check() || residual(&m, &lu) < 1e-9,
        format!(
            "factorised {blocks} x {blocks} blocks, {} filled before, {} after, last {:.6}",
            m.filled(),
            lu.filled(),
            lu.number(last, last)
        ),
    )
}

pub const PROGRAM: Program = Program {
    name: "sparselu",
    usage: "[BLOCKS] [SIZE] [--loop flat|halved]",
    test: [10, 6, 0, 0, 0],
    small: [60, 32, 0, 0, 0],
    large: [120, 40, 0, 0, 0],
    run,
};
