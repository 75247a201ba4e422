//! Tasks that let other tasks run in the middle of their work.
use truth_programs::{spin, truth};

fn main() {
    rayon::scope(|s| {
        for _ in 0..16 {
            s.spawn(|_| {
                spin(2_500);
                rayon::yield_now();
                spin(2_500);
            });
        }
    });
    truth("work_us=80000 span_us=5000 tasks=16");
}
