//! Threads that start threads, and join them in a different order. Nothing else is parallel.
use std::thread;
use truth_programs::{spin, truth};

fn main() {
    spin(5_000);
    let outer = thread::spawn(|| {
        spin(5_000);
        let inner = thread::spawn(|| spin(20_000));
        spin(10_000);
        inner.join().expect("a thread that ends");
        spin(5_000);
    });
    let other = thread::spawn(|| spin(15_000));
    other.join().expect("a thread that ends");
    spin(5_000);
    outer.join().expect("a thread that ends");
    spin(5_000);
    // 5 + 5 + 20 + 5 + 5, through both threads.
    truth("work_us=70000 span_us=40000 tasks=3");
}
