//! Nobody listens, or nobody who wants spans: none is made, nothing of it is formatted, no id is made. A program of its
//! own, since listeners of other tests would be asked as well.
#![cfg(feature = "profiling")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyphae::{Cell, Pipeline, batch, hot_traced_cells};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Counts what it is asked and told; wants spans or not.
struct Listener {
    wants: bool,
    asked: Arc<AtomicUsize>,
    told: Arc<AtomicUsize>,
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.wants
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.told.fetch_add(1, Ordering::Relaxed);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn exit(&self, _: &Id) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two waves over two cells with a subscriber: 2 turns and 3 fan-outs in all.
fn work() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| v % 2).deduped().materialize();
    let _guard = b.watch(|_| ());
    a.set(2);
    batch(|| a.set(3));
    let notifies: u64 = hot_traced_cells().iter().map(|cell| cell.notify_count).sum();
    assert_eq!(notifies, 3);
    // What nobody has seen can still be given.
    let own = uuid::Uuid::from_u128(5);
    assert_eq!(a.try_with_uuid(own).map(|a| a.id()).ok(), Some(own));
}

fn listen(wants: bool) -> [usize; 2] {
    let [asked, told] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let listener = Listener { wants, asked: asked.clone(), told: told.clone() };
    tracing::subscriber::with_default(listener, work);
    [asked, told].map(|count| count.load(Ordering::Relaxed))
}

#[test]
fn no_span_is_made_unless_it_is_wanted() {
    work();
    let [asked, told] = listen(false);
    assert!(asked > 0, "it was asked whether it wants any");
    assert_eq!(told, 0);
    // 2 waves, 2 turns, 3 fan-outs: made, entered, left; and four numbers at the end of each wave.
    assert_eq!(
        listen(true)[1],
        (2 + 2 + 3) * 3 + 2 * 4,
        "the same work has spans when they are wanted"
    );
    assert_eq!(listen(false)[1], 0);
    work();
}
