//! Ten parallel parts of 4 + 4 ms with 1 ms of serial work between them: the pool sleeps and wakes.
use rayon::prelude::*;
use truth_programs::{spin, truth};

fn main() {
    for _ in 0..10 {
        (0..4usize)
            .into_par_iter()
            .with_max_len(1)
            .for_each(|_| spin(2_000));
        spin(1_000);
    }
    truth("work_us=90000 span_us=30000 tasks=60");
}
