//! Makes a table, then looks at each of its rows.

use agent_faults::burn;
use rayon::prelude::*;

fn make_table(rows: u64) -> Vec<u64> {
    (0..rows).into_par_iter().map(|row| burn(2_000, row)).collect()
}

fn main() {
    let table = make_table(60_000);
    let sum: u64 = table.par_iter().map(|&row| burn(1_000, row)).reduce(|| 0, u64::wrapping_add);
    println!("{sum}");
}
