//! Two parallel functions: one divides its work, the other has a serial part.

use rayon::prelude::*;

/// The sum of squares below `n`, divided among all workers.
pub fn squares(n: usize) -> usize {
    let numbers = (0..n).into_par_iter().with_min_len(4096);
    numbers.map(|i| i.wrapping_mul(i)).sum()
}

/// The sum of squares of other numbers, after a serial pass over all of them.
pub fn squares_after_a_serial_pass(n: usize) -> usize {
    let numbers: Vec<usize> = (0..n).map(|i| i ^ (i >> 3)).collect();
    let numbers = numbers.par_iter().with_min_len(4096);
    numbers.map(|i| i.wrapping_mul(*i)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided() {
        assert_eq!(squares(100_000), 333_328_333_350_000);
    }

    #[test]
    fn serial_first() {
        assert_ne!(squares_after_a_serial_pass(100_000), 0);
    }
}
