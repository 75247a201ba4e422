//! A separate pool, entered from the main thread, which also works before and after.
use truth_programs::{spin, threads, truth};

fn tree(depth: u32) {
    if depth == 0 {
        spin(4_000);
    } else {
        rayon::join(|| tree(depth - 1), || tree(depth - 1));
    }
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads() as usize)
        .build()
        .expect("a pool");
    spin(10_000);
    pool.install(|| tree(4));
    spin(6_000);
    truth("work_us=80000 span_us=20000 tasks=30");
}
