//! Steps a world: all cells at once, then what they add up to.

use agent_faults::burn;
use rayon::prelude::*;

fn settle(step: u64) -> u64 {
    (0..100u64).into_par_iter().map(|part| burn(80_000, step ^ part)).reduce(|| 0, |a, b| a ^ b)
}

fn main() {
    let mut cells: Vec<u64> = (0..2_000).collect();
    for step in 0..20 {
        cells.par_iter_mut().for_each(|cell| *cell = burn(4_000, *cell));
        cells[0] ^= settle(step);
    }
    std::hint::black_box(cells);
}
