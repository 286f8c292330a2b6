//! The engine on the shapes that reactive libraries are measured with, beside the limit: boxed closures called in
//! order. Each bench asserts its answer.
//!
//! `cargo bench --bench cells` measures; `-- --test` runs each once.

mod shapes;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use hyphae::{Cell, Pipeline};
use shapes::Shape;
use std::hint::black_box;

/// Measures one step of a shape, a node, and checks what it gives for `check`.
fn step(c: &mut Criterion, name: &str, shape: Shape, check: u64, expected: u64) {
    let mut group = c.benchmark_group(name);
    shape.step(check);
    assert_eq!(shape.answer(), expected, "{name}");
    group.throughput(Throughput::Elements(shape.nodes));
    let mut value = 0;
    group.bench_function("hyphae", |b| {
        b.iter(|| {
            value += 1;
            shape.step(value);
        });
    });
    shape.step(check);
    assert_eq!(shape.answer(), expected, "{name} afterwards");
    let mut limit = shapes::Limit::new(shape.nodes);
    limit.step();
    group.bench_function("limit", |b| b.iter(|| limit.step()));
    assert!(limit.is_right(), "{name} limit");
    group.finish();
}

fn propagation(c: &mut Criterion) {
    step(c, "chain of 1000", shapes::chain(1000), 7, 1007);
    step(c, "fan of 1000, observed", shapes::fan(1000).observed(), 7, 8000);
    step(c, "diamond of 100", shapes::diamond(100), 7, 800);
    step(c, "triangle of 10", shapes::triangle(10), 7, 125);
    step(c, "grid 4 x 10", shapes::grid(4, 10), 7, 4 * 7 * 1024);
    step(c, "tree over 1024 sources", shapes::tree(1024), 7, 1024 * 7 + 1024 * 1023 / 2);
}

fn storm(c: &mut Criterion) {
    let expected = shapes::storm_answer(7);
    step(c, "storm", shapes::storm().observed(), 7, expected);
}

fn single(c: &mut Criterion) {
    let mut group = c.benchmark_group("single cell");
    let cell = Cell::new(0_u64);
    let guard = cell.watch(|v| {
        black_box(v);
    });
    let mut value = 0;
    group.bench_function("set, one subscriber", |b| {
        b.iter(|| {
            value += 1;
            cell.set(value);
        });
    });
    assert_eq!(cell.get(), value);
    group.bench_function("get", |b| b.iter(|| black_box(cell.get())));
    group.bench_function("clone and drop a handle", |b| b.iter(|| black_box(cell.clone())));
    assert_eq!(cell.callbacks(), 1);
    drop(guard);
    group.finish();
}

fn lifetimes(c: &mut Criterion) {
    let mut group = c.benchmark_group("create and drop");
    let kept = Cell::new(1_u64);
    let cells = || hyphae::arena::totals().cells;
    let before = cells();
    group.bench_function("source", |b| b.iter(|| black_box(Cell::new(1_u64))));
    group.bench_function("map", |b| b.iter(|| (&kept).map(|v| v + 1).materialize()));
    group.throughput(Throughput::Elements(10_000));
    group.bench_function("create 10 000 sources", |b| {
        b.iter_batched(
            || (),
            |()| (0..10_000_u64).map(Cell::new).collect::<Vec<_>>(),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("drop 10 000 sources", |b| {
        let make = || (0..10_000_u64).map(Cell::new).collect::<Vec<_>>();
        b.iter_batched(make, drop, BatchSize::PerIteration);
    });
    assert_eq!(cells(), before);
    group.finish();
}

fn churn(c: &mut Criterion) {
    let mut group = c.benchmark_group("subscribe and unsubscribe");
    for others in [0, 1000] {
        let cell = Cell::new(0_u64);
        let guards: Vec<_> = (0..others).map(|_| cell.watch(|_| ())).collect();
        group.bench_function(format!("beside {others}"), |b| b.iter(|| cell.watch(|_| ())));
        assert_eq!(cell.callbacks(), guards.len());
    }
    group.finish();
}

/// One set that makes a cell read another input: the published libraries take 160 to 1 200 ns for it.
fn switching(c: &mut Criterion) {
    let mut group = c.benchmark_group("switching inputs, a set");
    for (name, switch) in [
        ("switch_map, two cached cells", shapes::switch_cached()),
        ("switch_map, a fresh map each time", shapes::switch_fresh()),
        ("computed, one of two", shapes::computed_branch()),
    ] {
        let mut value = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                value += 1;
                switch.step(value);
            });
        });
        switch.step(7);
        assert_eq!(switch.answer(), 1007, "{name}");
    }
    let mut limit = shapes::SwitchLimit::new();
    group.bench_function("limit: a boxed closure that chooses", |b| b.iter(|| limit.step()));
    group.finish();
    let mut group = c.benchmark_group("re-links, 1000 switches over 10 000 cells");
    group.throughput(Throughput::Elements(1000));
    let relinks = shapes::relinks(1000, 10_000);
    let mut value = 0;
    group.bench_function("batch", |b| {
        b.iter(|| {
            value += 1;
            relinks.step(value);
        });
    });
    relinks.step(7);
    assert_eq!(relinks.answer(), shapes::relinks_answer(7, 1000, 10_000));
    group.finish();
}

/// Many inputs in one node, of which one changes.
fn inputs(c: &mut Criterion) {
    let mut group = c.benchmark_group("one of many inputs");
    let selected = Cell::new(0_u64);
    let selector = hyphae::selector(&selected);
    let rows: Vec<_> = (0..10_000).map(|row| selector.is(row)).collect();
    let mut value = 0;
    group.bench_function("selector, 10 000 keys", |b| {
        b.iter(|| {
            value = (value + 1) % 10_000;
            selected.set(value);
        });
    });
    selected.set(7);
    assert!(rows[7].get() && !rows[8].get());
    let cells: Vec<_> = (0..100_u64).map(Cell::new).collect();
    let sum = Cell::computed({
        let cells = cells.clone();
        move || cells.iter().map(|cell| cell.get()).sum::<u64>()
    });
    group.bench_function("computed, sum of 100", |b| {
        b.iter(|| {
            value += 1;
            cells[50].set(value);
        });
    });
    // Also when the bench itself was not selected.
    cells[50].set(7);
    assert_eq!(sum.get(), (0..100).sum::<u64>() - 50 + 7);
    group.finish();
}

criterion_group!(benches, propagation, storm, single, lifetimes, churn, switching, inputs);
criterion_main!(benches);
