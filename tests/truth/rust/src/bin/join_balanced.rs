//! A balanced tree of joins: 32 leaves of 3 ms.
use truth_programs::{spin, truth};

fn tree(depth: u32) {
    if depth == 0 {
        spin(3_000);
    } else {
        rayon::join(|| tree(depth - 1), || tree(depth - 1));
    }
}

fn main() {
    tree(5);
    // 31 joins of two tasks.
    truth("work_us=96000 span_us=3000 tasks=62");
}
