//! Ten pools, each created, used and dropped: threads begin and end throughout the run.
use truth_programs::{spin, threads, truth};

fn main() {
    for _ in 0..10 {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads().min(4) as usize)
            .build()
            .expect("a pool");
        pool.install(|| rayon::join(|| spin(4_000), || spin(4_000)));
    }
    truth("work_us=80000 span_us=40000 tasks=20");
}
