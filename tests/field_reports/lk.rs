//! LK: nothing outlives its last holder (rules C1, C7).

use std::rc::Rc;

use hyphae::{Cell, Error, Pipeline, Scope, SubscriptionGuard, arena};

use crate::support::{Count, Heard, Log, live};

/// Three cells, two maps over `global` and a subscription, all in one scope.
fn row(global: &Cell<u64>, dropped: &Count, calls: &Count) -> Scope {
    let scope = Scope::new();
    scope.run(|| {
        for _ in 0..3 {
            Cell::new(dropped.token());
        }
        let _unobserved = global.clone().map(|v| v * 2).materialize();
        let observed = global.clone().map(|v| v + 1).materialize();
        let calls = calls.clone();
        scope.own(observed.subscribe_changes(move |_| calls.up()));
    });
    scope
}

// Each row of a list made signals under a long-lived owner: memory grew with every row ever shown.
#[test]
fn lk_1_rows_free_their_cells_when_they_go() {
    let global = Cell::new(0);
    let (dropped, calls) = (Count::new(), Count::new());
    let (before, room) = (arena::totals(), arena::capacity());
    row(&global, &dropped, &calls).dispose();
    let once = live();
    for _ in 1..10_000 {
        row(&global, &dropped, &calls).dispose();
    }
    assert_eq!(live(), once);
    let after = arena::totals();
    assert_eq!(after.cells, before.cells);
    assert_eq!(after.edges, before.edges);
    assert_eq!(after.subscribers, before.subscribers);
    assert!(arena::capacity() <= room + 64, "{}", arena::capacity());
    assert_eq!(dropped.get(), 30_000);
    global.set(1);
    assert_eq!(calls.get(), 0);
}

// The same with rows that overlap: a window of 100 is alive at any time, the oldest goes first.
#[test]
fn lk_1_a_moving_window_of_rows_needs_room_for_the_window_only() {
    let global = Cell::new(0);
    let (dropped, calls) = (Count::new(), Count::new());
    let mut shown = std::collections::VecDeque::new();
    let mut full = None;
    for _ in 0..10_000 {
        if shown.len() == 100 {
            drop(shown.pop_front());
            full.get_or_insert(arena::capacity());
        }
        shown.push_back(row(&global, &dropped, &calls));
    }
    let full = full.expect("the window was full");
    assert!(arena::capacity() <= full + 64, "{}", arena::capacity());
    assert_eq!(arena::totals().cells, 1 + 100 * 5);
    global.set(1);
    assert_eq!(calls.get(), 100);
}

// Short-lived objects made computeds over an application-wide value, which held, and walked, all of them.
#[test]
fn lk_3_derived_cells_leave_a_long_lived_source() {
    let global = Cell::new(7_u64);
    let runs = Count::new();
    for _ in 0..100_000 {
        let derived = (&global).map(runs.of(|v: &u64| v + 1)).materialize();
        assert_eq!(derived.get(), 8);
    }
    assert_eq!(runs.get(), 100_000);
    assert_eq!(global.dependents(), 0);
    let before = arena::totals().recomputations;
    global.set(8);
    assert_eq!(runs.get(), 100_000);
    assert_eq!(arena::totals().recomputations, before);
    assert_eq!(arena::totals().cells, 1);
}

// The same in one batch, in which nothing settles meanwhile: the dead must not pile up in any table.
#[test]
fn lk_3_derived_cells_leave_a_source_that_is_written_in_a_batch() {
    let global = Cell::new(0_u64);
    let once = |v| {
        global.set(v);
        let derived = (&global).map(|v| v + 1).materialize();
        global.set(v + 1);
        assert_eq!(derived.get(), v + 2);
    };
    hyphae::batch(|| (0..100).for_each(once));
    let before = live();
    hyphae::batch(|| (0..10_000).for_each(once));
    assert_eq!(live(), before);
    assert_eq!(global.dependents(), 0);
}

