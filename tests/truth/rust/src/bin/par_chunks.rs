//! Chunks of a slice, the later ones longer: chunk k takes k ms, for k of 1 to 12.
use rayon::prelude::*;
use truth_programs::{spin, truth};

fn main() {
    let data: Vec<u64> = (0..120).collect();
    let sums: Vec<u64> = data
        .par_chunks(10)
        .with_max_len(1)
        .map(|chunk| {
            spin((chunk[0] / 10 + 1) * 1_000);
            chunk.iter().sum()
        })
        .collect();
    println!("{}", sums.iter().sum::<u64>());
    truth("work_us=78000 span_us=12000 tasks=22");
}
