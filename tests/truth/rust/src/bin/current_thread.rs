//! The main thread is a worker of the pool.
use truth_programs::{spin, threads, truth};

fn tree(depth: u32) {
    spin(500);
    if depth > 0 {
        rayon::join(|| tree(depth - 1), || tree(depth - 1));
    }
}

fn main() {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads() as usize)
        .use_current_thread()
        .build_global()
        .expect("a pool");
    tree(6);
    spin(10_000);
    truth("work_us=73500 span_us=13500 tasks=126");
}
