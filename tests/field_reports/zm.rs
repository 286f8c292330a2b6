//! ZM: how zip, merge, concat and merge_map end, and in what order they emit (rules P10, P12).

use hyphae::{Cell, Source, batch, join_vec, merge_vec, zip_vec};

use crate::support::{Count, Heard, Log, owning};

/// Values, then `Complete`.
fn ended<T: Clone>(values: &[T]) -> Vec<Heard<T>> {
    values.iter().cloned().map(Heard::Value).chain([Heard::Complete]).collect()
}

/// Whether a zip ended depended on the order of its arguments.
#[test]
fn zm_1_zip_ends_with_either_side_in_either_order() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    a.complete();
    let (z1, z2) = (a.zip(&b), b.zip(&a));
    let (first, second) = (Log::new(), Log::new());
    let _guards = (first.hear(&z1), second.hear(&z2));
    b.set(1);
    first.check(&ended(&[(0, 0)]));
    second.check(&ended(&[(0, 0)]));
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
}

/// The side that ends has values waiting: each still finds its partner, and the end comes with the last of them.
#[test]
fn zm_1_zip_ends_when_the_queue_of_the_ended_side_is_empty() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let (z1, z2) = (a.zip(&b), b.zip(&a));
    let (first, second) = (Log::new(), Log::new());
    let _guards = (first.hear(&z1), second.hear(&z2));
    [1, 2].into_iter().for_each(|v| a.set(v));
    a.complete();
    assert!(!z1.is_complete() && !z2.is_complete());
    [10, 20].into_iter().for_each(|v| b.set(v));
    b.set(30);
    first.check(&ended(&[(0, 0), (1, 10), (2, 20)]));
    second.check(&ended(&[(0, 0), (10, 1), (20, 2)]));
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
}

/// The other side has values waiting that nobody will ever ask for.
#[test]
fn zm_1_zip_ends_at_once_when_nothing_of_the_ended_side_waits() {
    let (a, b, dropped) = (Cell::new(0), Cell::new(None), Count::new());
    let z = a.zip(&b);
    let log = Log::new();
    let guard = log.hear(&z);
    (0..3).for_each(|_| b.set(Some(std::rc::Rc::new(dropped.token()))));
    a.complete();
    assert!(z.is_complete());
    assert_eq!((log.len(), a.dependents(), b.dependents()), (2, 0, 0));
    b.set(None);
    assert_eq!(log.len(), 2);
    drop((z, guard));
    assert_eq!(dropped.get(), 3, "what waited goes with the zip");
}

/// Both sides end, the last value and the end in one batch: the pair is not overtaken.
#[test]
fn zm_1_an_end_does_not_overtake_the_last_pair() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let z = a.zip(&b);
    let log = Log::new();
    let _guard = log.hear(&z);
    batch(|| {
        a.set(1);
        a.complete();
        b.set(10);
        b.complete();
    });
    log.check(&ended(&[(0, 0), (1, 10)]));
}

/// One cell zipped with itself, and with a map of it: pairs of one wave, one delivery each.
#[test]
fn zm_1_zip_of_a_cell_with_itself() {
    let a = Cell::new(0);
    let z = a.zip(&a);
    let log = Log::new();
    let _guard = log.hear(&z);
    [1, 2].into_iter().for_each(|v| a.set(v));
    a.complete();
    log.check(&ended(&[(0, 0), (1, 1), (2, 2)]));
    assert_eq!(a.dependents(), 0);
}

/// Any number of inputs in step; the end comes from whichever is used up first.
#[test]
fn zm_1_zip_vec_ends_with_any_of_its_inputs() {
    for ending in 0..3 {
        let cells: Vec<_> = (0..3).map(Cell::new).collect();
        let z = zip_vec(cells.iter().cloned());
        let log = Log::new();
        let _guard = log.hear(&z);
        cells[0].set(10);
        cells[1].set(11);
        cells[2].set(12);
        cells[ending].complete();
        assert!(z.is_complete());
        let expected = ended(&[Some(vec![0, 1, 2]), Some(vec![10, 11, 12])]);
        log.check(&expected);
        cells.iter().for_each(|cell| assert_eq!(cell.dependents(), 0));
    }
}

