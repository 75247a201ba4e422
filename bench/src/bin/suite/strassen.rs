//! `strassen N DEPTH SIZE --additions serial|parallel`: matrix product by Strassen's seven
//! products, each a task; down to depth DEPTH or size SIZE. A node does its additions in one serial
//! loop before and one after, or halves them over its rows.

use workspan_bench::numbers::mixed_float;

use crate::program::{Arguments, Outcome, Program, near, outcome, pfor_slices, unit};

/// A quadrant of a matrix with rows of `width`.
#[derive(Clone, Copy)]
struct View<'a> {
    from: &'a [f64],
    width: usize,
}

impl<'a> View<'a> {
    fn quadrants(self, half: usize) -> [Self; 4] {
        let quadrant = |i: usize, j: usize| Self {
            from: &self.from[i * half * self.width + j * half..],
            width: self.width,
        };
        [
            quadrant(0, 0),
            quadrant(0, 1),
            quadrant(1, 0),
            quadrant(1, 1),
        ]
    }

    fn row(self, i: usize, n: usize) -> &'a [f64] {
        &self.from[i * self.width..i * self.width + n]
    }
}

/// Number of rows that a task adds with `--additions parallel`.
const ADDITION_GRAIN: usize = 16;

struct Product {
    depth: usize,
    smallest: usize,
    parallel_additions: bool,
}

fn serial(a: View, b: View, out: &mut [f64], n: usize) {
    out.fill(0.0);
    for (i, out) in out.chunks_exact_mut(n).enumerate() {
        for (k, x) in a.row(i, n).iter().enumerate() {
            for (out, b) in out.iter_mut().zip(b.row(k, n)) {
                *out += x * b;
            }
        }
    }
}

impl Product {
    /// Rows that are halved into tasks, or all of them here.
    fn addition_grain(&self) -> usize {
        if self.parallel_additions {
            ADDITION_GRAIN
        } else {
            usize::MAX
        }
    }

    fn run(&self, a: View, b: View, out: &mut [f64], n: usize, level: usize) {
        if level >= self.depth || n <= self.smallest || !n.is_multiple_of(2) {
            return serial(a, b, out, n);
        }
        let h = n / 2;
        let [a11, a12, a21, a22] = a.quadrants(h);
        let [b11, b12, b21, b22] = b.quadrants(h);
        let mut sums = vec![vec![0.0; h * h]; 10];
        let mut products = vec![vec![0.0; h * h]; 7];
        let add = |first: usize, sums: &mut [&mut [f64]]| {
            for row in 0..sums[0].len() / h {
                let [a11, a12, a21, a22] = [a11, a12, a21, a22].map(|a| a.row(first + row, h));
                let [b11, b12, b21, b22] = [b11, b12, b21, b22].map(|b| b.row(first + row, h));
                for j in 0..h {
                    let k = row * h + j;
                    sums[0][k] = a11[j] + a22[j];
                    sums[1][k] = b11[j] + b22[j];
                    sums[2][k] = a21[j] + a22[j];
                    sums[3][k] = b12[j] - b22[j];
                    sums[4][k] = b21[j] - b11[j];
                    sums[5][k] = a11[j] + a12[j];
                    sums[6][k] = a21[j] - a11[j];
                    sums[7][k] = b11[j] + b12[j];
                    sums[8][k] = a12[j] - a22[j];
                    sums[9][k] = b21[j] + b22[j];
                }
            }
        };
        let all = sums.iter_mut().map(Vec::as_mut_slice).collect();
        pfor_slices(all, h, 0, self.addition_grain(), &add);
        let sum = |k: usize| View {
            from: &sums[k],
            width: h,
        };
        let factors = [
            (sum(0), sum(1)),
            (sum(2), b11),
            (a11, sum(3)),
            (a22, sum(4)),
            (sum(5), b22),
            (sum(6), sum(7)),
            (sum(8), sum(9)),
        ];
        rayon::scope(|scope| {
            for ((left, right), to) in factors.into_iter().zip(&mut products) {
                scope.spawn(move |_| self.run(left, right, to, h, level + 1));
            }
        });
        let combine = |first: usize, halves: &mut [&mut [f64]]| {
            let [upper, lower] = halves else { return };
            let rows = upper.chunks_exact_mut(n).zip(lower.chunks_exact_mut(n));
            for (row, (upper, lower)) in (first..).zip(rows) {
                for j in 0..h {
                    let k = row * h + j;
                    let p = |i: usize| products[i][k];
                    upper[j] = p(0) + p(3) - p(4) + p(6);
                    upper[j + h] = p(2) + p(4);
                    lower[j] = p(1) + p(3);
                    lower[j + h] = p(0) - p(1) + p(2) + p(5);
                }
            }
        };
        let halves = out.chunks_exact_mut(h * n).collect();
        pfor_slices(halves, n, 0, self.addition_grain(), &combine);
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let n = arguments.number(0).max(1);
    let product = Product {
        depth: arguments.number(1),
        smallest: arguments.number(2),
        parallel_additions: arguments.option("additions", "serial") == "parallel",
    };
    let entries = 0..(n * n) as u64;
    let a: Vec<f64> = entries.clone().map(|i| mixed_float(2 * i)).collect();
    let b: Vec<f64> = entries.map(|i| mixed_float(2 * i + 1)).collect();
    let mut c = vec![0.0; n * n];
    let view = |from| View { from, width: n };
    arguments.timed(|| product.run(view(&a), view(&b), &mut c, n, 0));
    // A (B x) = C x.
    let times = |m: &[f64], x: &[f64]| -> Vec<f64> {
        m.chunks_exact(n)
            .map(|row| row.iter().zip(x).map(|(m, x)| m * x).sum())
            .collect()
    };
    let x: Vec<f64> = (0..n as u64).map(unit).collect();
    let (expected, found) = (times(&a, &times(&b, &x)), times(&c, &x));
    let correct = found.iter().zip(&expected).all(|(&f, &e)| near(f, e, 1e-7));
    outcome(
        correct,
        format!("multiplied {n} x {n}, last {:.4}", c[n * n - 1]),
    )
}

pub const PROGRAM: Program = Program {
    name: "strassen",
    usage: "[N] [DEPTH] [SIZE] [--additions serial|parallel]",
    test: [64, 7, 16, 0, 0],
    small: [1024, 7, 32, 0, 0],
    large: [4096, 7, 32, 0, 0],
    run,
};
