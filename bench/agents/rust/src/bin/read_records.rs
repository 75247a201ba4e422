//! Reads records one after the other and hands each to a task.

use agent_faults::burn;

fn read_record(number: u64) -> u64 {
    burn(20_000, number)
}

fn main() {
    rayon::scope(|s| {
        for number in 0..6_000 {
            let record = read_record(number);
            s.spawn(move |_| {
                std::hint::black_box(burn(20_000, record));
            });
        }
    });
}
