//! Asks servers and works on what they answer.

use std::time::Duration;

use agent_faults::burn;
use rayon::prelude::*;

fn ask(server: u64) -> u64 {
    std::thread::sleep(Duration::from_millis(10));
    server
}

fn main() {
    let sum: u64 = (0..60u32)
        .into_par_iter()
        .with_max_len(1)
        .map(|server| burn(500_000, ask(server.into())))
        .reduce(|| 0, u64::wrapping_add);
    println!("{sum}");
}
