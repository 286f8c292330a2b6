//! Times where one closure waits for another, is abandoned and repeated, or runs inside another's.

use hyphae::{Cell, CellImmutable, Pipeline, batch};

use crate::support::Slot;
use crate::tools::{Hand, counts_in, times, traces};

type Later = Slot<Cell<u64, CellImmutable>>;

/// A cell that works before and after its read of a cell which comes later in the order, once `on` is set.
fn reader(
    on: &Cell<u64>,
    late: &Later,
    hand: &Hand,
    before: u64,
    after: u64,
) -> Cell<u64, CellImmutable> {
    let (on, late, hand) = (on.clone(), late.clone(), hand.clone());
    Cell::computed(move || {
        let on = on.get();
        if on == 0 {
            return 0;
        }
        hand.work(before);
        let read = late.full().get();
        hand.work(after);
        read + on
    })
}

#[test]
fn a_closure_that_waits_is_not_charged_for_what_it_waits_for() {
    let hand = Hand::timing_all();
    let (on, slot) = (Cell::new(0), Later::new());
    let early = reader(&on, &slot, &hand, 10, 5);
    let late = (&on).map(hand.of(200)).materialize();
    let next = (&early).map(hand.of(3_000)).materialize();
    slot.put(late.clone());
    let _guard = early.watch_changes(hand.call(1));
    on.set(1);
    assert_eq!((times(&late), times(&next)), ([200, 0, 200, 0], [3_000, 0, 3_000, 0]));
    assert_eq!(times(&early), [15, 1, 16, 1], "what it did before and after it waited");
    on.set(2);
    assert_eq!((times(&late)[0], times(&early)[0], times(&next)[0]), (400, 30, 6_000));
    slot.take();
}

/// Three closures, each waiting for the next.
#[test]
fn nested_waits() {
    let hand = Hand::timing_all();
    let on = Cell::new(0);
    let slots = [(); 3].map(|()| Later::new());
    let readers = [(10, 1), (20, 2), (40, 4)];
    let cells: Vec<_> = slots
        .iter()
        .zip(readers)
        .map(|(slot, (before, after))| reader(&on, slot, &hand, before, after))
        .collect();
    let last = (&on).map(hand.of(1_000)).materialize();
    let targets = cells[1..].iter().chain([&last]);
    slots.iter().zip(targets).for_each(|(slot, target)| slot.put(target.clone()));
    on.set(1);
    assert_eq!((cells[0].get(), times(&last)[0]), (4, 1_000));
    let computed: Vec<_> = cells.iter().map(|cell| times(cell)[0]).collect();
    assert_eq!(computed, [11, 22, 44]);
    slots.iter().for_each(|slot| drop(slot.take()));
}

/// A read in a batch lets a closure wait as well.
#[test]
fn a_wait_in_a_batch() {
    let hand = Hand::timing_all();
    let (on, slot) = (Cell::new(0), Later::new());
    let early = reader(&on, &slot, &hand, 10, 5);
    let late = (&on).map(hand.of(200)).materialize();
    slot.put(late.clone());
    batch(|| {
        on.set(1);
        hand.work(1_000_000);
        assert_eq!(early.get(), 2);
        hand.work(1_000_000);
    });
    assert_eq!((times(&late), times(&early)), ([200, 0, 200, 0], [15, 0, 15, 0]));
    slot.take();
}

/// Too deep to wait: runs are abandoned and repeated. All that they worked is theirs, and nobody else's.
#[test]
fn runs_that_are_abandoned() {
    const DEPTH: usize = 2_000;
    let hand = Hand::timing_all();
    let (on, worked) = (Cell::new(0), Hand::default());
    let slots: Vec<Later> = (0..DEPTH).map(|_| Later::new()).collect();
    let cells: Vec<_> = slots
        .iter()
        .map(|slot| {
            let (on, slot, hand, worked) = (on.clone(), slot.clone(), hand.clone(), worked.clone());
            Cell::computed(move || {
                let on = on.get();
                if on == 0 {
                    return 0;
                }
                hand.work(10);
                worked.work(10);
                slot.full().get() + on
            })
        })
        .collect();
    let last = (&on).map(hand.of(7)).materialize();
    let targets = cells[1..].iter().chain([&last]);
    slots.iter().zip(targets).for_each(|(slot, target)| slot.put(target.clone()));
    on.set(1);
    assert_eq!(cells[0].get(), DEPTH as u64 + 1);
    let traces = traces(&cells);
    let computed: u64 = traces.iter().map(|cell| cell.compute_time_ns).sum();
    assert_eq!((computed, times(&last)[0]), (worked.worked(), 7));
    assert!(traces.iter().all(|cell| counts_in(cell) == (1, 0, 0)));
    slots.iter().for_each(|slot| drop(slot.take()));
}

/// A closure that makes and reads a cell: the making is its own time.
#[test]
fn a_closure_that_makes_what_it_reads() {
    let hand = Hand::timing_all();
    let on = Cell::new(0_u64);
    let outer = Cell::computed({
        let (on, hand) = (on.clone(), hand.clone());
        move || {
            hand.work(1);
            let inner = (&on).map(hand.of(20)).materialize();
            hand.work(300);
            inner.get()
        }
    });
    on.set(1);
    assert_eq!(times(&outer), [321, 0, 321, 0]);
}
