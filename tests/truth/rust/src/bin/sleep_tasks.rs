//! Tasks that sleep for 10 ms between two halves of their work.
use std::time::Duration;
use truth_programs::{spin, truth};

fn main() {
    rayon::scope(|s| {
        for _ in 0..16 {
            s.spawn(|_| {
                spin(2_500);
                std::thread::sleep(Duration::from_millis(10));
                spin(2_500);
            });
        }
    });
    truth("work_us=80000 span_us=5000 tasks=16 blocked_us=160000");
}
