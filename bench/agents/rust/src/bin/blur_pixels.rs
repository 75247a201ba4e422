//! Blurs an image, pixel by pixel.

use agent_faults::burn;
use rayon::prelude::*;

fn main() {
    let mut pixels: Vec<u64> = (0..400_000).collect();
    pixels.par_iter_mut().with_max_len(1).for_each(|pixel| {
        *pixel = burn(40, *pixel);
    });
    println!("{}", pixels[7]);
}
