//! Renders the tiles of a picture; the later ones show more.

use agent_faults::burn;

fn main() {
    rayon::scope(|s| {
        for tile in 0..16u64 {
            let parts = if tile == 15 { 40 } else { 2 };
            for part in 0..parts {
                s.spawn(move |_| {
                    std::hint::black_box(burn(3_000_000, tile * 100 + part));
                });
            }
        }
    });
}
