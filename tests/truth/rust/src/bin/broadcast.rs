//! The same closure on every thread of the pool, three times.
use truth_programs::{spin, threads, truth};

fn main() {
    for _ in 0..3 {
        rayon::broadcast(|_| spin(5_000));
    }
    let tasks = 3 * threads();
    truth(&format!(
        "work_us={} span_us=15000 tasks={tasks}",
        tasks * 5_000
    ));
}
