//! Adds to a total that all tasks share.

use std::sync::Mutex;

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let total = Mutex::new(0u64);
    (0..400u32).into_par_iter().with_max_len(1).for_each(|i| {
        let mut total = total.lock().unwrap();
        *total = total.wrapping_add(burn(600_000, i.into()));
    });
    println!("{}", total.lock().unwrap());
}
