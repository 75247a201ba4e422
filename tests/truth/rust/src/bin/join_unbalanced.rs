//! A tree with a leaf on one side and all other nodes on the other, and work before each join.
use truth_programs::{spin, truth};

fn chain(left: u32) {
    spin(1_000);
    if left > 0 {
        rayon::join(|| chain(left - 1), || spin(4_000));
    }
}

fn main() {
    chain(20);
    // The span has 21 nodes of 1 ms; the last leaf begins after 20 of them.
    truth("work_us=101000 span_us=24000 tasks=40");
}
