//! Times: each nanosecond at the cell whose closure or subscriber took it.

use hyphae::{Cell, Pipeline, Signal, Source, Timing, batch, set_timing, set_timing_clock, timing};

use crate::support::caught;
use crate::tools::{Hand, times, trace_of};

#[test]
fn a_chain() {
    let hand = Hand::timing_all();
    let a = Cell::new(1);
    let b = (&a).map(hand.of(10)).materialize();
    let c = (&b).map(hand.of(5)).materialize();
    let _guards = [c.watch(hand.call(7)), c.watch(hand.call(3))];
    let at_a = a.watch(hand.call(100));
    assert_eq!([times(&b), times(&c)], [[0; 4]; 2], "neither construction nor the first delivery");
    a.set(2);
    assert_eq!([times(&b), times(&c)], [[10, 0, 10, 0], [5, 10, 15, 7]]);
    assert_eq!(times(&a), [0, 100, 100, 100]);
    drop(at_a);
    a.set(3);
    assert_eq!([times(&b), times(&c)], [[20, 0, 10, 0], [10, 20, 15, 7]]);
    assert_eq!(times(&a), [0, 100, 100, 100], "it had no turn and no call in the second wave");
}

#[test]
fn times_are_not_taken_unless_asked() {
    let hand = Hand::new();
    let a = Cell::new(1);
    let b = (&a).map(hand.of(10)).materialize();
    let _guard = b.watch(hand.call(7));
    assert_eq!(timing(), Timing::Off);
    a.set(2);
    assert_eq!(times(&b), [0; 4]);
    set_timing(Timing::EveryWave);
    assert_eq!(timing(), Timing::EveryWave);
    a.set(3);
    set_timing(Timing::Off);
    a.set(4);
    assert_eq!(times(&b), [10, 7, 17, 7]);
    assert_eq!(crate::tools::counts(&b), (3, 3, 0), "counts are always kept");
}

/// One wave in three, evenly.
#[test]
fn one_wave_in_so_many() {
    let hand = Hand::new();
    let a = Cell::new(0);
    let _guard = a.watch_changes(hand.call(10));
    for (n, timed) in [(3, 4), (1, 12), (0, 12), (5, 2), (12, 1), (u32::MAX, 0)] {
        hyphae::reset_trace();
        set_timing(Timing::OneWaveIn(n));
        let mut seen = Vec::new();
        for v in 0..12 {
            let before = times(&a)[1];
            a.set(v);
            seen.push(times(&a)[1] - before);
        }
        assert_eq!(seen.iter().filter(|&&ns| ns == 10).count(), timed, "one in {n}: {seen:?}");
        assert!(seen.iter().all(|&ns| ns == 0 || ns == 10), "{seen:?}");
        let at: Vec<_> = (0..12).filter(|&i| seen[i] > 0).collect();
        let even = at.windows(2).all(|pair| pair[1] - pair[0] == n.max(1) as usize);
        assert!(even, "one in {n}: {seen:?}");
    }
}

#[test]
fn set_timing_in_a_callback_is_for_the_rest_of_the_wave_too() {
    let hand = Hand::new();
    let a = Cell::new(0);
    let _guards = [
        a.watch_changes(|v| set_timing(if *v == 1 { Timing::EveryWave } else { Timing::Off })),
        a.watch_changes(hand.call(5)),
    ];
    a.set(1);
    assert_eq!(times(&a)[1], 5);
    a.set(2);
    assert_eq!(times(&a)[1], 5);
}

#[test]
fn a_batch_sums_up_what_its_reads_computed() {
    let hand = Hand::timing_all();
    let a = Cell::new(1);
    let b = (&a).map(hand.of(10)).materialize();
    let _guard = b.watch_changes(hand.call(1));
    batch(|| {
        for v in 0..3 {
            hand.work(1_000_000);
            a.set(v);
            hand.work(1_000_000);
            b.get();
        }
        hand.work(1_000_000);
        a.set(7);
    });
    assert_eq!(times(&b), [40, 1, 41, 1], "four turns in one round");
}

