//! The main thread ends while detached tasks are still running. Only the work of main itself is
//! known.
use truth_programs::{spin, truth};

fn main() {
    for _ in 0..4 {
        rayon::spawn(|| spin(400_000));
    }
    rayon::scope(|s| s.spawn(|_| spin(1_000)));
    spin(30_000);
    truth("work_min_us=30000 span_min_us=30000");
}
