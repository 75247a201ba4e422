//! Walks a list: all nodes are tasks at once.

use agent_faults::burn;

fn main() {
    rayon::scope(|s| {
        for node in 0..=150 {
            s.spawn(move |_| {
                std::hint::black_box(burn(2_000_000, node));
            });
        }
    });
}
