//! Sums blocks of a list.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let list: Vec<u64> = (0..90_000).collect();
    let sums: Vec<u64> = list
        .par_chunks(30_000)
        .map(|block| block.iter().fold(0, |sum, &x| sum ^ burn(3_000, x)))
        .collect();
    println!("{}", sums.iter().fold(0, |all, sum| all ^ sum));
}
