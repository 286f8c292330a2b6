//! Spans are left in the reverse order of entering, also where closures panic, wait, are abandoned, or write.
//!
//! The capture checks each span for that; here is the tree that comes out.

use hyphae::{Cell, CellImmutable, Pipeline, WeakCell, batch};

use crate::capture::Capture;
use crate::support::{Slot, caught};

#[test]
fn a_closure_that_panics() {
    let a = Cell::new(0).with_name("a");
    let checked = (&a).map(|v| assert_ne!(*v, 1, "refused")).materialize().with_name("checked");
    let below = (&checked).map(|()| ()).materialize().with_name("below");
    let beside = (&a).map(|v| *v).materialize().with_name("beside");
    let capture = Capture::new();
    assert!(caught(|| a.set(1)).is_some());
    capture.check(
        "
        wave 0 2
          compute map checked
          compute map beside
          fanout a
          fanout beside
        ",
    );
    a.set(2);
    capture.check(
        "
        wave 0 3
          compute map checked
          compute map below
          compute map beside
          fanout a
          fanout checked
          fanout below
          fanout beside
        ",
    );
    drop((below, beside));
}

#[test]
fn a_comparison_that_panics() {
    let a = Cell::with_cutoff(0, |_, new| *new != 1 || panic!("refused")).with_name("a");
    let capture = Capture::new();
    assert!(caught(|| a.set(1)).is_some());
    capture.check(
        "
        wave 0 1
          compute cell a
          fanout a
        ",
    );
}

#[test]
fn subscribers_that_panic() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| *v).materialize().with_name("b");
    let _guards = [
        a.watch_changes(|_| panic!("first")),
        b.watch_changes(|_| panic!("second")),
        b.watch_changes(|_| panic!("third")),
    ];
    let capture = Capture::new();
    assert_eq!(caught(|| a.set(1)).as_deref(), Some("first"));
    capture.check(
        "
        wave 0 1
          compute map b
          fanout a
          fanout b
        ",
    );
}

#[test]
fn a_body_of_a_batch_that_panics() {
    let a = Cell::new(0).with_name("a");
    let capture = Capture::new();
    let body = || {
        a.set(1);
        panic!("in the body")
    };
    assert_eq!(caught(|| batch(body)).as_deref(), Some("in the body"));
    capture.check(
        "
        wave 0 0
          fanout a
        ",
    );
}

/// What callbacks write settles in waves after the one under way, each with the number of the wave that caused it plus one.
#[test]
fn re_entrant_writes() {
    let cells = ["a", "b", "c"].map(|name| Cell::new(0).with_name(name));
    let [a, b, c] = &cells;
    let write = |from: &Cell<i32>, to: &Cell<i32>| {
        let to = to.clone();
        from.watch_changes(move |v| {
            to.set(*v);
            to.set(*v + 1);
        })
    };
    let _guards = (write(a, b), write(b, c));
    let capture = Capture::new();
    a.set(1);
    capture.check(
        "
        wave 0 0
          fanout a
        wave 1 0
          fanout b
        wave 1 0
          fanout b
        wave 2 0
          fanout c
        wave 2 0
          fanout c
        wave 2 0
          fanout c
        wave 2 0
          fanout c
        ",
    );
    batch(|| a.set(1));
    assert_eq!(capture.take().len(), 14);
}

/// Writes that a closure makes, and a batch in a callback.
#[test]
fn writes_in_closures_and_batches_in_callbacks() {
    let (a, b) = (Cell::new(0).with_name("a"), Cell::new(0).with_name("b"));
    let tapped = {
        let b = b.clone();
        (&a).tap(move |v| b.set(*v))
    };
    let tapped = tapped.materialize().with_name("tapped");
    let _guard = tapped.watch_changes({
        let (a, b) = (a.downgrade(), b.clone());
        move |v| {
            batch(|| {
                b.set(*v);
                b.set(*v + 1);
                let a = a.upgrade().expect("the test holds it");
                if a.get() < 2 {
                    a.set(2);
                }
            });
        }
    });
    let capture = Capture::new();
    a.set(1);
    capture.check(
        "
        wave 0 1
          compute tap tapped
          fanout a
          fanout tapped
        wave 1 0
          fanout b
        wave 1 1
          compute tap tapped
          fanout a
          fanout b
          fanout tapped
        wave 2 0
          fanout b
        wave 2 0
          fanout b
        ",
    );
}

type Later = Slot<Cell<i32, CellImmutable>>;

fn reader(on: &Cell<i32>, late: &Later) -> Cell<i32, CellImmutable> {
    let (on, late) = (on.clone(), late.clone());
    Cell::computed(move || if on.get() == 0 { 0 } else { late.full().get() + 1 })
}

/// What a closure waits for is computed inside of its span.
#[test]
fn closures_that_wait() {
    let on = Cell::new(0).with_name("on");
    let slots = [Later::new(), Later::new()];
    let first = reader(&on, &slots[0]).with_name("first");
    let second = reader(&on, &slots[1]).with_name("second");
    let third = (&on).map(|v| v * 10).materialize().with_name("third");
    slots[0].put(second.clone());
    slots[1].put(third.clone());
    let capture = Capture::new();
    on.set(1);
    capture.check(
        "
        wave 0 3
          compute computed first
            compute computed second
              compute map third
          fanout on
          fanout third
          fanout second
          fanout first
        ",
    );
    on.set(2);
    capture.check(
        "
        wave 0 3
          compute map third
          compute computed second
          compute computed first
          fanout on
          fanout third
          fanout second
          fanout first
        ",
    );
    assert_eq!(first.get(), 22);
    slots.iter().for_each(|slot| drop(slot.take()));
}

