//! Each operator that waits against the reference, on random scripts and by hand.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hyphae::{Cell, CellImmutable, Edges, ManualClock, Pipeline, Signal, timers};
use proptest::prelude::*;

use super::reference::{self, Event, Heard};

const UNTIL: u64 = 120;
const MS: u64 = 1_000_000;

type Make = fn(&Cell<u32>, Duration) -> Cell<String, CellImmutable>;
type Expected = fn(&[(u64, Event)], u64) -> Heard;

fn shown<T: std::fmt::Debug + Clone>(cell: &Cell<T, CellImmutable>) -> Cell<String, CellImmutable> {
    cell.map(|value| format!("{value:?}")).materialize()
}

/// Every operator, with its reference.
const OPERATORS: &[(&str, Make, Expected)] = &[
    ("debounce", |c, d| shown(&c.debounce(d)), |s, d| reference::debounce(s, d, false, true)),
    (
        "debounce leading",
        |c, d| shown(&c.debounce_with(d, Edges::Leading).0),
        |s, d| reference::debounce(s, d, true, false),
    ),
    (
        "debounce both",
        |c, d| shown(&c.debounce_with(d, Edges::Both).0),
        |s, d| reference::debounce(s, d, true, true),
    ),
    ("throttle", |c, d| shown(&c.throttle(d)), |s, d| reference::throttle(s, d, true, false)),
    (
        "throttle trailing",
        |c, d| shown(&c.throttle_with(d, Edges::Trailing).0),
        |s, d| reference::throttle(s, d, false, true),
    ),
    (
        "throttle both",
        |c, d| shown(&c.throttle_with(d, Edges::Both).0),
        |s, d| reference::throttle(s, d, true, true),
    ),
    ("audit", |c, d| shown(&c.audit(d)), reference::audit),
    ("delay", |c, d| shown(&c.delay(d)), reference::delay),
    ("sample_time", |c, d| shown(&c.sample_time(d)), reference::sample_time),
    ("buffer_time", |c, d| shown(&c.buffer_time(d)), |s, d| reference::buffer_time(s, d, UNTIL)),
    ("timeout", |c, d| shown(&c.timeout(d)), |s, d| reference::timeout(s, d, UNTIL)),
];

/// Runs a script and notes what the operator's cell tells, without the value at construction.
fn run(script: &[(u64, Event)], d: u64, make: Make) -> Heard {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    let source = Cell::new(0);
    let cell = make(&source, Duration::from_millis(d));
    let heard = Rc::new(RefCell::new(vec![]));
    let guard = cell.subscribe_changes({
        let heard = heard.clone();
        move |signal| {
            let text = match signal {
                Signal::Value(value) => value.to_string(),
                Signal::Complete => "complete".to_owned(),
                Signal::Error(_) => "error".to_owned(),
            };
            heard.borrow_mut().push((timers::now_ns() / MS, text));
        }
    });
    for &(t, event) in script {
        timers::advance_to(&clock, t * MS);
        match event {
            Event::Set(value) => source.set(value),
            Event::Complete => source.complete(),
            Event::Fail => source.fail("failed"),
        }
    }
    timers::advance_to(&clock, UNTIL * MS);
    drop((guard, cell, source));
    assert_eq!(timers::next_deadline_ns(), None, "timers go with their cells");
    assert_eq!(hyphae::arena::totals().cells, 0);
    heard.take()
}

fn check(script: &[(u64, Event)], d: u64) {
    for (name, make, expected) in OPERATORS {
        let expected: Heard =
            expected(script, d).into_iter().filter(|heard| heard.0 <= UNTIL).collect();
        assert_eq!(run(script, d, *make), expected, "{name} of {d} ms over {script:?}");
    }
}

#[test]
fn each_operator_in_each_state() {
    use Event::{Complete, Fail, Set};
    let scripts: &[&[(u64, Event)]] = &[
        &[],
        &[(5, Complete)],
        &[(5, Fail)],
        &[(0, Set(1))],
        &[(3, Set(1)), (5, Complete)],
        &[(3, Set(1)), (5, Fail)],
        &[(3, Set(1)), (13, Complete)],
        &[(3, Set(1)), (13, Fail)],
        &[(3, Set(1)), (40, Complete)],
        &[(3, Set(1)), (4, Set(2)), (5, Set(3)), (13, Set(4)), (23, Set(5)), (33, Set(6))],
        &[(10, Set(1)), (20, Set(2)), (20, Set(3)), (30, Set(4)), (30, Complete)],
        &[(10, Set(1)), (19, Set(2)), (28, Set(3)), (37, Set(4)), (46, Fail)],
    ];
    scripts.iter().for_each(|script| check(script, 10));
}

#[test]
fn a_handle_flushes_and_cancels() {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    let source = Cell::new(0);
    let (debounced, waiting) = source.debounce_with(Duration::from_millis(10), Edges::Trailing);
    let (throttled, pause) = source.throttle_with(Duration::from_millis(10), Edges::Both);
    source.set(1);
    source.set(2);
    waiting.cancel();
    pause.cancel();
    timers::advance_to(&clock, 10 * MS);
    assert_eq!((debounced.get(), throttled.get()), (0, 1));
    source.set(3);
    source.set(4);
    assert_eq!((debounced.get(), throttled.get()), (0, 3));
    waiting.flush();
    pause.flush();
    assert_eq!((debounced.get(), throttled.get()), (4, 4));
    timers::advance_to(&clock, 40 * MS);
    assert_eq!(timers::next_deadline_ns(), None);
    drop((debounced, throttled));
    waiting.flush();
    pause.cancel();
}

fn script() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let value = (0..6_u64, 1..100_u32);
    let end = prop_oneof![Just(None), Just(Some(Event::Complete)), Just(Some(Event::Fail))];
    (prop::collection::vec(value, 0..12), 0..8_u64, end).prop_map(|(steps, pause, end)| {
        let mut now = 0;
        let mut script: Vec<_> = steps
            .into_iter()
            .map(|(pause, value)| {
                now += pause;
                (now, Event::Set(value))
            })
            .collect();
        script.extend(end.map(|end| (now + pause, end)));
        script
    })
}

proptest! {
    #[test]
    fn agrees_with_the_reference(script in script(), d in 1..9_u64) {
        check(&script, d);
    }
}
