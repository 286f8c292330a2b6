//! Retrying: what passes, how often a source is started, and when.

use std::cell::{Cell as Flag, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use hyphae::{
    Cell, CellImmutable, CellMutable, ManualClock, Retry, Signal, SubscriptionGuard, WeakCell,
    batch, retry, timers,
};
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;

/// The sources that were started, oldest first.
type Starts = Rc<RefCell<Vec<Cell<i32>>>>;

/// A start that makes a source with 100 times its number.
fn make(starts: &Starts) -> impl FnMut(usize) -> Cell<i32> + 'static {
    let starts = starts.clone();
    move |number| {
        let source = Cell::new(100 * number as i32);
        starts.borrow_mut().push(source.clone());
        source
    }
}

fn last(starts: &Starts) -> Cell<i32> {
    starts.borrow().last().cloned().expect("it was started")
}

type Told = Rc<RefCell<Vec<String>>>;

/// Notes all that a cell tells.
fn record<M>(cell: &Cell<i32, M>) -> (Told, SubscriptionGuard) {
    let told = Told::default();
    let log = told.clone();
    let guard = cell.subscribe(move |signal| {
        log.borrow_mut().push(match signal {
            Signal::Value(value) => value.to_string(),
            Signal::Complete => "complete".to_owned(),
            Signal::Error(error) => error.to_string(),
        });
    });
    (told, guard)
}

fn clock() -> ManualClock {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    clock
}

#[test]
fn the_error_passes_after_so_many_in_a_row() {
    for times in [0, 1, 2, 5] {
        let starts = Starts::default();
        let cell = retry(Retry::times(times), make(&starts));
        let (told, _guard) = record(&cell);
        for n in 1..times.max(1) {
            last(&starts).fail(format!("error {n}"));
            assert!(!cell.is_error(), "{times}");
        }
        last(&starts).fail("the last");
        assert!(cell.is_error());
        let mut expected: Vec<_> = (1..=times.max(1)).map(|n| (100 * n).to_string()).collect();
        expected.push("the last".to_owned());
        assert_eq!(*told.borrow(), expected);
        assert_eq!(starts.borrow().len(), times.max(1));
    }
}

#[test]
fn a_value_that_comes_later_forgets_the_errors() {
    let starts = Starts::default();
    let cell = retry(Retry::times(2), make(&starts));
    for n in 0..20 {
        last(&starts).fail("again");
        last(&starts).set(n);
        assert_eq!(cell.get(), n);
    }
    // The value with which it begins forgets nothing.
    last(&starts).fail("one");
    last(&starts).fail("two");
    assert!(cell.is_error());
}

/// The value and the error of one batch: the value passes, and forgets; then the error counts.
#[test]
fn a_value_comes_before_the_error_of_the_same_batch() {
    let starts = Starts::default();
    let cell = retry(Retry::times(2), make(&starts));
    let (told, _guard) = record(&cell);
    for n in [7, 8] {
        let source = last(&starts);
        batch(|| {
            source.set(n);
            source.fail("gone");
        });
    }
    assert_eq!(*told.borrow(), ["100", "7", "200", "8", "300"]);
    assert!(!cell.is_error());
}

#[test]
fn what_fails_at_every_start_is_started_so_often_and_no_more() {
    let starts = Rc::new(Flag::new(0));
    let count = starts.clone();
    let cell = retry(Retry::times(4), move |number| {
        count.set(number);
        let source = Cell::new(1);
        source.fail("broken");
        source
    });
    assert_eq!((starts.get(), cell.get(), cell.is_error()), (4, 1, true));
}

#[test]
fn a_cell_that_has_failed_fails_again() {
    let level = Cell::new(1);
    let (tried, asked) = (level.retry(3), Rc::new(RefCell::new(vec![])));
    let log = asked.clone();
    let while_few = level.retry_when(move |error, failures| {
        log.borrow_mut().push((error.to_string(), failures));
        failures < 3
    });
    let (told, _guard) = record(&tried);
    level.set(2);
    level.fail("gone");
    assert_eq!(*told.borrow(), ["1", "2", "gone"]);
    let expected: Vec<_> = (1..=3).map(|n| ("gone".to_owned(), n)).collect();
    assert_eq!(*asked.borrow(), expected);
    assert!(while_few.is_error());
}

#[test]
fn it_completes_with_what_it_follows() {
    let starts = Starts::default();
    let cell = retry(Retry::times(3), make(&starts));
    last(&starts).fail("one");
    last(&starts).complete();
    assert_eq!((cell.get(), cell.is_complete()), (200, true));
    let done = Cell::new(5);
    done.complete();
    let cell = done.retry(3);
    assert_eq!((cell.get(), cell.is_complete()), (5, true));
}

