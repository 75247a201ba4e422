//! Items taken one at a time from a serial iterator that does work for each of them.
use rayon::prelude::*;
use truth_programs::{spin, truth};

fn main() {
    let items = (0..40u64).inspect(|_| spin(500));
    let sum: u64 = items
        .par_bridge()
        .map(|i| {
            spin(2_000);
            i
        })
        .sum();
    println!("{sum}");
    truth("work_us=100000 span_min_us=2500");
}
