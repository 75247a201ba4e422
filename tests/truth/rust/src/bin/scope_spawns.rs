//! A scope whose body works before, between and after its spawns.
use truth_programs::{spin, truth};

fn main() {
    rayon::scope(|s| {
        spin(4_000);
        for _ in 0..10 {
            s.spawn(|_| spin(4_000));
        }
        spin(2_000);
        for _ in 0..10 {
            s.spawn(|_| spin(3_000));
        }
        spin(5_000);
    });
    spin(3_000);
    // 4 + 2 ms, then the body's 5 ms, during which tasks of 3 ms run, then 3 ms.
    truth("work_us=84000 span_us=14000 tasks=20");
}