#[test]
fn rounds_of_a_batch() {
    let hand = Hand::timing_all();
    let source = Source::new();
    let stepped = source.clone().map(hand.of(10)).materialize();
    let _guards = (source.subscribe(hand.hear(2)), stepped.watch_changes(hand.call(3)));
    batch(|| (0..4_u64).for_each(|v| source.emit(v)));
    assert_eq!(times(&stepped), [40, 12, 13, 3]);
    let of_source = trace_of(source.cell_id());
    assert_eq!((of_source.delivery_time_ns, of_source.last_notify_time_ns), (8, 2));
}

/// What runs between turns and calls is nobody's: the caller, the drop of the value that was written over, a clean-up.
#[test]
fn what_is_not_a_turn_or_a_call_is_nobody_s() {
    struct Slow(Hand);
    impl Drop for Slow {
        fn drop(&mut self) {
            self.0.work(1_000_000);
        }
    }
    let hand = Hand::timing_all();
    let a = Cell::new(Slow(hand.clone()));
    let b = {
        let hand = hand.clone();
        (&a).map(move |_| hand.work(10)).materialize()
    };
    let alone = Cell::new(Slow(hand.clone()));
    let _guards = (b.watch_changes(hand.call(2)), a.watch_changes(hand.call(3)));
    let _alone = alone.watch_changes(hand.call(4));
    a.set(Slow(hand.clone()));
    alone.set(Slow(hand.clone()));
    batch(|| a.set(Slow(hand.clone())));
    assert_eq!((times(&b), times(&a)), ([20, 4, 12, 2], [0, 6, 3, 3]));
    assert_eq!(times(&alone), [0, 4, 4, 4]);
}

/// The value that a turn replaces is dropped in the turn.
#[test]
fn the_drop_of_a_derived_value_is_the_cell_s() {
    struct Slow(Hand);
    impl Drop for Slow {
        fn drop(&mut self) {
            self.0.work(100);
        }
    }
    let hand = Hand::timing_all();
    let a = Cell::new(0);
    let b = {
        let hand = hand.clone();
        (&a).map(move |_| Slow(hand.clone())).materialize()
    };
    a.set(1);
    assert_eq!(times(&b), [100, 0, 100, 0]);
}

#[test]
fn a_comparison_is_a_turn() {
    let hand = Hand::timing_all();
    let compare = hand.clone();
    let a = Cell::with_cutoff(1, move |old, new| {
        compare.work(8);
        old == new
    });
    let _guard = a.watch_changes(hand.call(1));
    a.set(1);
    assert_eq!(times(&a), [8, 0, 8, 0]);
    a.set(2);
    assert_eq!(times(&a), [16, 1, 9, 1]);
}

#[test]
fn a_filter_takes_its_time_also_when_it_gives_nothing() {
    let hand = Hand::timing_all();
    let a = Cell::new(1);
    let none = {
        let hand = hand.clone();
        (&a).filter(move |_| {
            hand.work(6);
            false
        })
    };
    let none = none.materialize();
    (0..3).for_each(|v| a.set(v));
    assert_eq!(times(&none), [18, 0, 6, 0]);
}

/// Several subscribers and an end: each call is measured for itself.
#[test]
fn the_slowest_call() {
    let hand = Hand::timing_all();
    let a = Cell::new(0_u64);
    let (first, second) = (hand.clone(), hand.clone());
    let _guards = [
        a.subscribe_changes(move |signal| match signal {
            Signal::Value(ns) => first.work(**ns),
            _ => first.work(40),
        }),
        a.subscribe_changes(move |_| second.work(9)),
    ];
    [5, 30, 20].into_iter().for_each(|ns| a.set(ns));
    assert_eq!(times(&a), [0, 55 + 27, 29, 30]);
    a.complete();
    assert_eq!(times(&a), [0, 82 + 49, 49, 40]);
}

