//! Scores words in parallel and sums up what came out.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let scores = (0..60_000u64).into_par_iter().map(|word| burn(1_500, word));
    println!("{}", scores.map(|score| burn(1_500, score)).reduce(|| 0, u64::wrapping_add));
}
