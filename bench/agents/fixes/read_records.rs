//! Reads records and handles each in a task.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    (0..6_000u64).into_par_iter().for_each(|number| {
        let record = burn(20_000, number);
        std::hint::black_box(burn(20_000, record));
    });
}
