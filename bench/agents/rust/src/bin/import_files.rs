//! Imports files in a pool of its own.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let warm = (0..64u64).into_par_iter().map(|i| burn(1_000, i)).reduce(|| 0, u64::wrapping_add);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let sum = pool.install(|| {
        let files = (0..64u64).into_par_iter().map(|file| burn(4_000_000, file));
        files.reduce(|| 0, u64::wrapping_add)
    });
    println!("{}", sum ^ warm);
}
