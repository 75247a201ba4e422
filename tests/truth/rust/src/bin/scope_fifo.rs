//! A first-in-first-out scope, and a scope that begins on the calling thread.
use truth_programs::{spin, truth};

fn main() {
    rayon::scope_fifo(|s| {
        for _ in 0..12 {
            s.spawn_fifo(|_| spin(3_000));
        }
    });
    rayon::in_place_scope(|s| {
        for _ in 0..12 {
            s.spawn(|_| spin(3_000));
        }
        spin(6_000);
    });
    truth("work_us=78000 span_us=9000 tasks=24");
}
