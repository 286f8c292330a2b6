//! `selector`: only the two keys whose answer flips are woken; the table of keys; keys with code of their own.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use hyphae::{Cell, CellImmutable, Pipeline, Selector, arena, batch, join_vec, selector};

use crate::support::{Count, Heard, Log, caught};

/// The keys 0 to `n`, each with a closure that is counted.
fn rows(n: usize, of: &Selector<usize>) -> (Count, Vec<Cell<bool, CellImmutable>>) {
    let runs = Count::new();
    let row = |key| of.is(key).map(runs.of(|is: &bool| *is)).materialize();
    let rows = (0..n).map(row).collect();
    (runs, rows)
}

#[test]
fn two_of_ten_thousand_are_woken() {
    let selected = Cell::new(0);
    let selector = selector(&selected);
    let (runs, rows) = rows(10_000, &selector);
    let before = arena::totals().recomputations;
    for key in [5, 9_999, 20_000, 3] {
        selected.set(key);
        assert!(rows.iter().enumerate().all(|(row, is)| is.get() == (row == key)));
    }
    // To 5 and on to 9 999: two rows; to a key that nobody asked for and on to 3: one row.
    assert_eq!(runs.get() - 10_000, 2 + 2 + 1 + 1);
    // Each change is a turn of the selector and, for each row that flips, one of its answer and one of the map.
    assert_eq!(arena::totals().recomputations - before, 4 + 2 * 6);
}

#[test]
fn an_equal_value_and_there_and_back_wake_nobody() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let (runs, rows) = rows(3, &selector);
    let turns = arena::totals().recomputations;
    selected.set(1);
    batch(|| {
        selected.set(2);
        selected.set(1);
    });
    assert_eq!((runs.get(), rows[1].get()), (3, true));
    assert_eq!(arena::totals().recomputations - turns, 2, "those of the selector itself");
}

#[test]
fn a_read_in_a_batch_wakes_on_the_way() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let keys = [selector.is(1), selector.is(2)];
    let log = Log::new();
    let _guards = keys.each_ref().map(|key| log.on(key));
    batch(|| {
        selected.set(2);
        assert_eq!((keys[1].get(), keys[0].get()), (true, false));
        selected.set(3);
        assert_eq!((keys[1].get(), keys[0].get()), (false, false));
        log.check(&[true, false]);
    });
    let mut heard = log.take();
    assert_eq!(heard.split_off(2), [false, false]);
}

#[test]
fn who_asks_for_one_key_shares_a_cell() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    assert!(selector.is_empty());
    let (one, again, other) = (selector.is(1), selector.clone().is(1), selector.is(2));
    assert_eq!((one.cell_id(), selector.len()), (again.cell_id(), 2));
    assert_ne!(one.cell_id(), other.cell_id());
    drop(one);
    assert_eq!(selector.len(), 2);
    drop((again, other));
    assert!(selector.is_empty());
    selected.set(2);
    assert!(selector.is(2).get() && !selector.is(1).get());
}

/// A key is asked for, dropped and asked for again, while it is selected and while it is not.
#[test]
fn keys_come_and_go() {
    let selected = Cell::new(0);
    let selector = selector(&selected);
    let cells = arena::totals().cells;
    for round in 0..20 {
        let rows: Vec<_> = (0..4).map(|key| selector.is(key)).collect();
        selected.set(round % 5);
        assert!((0..4).all(|key| rows[key].get() == (key == round % 5)));
        drop(rows);
        selected.set((round + 2) % 5);
    }
    assert_eq!(arena::totals().cells, cells);
    assert!(selector.is_empty());
}

/// One is true and the other false in every wave: an answer is never seen without its counterpart.
#[test]
fn answers_are_consistent() {
    let selected = Cell::new(0);
    let selector = selector(&selected);
    let all = join_vec((0..5).map(|key| selector.is(key)));
    let log = Log::new();
    let _guard = log.on(&all.join(&selected));
    [3, 3, 1, 7, 4].into_iter().for_each(|key| selected.set(key));
    let heard = log.take();
    assert_eq!(heard.len(), 6, "one each, since the selecting cell is beside");
    for (answers, key) in heard {
        assert!((0..5).all(|row| answers[row] == (row == key)), "{answers:?} at {key}");
    }
}

#[test]
fn keys_of_a_derived_cell() {
    let (n, size) = (Cell::new(7), Cell::new(5));
    let bucket = n.join(&size).map(|(n, size)| format!("{}", n / size)).materialize();
    let selector = selector(&bucket);
    let (runs, first) = (Count::new(), selector.is("1".to_owned()));
    let counted = first.map(runs.of(|is: &bool| *is)).materialize();
    (5..10).for_each(|v| n.set(v));
    assert_eq!((counted.get(), runs.get()), (true, 1));
    batch(|| {
        n.set(20);
        size.set(20);
    });
    assert_eq!((counted.get(), runs.get()), (true, 1));
    n.set(0);
    assert_eq!((counted.get(), runs.get()), (false, 2));
}

