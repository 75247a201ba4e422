//! `fft LOG2 LEAF`: Fourier transform of 2^LOG2 complex numbers. A table of coefficients; then at
//! each level of radix 16: unshuffle (halved down to LEAF), wait; a loop of 16 child transforms,
//! wait; twiddle (halved), wait. 32 numbers and fewer serially.

use std::f64::consts::PI;

use workspan_bench::numbers::{Complex, mixed_float};

use crate::program::{Arguments, Outcome, Program, outcome, pfor_mut, pfor_slices};

/// Maximum number of numbers that are transformed serially.
const BASE: usize = 32;
const RADIX: usize = 16;

struct Transform {
    size: usize,
    leaf: usize,
    /// Roots of 1.
    roots: Vec<Complex>,
}

impl Transform {
    fn make_roots(&mut self) {
        let circle = -2.0 * PI / self.size as f64;
        pfor_mut(&mut self.roots, 1, 0, self.leaf, &|first, roots| {
            for (k, root) in (first..).zip(roots) {
                let angle = circle * k as f64;
                *root = Complex {
                    re: angle.cos(),
                    im: angle.sin(),
                };
            }
        });
    }

    /// BASE numbers or fewer, in place.
    fn serial(&self, x: &mut [Complex]) {
        let n = x.len();
        let mut j = 0;
        for i in 1..n {
            let mut bit = n >> 1;
            while j & bit != 0 {
                j ^= bit;
                bit >>= 1;
            }
            j ^= bit;
            if i < j {
                x.swap(i, j);
            }
        }
        let mut length = 2;
        while length <= n {
            for piece in x.chunks_exact_mut(length) {
                let (even, odd) = piece.split_at_mut(length / 2);
                for (k, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
                    let turned = self.roots[k * (self.size / length)] * *odd;
                    *odd = *even - turned;
                    *even = *even + turned;
                }
            }
            length *= 2;
        }
    }

    /// Into `out`; `input` is used as scratch.
    fn run(&self, input: &mut [Complex], out: &mut [Complex]) {
        let n = out.len();
        if n <= BASE {
            out.copy_from_slice(input);
            return self.serial(out);
        }
        let radix = if n / RADIX >= BASE { RADIX } else { n / BASE };
        let m = n / radix;
        let given = &*input;
        let columns = out.chunks_mut(m).collect();
        pfor_slices(columns, 1, 0, self.leaf, &|first, columns| {
            for i in 0..columns[0].len() {
                for (j, column) in columns.iter_mut().enumerate() {
                    column[i] = given[(first + i) * radix + j];
                }
            }
        });
        rayon::scope(|scope| {
            for (from, to) in out.chunks_mut(m).zip(input.chunks_mut(m)) {
                scope.spawn(move |_| self.run(from, to));
            }
        });
        let columns = out.chunks_mut(m).collect();
        pfor_slices(columns, 1, 0, self.leaf, &|first, columns| {
            self.twiddle(input, n, first, columns);
        });
    }

    fn twiddle(&self, input: &[Complex], n: usize, first: usize, columns: &mut [&mut [Complex]]) {
        let (radix, step) = (columns.len(), self.size / n);
        let m = n / radix;
        let mut t = [Complex::default(); RADIX];
        for k in 0..columns[0].len() {
            let i = first + k;
            for (j, t) in t[..radix].iter_mut().enumerate() {
                *t = self.roots[i * j * step] * input[j * m + i];
            }
            self.serial(&mut t[..radix]);
            for (column, &t) in columns.iter_mut().zip(&t) {
                column[k] = t;
            }
        }
    }
}

fn run(arguments: &Arguments) -> Outcome {
    let n = 1usize << arguments.number(0).min(28);
    let mut transform = Transform {
        size: n,
        leaf: arguments.number(1),
        roots: vec![Complex::default(); n],
    };
    let number = |i: u64| Complex {
        re: mixed_float(2 * i),
        im: mixed_float(2 * i + 1),
    };
    let given: Vec<Complex> = (0..n as u64).map(number).collect();
    let (mut input, mut out) = (given.clone(), vec![Complex::default(); n]);
    arguments.timed(|| {
        transform.make_roots();
        transform.run(&mut input, &mut out);
    });
    let second = out[usize::from(n > 1)];
    let mut correct = true;
    if arguments.check() {
        // Back again: the transform of the conjugate.
        out.iter_mut().for_each(|c| c.im = -c.im);
        let mut back = input;
        arguments.timed(|| transform.run(&mut out, &mut back));
        let size = n as f64;
        correct = back.iter().zip(&given).all(|(back, given)| {
            (back.re / size - given.re).abs() < 1e-9 && (back.im / size + given.im).abs() < 1e-9
        });
    }
    outcome(
        correct,
        format!(
            "transformed {n} numbers, at 1: {:.4} {:.4}",
            second.re, second.im
        ),
    )
}

pub const PROGRAM: Program = Program {
    name: "fft",
    usage: "[LOG2] [LEAF]",
    test: [11, 128, 0, 0, 0],
    small: [22, 128, 0, 0, 0],
    large: [24, 128, 0, 0, 0],
    run,
};
