//! Tasks that wait for messages of a slow sender.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let (give, take) = mpsc::channel::<u64>();
    let sender = std::thread::spawn(move || {
        for message in 0..60 {
            std::thread::sleep(Duration::from_millis(8));
            give.send(message).unwrap();
        }
    });
    let take = Mutex::new(take);
    let sum: u64 = (0..60u32)
        .into_par_iter()
        .with_max_len(1)
        .map(|_| {
            let message = take.lock().unwrap().recv().unwrap();
            burn(300_000, message)
        })
        .reduce(|| 0, u64::wrapping_add);
    sender.join().unwrap();
    println!("{sum}");
}
