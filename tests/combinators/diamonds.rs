//! Both inputs from one source: one emit of what combines, one each in rounds of one wave of what merges; never a mix of
//! old and new.

use hyphae::{Cell, CellImmutable, Pipeline, Source, arena, batch, combine, merge_vec};

use crate::support::{Count, Heard, Log};

type Leg = Cell<i32, CellImmutable>;

/// A leg that is so many nodes long and adds 100 at each.
fn leg(source: &Cell<i32>, length: usize) -> Leg {
    let start = source.clone().lock();
    (0..length).fold(start, |leg, _| leg.map(|v| v + 100).materialize())
}

/// Legs of every pair of lengths; the longer one may be the left or the right.
fn each_diamond(f: impl Fn(&Cell<i32>, Leg, Leg)) {
    for (left, right) in (0..4).flat_map(|left| (0..4).map(move |right| (left, right))) {
        let source = Cell::new(1);
        // The right leg is made first: the order of creation must not matter.
        let right = leg(&source, right);
        f(&source, leg(&source, left), right);
    }
    arena::assert_no_live();
}

#[test]
fn what_combines_emits_once() {
    each_diamond(|source, left, right| {
        let (l, r) = (left.get() - 1, right.get() - 1);
        let log = Log::new();
        let _guards = [
            log.on(&left.zip(&right)),
            log.on(&left.join(&right)),
            log.on(&combine((&left, &right), |(left, right)| (*left, *right))),
            log.on(&(&left).with_latest_from(&right).materialize()),
        ];
        log.check(&[(1 + l, 1 + r); 4]);
        log.take();
        source.set(2);
        batch(|| {
            source.set(9);
            source.set(3);
        });
        log.check(&[[(2 + l, 2 + r); 4], [(3 + l, 3 + r); 4]].concat());
    });
}

#[test]
fn a_merge_emits_one_each_in_rounds_of_one_wave() {
    each_diamond(|source, left, right| {
        let (l, r) = (left.get() - 1, right.get() - 1);
        if l == 0 || r == 0 {
            // A source is written before what hangs on it changes: see below.
            return;
        }
        let log = Log::new();
        let _guard = log.on(&left.merge(&right));
        let before = arena::totals();
        source.set(2);
        let after = arena::totals();
        assert_eq!((after.waves - before.waves, after.rounds - before.rounds), (1, 2));
        log.check(&[1 + r, 2 + l, 2 + r]);
    });
}

/// The source itself and what hangs on it: both come once.
#[test]
fn a_merge_of_a_source_and_its_map() {
    let source = Cell::new(1);
    let tens = (&source).map(|v| v * 10).materialize();
    let (first, second) = (Log::new(), Log::new());
    let _guards = (first.on(&source.merge(&tens)), second.on(&tens.merge(&source)));
    source.set(2);
    first.check(&[10, 2, 20]);
    let mut heard = second.take();
    heard.sort_unstable();
    assert_eq!(heard, [1, 2, 20]);
}

#[test]
fn a_merge_with_itself_emits_twice() {
    let source = Cell::new(1);
    let log = Log::new();
    let _guard = log.on(&source.merge(&source));
    source.set(2);
    batch(|| (3..6).for_each(|v| source.set(v)));
    log.check(&[1, 2, 2, 5, 5]);
}

/// All that is downstream of a merge and beside it is consistent in each round.
#[test]
fn a_join_below_a_merge_sees_each_round() {
    let source = Cell::new(1);
    let (left, right) = (leg(&source, 1), leg(&source, 2));
    let merged = left.merge(&right);
    let runs = Count::new();
    let below = merged.join(&source).map(runs.of(|pair: &(i32, i32)| *pair)).materialize();
    let log = Log::new();
    let _guard = log.on(&below);
    source.set(2);
    log.check(&[(201, 1), (102, 2), (202, 2)]);
    assert_eq!(runs.get(), 3);
}

