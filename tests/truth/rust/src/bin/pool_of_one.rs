//! A pool of one thread in addition to the global one. The program's parallelism is the same as on
//! a larger pool.
use truth_programs::{spin, truth};

fn main() {
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool");
    one.install(|| {
        rayon::scope(|s| {
            for _ in 0..10 {
                s.spawn(|_| spin(4_000));
            }
        });
    });
    rayon::scope(|s| {
        for _ in 0..10 {
            s.spawn(|_| spin(4_000));
        }
    });
    truth("work_us=80000 span_us=8000 tasks=20");
}
