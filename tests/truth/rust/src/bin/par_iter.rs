//! A parallel iterator that is split into single items: 48 items of 2 ms.
use rayon::prelude::*;
use truth_programs::{spin, truth};

fn main() {
    let sum: usize = (0..48usize)
        .into_par_iter()
        .with_max_len(1)
        .map(|i| {
            spin(2_000);
            i
        })
        .sum();
    println!("{sum}");
    truth("work_us=96000 span_us=2000 tasks=94");
}