/// The writes of a callback settle after it: their time is that of the cells they reach.
#[test]
fn writes_of_callbacks() {
    let hand = Hand::timing_all();
    let (a, b) = (Cell::new(0), Cell::new(0));
    let c = (&b).map(hand.of(50)).materialize();
    let _guards = (c.watch_changes(hand.call(4)), {
        let (b, hand) = (b.clone(), hand.clone());
        a.watch_changes(move |v| {
            hand.work(1);
            b.set(*v);
            hand.work(1);
        })
    });
    a.set(1);
    assert_eq!([times(&a), times(&b.lock()), times(&c)], [[0, 2, 2, 2], [0; 4], [50, 4, 54, 4]]);
}

/// Cells made in a callback are made in the callback's time.
#[test]
fn what_a_callback_makes_is_its_own_time() {
    let hand = Hand::timing_all();
    let (a, x) = (Cell::new(0), Cell::new(0));
    let _guard = a.watch_changes({
        let (hand, x) = (hand.clone(), x.clone());
        move |_| {
            hand.work(1);
            let made = (&x).map(hand.of(20)).materialize();
            let hand_inside = hand.clone();
            let switched = x.switch_map(move |v| {
                hand_inside.work(300);
                Cell::new(*v)
            });
            let read = Cell::computed({
                let (hand, x) = (hand.clone(), x.clone());
                move || {
                    hand.work(4_000);
                    x.get()
                }
            });
            drop((made.watch(hand.call(50_000)), switched, read));
        }
    });
    a.set(1);
    assert_eq!(times(&a), [0, 54_321, 54_321, 54_321]);
}

#[test]
fn a_closure_that_panics_takes_its_time_from_nobody() {
    let hand = Hand::timing_all();
    let a = Cell::new(0);
    let first = {
        let hand = hand.clone();
        (&a).map(move |v| {
            hand.work(500);
            assert_ne!(*v, 1, "refused");
        })
    };
    let first = first.materialize();
    let next = (&a).map(hand.of(3)).materialize();
    let _guard = next.watch_changes(hand.call(2));
    assert!(caught(|| a.set(1)).is_some());
    assert_eq!(times(&next), [3, 2, 5, 2]);
    a.set(2);
    assert_eq!(times(&next), [6, 4, 5, 2]);
    assert_eq!(times(&first)[0], 1000, "a turn that panics is a turn");
}

#[test]
fn another_clock_forgets_what_was_measured() {
    let hand = Hand::timing_all();
    let a = Cell::new(0);
    let _guard = a.watch_changes(hand.call(10));
    a.set(1);
    let other = Hand::new();
    assert_eq!((times(&a), timing()), ([0; 4], Timing::EveryWave));
    a.set(2);
    assert_eq!(times(&a), [0; 4], "the old hand is not looked at");
    let _second = a.watch_changes(other.call(6));
    a.set(3);
    assert_eq!(times(&a), [0, 6, 6, 6]);
}

/// The processor's counter, which is used unless another clock is given, goes on and in nanoseconds.
#[test]
fn the_clock_that_is_there() {
    set_timing(Timing::EveryWave);
    let a = Cell::new(0);
    let _guard = a.watch_changes(|_| {
        let start = std::time::Instant::now();
        while start.elapsed().as_micros() < 2_000 {}
    });
    let start = std::time::Instant::now();
    a.set(1);
    let whole = u64::try_from(start.elapsed().as_nanos()).expect("not that long");
    let [_, delivery, last, slowest] = times(&a);
    assert!((1_900_000..=whole + whole / 20).contains(&delivery), "{delivery} of {whole} ns");
    assert_eq!((last, slowest), (delivery, delivery));
}

/// A clock that stands still or is read from inside of a callback does no harm.
#[test]
fn a_clock_that_goes_back_gives_no_time() {
    let now = std::rc::Rc::new(std::cell::Cell::new(1_000_u64));
    let read = now.clone();
    set_timing(Timing::EveryWave);
    set_timing_clock(move || read.get());
    let a = Cell::new(0);
    let _guard = a.watch_changes(move |v| now.set(*v));
    a.set(1_500);
    a.set(900);
    a.set(1_000);
    assert_eq!(times(&a), [0, 600, 100, 500]);
}