/// The answers live without the selector and without the selecting cell's handle.
#[test]
fn an_answer_keeps_what_it_needs() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let is = selector.is(2);
    drop(selector);
    selected.set(2);
    assert!(is.get());
    let weak = selected.downgrade();
    drop(selected);
    assert!(weak.is_alive() && is.get());
    drop(is);
    assert!(!weak.is_alive());
    arena::assert_no_live();
}

#[test]
fn all_answers_end_with_the_selecting_cell() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let keys = [1, 2, 3].map(|key| selector.is(key));
    let log = Log::new();
    let _guards = keys.each_ref().map(|key| log.hear(key));
    selected.set(4); // 2 and 3 rest
    log.take();
    selected.complete();
    log.check(&[Heard::<bool>::Complete, Heard::Complete, Heard::Complete]);
    let late = selector.is(4);
    assert!(late.get() && late.is_complete());
    assert_eq!(selected.dependents(), 0);
}

#[test]
fn the_last_flip_comes_with_the_end() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let keys = [1, 2, 3].map(|key| selector.is(key));
    let logs = [Log::new(), Log::new(), Log::new()];
    let _guards: Vec<_> = keys.iter().zip(&logs).map(|(key, log)| log.hear(key)).collect();
    batch(|| {
        selected.set(2);
        selected.fail("gone");
    });
    let end = || Heard::Error("gone".to_owned());
    logs[0].check(&[Heard::Value(true), Heard::Value(false), end()]);
    logs[1].check(&[Heard::Value(false), Heard::Value(true), end()]);
    logs[2].check(&[Heard::Value(false), end()]);
}

#[test]
fn a_selecting_cell_that_is_disposed_of() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let is = selector.is(1);
    selected.dispose();
    assert!(is.get() && is.is_complete());
    assert!(selector.is(1).get() && !selector.is(2).get());
}

#[test]
fn a_key_is_asked_for_in_a_batch_and_in_callbacks() {
    let selected = Cell::new(1);
    let selector = selector(&selected);
    let is = batch(|| {
        selected.set(2);
        let is = selector.is(2);
        assert!(is.get());
        selected.set(3);
        is
    });
    assert!(!is.get());
    let made = Log::new();
    let _guard = selected.watch({
        let (selector, made) = (selector.clone(), made.clone());
        move |key| made.push((*key, selector.is(*key)))
    });
    selected.set(2);
    selected.set(7);
    let made = made.take();
    let answers: Vec<(i32, bool)> = made.iter().map(|(key, is)| (*key, is.get())).collect();
    assert_eq!(answers, [(3, false), (2, false), (7, true)]);
}

/// A key that is asked for inside of a computed cell is no different from another.
#[test]
fn a_computed_cell_asks_for_its_key() {
    let (selected, key) = (Cell::new(1), Cell::new(1));
    let selector = selector(&selected);
    let runs = Count::new();
    let is = Cell::computed({
        let (selector, key, runs) = (selector.clone(), key.clone(), runs.clone());
        move || {
            runs.up();
            selector.is(key.get()).get()
        }
    });
    selected.set(2);
    assert_eq!((is.get(), runs.get()), (false, 2));
    selected.set(3);
    assert_eq!((is.get(), runs.get()), (false, 2));
    key.set(3);
    assert_eq!((is.get(), runs.get(), selector.len()), (true, 3, 1));
}

/// A key whose code calls the selector it is a key of.
#[derive(Clone, PartialEq, Eq)]
struct Nosy(u32);

thread_local! {
    static ASKED: RefCell<Option<Selector<Nosy>>> = const { RefCell::new(None) };
}

impl Hash for Nosy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let asked = ASKED.with_borrow_mut(Option::take);
        if let Some(selector) = asked {
            let _ = selector.is(Nosy(self.0 + 1));
        }
        self.0.hash(state);
    }
}

#[test]
fn a_key_that_calls_its_selector_is_an_error() {
    let selected = Cell::new(Nosy(1));
    let selector = selector(&selected);
    let one = selector.is(Nosy(1));
    let told = |text: Option<String>| text.is_some_and(|text| text.contains("Hash or Eq of a key"));
    ASKED.set(Some(selector.clone()));
    assert!(told(caught(|| selector.is(Nosy(5)))));
    ASKED.set(Some(selector.clone()));
    assert!(told(caught(|| selected.set(Nosy(2)))));
    // It stays usable, and recovers at the next change at the latest.
    selected.set(Nosy(3));
    assert_eq!((one.get(), selector.is(Nosy(3)).get()), (false, true));
    drop((one, selector, selected));
    arena::assert_no_live();
}
