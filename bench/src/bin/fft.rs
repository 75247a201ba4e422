//! Fourier transform of 2^LOG2 numbers by halves, the even ones and the odd ones.
//! `fft [LOG2] [GRAIN]`; parts of GRAIN numbers and fewer are transformed serially.

use std::f64::consts::PI;
use std::process::ExitCode;

use workspan_bench::command::{Arguments, finish, timed};
use workspan_bench::loops::pfor_slices;
use workspan_bench::numbers::{Complex, mixed_float};

struct Transform {
    grain: usize,
    /// Roots of 1, half of the circle.
    roots: Vec<Complex>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse("fft [LOG2=20] [GRAIN=4096]");
    let n = 1usize << arguments.number(0, 20).clamp(1, 28);
    let circle = -2.0 * PI / n as f64;
    let root = |k: usize| Complex {
        re: (circle * k as f64).cos(),
        im: (circle * k as f64).sin(),
    };
    let transform = Transform {
        grain: arguments.number(1, 4096).max(2),
        roots: (0..=n / 2).map(root).collect(),
    };
    let number = |i: u64| Complex {
        re: mixed_float(2 * i),
        im: mixed_float(2 * i + 1),
    };
    let input: Vec<Complex> = (0..n as u64).map(number).collect();
    let mut out = vec![Complex::default(); n];
    timed(&arguments, || transform.run(&input, 1, &mut out));
    // Parseval: the transform has n times the energy, and its mean is the first number.
    let size = n as f64;
    let energy: f64 = input.iter().map(|c| c.energy()).sum();
    let transformed: f64 = out.iter().map(|c| c.energy()).sum();
    let mean = out.iter().fold(Complex::default(), |sum, &c| sum + c);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    finish(
        &format!(
            "transformed {n} numbers, energy {:.3}, at 1: {:.6} {:.6}",
            transformed / size,
            out[1].re,
            out[1].im
        ),
        near(transformed / size / energy, 1.0)
            && near(mean.re / size, input[0].re)
            && near(mean.im / size, input[0].im),
    )
}

impl Transform {
    /// Transforms the numbers at 0, `step`, 2 · `step` … of `input`.
    fn run(&self, input: &[Complex], step: usize, out: &mut [Complex]) {
        if out.len() == 1 {
            out[0] = input[0];
            return;
        }
        let (even, odd) = out.split_at_mut(out.len() / 2);
        if even.len() + odd.len() <= self.grain {
            self.run(input, 2 * step, even);
            self.run(&input[step..], 2 * step, odd);
            self.combine(even, odd, 0, step);
            return;
        }
        // The second side can be stolen: it is the task of tp.h.
        rayon::join(
            || self.run(&input[step..], 2 * step, odd),
            || self.run(input, 2 * step, even),
        );
        let combine = |first: usize, halves: &mut [&mut [Complex]]| {
            if let [even, odd] = halves {
                self.combine(even, odd, first, step);
            }
        };
        pfor_slices(vec![even, odd], 1, 0, self.grain, &combine);
    }

    /// A range of both halves that begins at index `first` of each.
    fn combine(&self, even: &mut [Complex], odd: &mut [Complex], first: usize, step: usize) {
        for (k, (even, odd)) in (first..).zip(even.iter_mut().zip(odd)) {
            let (low, high) = (*even, self.roots[k * step] * *odd);
            *even = low + high;
            *odd = low - high;
        }
    }
}
