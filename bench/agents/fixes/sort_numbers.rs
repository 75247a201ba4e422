//! Sorts numbers by halves.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let mut v: Vec<u64> = (0..6_000_000u64).into_par_iter().map(|i| burn(1, i)).collect();
    v.par_sort();
    assert!(v.is_sorted());
}
