//! LK-1, LK-3 and LK-6 with operators whose inputs change: consumers leave what they shared (rules C1, P5).

use hyphae::{Cell, CellImmutable, Pipeline, Source, SubscriptionGuard, arena, effect, selector};

use crate::support::{Count, Log, live, owning};

/// How often a consumer is made and dropped.
const TIMES: usize = 1000;

/// A component switched a global cell to a shared one and was destroyed; the shared one kept the component.
#[test]
fn lk_6_consumers_leave_a_shared_inner() {
    let global = Cell::new(0);
    let shared = (&global).map(|v| v * 2).materialize();
    let calls = Count::new();
    for _ in 0..TIMES {
        let o = global.switch_map(owning!([shared] move |_| shared.clone()));
        let _guard = o.subscribe_changes(owning!([calls] move |_| calls.up()));
    }
    global.set(1);
    assert_eq!((shared.dependents(), global.dependents(), calls.get()), (0, 1, 0));
    assert_eq!(arena::totals().cells, 2);
}

/// One consumer of a global cell and a shared one below it.
type Consumer = fn(&Cell<i32>, &Cell<i32, CellImmutable>, &Count) -> SubscriptionGuard;

fn switching(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let o = global.switch_map(owning!([shared] move |_| shared.clone()));
    o.watch(owning!([calls] move |_| calls.up()))
}

fn merging(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let o = global.merge_map(owning!([shared] move |_| shared.clone()));
    o.watch(owning!([calls] move |_| calls.up()))
}

fn limited(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let o = global.merge_map_limit(1, owning!([shared] move |_| shared.clone()));
    o.watch(owning!([calls] move |_| calls.up()))
}

fn reading(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let read = owning!([global, shared] move || {
        if global.get() % 2 == 0 { shared.get() } else { 0 }
    });
    Cell::computed(read).watch(owning!([calls] move |_| calls.up()))
}

fn acting(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    effect(owning!([global, shared, calls] move || {
        calls.up();
        if global.get() % 2 == 0 {
            shared.get();
        }
    }))
}

fn combining(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let until = Source::<()>::new();
    let sampled = shared.sample_on(&until);
    until.emit(());
    let latest = global.clone().with_latest_from(shared).map(|(a, b)| a + b).materialize();
    let all = hyphae::combine((global, shared, &latest), |(a, b, c)| a + b + c);
    let one = all.zip(shared).map(|(a, b)| a + b).materialize();
    let two = one.merge(&all).concat(shared).take_until(&sampled);
    two.watch(owning!([calls] move |_| calls.up()))
}

fn nesting(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let o = global.switch_map(owning!([global, shared] move |_| {
        global.switch_map(owning!([shared] move |_| {
            let fresh = (&shared).map(|v| v + 1).materialize();
            Cell::computed(owning!([shared] move || shared.get() + fresh.get()))
        }))
    }));
    o.watch(owning!([calls] move |_| calls.up()))
}

fn selecting(
    global: &Cell<i32>,
    shared: &Cell<i32, CellImmutable>,
    calls: &Count,
) -> SubscriptionGuard {
    let chosen = selector(global);
    let is = chosen.is(0).join(&shared.clone());
    is.watch(owning!([calls] move |_| calls.up()))
}

