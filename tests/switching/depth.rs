//! Clean-ups of closures inside closures, however deep: in reverse order of creation, once each, without recursion (P5, P13).

use hyphae::{Cell, CellImmutable, Pipeline, arena, effect, on_cleanup};

use crate::support::{Count, Log, owning, run_on_small_stack};

type Derived = Cell<u64, CellImmutable>;

/// Says `text` when the closure that is running has to clean up.
fn closing(log: &Log<String>, text: String) {
    let log = log.clone();
    on_cleanup(move || log.push(text));
}

/// A switch whose closure makes the next one, `depth` times, with a clean-up before it and one after it. The top is
/// driven by `top`, all others by cells of their own. `wrapped` gives a cell over the next switch instead of itself.
fn nest(depth: usize, top: &Cell<u64>, wrapped: bool, log: &Log<String>) -> Derived {
    let log = log.clone();
    top.switch_map(move |v| {
        if depth == 0 {
            return Cell::new(*v).lock();
        }
        closing(&log, format!("before {depth}"));
        let next = nest(depth - 1, &Cell::new(*v), wrapped, &log);
        let given = if wrapped { (&next).map(|v| *v).materialize() } else { next };
        closing(&log, format!("after {depth}"));
        given
    })
}

fn expected(depth: usize) -> Vec<String> {
    let after = (1..=depth).rev().map(|d| format!("after {d}"));
    after.chain((1..=depth).map(|d| format!("before {d}"))).collect()
}

/// What was made last is closed first, on every level: when the top switches, is disposed of, and is dropped.
#[test]
fn clean_ups_of_nested_switches_go_in_reverse_order_of_creation() {
    for depth in [1, 2, 5, 15, 16, 17, 40] {
        for wrapped in [false, true] {
            let (top, log) = (Cell::new(1), Log::new());
            let o = nest(depth, &top, wrapped, &log);
            top.set(2);
            assert_eq!(log.take(), expected(depth), "switched, {depth}, {wrapped}");
            assert_eq!(o.get(), 2);
            o.dispose();
            assert_eq!(log.take(), expected(depth), "disposed of, {depth}, {wrapped}");
            drop((o, nest(depth, &top, wrapped, &log)));
            assert_eq!(log.take(), expected(depth), "dropped, {depth}, {wrapped}");
            drop(top);
            arena::assert_no_live();
        }
    }
}

/// The same for an effect in whose run all was made.
#[test]
fn clean_ups_below_an_effect_go_before_its_next_run() {
    let (key, log) = (Cell::new(1), Log::new());
    let guard = effect(owning!([key, log] move || {
        let k = key.get();
        log.push(format!("run {k}"));
        closing(&log, "first".to_owned());
        let nested = nest(3, &Cell::new(k), false, &log);
        on_cleanup(move || drop(nested));
        closing(&log, "last".to_owned());
    }));
    log.take();
    key.set(2);
    let closed = [vec!["last".to_owned()], expected(3), vec!["first".to_owned()]].concat();
    assert_eq!(log.take(), [closed.clone(), vec!["run 2".to_owned()]].concat());
    drop(guard);
    assert_eq!(log.take(), closed);
}

/// A row of cells each of which is held by the clean-up of the one before: closing one closes all, on a small stack.
#[test]
fn clean_ups_that_end_the_next_cell() {
    const N: usize = 20_000;
    run_on_small_stack(256, || {
        let (key, closed) = (Cell::new(1_u64), Count::new());
        let mut held = Cell::computed(|| 0_u64);
        for _ in 0..N {
            let mut next = Some(held);
            held = Cell::computed(owning!([key, closed] move || {
                let next = next.take();
                on_cleanup(owning!([closed] move || {
                    drop(next);
                    closed.up();
                }));
                key.get()
            }));
        }
        assert_eq!(closed.get(), 0);
        drop(held);
        assert_eq!((closed.get(), key.dependents()), (N, 0));
        drop(key);
        arena::assert_no_live();
    });
}

/// Many switches below each other over one selector, each with a clean-up, all closed in each wave.
#[test]
fn a_long_row_of_switches_with_clean_ups() {
    const N: usize = 5_000;
    run_on_small_stack(256, || {
        let (sel, opened, closed) = (Cell::new(0_u64), Count::new(), Count::new());
        let mut last = sel.clone().lock();
        for _ in 0..N {
            last = last.switch_map(owning!([opened, closed] move |v| {
                opened.up();
                on_cleanup(owning!([closed] move || closed.up()));
                Cell::new(v + 1)
            }));
        }
        for v in 1..=3 {
            sel.set(v);
            assert_eq!(last.get(), v + N as u64);
            assert_eq!((opened.get(), closed.get()), ((v as usize + 1) * N, v as usize * N));
        }
        drop((last, sel));
        assert_eq!(closed.get(), 4 * N);
        arena::assert_no_live();
    });
}
