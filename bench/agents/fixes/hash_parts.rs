//! Hashes parts of a file in the pool.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let hash = (0..64u64).into_par_iter().map(|i| burn(3_750_000, i)).reduce(|| 0, u64::wrapping_add);
    std::hint::black_box(hash);
}
