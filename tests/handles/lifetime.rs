//! What keeps a cell alive, and guards that cells own (rule C1).

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{
    Cell, IntervalTickSource, ManualClock, Pipeline, SubscriptionGuard, TickSource, arena, timers,
};
use uuid::Uuid;

use crate::support::{Count, Log, run_on_small_stack};

#[test]
fn derived_cells_keep_their_inputs_and_not_the_other_way_round() {
    let source = Cell::new(10);
    let weak = source.downgrade();
    let derived = source.map(|v| *v).materialize();
    assert_eq!(derived.get(), 10);
    assert!(weak.is_alive());
    weak.upgrade().expect("it lives").set(11);
    assert_eq!(derived.get(), 11);
    let below = derived.downgrade();
    drop(derived);
    assert!(!weak.is_alive() && !below.is_alive());
}

#[test]
fn a_dropped_cell_is_not_computed_again() {
    let source = Cell::new(1);
    let (upper, lower) = (Count::new(), Count::new());
    let a = (&source).map(upper.of(|v: &i32| *v)).materialize();
    let b = a.map(lower.of(|v: &i32| *v)).materialize();
    source.set(2);
    assert_eq!((upper.get(), lower.get()), (2, 2));
    drop(b);
    source.set(3);
    assert_eq!((upper.get(), lower.get(), source.dependents()), (2, 2, 0));
}

#[test]
fn counts_of_subscribers_and_dependents() {
    let source = Cell::new(1);
    let guard = source.watch(|_| ());
    let a = (&source).map(|v| *v).materialize();
    let b = (&source).map(|v| *v).materialize();
    let below = (&a).map(|v| *v).materialize();
    let counts = |cell: &Cell<i32>| (cell.callbacks(), cell.dependents(), cell.subscriber_count());
    assert_eq!(counts(&source), (1, 2, 3));
    drop(below);
    assert_eq!((a.subscriber_count(), counts(&source)), (0, (1, 2, 3)));
    drop(a);
    assert_eq!(counts(&source), (1, 1, 2));
    drop((b, guard));
    assert_eq!(counts(&source), (0, 0, 0));
}

#[test]
fn a_guard_keeps_its_cell() {
    let source = Cell::new(1);
    let log = Log::new();
    let guard = log.on(&(&source).map(|v| v * 2).materialize());
    source.set(4);
    log.check(&[2, 8]);
    drop(guard);
    source.set(5);
    log.check(&[2, 8]);
    assert_eq!((source.dependents(), arena::totals().cells), (0, 1));
}

#[test]
fn a_guard_can_be_leaked_and_ended_by_its_id() {
    let cell = Cell::new(1);
    let weak = cell.downgrade();
    let log = Log::new();
    let guard = log.on(&cell);
    let named = guard.id();
    assert_eq!((guard.cell(), guard.source()), (Some(cell.cell_id()), Some(cell.id())));
    let id = guard.leak().expect("a subscription has an id");
    assert_eq!(named, Some(id));
    cell.set(42);
    drop(cell);
    assert!(weak.is_alive());
    id.unsubscribe();
    assert!(!weak.is_alive());
    id.unsubscribe(); // it has ended: nothing happens
    log.check(&[1, 42]);
}

#[test]
fn unsubscribing_by_guard_and_by_id() {
    let cell = Cell::new(1);
    let log = Log::new();
    let (a, b) = (log.on(&cell), log.on(&cell));
    let id = b.id().expect("an id");
    a.unsubscribe();
    cell.unsubscribe(id);
    assert_eq!(cell.callbacks(), 0);
    // The id is not that of a later subscription in the same place.
    let _c = log.on(&cell);
    cell.unsubscribe(id);
    drop(b);
    assert_eq!(cell.callbacks(), 1);
}

#[test]
fn a_guard_of_a_callback_calls_it_once_when_dropped() {
    let count = Count::new();
    let make = || {
        SubscriptionGuard::from_callback({
            let count = count.clone();
            move || count.up()
        })
    };
    let guard = make();
    assert!(guard.id().is_none() && guard.cell().is_none() && guard.source().is_none());
    assert_eq!(format!("{guard:?}"), "SubscriptionGuard(callback)");
    drop(guard);
    assert_eq!(count.get(), 1);
    assert!(make().leak().is_none());
    assert_eq!(count.get(), 1);
    let cell = Cell::new(1);
    cell.own(make());
    drop(cell);
    assert_eq!(count.get(), 2);
    let subscription = Cell::new(1).watch(|_| ());
    assert!(format!("{subscription:?}").starts_with("SubscriptionGuard { on: CellId"));
}

/// Many that come and go leave the one that stays undisturbed.
#[test]
fn a_thousand_transient_subscribers() {
    let cell = Cell::new(0);
    let stays = Count::new();
    let _guard = cell.watch({
        let stays = stays.clone();
        move |_| stays.up()
    });
    for v in 0..1000 {
        let log = Log::new();
        let guard = log.on(&cell);
        cell.set(v);
        assert_eq!(log.len(), 2);
        drop(guard);
    }
    assert_eq!((stays.get(), cell.callbacks(), arena::totals().subscribers), (1001, 1, 1));
}

#[test]
fn an_owned_guard_goes_with_its_owner() {
    let (source, owner) = (Cell::new(1), Cell::new(()));
    let log = Log::new();
    owner.own(log.on(&source));
    assert_eq!((owner.owned_count(), source.callbacks()), (1, 1));
    source.set(2);
    drop(owner);
    source.set(3);
    log.check(&[1, 2]);
    assert_eq!(source.callbacks(), 0);
}

