//! OP: `take`, `scan`, `pairwise` at their edges.

use hyphae::{Cell, Pipeline, Signal, Source};

use crate::support::{Count, Heard, Log};

// A count that happened to be 0 failed an assertion. A definite pipeline keeps its seed, so that the cell has a value.
#[test]
fn op_1_take_zero_completes_at_once() {
    let s = Cell::new(0);
    let t = (&s).take(0).materialize();
    let log = Log::new();
    let _guard = log.hear(&t);
    assert_eq!(s.dependents(), 0);
    s.set(1);
    log.check(&[Heard::Value(0), Heard::Complete]);
    assert_eq!(t.get(), 0);
}

// Without a seed nothing comes but the end, and no closure runs, on neither side.
#[test]
fn op_1_take_zero_of_events_touches_nothing() {
    let s = Source::new();
    let runs = Count::new();
    let above = s.clone().map(runs.of(|v: &i32| *v));
    let t = above.take(0).map(runs.of(|v: &i32| *v)).materialize();
    let log = Log::new();
    let _guard = log.hear(&t);
    assert_eq!(s.subscriber_count(), 0);
    s.emit(1);
    log.check(&[Heard::Value(None), Heard::Complete]);
    assert_eq!(runs.get(), 0);
}

// A consumer of take(1) that writes the source got a second value, or no end.
#[test]
fn op_2_take_one_with_a_consumer_that_writes_the_source() {
    let s = Cell::new(0);
    let t = (&s).skip(1).take(1).materialize();
    let log = Log::new();
    let _guard = t.subscribe({
        let (s, log) = (s.clone(), log.clone());
        move |signal| {
            log.push(Heard::of(signal));
            if let Signal::Value(Some(_)) = signal {
                s.set(2);
            }
        }
    });
    s.set(1);
    log.check(&[Heard::Value(None), Heard::Value(Some(1)), Heard::Complete]);
    assert_eq!(s.get(), 2);
    assert_eq!(s.dependents(), 0, "let go of its input");
}

// The same with a stage before take that writes the source, in the very turn that ends the pipeline.
#[test]
fn op_2_take_one_behind_a_stage_that_writes_the_source() {
    let s = Source::new();
    let taps = Count::new();
    let t = s.clone().tap({
        let (s, taps) = (s.downgrade(), taps.clone());
        move |v: &i32| {
            taps.up();
            s.upgrade().expect("the source lives").emit(v + 1);
        }
    });
    let t = t.take(1).materialize();
    let log = Log::new();
    let _guard = log.hear(&t);
    s.emit(1);
    log.check(&[Heard::Value(None), Heard::Value(Some(1)), Heard::Complete]);
    assert_eq!(taps.get(), 1);
}

// Subscribers of one accumulator saw different results, depending on when they came.
#[test]
fn op_4_one_accumulation_for_all_subscribers() {
    let s = Cell::new(0);
    let count = Count::new();
    let a = (&s).scan(0, {
        let count = count.clone();
        move |sum, v| {
            count.up();
            sum + v
        }
    });
    let a = a.materialize();
    let (first, second, late) = (Log::new(), Log::new(), Log::new());
    let _guards = (first.on(&a), second.on(&a));
    s.set(1);
    s.set(2);
    let _late = late.on(&a);
    s.set(3);
    first.check(&[0, 1, 3, 6]);
    second.check(&[0, 1, 3, 6]);
    late.check(&[3, 6]);
    assert_eq!(count.get(), 4);
}

// The same for consumers of a shared pipeline, which are cells of their own.
#[test]
fn op_4_one_accumulation_for_all_consumers_of_a_shared_pipeline() {
    let s = Cell::new(0);
    let count = Count::new();
    let counted = count.clone();
    let shared = (&s).scan(0, move |sum, v| {
        counted.up();
        sum + v
    });
    let shared = shared.share();
    let first = shared.clone().materialize();
    s.set(1);
    s.set(2);
    let late = shared.map(|sum| sum * 10).materialize();
    s.set(3);
    assert_eq!((first.get(), late.get()), (6, 60));
    assert_eq!(count.get(), 4);
}

// A seed of "none" was taken for "no seed"; elsewhere the seed itself came out first.
#[test]
fn op_5_scan_starts_with_f_of_the_seed_and_pairwise_with_nothing() {
    let s = Cell::new(5);
    let seeds = Log::new();
    let a = (&s).scan(None, {
        let seeds = seeds.clone();
        move |first: &Option<i32>, v| {
            seeds.push(*first);
            first.or(Some(*v))
        }
    });
    let a = a.materialize();
    let p = (&s).pairwise().materialize();
    let (scanned, pairs) = (Log::new(), Log::new());
    let _guards = (scanned.on(&a), pairs.on(&p));
    s.set(6);
    scanned.check(&[Some(5), Some(5)]);
    seeds.check(&[None, Some(5)]);
    pairs.check(&[None, Some((5, 6))]);
}

// Over events there is no first value: the seed does not come out by itself.
#[test]
fn op_5_scan_over_events_emits_with_the_first_one() {
    let s = Source::new();
    let a = s.clone().scan(10, |sum, v: &i32| sum + v).materialize();
    let log = Log::new();
    let _guard = log.on(&a);
    s.emit(1);
    s.emit(2);
    log.check(&[None, Some(11), Some(13)]);
}
