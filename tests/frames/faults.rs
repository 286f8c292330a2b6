//! Frames that go wrong: panics, frames inside callbacks, feedback, rates that are none.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use hyphae::{
    Cell, Clock, Error, FrameLoop, Limits, ManualClock, Pipeline, Reentry, batch, set_limits,
};

use crate::{loop_at, ns};

/// The text of the panic in `f`.
fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().expect("a text")).to_owned(),
    }
}

/// The report is lost, nothing else: what was written has settled, and the numbers go on.
#[test]
fn a_frame_that_panics() {
    let (clock, mut frames) = loop_at(0);
    let a = Cell::new(0);
    let b = (&a).map(|v| v + 1).materialize();
    frames.frame(|_| a.set(1));
    clock.set(3_200);
    let text = panic_of(|| {
        frames.frame(|frame| {
            assert_eq!((frame.index, frame.skipped), (3, 2));
            a.set(5);
            panic!("in the frame");
        });
    });
    assert_eq!((text.as_str(), b.get()), ("in the frame", 6));
    assert_eq!((frames.stats().frames(), frames.stats().boundaries_skipped()), (1, 0));
    clock.set(4_000);
    let report = frames.frame(|frame| {
        assert_eq!(frame.previous, None);
        a.set(6);
    });
    // It tells of what nobody was told.
    assert_eq!((report.index, report.skipped, report.emits, report.refires), (4, 2, 2, 0));
    assert_eq!(frames.stats().boundaries_skipped(), 2);
}

#[test]
fn a_callback_that_panics() {
    let (_, mut frames) = loop_at(0);
    let a = Cell::new(0);
    let b = (&a).map(|&v| if v == 1 { panic!("in the map") } else { v }).materialize();
    let calls = Rc::new(RefCell::new(Vec::new()));
    let _guard = b.watch_changes({
        let calls = calls.clone();
        move |&v| {
            calls.borrow_mut().push(v);
            assert_ne!(v, 2, "in the subscriber");
        }
    });
    assert_eq!(panic_of(|| _ = frames.frame(|_| a.set(1))), "in the map");
    assert!(panic_of(|| _ = frames.frame(|_| a.set(2))).contains("in the subscriber"));
    let report = frames.frame(|_| a.set(3));
    assert_eq!((report.index, report.cells_computed, report.emits), (2, 1, 2));
    assert_eq!(*calls.borrow(), [2, 3]);
}

/// After a panic nothing is counted or timed until the next frame.
#[test]
fn a_panic_closes_the_frame() {
    let (clock, mut frames) = loop_at(0);
    let a = Cell::new(0);
    panic_of(|| _ = frames.frame(|_| panic!("in the frame")));
    a.set(1);
    clock.advance(ns(500));
    a.set(2);
    let report = frames.frame(|_| ());
    assert_eq!((report.emits, report.settle_ns, report.waves), (0, 0, 1));
}

/// A clock that panics when it is told to.
struct Broken(ManualClock, Rc<std::cell::Cell<bool>>);

impl Clock for Broken {
    fn now_nanos(&self) -> u64 {
        assert!(!self.1.get(), "the clock is broken");
        self.0.now_nanos()
    }
}

#[test]
fn a_clock_that_panics() {
    let broken = Rc::new(std::cell::Cell::new(false));
    let clock = Broken(ManualClock::new(), broken.clone());
    let mut frames = FrameLoop::with_period(ns(10)).with_clock(clock);
    let a = Cell::new(0);
    let b = (&a).map(|v| v + 1).materialize();
    let text = panic_of(|| {
        frames.frame(|_| {
            a.set(1);
            broken.set(true);
        });
    });
    assert_eq!((text.as_str(), b.get()), ("the clock is broken", 2));
    assert_eq!(panic_of(|| _ = frames.frame(|_| a.set(2))), "the clock is broken");
    broken.set(false);
    assert_eq!(frames.frame(|_| a.set(3)).emits, 2);
}

/// A loop that is shared with callbacks.
type Shared = Rc<RefCell<FrameLoop>>;

/// Tries to run a frame, and to run frames; both must be refused, and say where they were called.
fn refused(frames: &Shared) -> u32 {
    let mut frames = frames.borrow_mut();
    let ran = || panic!("a frame has run");
    let error = frames.try_frame(|_| ran()).expect_err("it is refused");
    let line = line!() - 1;
    let Error::Reentrant { call: Reentry::Frame, place } = error else {
        panic!("another error: {error}");
    };
    assert_eq!((place.file(), place.line()), (file!(), line));
    let inside = |error: &Error| matches!(error, Error::Reentrant { call: Reentry::Frame, .. });
    assert!(frames.try_frame_at(5, |_| ran()).is_err_and(|error| inside(&error)));
    assert!(frames.try_run(2, |_| ran()).is_err_and(|error| inside(&error)));
    assert!(frames.try_run_while(|_| panic!("a frame has run")).is_err_and(|error| inside(&error)));
    1
}

