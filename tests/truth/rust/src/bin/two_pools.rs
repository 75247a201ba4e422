//! Two pools that two threads enter at the same time, and one after the other.
use rayon::{ThreadPool, ThreadPoolBuilder};
use truth_programs::{spin, threads, truth};

fn pool() -> ThreadPool {
    let size = threads() as usize;
    ThreadPoolBuilder::new()
        .num_threads(size)
        .build()
        .expect("a pool")
}

fn four() {
    rayon::join(
        || rayon::join(|| spin(5_000), || spin(5_000)),
        || rayon::join(|| spin(5_000), || spin(5_000)),
    );
}

fn main() {
    let (a, b) = (pool(), pool());
    a.install(four);
    b.install(four);
    std::thread::scope(|s| {
        s.spawn(|| a.install(four));
        s.spawn(|| b.install(four));
    });
    // Two calls in a row on the main thread, then one on each of the two threads, which are tasks
    // too.
    truth("work_us=80000 span_us=15000 tasks=26");
}
