//! `FoldedLayer` as the subscriber of the whole program. A program of its own: there is one such subscriber, and while
//! there is no other, a span may be made inside of another one's making.
#![cfg(feature = "flame")]

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use hyphae::{FoldedError, FoldedLayer};
use tracing::trace_span;

static NOW: AtomicU64 = AtomicU64::new(0);

fn now() -> u64 {
    NOW.load(Ordering::SeqCst)
}

fn pass(ns: u64) {
    NOW.fetch_add(ns, Ordering::SeqCst);
}

/// Makes a span of its own while it is shown.
struct Nosy;

impl fmt::Display for Nosy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        trace_span!(target: "hyphae", "hyphae.fanout", name = "inner").in_scope(|| pass(1));
        f.write_str("outer")
    }
}

#[test]
fn the_layer_is_installed_once_and_takes_spans_made_inside_of_others() {
    let (layer, folded) = FoldedLayer::with_clock(now);
    layer.install().expect("there is no other");
    trace_span!(target: "hyphae", "hyphae.fanout", name = %Nosy).in_scope(|| pass(10));
    trace_span!(target: "hyphae", "hyphae.fanout", name = "outer").in_scope(|| pass(100));
    assert_eq!(folded.to_string(), "hyphae.fanout [inner] 1\nhyphae.fanout [outer] 110\n");

    assert!(trace_span!(target: "other", "noise").is_disabled(), "nobody asked for it");
    assert!(!tracing::event_enabled!(target: "hyphae", tracing::Level::ERROR), "nor for events");

    let (second, _) = FoldedLayer::new();
    let error = second.install().expect_err("there is one");
    assert!(matches!(error, FoldedError::Installed));
    assert!(error.to_string().contains(".with(layer)"), "{error}");
}
