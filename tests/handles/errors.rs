//! What errors say: the cell by name, id and place, and what to do about it.

use std::error::Error as _;

use hyphae::{
    Cell, CellError, CellInfo, Error, Feedback, Limits, Pipeline, on_cleanup, set_limits, try_batch,
};

use crate::support::caught;

/// Checks that a text has all parts.
#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

fn named() -> (Cell<i32>, String, String) {
    let cell = Cell::new(1).with_name("level");
    let id = format!("{:?}", cell.cell_id());
    let place = cell.place().expect("a place").to_string();
    (cell, id, place)
}

#[test]
fn disposed_and_ended() {
    let (cell, id, place) = named();
    cell.complete();
    let ended = cell.try_set(2).expect_err("it has ended").to_string();
    has(&ended, &["\"level\"", &id, &place, "completed or failed", "make a new cell"]);
    cell.dispose();
    let disposed = cell.try_get().expect_err("it is gone").to_string();
    has(&disposed, &["\"level\"", &id, &place, "disposed", "keep a WeakCell and upgrade it"]);
    assert_eq!(caught(|| cell.get()), Some(disposed));
}

#[test]
fn a_cell_without_a_name() {
    let cell = Cell::new(1);
    cell.dispose();
    let text = cell.try_get().expect_err("it is gone").to_string();
    has(&text, &["unnamed cell", &format!("{:?}", cell.cell_id()), "errors.rs"]);
}

#[test]
fn lent_names_both_places() {
    let (cell, id, place) = named();
    let mut error = None;
    let below = (&cell).map(|v| *v).materialize();
    cell.update(|_| error = below.try_get().err());
    let error = error.expect("it is lent");
    let Error::Lent { cell: info, update, read } = &error else { panic!("{error}") };
    assert_eq!((info.id(), read.line()), (Some(cell.cell_id()), update.line()));
    has(
        &error.to_string(),
        &[
            "\"level\"",
            &id,
            &place,
            "lent",
            &update.to_string(),
            &read.to_string(),
            "read it before",
        ],
    );
}

#[test]
fn uuids() {
    let (cell, id, place) = named();
    let uuid = uuid::Uuid::from_u128(77);
    let _owner = Cell::new(2).with_uuid(uuid);
    let taken = cell.clone().try_with_uuid(uuid).expect_err("taken").to_string();
    has(&taken, &["\"level\"", &id, &place, &uuid.to_string(), "UUID of its own"]);
    let kept = cell.id();
    let handed = cell.try_with_uuid(uuid::Uuid::from_u128(78)).expect_err("asked for").to_string();
    has(&handed, &["\"level\"", &id, &place, &kept.to_string(), "call with_uuid before"]);
}

#[test]
fn no_scope() {
    let text = caught(|| on_cleanup(|| ())).expect("no scope is current");
    has(&text, &["on_cleanup", "errors.rs", "Scope::run"]);
}

#[test]
fn no_convergence_tells_who_wrote_what() {
    set_limits(Limits { generations: 100, waiting: 1000 });
    let ping = Cell::new(0).with_name("ping");
    let pong = Cell::new(0).with_name("pong");
    let _a = ping.subscribe_changes({
        let pong = pong.clone();
        move |_| pong.set(0)
    });
    let _b = pong.subscribe_changes({
        let ping = ping.clone();
        move |_| ping.set(0)
    });
    let error = ping.try_set(1).expect_err("it loops");
    let Error::NoConvergence { generation, waiting, feedback } = &error else { panic!("{error}") };
    assert_eq!((*generation, *waiting), (101, 1));
    let name = |info: &Option<CellInfo>| info.as_ref().and_then(|info| info.name.clone());
    let mut loops: Vec<_> =
        feedback.iter().map(|f: &Feedback| (name(&f.on), name(&f.wrote))).collect();
    loops.sort();
    let text = |a: &str, b: &str| (Some(a.to_owned()), Some(b.to_owned()));
    assert_eq!(loops, [text("ping", "pong"), text("pong", "ping")]);
    assert!(
        feedback
            .iter()
            .all(|f| f.callback.is_some_and(|place| place.file().ends_with("errors.rs")))
    );
    has(
        &error.to_string(),
        &[
            "do not converge",
            "\"ping\"",
            "\"pong\"",
            "errors.rs",
            "break the loop or raise the limits",
        ],
    );
    assert!(error.source().is_none());
}