/// A combination of nothing never completed.
#[test]
fn zm_4_combinations_of_nothing_are_complete() {
    let none = Vec::<Cell<i32>>::new;
    let (zipped, merged, joined) = (zip_vec(none()), merge_vec(none()), join_vec(none()));
    let (on_zipped, on_merged, on_joined) = (Log::new(), Log::new(), Log::new());
    let _guards = (on_zipped.hear(&zipped), on_merged.hear(&merged), on_joined.hear(&joined));
    on_zipped.check(&ended(&[None::<Vec<i32>>]));
    on_merged.check(&ended(&[None::<i32>]));
    on_joined.check(&ended(&[Vec::<i32>::new()]));
    assert_eq!(zipped.get(), None);
}

/// The same one level up: a dynamic part without anything in it ends with what makes it.
#[test]
fn zm_4_dynamic_parts_without_an_inner_are_complete() {
    let source = Source::<i32>::new();
    let merged = source.clone().merge_map(|v| Cell::new(*v));
    let switched = source.clone().switch_map(|v| Cell::new(*v));
    let (on_merged, on_switched) = (Log::new(), Log::new());
    let _guards = (on_merged.hear(&merged), on_switched.hear(&switched));
    source.complete();
    on_merged.check(&ended(&[None::<i32>]));
    on_switched.check(&ended(&[None::<i32>]));
}

/// One input, and inputs all of which have ended already.
#[test]
fn zm_4_combinations_of_one_and_of_ended_ones() {
    let a = Cell::new(1);
    let one = merge_vec([a.clone()]);
    let log = Log::new();
    let _guard = log.hear(&one);
    a.set(2);
    a.complete();
    log.check(&ended(&[Some(1), Some(2)]));
    let late = Log::new();
    let b = a.clone();
    let all = (a.zip(&b), a.merge(&b), a.concat(&b));
    let _late = (late.hear(&all.1), late.hear(&all.2));
    late.check(&[ended(&[2]), ended(&[2])].concat());
    assert!(all.0.is_complete() && zip_vec([a, b]).is_complete());
}

/// Complete came never, or twice.
#[test]
fn zm_5_merge_ends_once_after_its_last_input() {
    for first in 0..2 {
        let cells = [Cell::new(7), Cell::new(0)];
        let m = cells[0].merge(&cells[1]);
        let log = Log::new();
        let _guard = log.hear(&m);
        cells[first].complete();
        assert!(!m.is_complete());
        cells[1 - first].set(1);
        cells[1 - first].complete();
        log.check(&ended(&[0, 1]));
    }
}

/// Several inputs changed in one wave: one emit each, in the order of arrival, and the end after all of them.
#[test]
fn zm_5_merge_keeps_the_order_of_arrival() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let m = a.merge(&b);
    let log = Log::new();
    let _guard = log.hear(&m);
    batch(|| {
        b.set(1);
        a.set(2);
    });
    batch(|| {
        a.set(3);
        b.set(4);
    });
    batch(|| {
        b.set(5);
        b.complete();
        a.set(6);
        a.complete();
    });
    log.check(&ended(&[0, 1, 2, 3, 4, 5, 6]));
}

/// What lies between the inputs and the merge keeps no order of arrival: then it is that of the arguments.
#[test]
fn zm_5_merge_of_derived_cells_goes_by_arguments() {
    use hyphae::Pipeline;
    let a = Cell::new(1);
    let (ten, hundred) = ((&a).map(|v| v * 10).materialize(), (&a).map(|v| v * 100).materialize());
    let (m, reversed) = (ten.merge(&hundred), hundred.merge(&ten));
    let (log, back) = (Log::new(), Log::new());
    let _guards = (log.on(&m), back.on(&reversed));
    [2, 3].into_iter().for_each(|v| a.set(v));
    log.check(&[100, 20, 200, 30, 300]);
    back.check(&[10, 200, 20, 300, 30]);
}

