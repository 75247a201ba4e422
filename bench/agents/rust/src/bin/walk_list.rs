//! Walks a list: each task begins the next one when it is done.

use agent_faults::burn;
use rayon::Scope;

fn visit<'s>(s: &Scope<'s>, node: u64) {
    std::hint::black_box(burn(2_000_000, node));
    if node < 150 {
        s.spawn(move |s| visit(s, node + 1));
    }
}

fn main() {
    rayon::scope(|s| visit(s, 0));
}
