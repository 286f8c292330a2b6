//! Rows of cells that are gone are used again, from nothing; `reset_trace` makes all of them start anew.

use hyphae::{Cell, Pipeline, Source, arena, batch, hot_traced_cells, reset_trace};

use crate::tools::{Hand, counts, times, trace, traces};

#[test]
fn a_new_cell_in_an_old_row_begins_at_nothing() {
    let hand = Hand::timing_all();
    let room = arena::totals().table_bytes;
    let mut rooms = Vec::new();
    for _ in 0..10_000 {
        let a = Cell::new(1);
        let b = (&a).map(hand.of(3)).deduped().materialize();
        let _guard = b.watch_changes(hand.call(2));
        assert_eq!((counts(&a), counts(&b)), ((0, 0, 0), (0, 0, 0)));
        assert_eq!((times(&a), times(&b)), ([0; 4], [0; 4]));
        a.set(2);
        a.set(2);
        assert_eq!((counts(&a), counts(&b)), ((2, 0, 0), (1, 1, 1)));
        assert_eq!(times(&b), [6, 2, 3, 2]);
        rooms.push(arena::totals().table_bytes);
    }
    assert!(rooms[0] > room, "rows take room");
    assert!(
        rooms[100..].windows(2).all(|pair| pair[0] == pair[1]),
        "the same rows, again and again"
    );
}

/// Rows are given back in another order than they were taken.
#[test]
fn rows_are_never_shared() {
    let mut cells: Vec<Cell<usize>> = (0..100).map(Cell::new).collect();
    let mut sets = vec![0; 100];
    for round in 0..300 {
        let at = round * 37 % 100;
        (cells[at], sets[at]) = (Cell::new(0), 0);
        for i in 0..20 {
            let at = (round * 7 + i * i) % 100;
            cells[at].set(round);
            sets[at] += 1;
        }
        let counted: Vec<u64> = traces(&cells).iter().map(|cell| cell.notify_count).collect();
        assert_eq!(counted, sets);
    }
}

#[test]
fn dead_cells_are_not_listed() {
    let a = Cell::new(1);
    let id = {
        let b = (&a).map(|v| v + 1).materialize();
        a.set(2);
        assert_eq!(hot_traced_cells().len(), 2);
        b.cell_id()
    };
    let hot = hot_traced_cells();
    assert_eq!((hot.len(), hot.get(id).is_none(), hot.get(a.cell_id()).is_some()), (1, true, true));
}

#[test]
fn reset_forgets_counts_and_times_of_all_cells() {
    let hand = Hand::timing_all();
    let (a, source) = (Cell::new(1), Source::new());
    let b = (&a).map(hand.of(10)).materialize();
    let _guard = (b.watch_changes(hand.call(5)), source.subscribe(|_| ()));
    a.set(2);
    source.emit(1);
    assert_eq!(times(&b), [10, 5, 15, 5]);
    reset_trace();
    for cell in hot_traced_cells() {
        let counted = cell.notify_count + cell.delivery_count + cell.cut_off_count;
        let slowest = cell.slowest_subscriber_ns + cell.last_notify_time_ns;
        assert_eq!(counted + cell.total_notify_time_ns + slowest, 0, "{cell:?}");
    }
    assert_eq!(trace(&b).subscriber_count, 1, "what is, stays");
    a.set(3);
    assert_eq!((counts(&a), counts(&b), times(&b)), ((1, 0, 0), (1, 1, 0), [10, 5, 15, 5]));
}

#[test]
fn a_reset_in_a_batch_forgets_what_the_batch_has_counted_so_far() {
    let (a, b) = (Cell::new(1), Cell::new(1));
    batch(|| {
        a.set(2);
        reset_trace();
        b.set(2);
    });
    assert_eq!((counts(&a), counts(&b)), ((0, 0, 0), (1, 0, 0)));
}

#[test]
fn a_cell_that_dies_in_its_own_call_leaves_a_clean_row() {
    let slot = crate::support::Slot::new();
    let a = Cell::new(0);
    let guard = a.watch_changes({
        let slot = slot.clone();
        move |_| drop(slot.take())
    });
    slot.put((a.clone(), guard));
    let weak = a.downgrade();
    a.set(1);
    drop(a);
    assert!(weak.upgrade().is_none());
    let fresh = Cell::new(0);
    assert_eq!((counts(&fresh), hot_traced_cells().len()), ((0, 0, 0), 1));
    fresh.set(1);
    assert_eq!(counts(&fresh), (1, 0, 0));
}
