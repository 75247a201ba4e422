//! The main thread sleeps between two parallel parts, while the pool has nothing to do.
use std::time::Duration;
use truth_programs::{spin, truth};

fn main() {
    rayon::join(|| spin(20_000), || spin(20_000));
    std::thread::sleep(Duration::from_millis(60));
    rayon::join(|| spin(20_000), || spin(20_000));
    spin(5_000);
    truth("work_us=85000 span_us=45000 tasks=4 blocked_us=60000");
}
