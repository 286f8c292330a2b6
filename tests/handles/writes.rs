//! Writes and reads of one cell: set, set_if_changed, replace, update, modify, cut-offs, ends (rules C4, C5, C6, C8).

use hyphae::{Cell, Error, Pipeline, Signal, batch, same_float};

use crate::support::{Count, Heard, Log};

#[test]
fn subscribing_delivers_at_once_and_then_each_write() {
    let cell = Cell::new(42);
    let logs: [Log<i32>; 10] = std::array::from_fn(|_| Log::new());
    let guards: Vec<_> = logs.iter().map(|log| log.on(&cell)).collect();
    assert!(logs.iter().all(|log| log.len() == 1));
    cell.set(99);
    logs.iter().for_each(|log| log.check(&[42, 99]));
    drop(guards);
    cell.set(1);
    logs.iter().for_each(|log| log.check(&[42, 99]));
}

#[test]
fn dropping_one_guard_leaves_the_others() {
    let cell = Cell::new(0);
    let (a, b) = (Log::new(), Log::new());
    let (guard, _other) = (a.on(&cell), b.on(&cell));
    cell.set(1);
    drop(guard);
    cell.set(2);
    a.check(&[0, 1]);
    b.check(&[0, 1, 2]);
}

#[test]
fn set_notifies_also_of_an_equal_value() {
    let cell = Cell::new(1);
    let log = Log::new();
    let _guard = log.on(&(&cell).map(|v| v * 2).materialize());
    cell.set(1);
    cell.set(1);
    log.check(&[2, 2, 2]);
}

#[test]
fn set_if_changed_compares_when_it_is_applied() {
    let (cell, trigger) = (Cell::new(1), Cell::new(0));
    let log = Log::new();
    let _guard = log.on(&cell);
    cell.set_if_changed(1);
    cell.set_if_changed(2);
    let _writer = trigger.subscribe_changes({
        let cell = cell.clone();
        move |_| {
            cell.set(3);
            cell.set_if_changed(2); // 2 is current now, 3 is when this is applied
            cell.set_if_changed(2);
        }
    });
    trigger.set(1);
    log.check(&[1, 2, 3, 2]);
}

#[test]
fn subscribing_to_changes_alone() {
    let cell = Cell::new(1);
    let (signals, values) = (Log::new(), Log::new());
    let _signals = cell.subscribe_changes({
        let log = signals.clone();
        move |signal: &Signal<'_, i32>| log.push(Heard::of(signal))
    });
    let _values = cell.watch_changes({
        let log = values.clone();
        move |v: &i32| log.push(*v)
    });
    cell.set(2);
    cell.complete();
    signals.check(&[Heard::Value(2), Heard::Complete]);
    values.check(&[2]);
    // One who comes after the end hears nothing of it.
    let _late = cell.subscribe_changes(|_| panic!("nothing is to come"));
}

#[test]
fn a_late_subscriber_gets_the_value_and_the_end() {
    let (done, failed) = (Cell::new(1), Cell::new(2));
    done.complete();
    failed.fail("boom");
    let log = Log::new();
    let _guards = (log.hear(&done), log.hear(&failed));
    let boom = Heard::Error("boom".to_owned());
    log.check(&[Heard::Value(1), Heard::Complete, Heard::Value(2), boom]);
}

#[test]
fn a_fallible_subscriber_goes_on_after_an_error() {
    let cell = Cell::new(1);
    let runs = Count::new();
    let _guard = cell.subscribe_result({
        let runs = runs.clone();
        move |signal| {
            runs.up();
            if signal.is_value() { Err("refused".to_owned()) } else { Ok(()) }
        }
    });
    cell.set(2);
    cell.complete();
    assert_eq!(runs.get(), 3);
}

#[test]
fn with_lends_and_get_clones() {
    let cell = Cell::new(vec![1, 2]);
    assert_eq!(cell.with(Vec::len), 2);
    assert_eq!(cell.try_with(|v| v[0]), Ok(1));
    assert_eq!((cell.get(), cell.try_get()), (vec![1, 2], Ok(vec![1, 2])));
    cell.complete();
    assert_eq!(cell.get(), [1, 2]);
    let failed = Cell::new(1);
    failed.fail("boom");
    assert_eq!((failed.get(), failed.with(|v| *v)), (1, 1));
}

