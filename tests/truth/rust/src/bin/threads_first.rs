//! Threads that work alone before their first join, and one that never joins. All of their time
//! counts as the program's CPU time.
use truth_programs::{spin, truth};

fn main() {
    let first = std::thread::spawn(|| {
        spin(20_000);
        rayon::join(|| spin(10_000), || spin(10_000));
    });
    let never = std::thread::spawn(|| spin(30_000));
    first.join().expect("a thread that ends");
    never.join().expect("a thread that ends");
    spin(10_000);
    // The two threads are tasks as well.
    truth("work_us=80000 span_us=40000 tasks=4");
}