// A shared, replayed counter went on counting with nobody listening. With writes for the ticks of the interval; the
// initial value of a cell counts at each start.
#[test]
fn lk_5_share_lets_its_source_go_with_the_last_consumer() {
    let ticks = Cell::new(0);
    let count = Count::new();
    let tapped = (&ticks).tap({
        let count = count.clone();
        move |_| count.up()
    });
    let shared = tapped.share();
    let advance = |n: i32| (0..n).for_each(|_| ticks.update(|t| *t += 1));

    let first = shared.clone().materialize();
    let second = shared.clone().map(|t| t * 2).materialize();
    advance(4);
    assert_eq!(count.get(), 1 + 4, "once for both consumers");
    drop((first, second));
    assert_eq!(ticks.dependents(), 0);
    advance(4);
    assert_eq!(count.get(), 5, "nobody listens");

    let log = Log::new();
    let _guard = log.on(&shared.materialize());
    advance(2);
    assert_eq!(count.get(), 5 + 1 + 2);
    log.check(&[8, 9, 10]);
}

// A component combined a global stream with a shared one; the shared one kept the component's consumer.
#[test]
fn lk_6_consumers_leave_a_shared_inner_cell() {
    let global = Cell::new(0);
    let shared = (&global).map(|v| v * 2).materialize();
    let calls = Count::new();
    for _ in 0..1000 {
        let both = global.join(&shared);
        let calls = calls.clone();
        let _guard = both.subscribe_changes(move |_| calls.up());
    }
    assert_eq!(shared.dependents(), 0);
    assert_eq!(global.dependents(), 1);
    global.set(1);
    assert_eq!(calls.get(), 0);
}

// A balance defined in terms of itself was a ring of references that the leak check still found at the end.
#[test]
fn lk_7_a_feedback_loop_goes_with_its_scope() {
    let scope = Scope::new();
    let seen = Log::new();
    let delta = scope.run(|| {
        let (delta, balance) = (Cell::new(0), Cell::new(0));
        let sum = balance.clone();
        // The ring: the balance owns the callback that holds the balance.
        balance.own(delta.subscribe_changes({
            let delta = delta.clone();
            move |_| sum.update(|sum| *sum += delta.get())
        }));
        scope.own(seen.on(&balance.map(|b| *b).materialize()));
        delta
    });
    (0..3).for_each(|_| delta.set(1));
    seen.check(&[0, 1, 2, 3]);
    drop(scope);
    drop(delta);
    arena::assert_no_live();
    assert_eq!(arena::totals().edges, 0);
}

// A cell that owns the callback by which it feeds itself is freed without a scope, if the callback holds it weakly.
#[test]
fn lk_7_a_cell_that_owns_its_own_callback_is_not_a_leak() {
    let balance = Cell::new(0);
    let weak = balance.downgrade();
    balance.own(balance.watch(move |b| {
        if *b % 2 == 1 {
            weak.upgrade().expect("it lives while it is called").set(b + 1);
        }
    }));
    balance.set(3);
    assert_eq!(balance.get(), 4);
    drop(balance);
    arena::assert_no_live();
}

// Subscribers got a value that was written after the cell was disposed of.
#[test]
fn lk_10_nobody_is_called_after_dispose() {
    let age = Cell::new(30).with_name("age");
    let derived = (&age).map(|a| a + 1).materialize();
    let (log, below) = (Log::new(), Log::new());
    let _guards = (log.hear(&age), below.hear(&derived));
    age.set(31);
    age.dispose();
    let Err(Error::Disposed(info)) = age.try_set(32) else {
        panic!("a write to a disposed cell is an error");
    };
    assert_eq!(info.name.as_deref(), Some("age"));
    let value = Heard::Value;
    log.check(&[value(30), value(31), Heard::Complete]);
    below.check(&[value(31), value(32), Heard::Complete]);
    assert_eq!(derived.get(), 32, "the last value stays");
}

// The same with the write already on its way when the cell goes.
#[test]
fn lk_10_a_queued_write_does_not_reach_a_disposed_cell() {
    let trigger = Cell::new(0);
    let age = Cell::new(30);
    let log = Log::new();
    let _guard = log.hear(&age);
    let _acts = trigger.subscribe_changes({
        let age = age.clone();
        move |_| {
            age.set(31);
            age.dispose();
            assert!(matches!(age.try_set(32), Err(Error::Disposed(_))));
        }
    });
    trigger.set(1);
    let heard = log.take();
    assert_eq!(heard.first(), Some(&Heard::Value(30)));
    assert_eq!(heard.last(), Some(&Heard::Complete));
    assert!(!heard.contains(&Heard::Value(32)), "{heard:?}");
    assert_eq!(heard.iter().filter(|h| **h == Heard::Complete).count(), 1);
}

