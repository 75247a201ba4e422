//! The main thread works alone for a long time while the pool has nothing to do. It ends before the
//! pool does.
use truth_programs::{spin, truth};

fn main() {
    rayon::join(|| spin(20_000), || spin(20_000));
    spin(40_000);
    rayon::join(|| spin(10_000), || spin(10_000));
    truth("work_us=100000 span_us=70000 tasks=4");
}
