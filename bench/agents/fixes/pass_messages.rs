//! Messages are received first and then worked on.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let messages: Vec<u64> = (0..60).collect();
    let sum: u64 = messages
        .into_par_iter()
        .with_max_len(1)
        .map(|message| burn(300_000, message))
        .reduce(|| 0, u64::wrapping_add);
    println!("{sum}");
}
