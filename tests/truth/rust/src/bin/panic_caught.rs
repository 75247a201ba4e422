//! Joins, one side of which panics. The panic is caught outside; the other side runs to its end.
use std::panic;
use truth_programs::{spin, truth};

fn main() {
    panic::set_hook(Box::new(|_| ()));
    for left in [true, false] {
        let caught = panic::catch_unwind(|| {
            rayon::join(
                || {
                    spin(15_000);
                    assert!(!left, "the left side");
                },
                || {
                    spin(15_000);
                    assert!(left, "the right side");
                },
            )
        });
        println!("{}", caught.is_err());
    }
    rayon::join(|| spin(15_000), || spin(15_000));
    // Although the left side panics, the join waits for the right one.
    truth("work_us=90000 span_us=45000 tasks=6");
}
