//! Work of a known length for the programs.

/// Does `steps` steps of arithmetic that the compiler cannot shorten.
#[inline(never)]
pub fn burn(steps: u64, seed: u64) -> u64 {
    let mut x = seed | 1;
    for _ in 0..steps {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        x ^= x >> 29;
    }
    x
}