/// A write made in the closure of `with` settles when it has returned; the value lent stays as it is.
#[test]
fn writing_while_a_value_is_lent() {
    let cell = Cell::new(1);
    let seen = cell.with(|v| {
        cell.set(2);
        (*v, cell.get())
    });
    assert_eq!((seen, cell.get()), ((1, 1), 2));
}

#[test]
fn replace_gives_the_former_value() {
    let (cell, trigger) = (Cell::new(1), Cell::new(0));
    assert_eq!((cell.replace(2), cell.get()), (1, 2));
    let former = Log::new();
    let _guard = trigger.subscribe_changes({
        let (cell, former) = (cell.clone(), former.clone());
        move |_| {
            former.push(cell.replace(3));
            former.push(cell.replace(4)); // where writes wait: the last that was queued
        }
    });
    trigger.set(1);
    former.check(&[2, 3]);
    assert_eq!(batch(|| (cell.replace(5), cell.replace(6))), (4, 5));
    cell.complete();
    assert_eq!((cell.replace(7), cell.get()), (6, 6));
}

#[test]
fn updates_add_up_wherever_they_are_made() {
    let (cell, trigger) = (Cell::new(0), Cell::new(0));
    let log = Log::new();
    let _guard = log.on(&cell);
    cell.update(|v| *v += 1);
    batch(|| {
        cell.update(|v| *v += 10);
        cell.update(|v| *v += 10);
    });
    let _writer = trigger.subscribe_changes({
        let cell = cell.clone();
        move |_| {
            cell.update(|v| *v += 100);
            cell.update(|v| *v += 100);
            assert_eq!(cell.get(), 21);
        }
    });
    trigger.set(1);
    log.check(&[0, 1, 21, 121, 221]);
    assert_eq!(cell.try_update(|v| *v = 0), Ok(()));
    assert_eq!(cell.get(), 0);
}

#[test]
fn updates_work_on_what_was_queued_before() {
    let (cell, trigger) = (Cell::new(1), Cell::new(0));
    let log = Log::new();
    let _guard = log.on(&cell);
    let _writer = trigger.subscribe_changes({
        let cell = cell.clone();
        move |_| {
            cell.set(10);
            cell.modify(|v| *v += 5);
            cell.update(|v| *v *= 2);
        }
    });
    trigger.set(1);
    log.check(&[1, 10, 15, 30]);
}

#[test]
fn update_on_an_ended_cell_does_not_run() {
    let cell = Cell::new(1);
    cell.complete();
    cell.update(|_| panic!("it has ended"));
    cell.modify(|_| panic!("it has ended"));
    assert_eq!((cell.try_update(|_| ()), cell.get()), (Ok(()), 1));
}

/// In a batch the closure of `update` runs at once, and reads see it.
#[test]
fn update_in_a_batch_is_seen_at_once() {
    let cell = Cell::new(1);
    let doubled = (&cell).map(|v| v * 2).materialize();
    batch(|| {
        cell.update(|v| *v += 1);
        assert_eq!((cell.get(), doubled.get()), (2, 4));
        cell.modify(|v| *v += 1);
        assert_eq!((cell.get(), doubled.get()), (3, 6));
    });
}

#[test]
fn modify_needs_no_clone() {
    struct Plain(Vec<i32>);
    let (cell, trigger) = (Cell::new(Plain(vec![1])), Cell::new(0));
    let sums = (&cell).map(|p| p.0.iter().sum::<i32>()).materialize();
    let log = Log::new();
    let _guard = log.on(&sums);
    cell.modify(|p| p.0.push(2));
    let _writer = trigger.subscribe_changes({
        let cell = cell.clone();
        move |_| {
            cell.modify(|p| p.0.push(3));
            cell.modify(|p| p.0.push(4));
            assert_eq!(cell.with(|p| p.0.len()), 2);
        }
    });
    trigger.set(1);
    log.check(&[1, 3, 6, 10]);
}

#[test]
fn a_cut_off_takes_equal_writes_for_no_change() {
    let cell = Cell::with_cutoff(1, |a, b| a == b);
    let runs = Count::new();
    let doubled = (&cell).map(runs.of(|v: &i32| v * 2)).materialize();
    let log = Log::new();
    let _guard = log.on(&cell);
    for v in [1, 1, 2, 2, 1] {
        cell.set(v);
    }
    log.check(&[1, 2, 1]);
    assert_eq!((runs.get(), doubled.get()), (3, 2));
    cell.update(|v| *v += 0);
    assert_eq!(log.len(), 3);
    cell.update(|v| *v += 1);
    cell.modify(|_| ()); // always a change
    cell.set_if_changed(2);
    log.check(&[1, 2, 1, 2, 2]);
}

