//! Adds to a total that all tasks share.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let each = (0..400u32).into_par_iter().with_max_len(1).map(|i| burn(600_000, i.into()));
    println!("{}", each.reduce(|| 0, u64::wrapping_add));
}
