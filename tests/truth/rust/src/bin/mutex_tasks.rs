//! Tasks that do all of their work under one lock.
use std::sync::Mutex;
use truth_programs::{spin, truth};

fn main() {
    let sum = Mutex::new(0u64);
    rayon::scope(|s| {
        for i in 0..30 {
            let sum = &sum;
            s.spawn(move |_| {
                let mut sum = sum.lock().expect("no panic");
                spin(3_000);
                *sum += i;
            });
        }
    });
    println!("{}", sum.into_inner().expect("no panic"));
    // With the order of the lock, tasks that waited for each other are on the span too.
    truth("work_us=90000 span_us=3000 ordered_span_max_us=90000 tasks=30");
}