/// A write that is no change leaves the old value in place.
#[test]
fn a_cut_off_keeps_the_old_value() {
    let cell = Cell::with_cutoff((1, 'a'), |a, b| a.0 == b.0);
    cell.set((1, 'b'));
    assert_eq!(cell.get(), (1, 'a'));
    cell.set((2, 'c'));
    assert_eq!(cell.get(), (2, 'c'));
}

/// In a batch the comparison is made once, with the value before the batch (P8), or at a read of what is computed (P4).
#[test]
fn a_cut_off_compares_once_a_batch() {
    let compared = Count::new();
    let cell = Cell::with_cutoff(1, {
        let compared = compared.clone();
        move |a: &i32, b: &i32| {
            compared.up();
            a == b
        }
    });
    let log = Log::new();
    let _guard = log.on(&cell);
    batch(|| [5, 6, 1].into_iter().for_each(|v| cell.set(v)));
    assert_eq!((log.len(), compared.get()), (1, 1));
    batch(|| [1, 6].into_iter().for_each(|v| cell.set(v)));
    log.check(&[1, 6]);
    assert_eq!(compared.get(), 2);
}

#[test]
fn floats_that_are_nan_on_both_sides_are_the_same() {
    assert!(
        same_float(&f64::NAN, &f64::NAN) && same_float(&0.0, &-0.0) && same_float(&1.5_f32, &1.5)
    );
    assert!(
        !same_float(&f64::NAN, &1.0) && !same_float(&1.0, &f64::NAN) && !same_float(&1.0, &2.0)
    );
    let cell = Cell::with_cutoff(f64::NAN, same_float);
    let count = Count::new();
    let _guard = cell.watch({
        let count = count.clone();
        move |_| count.up()
    });
    cell.set(f64::NAN);
    cell.set(1.0);
    cell.set(f64::NAN);
    assert_eq!(count.get(), 3);
}

#[test]
fn ends_are_one_shot() {
    let cell = Cell::new(1);
    let log = Log::new();
    let _guard = log.hear(&cell);
    cell.complete();
    cell.complete();
    cell.fail("late");
    cell.set(2);
    log.check(&[Heard::Value(1), Heard::Complete]);
    assert!(cell.is_complete() && !cell.is_error() && cell.error().is_none());
    assert_eq!(cell.get(), 1);
    assert!(
        matches!(cell.try_set(3), Err(Error::Ended(info)) if info.id() == Some(cell.cell_id()))
    );
    let cell = Cell::new(1);
    cell.fail("first");
    cell.fail("second");
    cell.complete();
    assert!(!cell.is_complete() && cell.is_error());
    assert_eq!(cell.error().map(|e| e.to_string()).as_deref(), Some("first"));
}

/// Whether a cell has ended is decided when a write is applied, not when it is queued.
#[test]
fn writes_before_the_end_count_and_later_ones_do_not() {
    let (cell, trigger) = (Cell::new(1), Cell::new(0));
    let log = Log::new();
    let _guard = log.hear(&cell);
    batch(|| {
        cell.set(2);
        cell.complete();
        cell.set(3);
    });
    log.check(&[Heard::Value(1), Heard::Value(2), Heard::Complete]);
    let (cell, log) = (Cell::new(1), Log::new());
    let _guard = log.hear(&cell);
    let _writer = trigger.subscribe_changes({
        let cell = cell.clone();
        move |_| {
            cell.set(2);
            cell.fail("boom");
            cell.set(3);
            assert_eq!(cell.try_set(4), Ok(())); // it has not ended yet
        }
    });
    trigger.set(1);
    log.check(&[Heard::Value(1), Heard::Value(2), Heard::Error("boom".to_owned())]);
}

/// A derived cell that ended has let go of its inputs before its subscribers hear of it.
#[test]
fn an_ended_cell_has_let_go_before_anybody_hears() {
    let cell = Cell::new(1);
    let derived = (&cell).take(2).materialize();
    let log = Log::new();
    let _guard = derived.subscribe_changes({
        let (cell, log) = (cell.clone(), log.clone());
        move |_| log.push(cell.dependents())
    });
    cell.set(2);
    log.check(&[0, 0]);
}
