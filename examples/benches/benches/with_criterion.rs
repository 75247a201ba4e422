//! `cargo workspan bench --each --bench with_criterion`

use std::hint::black_box;
use std::time::Duration;

use benches::{squares, squares_after_a_serial_pass};
use criterion::{criterion_group, criterion_main, Criterion};

fn benchmarks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("squares");
    group.bench_function("divided", |b| b.iter(|| squares(black_box(200_000))));
    group.bench_function("serial first", |b| b.iter(|| squares_after_a_serial_pass(black_box(200_000))));
}

fn short() -> Criterion {
    let criterion = Criterion::default().sample_size(10);
    criterion.warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(200))
}

criterion_group! { name = all; config = short(); targets = benchmarks }
criterion_main!(all);
