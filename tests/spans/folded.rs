//! The library's own spans, folded: time at the operator and the cell that took it.

use std::cell::Cell as Plain;

use hyphae::{Cell, CellImmutable, Folded, FoldedLayer, Pipeline, batch};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::support::{Slot, caught};

thread_local! {
    static NOW: Plain<u64> = const { Plain::new(0) };
}

/// Lets time pass on this thread.
fn work(ns: u64) {
    NOW.set(NOW.get() + ns);
}

fn record() -> (DefaultGuard, Folded) {
    let (layer, folded) = FoldedLayer::with_clock(|| NOW.get());
    (tracing_subscriber::registry().with(layer).set_default(), folded)
}

/// A closure that takes so long.
fn busy(ns: u64) -> impl Fn(&i32) -> i32 {
    move |v| {
        work(ns);
        *v
    }
}

#[test]
fn a_chain_with_a_subscriber() {
    let price = Cell::new(1).with_name("price");
    let tax = (&price).map(busy(20)).materialize().with_name("tax");
    let _guards = (tax.watch_changes(|_| work(3)), price.watch_changes(|_| work(4)));
    let (_listens, folded) = record();
    for _ in 0..2 {
        work(1_000_000);
        price.set(2);
    }
    let expected = "\
hyphae.wave 0
hyphae.wave;hyphae.fanout [price] 8
hyphae.wave;hyphae.fanout [tax] 6
hyphae.wave;map [tax] 40
";
    let lines = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.retain(|line| !line.ends_with(" 0"));
        lines
    };
    assert_eq!(lines(&folded.to_string()), lines(expected));
    assert_eq!(folded.total_ns(), 54, "what is outside of waves is left out");
}

/// A closure that waits for another has the time of that one below it, and its own beside.
#[test]
fn self_time_of_a_closure_that_waits() {
    let (on, slot) = (Cell::new(0), Slot::<Cell<i32, CellImmutable>>::new());
    let early = Cell::computed({
        let (on, slot) = (on.clone(), slot.clone());
        move || {
            if on.get() == 0 {
                return 0;
            }
            work(10);
            let read = slot.full().get();
            work(5);
            read
        }
    });
    let early = early.with_name("early");
    slot.put((&on).map(busy(200)).materialize().with_name("late"));
    let (_listens, folded) = record();
    on.set(1);
    let text = folded.to_string();
    assert!(text.contains("hyphae.wave;computed [early] 15\n"), "{text}");
    assert!(text.contains("hyphae.wave;computed [early];map [late] 200\n"), "{text}");
    slot.take();
    drop(early);
}

/// A panic leaves no stack open: what comes after is in its own.
#[test]
fn after_a_panic() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| (work(7), assert_ne!(*v, 1, "refused"))).materialize().with_name("b");
    let (_listens, folded) = record();
    assert!(caught(|| a.set(1)).is_some());
    batch(|| a.set(2));
    let text = folded.to_string();
    assert!(text.contains("hyphae.wave;map [b] 14\n"), "{text}");
    drop(b);
}
