//! A real `EnvFilter` in front of the spans.

use hyphae::{Cell, Pipeline};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::capture::Capture;

fn work() {
    let a = Cell::new(0).with_name("a");
    let _b = (&a).map(|v| *v).materialize().with_name("b");
    let _other = tracing::error_span!("other");
    let _outer = tracing::trace_span!("outer").entered();
    a.set(1);
}

fn all() -> Capture {
    Capture::with(|layer| {
        let filter = EnvFilter::new("hyphae=trace");
        Box::new(tracing_subscriber::registry().with(filter).with(layer).set_default())
    })
}

const TREE: &str = "
    wave 0 1
      compute map b
      fanout a
      fanout b
    ";

/// The capture objects to spans of any other target.
#[test]
fn hyphae_trace_lets_ours_pass_and_nothing_else() {
    let capture = all();
    work();
    capture.check(TREE);
}

#[test]
fn the_same_for_one_layer_alone() {
    let capture = Capture::with(|layer| {
        let layer = layer.with_filter(EnvFilter::new("hyphae=trace"));
        Box::new(tracing_subscriber::registry().with(layer).set_default())
    });
    work();
    capture.check(TREE);
}

#[test]
fn a_filter_for_others_lets_none_of_ours_pass() {
    for directive in ["info", "hyphae=debug", "other=trace", "off"] {
        let capture = Capture::with(|layer| {
            let filter = EnvFilter::new(format!("{directive},spans=off"));
            Box::new(tracing_subscriber::registry().with(filter).with(layer).set_default())
        });
        work();
        assert_eq!(capture.take(), [""; 0], "{directive}");
    }
}