/// One life that leaves a trace in every side table: name, UUID, hooks, owned guards, queued writes, events, the end.
fn life_with_everything(global: &Cell<u64>, round: u64) {
    let cell = Cell::new(0_u64).no_coalesce().with_name(format!("cell {round}"));
    let cell = cell.with_uuid(uuid::Uuid::from_u128(u128::from(round) + 1));
    cell.on_first_subscriber(|| ());
    cell.on_last_unsubscribe(|| ());
    cell.own(global.subscribe_changes(|_| ()));
    cell.own_keyed(uuid::Uuid::nil(), cell.subscribe_changes(|_| ()));
    let derived = (&cell).map(|v| v + 1).materialize();
    assert_ne!(derived.id(), cell.id());
    let written = cell.clone();
    let acts = global.subscribe_changes(move |_| written.set(1));
    global.set(round);
    hyphae::batch(|| (2..5).for_each(|v| cell.set(v)));
    assert_eq!(derived.get(), 5);
    drop(acts);
    match round % 4 {
        0 => cell.complete(),
        1 => cell.fail("over"),
        2 => cell.dispose(),
        _ => (),
    }
}

// An entry for each cell ever made stayed in some table beside it.
#[test]
fn lk_1_side_tables_do_not_grow_with_cells_that_are_gone() {
    let global = Cell::new(0);
    (0..100).for_each(|round| life_with_everything(&global, round));
    let before = live();
    (0..10_000).for_each(|round| life_with_everything(&global, round));
    assert_eq!(live(), before);
    assert_eq!(global.callbacks(), 0);
}

// A side table that is cleaned when the slot is taken again keeps what the last tenant had.
#[test]
fn lk_1_what_a_cell_had_beside_it_goes_with_it() {
    let token: Rc<str> = "held".into();
    let held = || token.clone();
    let cell = Cell::new(held()).with_name(held());
    let (first, last) = (held(), held());
    cell.on_first_subscriber(move || assert_eq!(&*first, "held"));
    cell.on_last_unsubscribe(move || assert_eq!(&*last, "held"));
    cell.own(SubscriptionGuard::from_callback({
        let owned = held();
        move || assert_eq!(&*owned, "held")
    }));
    let derived = (&cell).scan(held(), |_, v| v.clone()).deduped().materialize();
    let trigger = Cell::new(0);
    let acts = trigger.subscribe_changes({
        let (cell, queued) = (cell.downgrade(), held());
        move |_| cell.upgrade().into_iter().for_each(|cell| cell.set(queued.clone()))
    });
    hyphae::batch(|| {
        trigger.set(1);
        cell.set(held());
    });
    cell.fail(std::io::Error::other(held().to_string()));
    cell.dispose();
    drop((cell, derived, acts));
    assert_eq!(Rc::strong_count(&token), 1);
}

// Each event delivered later left an entry in a bag. With queued writes for the delay (time comes later): they go to
// cells that are gone when their turn comes, or stay.
#[test]
fn lk_9_queued_writes_leave_no_entries() {
    let trigger = Cell::new(0_u64);
    let (kept, heard) = (Cell::new(0), Count::new());
    let _guard = kept.subscribe_changes({
        let heard = heard.clone();
        move |_| heard.up()
    });
    let _acts = trigger.subscribe_changes({
        let kept = kept.clone();
        move |_| {
            let brief = Cell::new(0);
            brief.set(1);
            kept.set(1);
        }
    });
    (0..100).for_each(|v| trigger.set(v));
    let before = live();
    (0..100_000).for_each(|v| trigger.set(v));
    assert_eq!(live(), before);
    assert_eq!(heard.get(), 100_100);
}

// A subscription given up on purpose was called, or at least kept, for ever, although the cell was disposed of.
#[test]
fn lk_10_dispose_ends_leaked_subscriptions_too() {
    let (held, heard) = (Rc::new(()), Log::new());
    let cell = Cell::new(0);
    let leaked = cell.subscribe({
        let (held, heard) = (held.clone(), heard.clone());
        move |signal| {
            let _ = &held;
            heard.push(Heard::of(signal));
        }
    });
    leaked.leak();
    cell.dispose();
    drop(cell);
    heard.check(&[Heard::Value(0), Heard::Complete]);
    assert_eq!(Rc::strong_count(&held), 1);
    arena::assert_no_live();
}
