//! TR: what tracing cost and could not say (feature `profiling`).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyphae::{Cell, CellImmutable, Pipeline};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use crate::capture::Capture;

/// Wants no span, and is asked each time.
struct Unwilling {
    asked: Arc<AtomicUsize>,
    told: Arc<AtomicUsize>,
}

impl Unwilling {
    fn tell(&self) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }
}

impl Subscriber for Unwilling {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        self.tell();
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        self.tell();
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {
        self.tell();
    }

    fn event(&self, _: &Event<'_>) {
        self.tell();
    }

    fn enter(&self, _: &Id) {
        self.tell();
    }

    fn exit(&self, _: &Id) {
        self.tell();
    }
}

// Spans were built before anyone asked whether they were wanted. That nothing is allocated is in the tests of allocations.
#[test]
fn tr_1_a_wave_asks_once_and_makes_no_span_that_nobody_wants() {
    let a = Cell::new(0);
    let maps: Vec<_> = (0..1_000).map(|i| (&a).map(move |v| v + i).materialize()).collect();
    let _guards: Vec<_> = maps.iter().map(|map| map.watch(|_| ())).collect();
    let [asked, told] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let listener = Unwilling { asked: asked.clone(), told: told.clone() };
    tracing::subscriber::with_default(listener, || {
        a.set(1);
        asked.store(0, Ordering::Relaxed);
        (0..10).for_each(|v| a.set(v));
    });
    assert_eq!([asked, told].map(|count| count.load(Ordering::Relaxed)), [10, 0]);
}

/// Cells of a chain, named.
fn chain() -> (Cell<i32>, [Cell<i32, CellImmutable>; 2]) {
    let price = Cell::new(1).with_name("price");
    let tax = (&price).map(|v| v + 1).materialize().with_name("tax");
    let total = (&tax).map(|v| v * 2).materialize().with_name("total");
    (price, [tax, total])
}

// Names of spans are constants; what told cells apart was in fields that no tool showed.
#[test]
fn tr_3_a_span_says_which_cell_it_is_of() {
    let (price, [tax, total]) = chain();
    let unnamed = (&total).map(|v| *v).materialize();
    let place = format!("{}:{}", file!(), line!() - 1);
    let capture = Capture::new();
    price.set(2);
    tax.set_name("vat");
    price.set(3);
    let spans = |tax_name: &str| {
        [
            ("price".to_owned(), price.id().to_string()),
            (tax_name.to_owned(), tax.id().to_string()),
            ("total".to_owned(), total.id().to_string()),
            (place.clone(), unnamed.id().to_string()),
        ]
    };
    assert_eq!(capture.named("hyphae.fanout"), [spans("tax"), spans("vat")].concat());
}

#[cfg(feature = "flame")]
mod folded {
    use std::cell::Cell as Plain;

    use hyphae::{Cell, Folded, FoldedLayer, Pipeline};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    thread_local! {
        static NOW: Plain<u64> = const { Plain::new(0) };
    }

    /// Lets time pass on this thread.
    fn work(ns: u64) {
        NOW.set(NOW.get() + ns);
    }

    fn folded(f: impl FnOnce()) -> Folded {
        let (layer, folded) = FoldedLayer::with_clock(|| NOW.get());
        let _listens = tracing_subscriber::registry().with(layer).set_default();
        f();
        folded
    }

    #[test]
    fn tr_3_folded_stacks_have_the_names() {
        let (price, [tax, _total]) = super::chain();
        let folded = folded(|| {
            price.set(2);
            tax.set_name("vat");
            price.set(3);
        });
        let frames: Vec<_> = folded.stacks().map(|stack| (stack.path, stack.count)).collect();
        let frame = |name: &str, count| (format!("hyphae.wave;{name}"), count);
        let expected = [
            ("hyphae.wave".to_owned(), 2),
            frame("hyphae.fanout [price]", 2),
            frame("hyphae.fanout [tax]", 1),
            frame("hyphae.fanout [total]", 2),
            frame("hyphae.fanout [vat]", 1),
            frame("map [tax]", 1),
            frame("map [total]", 2),
            frame("map [vat]", 1),
        ];
        assert_eq!(frames, expected);
    }

    // Numbers were the time since the last event of the thread: gaps between frames filled the picture.
    #[test]
    fn tr_5_numbers_are_nanoseconds_of_self_time_and_idle_is_nobody_s() {
        let set = Cell::new(0_u64);
        let busy = |ms: u64| {
            let cell = (&set).map(move |v| {
                work(ms * 1_000_000);
                v + ms
            });
            cell.materialize().with_name(format!("busy {ms}"))
        };
        let _cells = [2, 4, 6].map(busy);
        let folded = folded(|| {
            for v in 0..10 {
                set.set(v);
                work(50_000_000);
            }
        });
        let times: Vec<_> = folded.stacks().filter(|stack| stack.self_ns > 0).collect();
        let times: Vec<_> = times.into_iter().map(|stack| (stack.path, stack.self_ns)).collect();
        let ms = |ms: u64| (format!("hyphae.wave;map [busy {ms}]"), ms * 10 * 1_000_000);
        assert_eq!(times, [ms(2), ms(4), ms(6)]);
        assert_eq!(folded.total_ns(), 120_000_000, "busy time, not the 620 ms that passed");
    }
}