/// The error of a derived cell's closure names the place where the cell was made.
#[test]
fn a_closure_that_loops_is_named_by_its_cell() {
    set_limits(Limits { generations: 50, waiting: 1000 });
    let cell = Cell::new(0);
    let derived = (&cell)
        .map({
            let cell = cell.downgrade();
            move |v| {
                if *v > 0 {
                    cell.upgrade().expect("it lives").set(*v);
                }
            }
        })
        .cold()
        .materialize()
        .with_name("looping");
    let error = try_batch(|| cell.set(1)).expect_err("it loops");
    let Error::NoConvergence { feedback, .. } = &error else { panic!("{error}") };
    assert_eq!(feedback.len(), 1);
    assert_eq!(feedback[0].callback, derived.place());
    assert_eq!(feedback[0].on.as_ref().and_then(|on| on.name.as_deref()), Some("looping"));
}

#[test]
fn a_shared_pipeline_that_consumes_itself() {
    use std::{cell::RefCell, rc::Rc};
    type Inside = Rc<RefCell<Option<Box<dyn Fn()>>>>;
    let cell = Cell::new(1);
    let inside: Inside = Rc::default();
    let shared = (&cell)
        .map({
            let inside = inside.clone();
            move |v| {
                if let Some(f) = &*inside.borrow() {
                    f();
                }
                *v
            }
        })
        .share();
    *inside.borrow_mut() = Some(Box::new({
        let shared = shared.clone();
        move || drop(shared.clone().materialize())
    }));
    let text = caught(|| shared.clone().materialize()).expect("a loop");
    has(&text, &["share", "own closures", "errors.rs"]);
    *inside.borrow_mut() = None;
    assert_eq!(shared.materialize().get(), 1);
}

#[test]
fn errors_are_comparable_and_printable() {
    let (cell, ..) = named();
    cell.dispose();
    let (a, b) = (cell.try_get().expect_err("gone"), cell.try_set(1).expect_err("gone"));
    assert_eq!(a, b);
    assert_eq!(a.clone(), a);
    assert_ne!(a, Error::StoreClosed);
    assert!(format!("{a:?}").contains("Disposed"));
    has(&Error::StoreClosed.to_string(), &["store", "closed", "thread", "drop handles before"]);
    let anonymous = Feedback { on: None, callback: None, wrote: None };
    let error = Error::NoConvergence { generation: 1, waiting: 2, feedback: vec![anonymous] };
    has(&error.to_string(), &["a callback", "a cell that is gone", "2 writes waiting"]);
}

/// An error may go to another thread: its text is the same there, its id means nothing.
#[test]
fn errors_travel() {
    let (cell, ..) = named();
    cell.dispose();
    let error = cell.try_get().expect_err("gone");
    let Error::Disposed(info) = &error else { panic!("{error}") };
    assert_eq!(info.id(), Some(cell.cell_id()));
    let (text, sent) = (error.to_string(), error.clone());
    let there = std::thread::spawn(move || {
        let _own = Cell::new(2); // the same slot of another store
        let Error::Disposed(info) = &sent else { panic!("{sent}") };
        assert_eq!((info.id(), info.name.as_deref()), (None, Some("level")));
        sent.to_string()
    });
    assert_eq!(there.join().expect("no panic"), text);
}

#[test]
fn a_cell_error_shares_what_it_wraps() {
    let error = CellError::new(std::fmt::Error);
    let copy = error.clone();
    assert!(copy.get().downcast_ref::<std::fmt::Error>().is_some());
    assert_eq!(
        (error.to_string(), format!("{copy:?}")),
        (std::fmt::Error.to_string(), "Error".to_owned())
    );
    assert_eq!(CellError::new("text").to_string(), "text");
    assert_eq!(CellError::new(String::from("owned")).to_string(), "owned");
    let cell = Cell::new(1);
    cell.fail(Box::<dyn std::error::Error>::from("boxed"));
    let below = (&cell).map(|v| *v).materialize();
    let (upper, lower) = (cell.error().expect("it failed"), below.error().expect("it failed"));
    assert!(std::ptr::addr_eq(upper.get(), lower.get()));
}
