//! Facts about waves, told with whole graphs: diamonds, uneven legs, gated legs, bursts of events.

use hyphae::{Cell, Pipeline, Source, arena, batch, no_coalesce};

use crate::support::{Count, Log};

#[test]
fn a_diamond_is_solved_once() {
    let s = Cell::new(1);
    let solves = Count::new();
    let (left, right) = ((&s).map(|v| v + 1).materialize(), (&s).map(|v| v * 10).materialize());
    let sum = left.join(&right).map(solves.of(|(l, r): &(i32, i32)| l + r)).materialize();
    let log = Log::new();
    let _guard = log.on(&sum);
    s.set(5);
    batch(|| s.set(9));
    log.check(&[12, 56, 100]);
    assert_eq!(solves.get(), 3);
}

#[test]
fn legs_of_unequal_length_are_solved_once() {
    let s = Cell::new(0_i64);
    let short = (&s).map(|v| v + 1).materialize();
    let long = (&s).map(|v| v + 1).materialize();
    let long = long.map(|v| v * 2).materialize().map(|v| v * 1000).materialize();
    let solves = Count::new();
    let sum = long
        .join(&s)
        .join(&short)
        .map(solves.of(|((l, s), h): &((i64, i64), i64)| l + s + 10_000_000 * h))
        .materialize();
    batch(|| s.set(7));
    assert_eq!((sum.get(), solves.get()), (80_016_007, 2));
    s.set(8);
    assert_eq!((sum.get(), solves.get()), (90_018_008, 3));
}

/// A leg whose filter drops the value does not hold the other up.
#[test]
fn a_gated_leg_does_not_keep_its_sink_waiting() {
    let s = Cell::new(2);
    let even = (&s).filter(|v| v % 2 == 0).map(|v| v * 10).materialize();
    let log = Log::new();
    let sum = even.join(&s).map(|(e, s)| e.unwrap_or(0) + s + 1).materialize();
    let _guard = log.on(&sum);
    batch(|| s.set(3));
    s.set(4);
    log.check(&[23, 24, 45]);
}

/// The sink rests when all its legs are gated.
#[test]
fn a_sink_behind_gates_alone_rests() {
    let s = Cell::new(1);
    let gates: Vec<_> = (2..5).map(|n| (&s).filter(move |v| v % n == 0).materialize()).collect();
    let sink = hyphae::join_vec(gates);
    let runs = Count::new();
    let counted = sink.map(runs.of(Vec::clone)).materialize();
    s.set(7);
    assert_eq!(runs.get(), 1);
    s.set(12);
    assert_eq!((counted.get(), runs.get()), (vec![Some(12); 3], 2));
}

#[test]
fn an_event_diamond_fires_once_for_each_event() {
    let source = Source::new();
    let left = source.clone().map(|v: &i32| v + 1).materialize();
    let right = source.clone().map(|v| v * 10).materialize();
    let log = Log::new();
    let _guard = log.on(&left.join(&right));
    source.emit(5);
    batch(|| (6..8).for_each(|v| source.emit(v)));
    let pair = |v: i32| (Some(v + 1), Some(v * 10));
    log.check(&[(None, None), pair(5), pair(6), pair(7)]);
}

#[test]
fn a_kept_diamond_has_no_torn_pair() {
    let s = Cell::new(1).no_coalesce();
    let (left, right) = ((&s).map(|v| v + 1).materialize(), (&s).map(|v| v * 10).materialize());
    let log = Log::new();
    let _guard = log.on(&left.join(&right).map(|(l, r)| l + r).materialize());
    batch(|| {
        s.set(3);
        s.set(5);
    });
    log.check(&[12, 34, 56]);
}

#[test]
fn kept_and_coalescing_cells_in_one_batch() {
    let (plain, kept) = (Cell::new(0), no_coalesce(|| Cell::new(0)));
    let count = |cell: &Cell<i32>| cell.scan(-1, |n, _| n + 1).materialize();
    let (of_plain, of_kept) = (count(&plain), count(&kept));
    batch(|| {
        (1..=3).for_each(|v| {
            plain.set(v);
            kept.set(v);
        });
    });
    assert_eq!((of_plain.get(), of_kept.get()), (1, 3));
    // Outside of a batch there is nothing to keep.
    (1..=2).for_each(|v| kept.set(v));
    assert_eq!(of_kept.get(), 5);
}

/// In a burst of events every stage with memory sees each of them, in order.
#[test]
fn a_burst_keeps_its_order_in_every_stage_with_memory() {
    let cell = Cell::new(0).no_coalesce();
    let pairs = (&cell).pairwise().materialize();
    let chunks = cell.buffer_count(4).materialize();
    let windows = cell.window(3).materialize();
    let sums = (&cell).scan(0, |a, v| a + v).materialize();
    let (p, c, w, s) = (Log::new(), Log::new(), Log::new(), Log::new());
    let _guards = (p.on(&pairs), c.on(&chunks), w.on(&windows), s.on(&sums));
    batch(|| (1..=100).for_each(|v| cell.set(v)));
    let pairs: Vec<_> = (1..=100).map(|v| Some((v - 1, v))).collect();
    assert_eq!(p.take()[1..], pairs);
    let chunks: Vec<Vec<i32>> =
        (1..=100).collect::<Vec<_>>().chunks(4).map(<[i32]>::to_vec).collect();
    assert_eq!(c.take()[1..], chunks);
    assert!(w.take()[2..].iter().zip(2..).all(|(w, v)| *w == [v - 2, v - 1, v]));
    let sums: Vec<i32> = (0..=100).map(|v| v * (v + 1) / 2).collect();
    s.check(&sums);
}

#[test]
fn a_chain_of_a_hundred_follows_a_thousand_writes() {
    let s = Cell::new(0_u64);
    let mut end = s.clone().lock();
    for _ in 0..100 {
        end = end.map(|v| v + 1).materialize();
    }
    let heard = Count::new();
    let _guard = end.watch({
        let heard = heard.clone();
        move |_| heard.up()
    });
    let turns = arena::totals().recomputations;
    (0..1000).for_each(|v| s.set(v));
    assert_eq!((end.get(), heard.get()), (1099, 1001));
    assert_eq!(arena::totals().recomputations - turns, 100_000);
}

#[test]
fn a_wide_fan_out_hears_every_write() {
    let s = Cell::new(0);
    let heard = Count::new();
    let cells: Vec<_> = (0..500).map(|k| (&s).map(move |v| v + k).materialize()).collect();
    let _guards: Vec<_> = cells
        .iter()
        .map(|c| {
            c.watch({
                let heard = heard.clone();
                move |_| heard.up()
            })
        })
        .collect();
    (0..20).for_each(|v| s.set(v));
    assert_eq!(heard.get(), 500 * 21);
    assert!(cells.iter().zip(0..).all(|(cell, k)| cell.get() == 19 + k));
}
