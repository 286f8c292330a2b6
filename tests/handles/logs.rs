//! What goes to the log: errors that have no caller to go to.

use std::cell::RefCell;
use std::sync::Once;

use hyphae::{Cell, Limits, batch, set_limits};

use crate::support::{Log, caught};

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps each line for the thread that logged it.
struct Keeper;

impl log::Log for Keeper {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{} {}", record.level(), record.args());
        let _ = LINES.try_with(|lines| lines.borrow_mut().push(line));
    }

    fn flush(&self) {}
}

/// The lines that `f` logs.
fn logged(f: impl FnOnce()) -> Vec<String> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Keeper).expect("no other logger in this program");
        log::set_max_level(log::LevelFilter::Trace);
    });
    LINES.take();
    f();
    LINES.take()
}

#[test]
fn a_fallible_subscriber_is_logged_with_its_cell() {
    let cell = Cell::new(1).with_name("level");
    let log = Log::new();
    let lines = logged(|| {
        let _failing = cell.subscribe_result(|signal| match signal.value_ref() {
            Some(2) => Err("refused".to_owned()),
            _ => Ok(()),
        });
        let _next = log.on(&cell);
        cell.set(2);
    });
    log.check(&[1, 2]);
    assert_eq!(lines.len(), 1);
    for part in ["ERROR", "refused", "level", "handles/logs.rs"] {
        assert!(lines[0].contains(part), "{part} is missing in {lines:?}");
    }
}

/// The first panic of a call goes to its caller, later ones to the log.
#[test]
fn later_panics_of_a_call_are_logged() {
    let cell = Cell::new(1);
    let _guards: Vec<_> = ["first", "second", "third"]
        .into_iter()
        .map(|text| cell.subscribe_changes(move |_| panic!("{text}")))
        .collect();
    let lines = logged(|| assert_eq!(caught(|| cell.set(2)).as_deref(), Some("first")));
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("second") && lines[1].contains("third"), "{lines:?}");
}

/// With a panic and feedback without end in one call the panic goes on and the error is logged.
#[test]
fn an_error_beside_a_panic_is_logged() {
    set_limits(Limits { generations: 5, waiting: 10 });
    let (cell, other) = (Cell::new(1), Cell::new(1));
    let _looping = cell.subscribe_changes({
        let cell = cell.downgrade();
        move |_| cell.upgrade().expect("it lives").set(1)
    });
    let _failing = other.subscribe_changes(|_| panic!("failing"));
    let both = || {
        batch(|| {
            cell.set(2);
            other.set(2);
        });
    };
    let lines = logged(|| assert_eq!(caught(both).as_deref(), Some("failing")));
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("do not converge"), "{lines:?}");
}

#[test]
fn good_calls_log_nothing() {
    let lines = logged(|| {
        let cell = Cell::new(1);
        let _guard = cell.watch(|_| ());
        batch(|| cell.set(2));
        cell.complete();
        cell.dispose();
        let _ = cell.try_get();
    });
    assert!(lines.is_empty(), "{lines:?}");
}