#[test]
fn no_frame_inside_a_callback_or_a_batch() {
    let (clock, frames) = loop_at(0);
    let frames: Shared = Rc::new(RefCell::new(frames));
    frames.borrow_mut().frame(|_| ());
    let a = Cell::new(0);
    let tries = Rc::new(std::cell::Cell::new(0));
    let attempt = {
        let (frames, tries) = (frames.clone(), tries.clone());
        move || tries.set(tries.get() + refused(&frames))
    };
    let b = (&a).map({
        let attempt = attempt.clone();
        move |v| {
            attempt();
            v + 1
        }
    });
    let b = b.materialize();
    let guard = b.subscribe_changes({
        let attempt = attempt.clone();
        move |_| attempt()
    });
    assert_eq!(tries.get(), 1, "at construction");
    a.set(1);
    assert_eq!(tries.get(), 3, "in a closure and a subscriber");
    batch(&attempt);
    a.update(|_| attempt());
    assert_eq!(tries.get(), 3 + 1 + 3);
    // Inside a frame of another loop.
    drop((guard, b));
    FrameLoop::new(60).with_clock(clock.clone()).frame(|_| attempt());
    assert_eq!(tries.get(), 8);
    // Nothing has happened, no sleep either: the next frame is the second.
    assert_eq!(clock.now_nanos(), 0);
    assert_eq!(frames.borrow_mut().frame(|_| ()).index, 1);
}

#[test]
fn the_panic_says_what_the_error_says() {
    let (_, mut frames) = loop_at(0);
    let mut line = 0;
    let text = panic_of(|| {
        batch(|| {
            line = line!() + 1;
            frames.frame(|_| ());
        });
    });
    assert!(text.starts_with(&format!("the frame at {}:{line}:", file!())), "{text}");
    assert!(text.contains("inside a callback or a batch"), "{text}");
}

/// Feedback that does not converge is an error of the frame, which has no report; the next is sound.
#[test]
fn feedback_that_does_not_converge() {
    set_limits(Limits { generations: 20, ..Limits::default() });
    let (_, mut frames) = loop_at(0);
    let a = Cell::new(0_u64);
    let guard = a.watch_changes({
        let a = a.clone();
        move |v| a.set(v + 1)
    });
    let error = frames.try_frame(|_| a.set(1)).expect_err("it does not converge");
    assert!(matches!(error, Error::NoConvergence { .. }), "{error}");
    drop(guard);
    let report = frames.frame(|_| a.set(0));
    assert_eq!((report.index, report.emits, report.waves), (1, 1, 1));
    assert_eq!(frames.stats().frames(), 1);
}

/// `run` stops at the first error.
#[test]
fn a_run_ends_with_an_error() {
    set_limits(Limits { generations: 20, ..Limits::default() });
    let (clock, mut frames) = loop_at(0);
    let a = Cell::new(0_u64);
    let _guard = a.watch_changes({
        let a = a.clone();
        move |v| {
            if *v >= 100 {
                a.set(v + 1);
            }
        }
    });
    let outcome = frames.try_run(5, |frame| a.set(50 * frame.index));
    assert!(matches!(outcome, Err(Error::NoConvergence { .. })));
    assert_eq!((frames.stats().frames(), clock.now_nanos()), (2, 2_000));
}

#[test]
fn what_is_no_rate_is_refused() {
    for hz in [0.0, -60.0, f64::NAN, f64::INFINITY, 2e9] {
        let line = line!() + 1;
        let error = FrameLoop::try_new(hz).expect_err("it is no rate");
        let Error::FrameRate { place } = error else { panic!("another error: {error}") };
        assert_eq!((place.file(), place.line()), (file!(), line));
        assert_eq!(
            FrameLoop::try_new(hz).map(drop).expect_err("none").to_string().len(),
            error.to_string().len()
        );
    }
    for period in [Duration::ZERO, Duration::MAX] {
        assert!(matches!(FrameLoop::try_with_period(period), Err(Error::FrameRate { .. })));
    }
    let text = panic_of(|| drop(FrameLoop::new(0)));
    assert!(text.contains("has no rate"), "{text}");
    let text = panic_of(|| drop(FrameLoop::with_period(Duration::ZERO)));
    assert!(text.starts_with(&format!("the frame loop made at {}", file!())), "{text}");
}

type Outcome = Result<u64, Error>;

/// Runs a frame when its thread ends.
struct AtExit(FrameLoop, Sender<Outcome>);

impl Drop for AtExit {
    fn drop(&mut self) {
        let outcome = self.0.try_frame(|_| ()).map(|report| report.index);
        let _ = self.1.send(outcome);
    }
}

thread_local! {
    static BEFORE: RefCell<Option<AtExit>> = const { RefCell::new(None) };
    static AFTER: RefCell<Option<AtExit>> = const { RefCell::new(None) };
}

/// When the thread's store is gone there are no frames any more. Thread-locals are torn down in an order that is the
/// platform's: at least one of the two outlives the store.
#[test]
fn a_frame_without_a_store() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let at_exit =
        |sender| AtExit(FrameLoop::with_period(ns(10)).with_clock(ManualClock::new()), sender);
    let thread = std::thread::spawn(move || {
        BEFORE.set(Some(at_exit(sender.clone())));
        drop(Cell::new(1));
        AFTER.set(Some(at_exit(sender)));
    });
    thread.join().expect("the thread ends");
    let outcomes: Vec<Outcome> = receiver.iter().collect();
    let closed = |outcome: &Outcome| *outcome == Err(Error::StoreClosed);
    assert!(outcomes.iter().all(|outcome| closed(outcome) || *outcome == Ok(0)), "{outcomes:?}");
    assert!(outcomes.len() == 2 && outcomes.iter().any(closed), "{outcomes:?}");
}
