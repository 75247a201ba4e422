//! Steps a world: all cells at once, then what they add up to.

use agent_faults::burn;
use rayon::prelude::*;

fn settle(step: u64) -> u64 {
    burn(8_000_000, step)
}

fn main() {
    let mut cells: Vec<u64> = (0..2_000).collect();
    for step in 0..20 {
        cells.par_iter_mut().for_each(|cell| *cell = burn(4_000, *cell));
        cells[0] ^= settle(step);
    }
    std::hint::black_box(cells);
}
