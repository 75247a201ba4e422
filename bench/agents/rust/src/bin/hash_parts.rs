//! Hashes two parts of a file, beside a pool.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let sum = |n: u64| (0..n).into_par_iter().map(|i| burn(1_000, i)).reduce(|| 0, u64::wrapping_add);
    let before = sum(64);
    let hash = std::thread::spawn(|| burn(240_000_000, 1));
    let hash = hash.join().unwrap();
    std::hint::black_box(before ^ hash ^ sum(64));
}
