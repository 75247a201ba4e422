//! Renders the tiles of a picture; the later ones show more.

use agent_faults::burn;

fn render(tile: u64) -> u64 {
    burn(if tile == 15 { 120_000_000 } else { 6_000_000 }, tile)
}

fn main() {
    rayon::scope(|s| {
        for tile in 0..16 {
            s.spawn(move |_| {
                std::hint::black_box(render(tile));
            });
        }
    });
}
