//! Three scoped threads, each with joins of its own; the main thread waits for them.
use truth_programs::{spin, truth};

fn main() {
    std::thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..3 {
                    rayon::join(|| spin(5_000), || spin(5_000));
                }
            });
        }
    });
    // Tasks: eighteen from the joins, and the three threads.
    truth("work_us=90000 span_us=15000 tasks=21");
}
