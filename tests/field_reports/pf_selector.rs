//! PF-5: a selection wakes the two rows whose answer flips, whatever the number of rows. Work is counted.

use std::rc::Rc;

use hyphae::{Cell, Pipeline, SubscriptionGuard, arena, batch, selector};

use crate::support::{Count, Heard, Log, Slot, live, owning, turns};

/// Calls and turns of each of `writes`, with a subscriber on each of `n` rows.
fn select(n: usize, writes: &[usize]) -> Vec<(usize, u64)> {
    let (sel, calls, runs) = (Cell::new(0), Count::new(), Count::new());
    let chosen = selector(&sel);
    let rows: Vec<_> = (0..n)
        .map(|i| {
            let row = chosen.is(i).map(runs.of(|is: &bool| *is)).materialize();
            let guard = row.watch(owning!([calls] move |_| calls.up()));
            (row, guard)
        })
        .collect();
    assert_eq!((calls.get(), runs.get()), (n, n));
    let costs = writes
        .iter()
        .map(|&key| {
            let (called, ran) = (calls.get(), runs.get());
            let turns = turns(|| sel.set(key));
            assert_eq!(calls.get() - called, runs.get() - ran);
            (0..n).for_each(|i| assert_eq!(rows[i].0.get(), i == key));
            (calls.get() - called, turns)
        })
        .collect();
    drop((rows, chosen));
    assert_eq!((arena::totals().cells, arena::totals().edges), (1, 0));
    costs
}

/// Each row tested `selected == id`: all were woken by each change.
#[test]
fn pf_5_two_rows_are_woken_whatever_their_number() {
    let few = select(1000, &[1, 500, 500, 0]);
    let many = select(10_000, &[1, 5000, 5000, 0]);
    let calls: Vec<_> = few.iter().map(|(calls, _)| *calls).collect();
    assert_eq!(calls, [2, 2, 0, 2]);
    assert_eq!(few, many, "turns are as many, too");
}

/// Keys without rows: the selection comes from nowhere, goes nowhere, and wakes one row, or none.
#[test]
fn pf_5_keys_without_rows_wake_nobody() {
    let sel = Cell::new(-1);
    let chosen = selector(&sel);
    let log = Log::new();
    let _guards: Vec<_> = (0..3)
        .map(|i| chosen.is(i).watch_changes(owning!([log] move |is| log.push((i, *is)))))
        .collect();
    [-2, 0, 7, 8, 2, 1].into_iter().for_each(|key| sel.set(key));
    let flips = [(0, true), (0, false), (2, true)];
    assert_eq!(log.take()[..3], flips);
    sel.set(1);
    assert_eq!(log.len(), 0);
}

/// Old and new answer are one wave: nobody sees two rows chosen, or none.
#[test]
fn pf_5_both_flips_are_one_wave() {
    let sel = Cell::new(0);
    let chosen = selector(&sel);
    let rows: Vec<_> = (0..3).map(|i| chosen.is(i)).collect();
    let sum = hyphae::join_vec(rows.iter().cloned());
    let log = Log::new();
    let _guard = log.on(&sum.map(|all| all.iter().filter(|is| **is).count()).materialize());
    let _reads: Vec<_> = rows
        .iter()
        .map(|row| {
            let (all, log) = (rows.clone(), log.clone());
            row.watch_changes(move |_| log.push(all.iter().filter(|row| row.get()).count()))
        })
        .collect();
    [1, 2, 0].into_iter().for_each(|key| sel.set(key));
    batch(|| [2, 1, 0, 1].into_iter().for_each(|key| sel.set(key)));
    assert!(log.take().into_iter().all(|chosen| chosen == 1));
}

/// Set and set back in a batch is no flip; a read in between sees the answer of that moment.
#[test]
fn pf_5_a_batch_compares_once() {
    let sel = Cell::new(0);
    let chosen = selector(&sel);
    let (zero, one) = (chosen.is(0), chosen.is(1));
    let (on_zero, on_one) = (Log::new(), Log::new());
    let _guards = (on_zero.on(&zero), on_one.on(&one));
    batch(|| {
        sel.set(1);
        sel.set(0);
    });
    on_zero.check(&[true]);
    on_one.check(&[false]);
    batch(|| {
        sel.set(1);
        assert_eq!((zero.get(), one.get()), (false, true));
    });
    on_zero.check(&[true, false]);
    on_one.check(&[false, true]);
}

/// Per-key entries stayed when their rows were gone: keys count their owners.
#[test]
fn pf_5_entries_of_keys_go_with_their_rows() {
    let keys: Vec<Rc<str>> = (0..1000).map(|i| Rc::from(format!("row {i}"))).collect();
    let sel = Cell::new(keys[0].clone());
    let chosen = selector(&sel);
    let rows = |n: usize| -> Vec<SubscriptionGuard> {
        keys[..n].iter().map(|key| chosen.is(key.clone()).watch(|_| ())).collect()
    };
    drop(rows(1000));
    sel.set(keys[1].clone());
    let (before, cells) = (live(), arena::totals().cells);
    let owners = || keys[2..].iter().map(Rc::strong_count).sum::<usize>();
    assert_eq!(owners(), 998, "the list of the test alone holds them");
    for _ in 0..20 {
        let guards = rows(1000);
        sel.set(keys[500].clone());
        sel.set(keys[1].clone());
        drop(guards);
        assert_eq!((live(), owners()), (before, 998));
    }
    drop(chosen);
    assert!(arena::totals().cells <= cells);
    drop(sel);
    arena::assert_no_live();
}

/// Two rows of one key, one of which goes; and a row made while the selection is on it, or in the wave that moves it.
#[test]
fn pf_5_rows_of_one_key_come_and_go() {
    let sel = Cell::new(1);
    let chosen = Rc::new(selector(&sel));
    let (first, second) = (chosen.is(1), chosen.is(1));
    let (log, late) = (Log::new(), Log::new());
    let _guards = (log.on(&first), log.on(&second));
    drop(first);
    let made = Slot::new();
    let _makes = sel.watch_changes(owning!([chosen, late, made] move |key| {
        if *key == 2 && made.is_empty() {
            made.put((late.on(&chosen.is(2)), late.on(&chosen.is(1))));
        }
    }));
    sel.set(2);
    log.check(&[true, true, false, false]);
    late.check(&[true, false]);
    sel.set(1);
    log.check(&[true, true, false, false, true, true]);
    assert_eq!(late.take()[2..].iter().filter(|is| **is).count(), 1);
    drop(second);
}

/// The selector handle may go, the rows keep what they need; the end of the selection is theirs too.
#[test]
fn pf_5_rows_outlive_the_selector_handle_and_end_with_the_cell() {
    let sel = Cell::new(0);
    let row = selector(&sel).is(1);
    let log = Log::new();
    let guard = log.hear(&row);
    sel.set(1);
    sel.complete();
    log.check(&[Heard::Value(false), Heard::Value(true), Heard::Complete]);
    drop((row, guard, sel));
    arena::assert_no_live();
}
