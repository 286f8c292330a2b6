//! Waiting for a boundary, with and without a warm-up.

use std::cell::Cell as StdCell;
use std::rc::Rc;

use hyphae::{Cell, Clock, Error, FrameLoop, Pipeline, Reentry, batch};

use crate::{loop_at, ns};

/// A clock that runs: each reading takes it one nanosecond on. It counts its sleeps.
#[derive(Clone, Default)]
struct Running {
    now_ns: Rc<StdCell<u64>>,
    slept_until: Rc<StdCell<u64>>,
}

impl Clock for Running {
    fn now_nanos(&self) -> u64 {
        self.now_ns.set(self.now_ns.get() + 1);
        self.now_ns.get()
    }

    fn sleep_until(&self, clock_nanos: u64) {
        let wait = self.now_ns.get() < clock_nanos;
        self.slept_until.set(if wait { clock_nanos } else { self.slept_until.get() });
        self.now_ns.set(self.now_ns.get().max(clock_nanos));
    }
}

#[test]
fn it_waits_for_the_boundary_of_the_next_frame() {
    let (clock, mut frames) = loop_at(70);
    frames.wait();
    assert_eq!(clock.now_nanos(), 70, "before the first frame there is no boundary");
    frames.frame(|_| clock.advance(ns(300)));
    frames.wait();
    assert_eq!((clock.now_nanos(), frames.next_boundary_ns()), (1_070, 1_070));
    frames.wait();
    assert_eq!(clock.now_nanos(), 1_070, "no frame has taken that boundary yet");
    clock.advance(ns(5_000));
    frames.wait();
    assert_eq!(clock.now_nanos(), 6_070, "a boundary that has passed is not waited for");
}

/// On a clock that stands still between the frames, a warm-up of any length changes no report.
#[test]
fn a_warm_up_changes_nothing_on_a_clock_that_is_moved_by_hand() {
    for lead in [0, 1, 400, 1_000, u64::MAX] {
        let (clock, frames) = loop_at(0);
        let mut frames = frames.with_warm_up(ns(lead));
        let source = Cell::new(0_u64);
        let cells: Vec<_> = (0..300).map(|n| (&source).map(move |v| v + n).materialize()).collect();
        frames.run(4, |frame| source.set(frame.index));
        assert_eq!((cells[7].get(), clock.now_nanos()), (10, 3_000), "{lead}");
        let stats = frames.take_stats();
        assert_eq!((stats.frames(), stats.boundaries_skipped()), (4, 0), "{lead}");
    }
}

#[test]
fn it_sleeps_until_the_lead_and_is_awake_from_then_on() {
    let clock = Running::default();
    let frames = FrameLoop::with_period(ns(100_000)).with_clock(clock.clone());
    let mut frames = frames.with_warm_up(ns(700));
    frames.frame(|_| ());
    let boundary_ns = frames.next_boundary_ns();
    frames.wait();
    assert_eq!(clock.slept_until.get(), boundary_ns - 700);
    assert_eq!(clock.now_ns.get(), boundary_ns, "each step of the warm-up reads the clock once");
    let report = frames.frame(|_| ());
    assert_eq!((report.boundary_ns, report.skipped, report.lateness_ns), (boundary_ns, 0, 1));
}

#[test]
fn nobody_sleeps_in_a_callback_or_a_batch() {
    let (clock, frames) = loop_at(0);
    let mut frames = frames.with_warm_up(ns(10));
    frames.frame(|_| ());
    let refused = |result| matches!(result, Err(Error::Reentrant { call: Reentry::Frame, .. }));
    batch(|| assert!(refused(frames.try_wait())));
    let source = Cell::new(0);
    let (frames, seen) = (Rc::new(frames), Rc::new(StdCell::new(false)));
    let _guard = source.subscribe_changes({
        let (frames, seen) = (frames.clone(), seen.clone());
        move |_| seen.set(refused(frames.try_wait()))
    });
    source.set(1);
    assert!(seen.get());
    assert_eq!(clock.now_nanos(), 0);
    assert_eq!(frames.try_wait().err().map(|error| error.to_string()), None);
    assert_eq!(clock.now_nanos(), 1_000);
}
