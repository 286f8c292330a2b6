//! TM: what waits in debounce, throttle and delay when something ends or goes; and the leak of LK-9.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hyphae::{
    Cell, CellImmutable, Edges, ManualClock, Scope, Signal, SubscriptionGuard, interval, timers,
};

type Heard = Rc<RefCell<Vec<(u64, String)>>>;

const MS: u64 = 1_000_000;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn manual() -> ManualClock {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    clock
}

fn to(clock: &ManualClock, at_ms: u64) {
    timers::advance_to(clock, at_ms * MS);
}

/// Hears what comes after the value at construction.
fn hear(cell: &Cell<u32, CellImmutable>) -> (Heard, SubscriptionGuard) {
    let heard = Heard::default();
    let log = heard.clone();
    let guard = cell.subscribe_changes(move |signal| {
        let text = match signal {
            Signal::Value(value) => value.to_string(),
            Signal::Complete => "complete".to_owned(),
            Signal::Error(_) => "error".to_owned(),
        };
        log.borrow_mut().push((timers::now_ns() / MS, text));
    });
    (heard, guard)
}

fn check(heard: &Heard, expected: &[(u64, &str)]) {
    let expected: Vec<_> = expected.iter().map(|&(t, text)| (t, text.to_owned())).collect();
    assert_eq!(*heard.borrow(), expected);
}

/// Whether a pending value came out at completion was documented nowhere, and two libraries differed.
#[test]
fn tm_1_a_completion_delivers_what_a_debounce_holds() {
    let (clock, s) = (manual(), Cell::new(0));
    let (heard, _guard) = hear(&s.debounce(ms(30)));
    s.set(1);
    to(&clock, 10);
    s.complete();
    to(&clock, 100);
    check(&heard, &[(10, "1"), (10, "complete")]);
    assert_eq!(timers::waiting(), 0);
}

/// The timer stayed in the scheduler after the last subscriber had gone.
#[test]
fn tm_2_the_timer_of_a_debounce_goes_with_its_cell() {
    let (clock, s) = (manual(), Cell::new(0));
    let (heard, guard) = hear(&s.debounce(ms(30)));
    s.set(1);
    to(&clock, 10);
    assert_eq!(timers::waiting(), 1);
    drop(guard);
    assert_eq!(timers::waiting(), 0);
    to(&clock, 1000);
    check(&heard, &[]);
}

/// A value alone in its window was dropped when only trailing values pass.
#[test]
fn tm_6_a_lone_value_is_the_trailing_one_of_its_window() {
    let (clock, s) = (manual(), Cell::new(9));
    let (heard, _guard) = hear(&s.throttle_with(ms(100), Edges::Trailing).0);
    s.set(0);
    to(&clock, 500);
    s.set(1);
    to(&clock, 1000);
    s.set(2);
    to(&clock, 2000);
    check(&heard, &[(100, "0"), (600, "1"), (1100, "2")]);
}

/// A trailing value was lost when the source completed inside its window.
#[test]
fn tm_8_a_completion_delivers_what_a_throttle_holds() {
    let (clock, s) = (manual(), Cell::new(0));
    let (heard, _guard) = hear(&s.throttle_with(ms(100), Edges::Both).0);
    s.set(1);
    to(&clock, 10);
    s.set(2);
    to(&clock, 20);
    s.complete();
    to(&clock, 300);
    check(&heard, &[(0, "1"), (20, "2"), (20, "complete")]);
    assert_eq!(timers::waiting(), 0);
}

/// Completions overtook delayed values, or were delayed only sometimes.
#[test]
fn tm_9_a_completion_comes_after_all_that_is_delayed_an_error_before() {
    for (fails, expected) in
        [(false, &[(50, "1"), (60, "2"), (65, "complete")][..]), (true, &[(15, "error")][..])]
    {
        let (clock, s) = (manual(), Cell::new(0));
        let (heard, _guard) = hear(&s.delay(ms(50)));
        s.set(1);
        to(&clock, 10);
        s.set(2);
        to(&clock, 15);
        if fails {
            s.fail("gone");
        } else {
            s.complete();
        }
        to(&clock, 500);
        check(&heard, expected);
        assert_eq!(timers::waiting(), 0);
    }
}

/// Only the start was delayed; later values came at once, and some after the subscriber had gone.
#[test]
fn tm_10_each_value_is_delayed_and_none_comes_after_the_end() {
    for (stays, expected) in [(false, &[(50, "1")][..]), (true, &[(50, "1"), (150, "2")][..])] {
        let (clock, s) = (manual(), Cell::new(0));
        let (heard, guard) = hear(&s.delay(ms(50)));
        s.set(1);
        to(&clock, 100);
        s.set(2);
        to(&clock, 120);
        let kept = stays.then_some(guard);
        to(&clock, 500);
        check(&heard, expected);
        drop(kept);
    }
}

/// What was pending came to an owner that was gone; others wanted to flush or cancel it.
#[test]
fn tm_11_the_owner_takes_what_is_pending_along() {
    for (flushes, expected) in [(false, &[][..]), (true, &[(10, "1")][..])] {
        let (clock, s) = (manual(), Cell::new(0));
        let scope = Scope::new();
        let (heard, waiting) = scope.run(|| {
            let (debounced, waiting) = s.debounce_with(ms(30), Edges::Trailing);
            let (heard, guard) = hear(&debounced);
            debounced.own(guard);
            (heard, waiting)
        });
        s.set(1);
        to(&clock, 10);
        if flushes {
            waiting.flush();
        }
        scope.dispose();
        assert_eq!(timers::waiting(), 0);
        to(&clock, 100);
        check(&heard, expected);
    }
}

/// The timer of a cell that a switch had made ran on after the last consumer had gone.
#[test]
fn sw_3_the_timer_of_an_inner_cell_goes_with_the_consumer() {
    let (clock, x) = (manual(), Cell::new(1));
    let shown = x.switch_map(|_| interval(ms(1000)));
    let guard = shown.watch(|_| ());
    to(&clock, 500);
    assert_eq!(timers::waiting(), 1);
    drop((shown, guard));
    assert_eq!(timers::waiting(), 0);
    to(&clock, 2500);
}

/// Each delayed event left an entry in a bag that was never emptied.
#[test]
fn lk_9_a_million_delayed_values_leave_nothing() {
    let (clock, s) = (manual(), Cell::new(0_u32));
    let delayed = s.delay(ms(10));
    let _guard = delayed.watch(|_| ());
    let before = hyphae::arena::totals();
    let rounds = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    for n in 0..rounds {
        s.set(n);
        to(&clock, 20 * u64::from(n + 1));
    }
    assert_eq!((delayed.get(), timers::waiting()), (rounds - 1, 0));
    assert_eq!(hyphae::arena::totals().cells, before.cells);
}