#[test]
fn a_guard_under_a_key_replaces_the_one_before() {
    let (source, owner) = (Cell::new(1), Cell::new(()));
    let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let (first, second) = (Log::new(), Log::new());
    owner.own_keyed(a, first.on(&source));
    owner.own_keyed(b, SubscriptionGuard::from_callback(|| ()));
    assert_eq!(owner.owned_count(), 2);
    owner.own_keyed(a, second.on(&source));
    assert_eq!((owner.owned_count(), source.callbacks()), (2, 1));
    source.set(2);
    first.check(&[1]);
    second.check(&[1, 2]);
}

/// Owned guards go last first.
#[test]
fn owned_guards_go_in_reverse_order() {
    let owner = Cell::new(());
    let log = Rc::new(RefCell::new(Vec::new()));
    for n in 0..3 {
        let log = log.clone();
        owner.own(SubscriptionGuard::from_callback(move || log.borrow_mut().push(n)));
    }
    drop(owner);
    assert_eq!(*log.borrow(), [2, 1, 0]);
}

#[test]
fn a_guard_on_its_own_owner_keeps_nothing() {
    let cell = Cell::new(1);
    let weak = cell.downgrade();
    let log = Log::new();
    cell.own(log.on(&cell));
    cell.own_keyed(Uuid::nil(), log.on(&cell));
    cell.set(2);
    drop(cell);
    assert!(!weak.is_alive());
    assert_eq!(log.take(), [1, 1, 2, 2]);
    arena::assert_no_live();
}

#[test]
fn a_guard_on_a_cell_downstream_of_its_owner_keeps_nothing() {
    let cell = Cell::new(1);
    let below = (&cell).map(|v| v + 1).materialize().map(|v| v + 1).materialize();
    let weak = (cell.downgrade(), below.downgrade());
    cell.own(below.watch(|_| ()));
    drop(below);
    // Nobody holds the cells below but the guard, which does not count.
    assert!(!weak.1.is_alive());
    drop(cell);
    assert!(!weak.0.is_alive());
    arena::assert_no_live();
}

#[test]
fn a_guard_on_a_cell_upstream_of_its_owner_counts() {
    let cell = Cell::new(1);
    let below = (&cell).map(|v| v + 1).materialize();
    below.own(cell.watch(|_| ()));
    let weak = cell.downgrade();
    drop(cell);
    assert!(weak.is_alive());
    drop(below);
    assert!(!weak.is_alive());
    arena::assert_no_live();
}

#[test]
fn a_deep_chain_of_owners_goes_without_recursion() {
    const DEPTH: usize = 200_000;
    run_on_small_stack(128, || {
        let mut owner = Cell::new(0_u32);
        for _ in 0..DEPTH {
            let next = Cell::new(0_u32);
            next.own(owner.subscribe_changes(|_| ()));
            owner = next;
        }
        assert_eq!(arena::totals().cells, DEPTH + 1);
        drop(owner);
        arena::assert_no_live();
    });
}

/// Values that hold handles of other cells are freed without recursion, too.
#[test]
fn a_deep_list_of_cells_in_values_goes_without_recursion() {
    struct Link(#[allow(dead_code)] Option<Cell<Link>>);
    run_on_small_stack(128, || {
        let mut head = None;
        for _ in 0..200_000 {
            head = Some(Cell::new(Link(head)));
        }
        drop(head);
        arena::assert_no_live();
    });
}

#[test]
fn a_deep_pipeline_settles_and_goes_without_recursion() {
    run_on_small_stack(128, || {
        let source = Cell::new(0_u32);
        let mut end = source.clone().lock();
        for _ in 0..100_000 {
            end = end.map(|v| v + 1).materialize();
        }
        source.set(1);
        assert_eq!(end.get(), 100_001);
        drop(end);
        assert_eq!(arena::totals().cells, 1);
    });
}

#[test]
fn a_wide_tree_goes_with_its_last_leaf() {
    let root = Cell::new(1);
    let leaves: Vec<_> = (0..1000).map(|n| (&root).map(move |v| v + n).materialize()).collect();
    let weak = root.downgrade();
    drop(root);
    let mut leaves = leaves;
    leaves.drain(..999);
    assert!(weak.is_alive());
    assert_eq!(arena::totals().cells, 2);
    leaves.clear();
    assert!(!weak.is_alive());
    arena::assert_no_live();
}

/// C1: a guard counts no more when an edge that is made later puts its owner upstream of its cell.
#[test]
fn an_owned_guard_that_closes_a_ring_later_does_not_count() {
    let before = hyphae::arena::totals().cells;
    let (owner, other, choice) = (Cell::new(1), Cell::new(2), Cell::new(0));
    let follower = choice.switch_map({
        let (owner, other) = (owner.downgrade(), other.clone());
        move |&n| {
            let owner = owner.upgrade().filter(|_| n == 1);
            owner.map_or_else(|| other.clone().lock(), |owner| owner.lock())
        }
    });
    // `owner` keeps `follower` alive by its guard: no ring yet.
    owner.own(follower.subscribe(|_| ()));
    choice.set(1);
    assert_eq!(follower.get(), 1);
    drop((owner, other, choice, follower));
    assert_eq!(hyphae::arena::totals().cells, before);
}

/// Leaked guards let go on what they would stop.
#[test]
fn ticks_go_on_after_their_guard_was_leaked() {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    let last = Rc::new(std::cell::Cell::new(0));
    let seen = last.clone();
    let ticks = IntervalTickSource::new(std::time::Duration::from_nanos(10));
    ticks.on_tick(Box::new(move |tick| seen.set(tick.index))).leak();
    timers::advance_to(&clock, 20);
    assert_eq!((last.get(), timers::waiting()), (2, 1));
}
