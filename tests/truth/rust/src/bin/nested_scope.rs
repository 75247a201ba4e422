//! Scopes in the tasks of a scope; one of the inner tasks spawns into the outer scope.
use truth_programs::{spin, truth};

fn main() {
    rayon::scope(|outer| {
        for _ in 0..4 {
            outer.spawn(|outer| {
                spin(1_000);
                rayon::scope(|inner| {
                    for _ in 0..6 {
                        inner.spawn(|_| spin(2_500));
                    }
                });
                spin(2_000);
                outer.spawn(|_| spin(5_000));
            });
        }
    });
    truth("work_us=92000 span_us=10500 tasks=32");
}
