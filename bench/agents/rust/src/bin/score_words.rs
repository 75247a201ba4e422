//! Scores words in parallel and sums up what came out.

use agent_faults::burn;
use rayon::prelude::*;

fn sum_up(scores: &[u64]) -> u64 {
    let mut sum = 0u64;
    for &score in scores {
        sum = sum.wrapping_add(burn(1_500, score));
    }
    sum
}

fn main() {
    let scores: Vec<u64> = (0..60_000u64).into_par_iter().map(|word| burn(1_500, word)).collect();
    println!("{}", sum_up(&scores));
}
