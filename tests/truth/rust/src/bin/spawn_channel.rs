//! Detached tasks that send their results to the main thread, which waits for all of them and then
//! works alone.
use std::sync::mpsc;
use truth_programs::{spin, truth};

fn main() {
    let (send, receive) = mpsc::channel();
    for i in 0..20u64 {
        let send = send.clone();
        rayon::spawn(move || {
            spin(4_000);
            send.send(i).expect("main waits");
        });
    }
    drop(send);
    println!("{}", receive.iter().sum::<u64>());
    spin(10_000);
    // The last task, its message and main's own 10 ms; without the task if main arrived later.
    truth("work_us=90000 span_min_us=10000 span_max_us=14000 tasks=20");
}