#[test]
fn the_next_start_waits_for_the_delay() {
    let (clock, starts) = (clock(), Starts::default());
    let policy = Retry::times(3).with_delay(Duration::from_secs(1));
    let cell = retry(policy, make(&starts));
    let (told, _guard) = record(&cell);
    last(&starts).fail("one");
    timers::advance_to(&clock, SECOND_NS - 1);
    assert_eq!((starts.borrow().len(), timers::waiting(), cell.is_error()), (1, 1, false));
    timers::advance_to(&clock, SECOND_NS);
    assert_eq!((starts.borrow().len(), timers::waiting()), (2, 0));
    last(&starts).fail("two");
    timers::advance_to(&clock, 2 * SECOND_NS);
    last(&starts).fail("three");
    assert_eq!(*told.borrow(), ["100", "200", "300", "three"]);
    assert_eq!(timers::waiting(), 0);
    let level = Cell::new(1);
    let tried = level.retry_with_delay(2, Duration::from_secs(1));
    level.fail("gone");
    assert!(!tried.is_error());
    timers::advance_to(&clock, 3 * SECOND_NS);
    assert!(tried.is_error());
}

#[test]
fn a_dropped_cell_takes_its_timer_and_its_source_with_it() {
    let (clock, source) = (clock(), Rc::new(RefCell::new(None::<WeakCell<i32, CellMutable>>)));
    let kept = source.clone();
    let starts = Rc::new(Flag::new(0));
    let count = starts.clone();
    let cell: Cell<i32, CellImmutable> =
        retry(Retry::times(9).with_delay(Duration::from_secs(1)), move |number| {
            count.set(number);
            let made = Cell::new(number as i32);
            *kept.borrow_mut() = Some(made.downgrade());
            made
        });
    let weak = source.borrow().clone().expect("it was started");
    let (told, guard) = record(&cell);
    weak.upgrade().expect("the operator keeps it").fail("one");
    assert!(weak.upgrade().is_none(), "what has failed is let go");
    assert_eq!(timers::waiting(), 1);
    drop((guard, cell));
    assert_eq!(timers::waiting(), 0);
    timers::advance_to(&clock, 5 * SECOND_NS);
    assert_eq!((starts.get(), told.borrow().len()), (1, 1));
}

/// A policy that panics lets the error pass; a start that does leaves the cell with its value.
#[test]
fn panics_of_the_closures() {
    let level = Cell::new(1);
    let tried = level.retry_when(|_, _| panic!("no policy"));
    let failed = catch_unwind(AssertUnwindSafe(|| level.fail("gone")));
    assert!(failed.is_err());
    assert!(tried.is_error());

    let source = Cell::new(1);
    let first = source.clone();
    let cell = retry(Retry::times(9), move |number| match number {
        1 => first.clone(),
        _ => panic!("no start"),
    });
    let failed = catch_unwind(AssertUnwindSafe(|| source.fail("gone")));
    assert!(failed.is_err());
    assert_eq!((cell.get(), cell.is_error()), (1, false));
}

/// What a script does to the source of the moment.
#[derive(Clone, Copy, Debug)]
enum Step {
    Value(i32),
    Fail,
    Pass(u64),
}

/// What a cell with this policy should tell.
fn reference(times: usize, delay_ns: u64, steps: &[Step]) -> Vec<String> {
    let mut told = vec!["100".to_owned()];
    let (mut number, mut failures, mut now_ns, mut starts_ns) = (1, 0, 0, None);
    for &step in steps {
        match (step, starts_ns) {
            (Step::Value(value), None) => {
                failures = 0;
                told.push(value.to_string());
            }
            (Step::Fail, None) => {
                failures += 1;
                if failures >= times {
                    told.push("failed".to_owned());
                    return told;
                }
                starts_ns = Some(now_ns + delay_ns);
            }
            (Step::Pass(ns), _) => now_ns += ns,
            _ => (),
        }
        if starts_ns.is_some_and(|at_ns| at_ns <= now_ns) {
            (number, starts_ns) = (number + 1, None);
            told.push((100 * number).to_string());
        }
    }
    told
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..50).prop_map(Step::Value),
        Just(Step::Fail),
        Just(Step::Fail),
        (1_u64..20).prop_map(Step::Pass),
    ]
}

proptest! {
    #[test]
    fn it_does_as_the_reference_says(
        times in 1_usize..5,
        delay_ns in prop_oneof![Just(0_u64), 1_u64..30],
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let (clock, starts) = (clock(), Starts::default());
        let policy = Retry::times(times).with_delay(Duration::from_nanos(delay_ns));
        let cell = retry(policy, make(&starts));
        let (told, guard) = record(&cell);
        let mut now_ns = 0;
        for step in &steps {
            let source = last(&starts);
            let over = source.is_error();
            match step {
                Step::Value(value) if !over => source.set(*value),
                Step::Fail if !over => source.fail("failed"),
                Step::Pass(ns) => {
                    now_ns += ns;
                    timers::advance_to(&clock, now_ns);
                }
                _ => (),
            }
        }
        prop_assert_eq!(&*told.borrow(), &reference(times, delay_ns, &steps));
        drop((guard, cell));
        prop_assert_eq!(timers::waiting(), 0);
    }
}