/// A panic goes through the spans of the closures that wait: the one that panicked first keeps its value, the others
/// read it.
#[test]
fn a_panic_below_closures_that_wait() {
    let on = Cell::new(0).with_name("on");
    let slot = Later::new();
    let first = reader(&on, &slot).with_name("first");
    let checked =
        (&on).map(|v| (*v != 1).then_some(*v).expect("not 1")).materialize().with_name("checked");
    slot.put(checked.clone());
    let capture = Capture::new();
    assert!(caught(|| on.set(1)).is_some());
    capture.check(
        "
        wave 0 2
          compute computed first
            compute map checked
          fanout on
          fanout first
        ",
    );
    assert_eq!(first.get(), 1, "the last good value and one");
    slot.take();
}

/// Too deep to wait in place: runs are unwound and repeated. Each cell emits once.
#[test]
fn runs_that_are_abandoned() {
    const DEPTH: usize = 1_000;
    let on = Cell::new(0).with_name("on");
    let slots: Vec<Later> = (0..DEPTH).map(|_| Later::new()).collect();
    let cells: Vec<_> = slots.iter().map(|slot| reader(&on, slot)).collect();
    let last = (&on).map(|v| v * 10).materialize();
    let targets = cells[1..].iter().chain([&last]);
    slots.iter().zip(targets).for_each(|(slot, target)| slot.put(target.clone()));
    let capture = Capture::new();
    on.set(1);
    assert_eq!(cells[0].get(), 10 + DEPTH as i32);
    let spans = capture.spans();
    let (wave, count) = (spans.roots[0], |name| spans.below(spans.roots[0], name));
    assert_eq!((spans.roots.len(), count("hyphae.fanout")), (1, DEPTH + 2));
    assert!(count("hyphae.compute") > DEPTH + 1, "some runs were repeated");
    assert_eq!(spans.all[&wave].field("width"), (DEPTH + 1).to_string(), "which count once");
    drop(spans);
    slots.iter().for_each(|slot| drop(slot.take()));
}

/// A read in a batch computes where it is, before the span of the wave, which counts it.
#[test]
fn a_batch_that_reads() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| v + 1).materialize().with_name("b");
    let c = (&b).map(|v| v + 1).materialize().with_name("c");
    let capture = Capture::new();
    batch(|| {
        a.set(1);
        assert_eq!(b.get(), 2);
        assert_eq!(b.get(), 2);
        a.set(2);
        tracing::trace_span!(target: "hyphae", "the program's own").in_scope(|| b.get());
    });
    capture.check(
        "
        compute map b
        the program's own 
          compute map b
        wave 0 3
          compute map c
          fanout a
          fanout b
          fanout c
        ",
    );
    batch(|| {
        a.set(3);
        b.get();
        a.set(4);
    });
    capture.check(
        "
        compute map b
        wave 0 3
          compute map b
          compute map c
          fanout a
          fanout b
          fanout c
        ",
    );
    drop(c);
}

/// A cell that dies in a callback before its own fan-out has none.
#[test]
fn a_cell_that_dies_in_the_wave() {
    let a = Cell::new(0).with_name("a");
    let slot = Slot::new();
    slot.put((&a).map(|v| *v).materialize().with_name("b"));
    let _guard = a.watch_changes({
        let slot = slot.clone();
        move |_| drop(slot.take())
    });
    let capture = Capture::new();
    a.set(1);
    capture.check(
        "
        wave 0 1
          compute map b
          fanout a
        ",
    );
}

/// A cell that lets go of itself in its own fan-out, and the wave goes on.
#[test]
fn a_cell_that_dies_in_its_own_fanout() {
    let a = Cell::new(0).with_name("a");
    let slot = Slot::new();
    let b = (&a).map(|v| *v).materialize().with_name("b");
    let guard = b.watch_changes({
        let slot = slot.clone();
        move |_| drop(slot.take())
    });
    slot.put((b, guard));
    let c = (&a).map(|v| *v).materialize().with_name("c");
    let capture = Capture::new();
    a.set(1);
    capture.check(
        "
        wave 0 2
          compute map b
          compute map c
          fanout a
          fanout b
          fanout c
        ",
    );
    drop(c);
}

type Weak = Slot<WeakCell<i32, CellImmutable>>;

#[test]
fn a_refused_cycle() {
    let (on, slot) = (Cell::new(0).with_name("on"), Weak::new());
    let reader = Cell::computed({
        let (on, slot) = (on.clone(), slot.clone());
        move || match on.get() {
            0 => 0,
            _ => slot.full().upgrade().expect("the test holds it").get(),
        }
    });
    let reader = reader.with_name("reader");
    let below = (&reader).map(|v| v + 1).materialize().with_name("below");
    slot.put(below.downgrade());
    let capture = Capture::new();
    assert!(caught(|| on.set(1)).is_some());
    capture.check(
        "
        wave 0 1
          compute computed reader
          fanout on
        ",
    );
    assert_eq!((reader.get(), below.get()), (0, 1));
}
