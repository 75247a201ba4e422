//! LU factorisation of a sparse matrix of blocks: each step factors the diagonal block, then solves
//! its row and column, then updates the rest; many blocks are empty, so the tasks are uneven.
//! `sparselu [BLOCKS] [GRAIN]`; a block is GRAIN rows and columns.

use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::loops::pfor_mut;
use workspan_bench::numbers::{checksum, mixed, mixed_float};

type Block = Option<Vec<f64>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse("sparselu [BLOCKS=20] [GRAIN=48]");
    let (blocks, size) = (
        arguments.number(0, 20).clamp(1, 400),
        arguments.number(1, 48).clamp(1, 512),
    );
    let mut all: Vec<Block> = vec![None; blocks * blocks];
    pfor_mut(&mut all, 1, 0, 8, &|first, part| {
        for (k, block) in (first..).zip(part) {
            *block = fill(k / blocks, k % blocks, size);
        }
    });
    let matrix: Vec<Vec<Block>> = all.chunks(blocks).map(<[Block]>::to_vec).collect();
    let mut factors = matrix.clone();
    timed(&arguments, || factorise(&mut factors, size));
    let filled = factors.iter().flatten().flatten().count();
    let sum = factors
        .iter()
        .flatten()
        .flatten()
        .fold(0u64, |sum, block| sum.wrapping_add(checksum(block)));
    finish(
        &format!("factorised {blocks} x {blocks} blocks, {filled} filled, checksum {sum:016x}"),
        agrees(&matrix, &factors, size),
    )
}

/// Every third block or so; the diagonal dominates, so that no pivoting is needed.
fn fill(i: usize, j: usize, size: usize) -> Block {
    let seed = (i * 1_000 + j) as u64;
    if i != j && !mixed(seed).is_multiple_of(3) {
        return None;
    }
    let at = |k: usize| mixed_float(seed * 1_000_000 + k as u64);
    let heavy = |k: usize| {
        if i == j && k / size == k % size {
            2_000.0
        } else {
            0.0
        }
    };
    Some((0..size * size).map(|k| at(k) + heavy(k)).collect())
}

fn factorise(matrix: &mut [Vec<Block>], size: usize) {
    for k in 0..matrix.len() {
        let (done, below) = matrix.split_at_mut(k + 1);
        let (before, row) = done[k].split_at_mut(k + 1);
        let Some(pivot) = &mut before[k] else {
            continue;
        };
        factor(pivot, size);
        let pivot: &[f64] = pivot;
        rayon::scope(|scope| {
            for block in row.iter_mut().flatten() {
                scope.spawn(|_| solve_row(pivot, block, size));
            }
            for block in below.iter_mut().filter_map(|row| row[k].as_mut()) {
                scope.spawn(|_| solve_column(pivot, block, size));
            }
        });
        let row: &[Block] = row;
        rayon::scope(|scope| {
            for line in below.iter_mut() {
                let (left, right) = line.split_at_mut(k + 1);
                let Some(left) = left[k].as_deref() else {
                    continue;
                };
                for (block, above) in right.iter_mut().zip(row) {
                    if let Some(above) = above {
                        scope.spawn(move |_| update(left, above, block, size));
                    }
                }
            }
        });
    }
}

/// The block's own L and U, in place.
fn factor(block: &mut [f64], n: usize) {
    for k in 0..n {
        let (upper, lower) = block.split_at_mut((k + 1) * n);
        let pivot = &upper[k * n..];
        for row in lower.chunks_exact_mut(n) {
            row[k] /= pivot[k];
            let x = row[k];
            for j in k + 1..n {
                row[j] -= x * pivot[j];
            }
        }
    }
}

/// L⁻¹ · block.
fn solve_row(pivot: &[f64], block: &mut [f64], n: usize) {
    for i in 1..n {
        let (done, rest) = block.split_at_mut(i * n);
        for (k, above) in done.chunks_exact(n).enumerate() {
            let x = pivot[i * n + k];
            for (out, y) in rest[..n].iter_mut().zip(above) {
                *out -= x * y;
            }
        }
    }
}

/// block · U⁻¹.
fn solve_column(pivot: &[f64], block: &mut [f64], n: usize) {
    for row in block.chunks_exact_mut(n) {
        for j in 0..n {
            row[j] /= pivot[j * n + j];
            let x = row[j];
            for k in j + 1..n {
                row[k] -= x * pivot[j * n + k];
            }
        }
    }
}

/// block − left · above; an empty block is filled.
fn update(left: &[f64], above: &[f64], block: &mut Block, n: usize) {
    let block = block.get_or_insert_with(|| vec![0.0; n * n]);
    for (out, row) in block.chunks_exact_mut(n).zip(left.chunks_exact(n)) {
        for (x, line) in row.iter().zip(above.chunks_exact(n)) {
            for (out, y) in out.iter_mut().zip(line) {
                *out -= x * y;
            }
        }
    }
}

/// A·x = L·(U·x) for a vector x of -1 … 1.
fn agrees(matrix: &[Vec<Block>], factors: &[Vec<Block>], size: usize) -> bool {
    let n = matrix.len() * size;
    let at = |m: &[Vec<Block>], i: usize, j: usize| {
        m[i / size][j / size]
            .as_ref()
            .map_or(0.0, |b| b[i % size * size + j % size])
    };
    let x: Vec<f64> = (0..n).map(|i| mixed_float(!(i as u64))).collect();
    let expected: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| at(matrix, i, j) * x[j]).sum())
        .collect();
    let upper: Vec<f64> = (0..n)
        .map(|i| (i..n).map(|j| at(factors, i, j) * x[j]).sum())
        .collect();
    let found: Vec<f64> = (0..n)
        .map(|i| upper[i] + (0..i).map(|j| at(factors, i, j) * upper[j]).sum::<f64>())
        .collect();
    expected
        .iter()
        .zip(&found)
        .all(|(e, f)| (e - f).abs() <= 1e-6 * (1.0 + e.abs()))
}
