//! Input that is the same on every machine and can be made in parallel: number `i` depends on `i`
//! only.

use std::ops::{Add, Mul, Sub};

/// The `i`-th pseudo-random number of a stream: a Weyl sequence put through two rounds of multiply
/// and xor-shift.
pub fn mixed(i: u64) -> u64 {
    let mut x = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ (x >> 29)).wrapping_mul(0xa076_1d64_78bd_642f);
    x ^ (x >> 32)
}

/// The `i`-th number as a float in -1 … 1.
pub fn mixed_float(i: u64) -> f64 {
    (mixed(i) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A chain of `rounds` numbers in which each needs the one before: work that no compiler shortens.
pub fn chain(seed: u64, rounds: usize) -> u64 {
    (0..rounds).fold(seed, |x, _| mixed(x))
}

/// All bits of all numbers: equal only for equal numbers.
pub fn checksum<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> u64 {
    (0..).zip(numbers).fold(0, |sum, (i, number)| {
        sum.wrapping_add(mixed(number.to_bits().wrapping_add(i)))
    })
}

/// A complex number.
#[derive(Clone, Copy, Default)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// The square of its absolute value.
    #[inline]
    pub fn energy(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

impl Add for Complex {
    type Output = Self;
    #[inline]
    fn add(self, b: Self) -> Self {
        Self {
            re: self.re + b.re,
            im: self.im + b.im,
        }
    }
}

impl Sub for Complex {
    type Output = Self;
    #[inline]
    fn sub(self, b: Self) -> Self {
        Self {
            re: self.re - b.re,
            im: self.im - b.im,
        }
    }
}

impl Mul for Complex {
    type Output = Self;
    #[inline]
    fn mul(self, b: Self) -> Self {
        Self {
            re: self.re * b.re - self.im * b.im,
            im: self.re * b.im + self.im * b.re,
        }
    }
}