/// A thousand consumers of each kind, each written to, one after the other and all at once: everything is as before.
#[test]
fn lk_6_nothing_is_left_of_a_thousand_consumers() {
    let kinds: [Consumer; 8] =
        [switching, merging, limited, reading, acting, combining, nesting, selecting];
    for (kind, consumer) in kinds.into_iter().enumerate() {
        let global = Cell::new(0);
        let shared = (&global).map(|v| v * 2).materialize();
        let calls = Count::new();
        let once = || {
            let guard = consumer(&global, &shared, &calls);
            global.update(|v| *v += 1);
            global.update(|v| *v += 1);
            drop(guard);
        };
        once();
        assert!(calls.get() > 0, "{kind}: it was called");
        let (before, bytes) = (live(), arena::bytes(shared.cell_id()));
        (0..TIMES).for_each(|_| once());
        assert_eq!(live(), before, "{kind}");
        assert_eq!(arena::bytes(shared.cell_id()), bytes, "{kind}");
        assert_eq!((shared.subscriber_count(), global.subscriber_count()), (0, 1), "{kind}");
        let many: Vec<_> = (0..TIMES).map(|_| consumer(&global, &shared, &calls)).collect();
        drop(many);
        let after = live();
        assert_eq!(after[..3], before[..3], "{kind}");
        let called = calls.get();
        global.set(1);
        assert_eq!((calls.get(), shared.subscriber_count()), (called, 0), "{kind}");
    }
}

/// One switch that looks at each of many cells in turn keeps none of them.
#[test]
fn lk_3_a_switch_leaves_every_cell_it_looked_at() {
    let (at, dropped) = (Cell::new(0), Count::new());
    let o = at.switch_map(owning!([dropped] move |v| {
        let (v, token) = (*v, dropped.token());
        Cell::new(()).map(move |()| (v, &token).0).materialize()
    }));
    at.set(1);
    let before = live();
    (2..10_000).for_each(|v| at.set(v));
    assert_eq!(live(), before);
    assert_eq!((o.get(), dropped.get()), (9999, 9999));
}

/// Short-lived computed cells over an application-wide value: none is left on it, none runs any more.
#[test]
fn lk_3_computed_cells_leave_a_long_lived_source() {
    let (global, runs) = (Cell::new(7_u64), Count::new());
    for _ in 0..10_000 {
        let derived = Cell::computed(owning!([global, runs] move || {
            runs.up();
            global.get() + 1
        }));
        assert_eq!(derived.get(), 8);
    }
    global.set(8);
    assert_eq!((runs.get(), global.dependents(), arena::totals().cells), (10_000, 0, 1));
}

/// A computed cell that reads another set of cells in each run keeps the edges of the last run only.
#[test]
fn lk_3_a_computed_cell_leaves_what_it_read_before() {
    let cells: Vec<_> = (0..100).map(|_| Cell::new(1)).collect();
    let from = Cell::new(0);
    let sum = Cell::computed(owning!([cells, from] move || {
        let from = from.get();
        cells[from..from + 10].iter().map(Cell::get).sum::<i32>()
    }));
    for start in (0..=90).chain([3, 60, 0]) {
        from.set(start);
        let read: Vec<_> = (0..100).filter(|i| cells[*i].dependents() > 0).collect();
        assert!(read.into_iter().eq(start..start + 10));
        assert_eq!(arena::totals().edges, 11);
    }
    assert_eq!(sum.get(), 10);
}

/// A part with a row of its own for each run, like a list that is rebuilt: only the rows on show live.
#[test]
fn lk_1_rows_of_a_rebuilt_part_go_with_it() {
    let (global, shown, dropped) = (Cell::new(0_u64), Cell::new(0_u64), Count::new());
    let log = Log::new();
    let part = shown.switch_map(owning!([global, dropped] move |n| {
        let rows: Vec<_> = (0..*n % 10)
            .map(|i| {
                let token = dropped.token();
                (&global).map(move |v| (v + i, &token).0).materialize()
            })
            .collect();
        hyphae::join_vec(rows)
    }));
    let _guard = log.on(&part);
    (9..30).for_each(|n| shown.set(n));
    let before = live();
    (30..1000).for_each(|n| shown.set(n));
    assert_eq!(live(), before);
    assert_eq!(global.dependents(), 9);
    let made: u64 = (9..1000).map(|n| n % 10).sum();
    assert_eq!(dropped.get() as u64, made - 9);
    global.set(1);
    assert_eq!(log.take().last(), Some(&(1..10).collect::<Vec<u64>>()));
}
