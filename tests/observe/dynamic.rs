//! Counters where the graph changes: switches, tracked reads, cycles that are refused.

use hyphae::{Cell, CellImmutable, Pipeline, WeakCell, batch, effect, hot_traced_cells, selector};

use crate::support::{Slot, caught};
use crate::tools::{counts, counts_in, notifies, trace, traces};

#[test]
fn a_switch_counts_what_it_follows() {
    let (which, x, y) = (Cell::new(true), Cell::new(1), Cell::new(2));
    let shown = which.switch_map({
        let (x, y) = (x.clone(), y.clone());
        move |which| if *which { x.clone() } else { y.clone() }
    });
    let _guard = shown.watch(|_| ());
    let dependents = || (trace(&x).subscriber_count, trace(&y).subscriber_count);
    assert_eq!((counts(&shown), dependents()), ((0, 0, 0), (1, 0)));
    x.set(5);
    y.set(6);
    assert_eq!(counts(&shown), (1, 1, 0), "the old inner");
    which.set(false);
    assert_eq!((counts(&shown), dependents()), ((2, 2, 0), (0, 1)));
    x.set(7);
    y.set(8);
    assert_eq!((counts(&shown), counts(&x), counts(&y)), ((3, 3, 0), (2, 0, 0), (2, 0, 0)));
    batch(|| {
        which.set(true);
        x.set(9);
        y.set(9);
    });
    assert_eq!(
        (counts(&shown), dependents()),
        ((4, 4, 0), (1, 0)),
        "one emit for switch and value"
    );
}

/// A switch is two cells: the one that chooses (hidden, of the operator's name) and the one that shows.
#[test]
fn both_cells_of_a_switch_are_listed_and_start_at_nothing() {
    let which = Cell::new(0);
    let shown = which.switch_map(|v| Cell::new(*v));
    let listed = || -> Vec<u64> {
        let hot = hot_traced_cells();
        hot.iter()
            .filter(|cell| cell.operator == "switch_map")
            .map(|cell| cell.notify_count)
            .collect()
    };
    assert_eq!(listed(), [0, 0], "construction is no notify");
    which.set(1);
    assert_eq!(listed(), [1, 1]);
    drop(shown);
    assert_eq!(listed(), [0; 0]);
}

#[test]
fn the_cells_of_a_merge_map() {
    let outer = Cell::new(0_usize);
    let inners: Vec<Cell<i32>> = (0..3).map(Cell::new).collect();
    let merged = outer.merge_map({
        let inners = inners.clone();
        move |i| inners[*i].clone()
    });
    let _guard = merged.watch(|_| ());
    outer.set(1);
    assert_eq!(counts(&merged), (1, 1, 0));
    batch(|| {
        inners[0].set(5);
        inners[1].set(6);
        inners[2].set(7);
    });
    assert_eq!(counts(&merged), (3, 3, 0), "one for each inner that it follows");
    assert_eq!(inners.iter().map(|inner| trace(inner).subscriber_count).sum::<usize>(), 2);
}

#[test]
fn tracked_reads_come_and_go() {
    let (which, a, b) = (Cell::new(true), Cell::new(1), Cell::new(2));
    let read = Cell::computed({
        let (which, a, b) = (which.clone(), a.clone(), b.clone());
        move || if which.get() { a.get() } else { b.get() }
    });
    let parity = Cell::computed_with_cutoff(
        {
            let read = read.clone();
            move || read.get() % 2
        },
        i32::eq,
    );
    b.set(4);
    a.set(3);
    assert_eq!((counts(&read), counts(&parity)), ((1, 0, 0), (0, 0, 1)));
    which.set(false);
    a.set(9);
    assert_eq!((counts(&read), counts(&parity)), ((2, 0, 0), (1, 0, 1)));
    b.set(6);
    assert_eq!((counts(&read), counts(&parity)), ((3, 0, 0), (1, 0, 2)));
    let subscribers = [trace(&a), trace(&b)].map(|cell| cell.subscriber_count);
    assert_eq!((subscribers, trace(&read).operator), ([0, 1], "computed"));
}

