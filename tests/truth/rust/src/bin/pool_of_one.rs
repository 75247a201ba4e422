//! A pool of one thread beside the global one: the program's parallelism is what it would be on
//! more.
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