/// Merges of merges: each change comes through once.
#[test]
fn merges_nest() {
    let cells: Vec<Cell<i32>> = (0..4).map(Cell::new).collect();
    let pairs = [cells[0].merge(&cells[1]), cells[2].merge(&cells[3])];
    let log = Log::new();
    let _guard = log.on(&pairs[0].merge(&pairs[1]));
    let waves = arena::totals().waves;
    batch(|| cells.iter().zip(10..).for_each(|(cell, v)| cell.set(v)));
    assert_eq!(arena::totals().waves - waves, 1);
    let mut heard = log.take();
    assert_eq!(heard.remove(0), 3);
    // The first of each pair is ready before the second.
    let place = |v: i32| heard.iter().position(|heard| *heard == v).expect("it came through");
    assert!(heard.len() == 4 && place(10) < place(11) && place(12) < place(13), "{heard:?}");
}

/// The two ends of a diamond come in one wave: the last value, then one end.
#[test]
fn both_ends_of_a_diamond_are_one_end() {
    each_diamond(|source, left, right| {
        let (l, r) = (left.get() - 1, right.get() - 1);
        let log = Log::new();
        let _guards = [log.hear(&left.zip(&right)), log.hear(&left.join(&right))];
        let merged = Log::new();
        let _merging = merged.hear(&left.merge(&right));
        log.take();
        batch(|| {
            source.set(2);
            source.complete();
        });
        let once = [Heard::Value((2 + l, 2 + r)), Heard::Complete];
        log.check(&[once.clone(), once].concat());
        let heard = merged.take();
        assert_eq!((heard.len(), heard.last()), (4, Some(&Heard::Complete)), "{heard:?}");
        assert!(heard[1..3].contains(&Heard::Value(2 + l)));
        assert!(heard[1..3].contains(&Heard::Value(2 + r)));
    });
}

/// The value that comes with the stop still counts: the input is the first argument.
#[test]
fn a_stop_from_the_same_source() {
    let source = Cell::new(1);
    let (input, stop) = (leg(&source, 2), leg(&source, 1));
    let log = Log::new();
    let _guard = log.hear(&input.take_until(&stop));
    source.set(2);
    source.set(3);
    log.check(&[Heard::Value(201), Heard::Value(202), Heard::Complete]);
}

/// The first one ends with its second value: from the next change on it is the other one.
#[test]
fn a_concat_of_two_legs() {
    let source = Cell::new(1);
    let (first, second) = (source.clone().take(2).materialize(), leg(&source, 1));
    let log = Log::new();
    let _guard = log.hear(&first.concat(&second));
    (2..5).for_each(|v| source.set(v));
    log.check(&[1, 2, 103, 104].map(Heard::Value));
}

/// What is sampled has settled when the trigger is derived from the same source, at whatever depth.
#[test]
fn a_sample_is_of_the_settled_value() {
    each_diamond(|source, value, trigger| {
        let v = value.get() - 1;
        let log = Log::new();
        let _guard = log.on(&value.sample(&trigger).materialize());
        source.set(2);
        source.set(3);
        log.check(&[1 + v, 2 + v, 3 + v]);
    });
}

/// Each event of a batch goes through a diamond once.
#[test]
fn events_through_a_diamond() {
    let events = Source::new();
    let left = events.clone().map(|v: &i32| v + 1).materialize();
    let right = events.clone().map(|v| v * 10).materialize();
    let (pairs, all) = (Log::new(), Log::new());
    let _guards = (pairs.on(&left.zip(&right)), all.on(&merge_vec([left, right])));
    batch(|| (1..4).for_each(|v| events.emit(v)));
    let pair = |v: i32| (Some(v + 1), Some(v * 10));
    pairs.check(&[(None, None), pair(1), pair(2), pair(3)]);
    // The merge can emit once a round: what waits is pushed back, nothing is lost.
    let mut heard: Vec<i32> = all.take().into_iter().flatten().flatten().collect();
    heard.sort_unstable();
    assert_eq!(heard, [2, 3, 4, 10, 20, 30]);
}