/// A closure that reads a cell which comes later in the order waits for it: both count once.
#[test]
fn a_closure_that_waits_counts_once() {
    let (on, late) = (Cell::new(false), Slot::<Cell<i32, CellImmutable>>::new());
    let early = Cell::computed({
        let (on, late) = (on.clone(), late.clone());
        move || if on.get() { late.full().get() } else { 0 }
    });
    let deep = (0..5).fold((&on).map(|on| i32::from(*on)).materialize(), |cell, _| {
        cell.map(|v| v + 1).materialize()
    });
    late.put(deep.clone());
    let _guard = early.watch(|_| ());
    on.set(true);
    assert_eq!((early.get(), counts(&early), counts(&deep)), (6, (1, 1, 0), (1, 0, 0)));
    batch(|| on.set(false));
    assert_eq!((early.get(), counts(&early), counts(&deep)), (0, (2, 2, 0), (2, 0, 0)));
    late.take();
}

/// Runs that were abandoned and repeated are one notify.
#[test]
fn a_long_chain_of_waiting_closures_counts_once_each() {
    const DEPTH: usize = 3000;
    let (on, next) = (Cell::new(0), Cell::new(0).lock());
    let slots: Vec<Slot<Cell<i32, CellImmutable>>> = (0..DEPTH).map(|_| Slot::new()).collect();
    let cells: Vec<_> = slots
        .iter()
        .map(|slot| {
            let (on, slot) = (on.clone(), slot.clone());
            Cell::computed(move || match (on.get(), slot.get()) {
                (0, _) | (_, None) => 0,
                (n, Some(next)) => n + next.get(),
            })
        })
        .collect();
    let next = cells[1..].iter().cloned().chain([next]);
    slots.iter().zip(next).for_each(|(slot, next)| slot.put(next));
    on.set(1);
    assert_eq!(cells[0].get(), DEPTH as i32);
    let all: Vec<_> = traces(&cells).iter().map(counts_in).collect();
    assert!(all.iter().all(|&of| of == (1, 0, 0)), "{all:?}");
    slots.iter().for_each(|slot| drop(slot.take()));
}

#[test]
fn an_effect_is_a_cell_that_notifies_with_each_run() {
    let a = Cell::new(0);
    let _effect = effect({
        let a = a.clone();
        move || {
            a.get();
        }
    });
    (0..4).for_each(|v| a.set(v));
    let hot = hot_traced_cells();
    let effect = hot.iter().find(|cell| cell.operator == "effect").expect("it is listed");
    assert_eq!((effect.cell_id == a.cell_id(), notifies(&a)), (false, 4));
    assert_eq!(effect.notify_count + effect.cut_off_count, 4);
}

#[test]
fn a_selector_notifies_the_two_that_change() {
    let selected = Cell::new(0);
    let selector = selector(&selected);
    let rows: Vec<_> = (0..50).map(|row| selector.is(row)).collect();
    let _guards: Vec<_> = rows.iter().map(|row| row.watch(|_| ())).collect();
    selected.set(7);
    selected.set(7);
    selected.set(9);
    let of: Vec<_> = [0, 7, 9, 10].map(|row| counts(&rows[row])).into();
    assert_eq!(of, [(1, 1, 0), (2, 2, 0), (1, 1, 0), (0, 0, 0)]);
}

type Later = Slot<WeakCell<i32, CellImmutable>>;

/// A switch to a cell below its own output is refused: a panic, no notify of the output.
#[test]
fn a_refused_switch_is_no_notify() {
    let (sel, slot) = (Cell::new(0), Later::new());
    let shown = sel.switch_map({
        let slot = slot.clone();
        move |v| match v {
            1 => slot.full().upgrade().expect("the test holds it"),
            v => Cell::new(*v).lock(),
        }
    });
    let below = (&shown).map(|v| v + 1).materialize();
    slot.put(below.downgrade());
    sel.set(5);
    assert!(caught(|| sel.set(1)).is_some());
    assert_eq!((notifies(&sel), notifies(&shown), notifies(&below)), (2, 1, 1));
    sel.set(6);
    assert_eq!((notifies(&sel), notifies(&shown), notifies(&below)), (3, 2, 2));
}

/// A tracked read that would close a circle is an error of the read; the cell goes on with what its closure makes of it.
#[test]
fn a_refused_read_is_the_closure_s_own_matter() {
    let (on, slot) = (Cell::new(false), Later::new());
    let reader = Cell::computed({
        let (on, slot) = (on.clone(), slot.clone());
        move || match on.get().then(|| slot.full().upgrade().expect("the test holds it").try_get())
        {
            Some(Ok(v)) => v,
            Some(Err(_)) => -1,
            None => 0,
        }
    });
    let below = (&reader).map(|v| v * 10).materialize();
    slot.put(below.downgrade());
    on.set(true);
    assert_eq!((reader.get(), below.get()), (-1, -10));
    assert_eq!((counts(&on), notifies(&reader), notifies(&below)), ((1, 0, 0), 1, 1));
}
