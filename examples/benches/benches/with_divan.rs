//! `cargo workspan bench --each --bench with_divan`

use divan::black_box;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 20)]
fn divided() -> usize {
    benches::squares(black_box(200_000))
}

#[divan::bench(sample_count = 20)]
fn serial_first() -> usize {
    benches::squares_after_a_serial_pass(black_box(200_000))
}