/// With a limit, buffered inners were never run, or the whole never ended.
#[test]
fn zm_5_merge_map_with_a_limit_runs_all_its_inners() {
    let source = Source::new();
    let inners: Vec<_> = (0..5).map(Cell::new).collect();
    let started = Log::new();
    let m = source.clone().merge_map_limit(
        2,
        owning!([inners, started] move |i: &usize| {
            started.push(*i);
            inners[*i].clone()
        }),
    );
    let log = Log::new();
    let _guard = log.hear(&m);
    let linked = || inners.iter().filter(|inner| inner.dependents() > 0).count();
    (0..5).for_each(|i| source.emit(i));
    source.complete();
    assert_eq!(linked(), 2);
    for (i, inner) in inners.iter().enumerate() {
        assert!(!m.is_complete());
        inner.set(inner.get() * 10);
        inner.complete();
        assert_eq!((linked(), inner.dependents()), ((4 - i).min(2), 0));
    }
    started.check(&[0, 1, 2, 3, 4]);
    let values = [0, 1, 0, 2, 10, 3, 20, 4, 30, 40].map(Some);
    let expected: Vec<_> = [None].into_iter().chain(values).collect();
    log.check(&ended(&expected));
}

/// The same in another order, with inners that end before they start, two at a time, and all in one batch.
#[test]
fn zm_5_merge_map_with_a_limit_ends_once_in_any_order() {
    let source = Source::new();
    let inners: Vec<_> = (0..8).map(Cell::new).collect();
    let m =
        source.clone().merge_map_limit(2, owning!([inners] move |i: &usize| inners[*i].clone()));
    let log = Log::new();
    let _guard = log.hear(&m);
    let linked = || inners.iter().filter(|inner| inner.dependents() > 0).count();
    batch(|| (0..8).for_each(|i| source.emit(i)));
    assert_eq!(linked(), 2);
    inners[3].complete();
    inners[1].complete();
    assert_eq!(linked(), 2);
    batch(|| [2, 0].into_iter().for_each(|i: usize| inners[i].complete()));
    assert_eq!(linked(), 2);
    batch(|| inners.iter().for_each(Cell::complete));
    assert_eq!(linked(), 0);
    assert!(!m.is_complete(), "the outer goes on");
    source.complete();
    let expected: Vec<_> = [None].into_iter().chain((0..8).map(Some)).collect();
    log.check(&ended(&expected));
}

/// Without a limit every inner starts at once, and the end comes after the last of all.
#[test]
fn zm_5_merge_map_ends_after_outer_and_inners() {
    for outer_first in [true, false] {
        let (outer, inners) = (Cell::new(0_usize), [Cell::new(1), Cell::new(2)]);
        let m = outer.merge_map(owning!([inners] move |i| inners[*i].clone()));
        let log = Log::new();
        let _guard = log.hear(&m);
        outer.set(1);
        let ends: [&dyn Fn(); 3] =
            [&|| outer.complete(), &|| inners[1].complete(), &|| inners[0].complete()];
        let order = if outer_first { [0, 1, 2] } else { [2, 1, 0] };
        for end in order {
            assert!(!m.is_complete());
            ends[end]();
        }
        log.check(&ended(&[1, 2]));
    }
}

/// The second starts where the first ends, without its current value, and what the first wrote last comes before.
#[test]
fn zm_5_concat_ends_with_its_second() {
    let (a, b) = (Cell::new(1), Cell::new(100));
    let c = a.concat(&b);
    let log = Log::new();
    let _guard = log.hear(&c);
    b.set(200);
    batch(|| {
        a.set(2);
        a.complete();
    });
    b.set(300);
    b.complete();
    log.check(&ended(&[1, 2, 300]));
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
}

/// The second ended long before the first: nothing is left to wait for.
#[test]
fn zm_5_concat_with_a_second_that_ended_first() {
    let (a, b) = (Cell::new(1), Cell::new(100));
    let c = a.concat(&b);
    let log = Log::new();
    let _guard = log.hear(&c);
    b.complete();
    assert!(!c.is_complete());
    a.set(2);
    a.complete();
    log.check(&ended(&[1, 2]));
}

/// The end of the notifier is not a notification, its current value neither; the first change ends.
#[test]
fn zm_5_take_until_ends_with_a_change_of_its_notifier() {
    let (a, quiet, stop) = (Cell::new(1), Cell::new(()), Cell::new(()));
    let (goes_on, stops) = (a.take_until(&quiet), a.take_until(&stop));
    let (first, second) = (Log::new(), Log::new());
    let _guards = (first.hear(&goes_on), second.hear(&stops));
    quiet.complete();
    a.set(2);
    stop.set(());
    a.set(3);
    first.check(&[1, 2, 3].map(Heard::Value));
    second.check(&ended(&[1, 2]));
    assert_eq!((a.dependents(), stop.dependents()), (1, 0));
}
