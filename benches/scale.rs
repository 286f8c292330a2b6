//! Stores of 1 000 to 1 000 000 cells: what a frame that touches all of them takes, making and dropping them, and a set
//! that touches three. What is linear has the same throughput in each row, but for the caches that a store outgrows: least where cells
//! read their neighbours, most where they read cells by chance (`far`).
//!
//! `cargo bench --bench scale` measures; `-- --test` runs each once.

#[allow(dead_code)] // the shapes of the other benches
mod shapes;

use std::cell::Cell as Counter;
use std::time::Duration;

use criterion::{
    BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use shapes::show::{Apart, Inputs, Show};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn live() -> u64 {
    hyphae::arena::totals().cells as u64
}

type Measure = fn(&mut criterion::Bencher<'_>, usize);

fn shows(c: &mut Criterion) {
    for (name, measure) in [
        ("a frame", (|b, size| frames(b, size, Inputs::Near)) as Measure),
        ("a frame, far", |b, size| frames(b, size, Inputs::Far)),
        ("create", create),
        ("drop", discard),
    ] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
        for size in SIZES {
            group.throughput(Throughput::Elements(size as u64));
            group.bench_with_input(BenchmarkId::from_parameter(size), &size, |b, &size| {
                measure(b, size);
            });
            assert_eq!(live(), 0, "{name} of {size} leaves cells");
        }
        group.finish();
    }
}

fn frames(b: &mut criterion::Bencher<'_>, size: usize, inputs: Inputs) {
    let show = Show::new(size, inputs);
    assert_eq!(show.len(), size);
    let value = Counter::new(0);
    b.iter(|| {
        value.set(value.get() + 1);
        show.frame(value.get());
    });
    assert!(show.is_right(value.get()), "a frame of {size}");
}

fn create(b: &mut criterion::Bencher<'_>, size: usize) {
    b.iter_batched(|| (), |()| Show::new(size, Inputs::Near), BatchSize::PerIteration);
}

fn discard(b: &mut criterion::Bencher<'_>, size: usize) {
    b.iter_batched(|| Show::new(size, Inputs::Near), drop, BatchSize::PerIteration);
}

fn apart(c: &mut Criterion) {
    let mut group = c.benchmark_group("a set that touches 3 cells of");
    for size in [10].into_iter().chain(SIZES) {
        let apart = Apart::new(size);
        let value = Counter::new(0);
        group.bench_with_input(BenchmarkId::from_parameter(size), &size, |b, _| {
            b.iter(|| {
                value.set(value.get() + 1);
                apart.set(value.get());
            });
        });
        assert!(apart.is_right(value.get()), "a set among {size}");
    }
    group.finish();
}

criterion_group!(benches, shows, apart);
criterion_main!(benches);
