//! Imports files.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let warm = (0..64u64).into_par_iter().map(|i| burn(1_000, i)).reduce(|| 0, u64::wrapping_add);
    let files = (0..64u64).into_par_iter().map(|file| burn(4_000_000, file));
    println!("{}", files.reduce(|| 0, u64::wrapping_add) ^ warm);
}
