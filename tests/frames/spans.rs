//! The spans of a frame, as whoever listens gets them: what is in what, and the sums of a wave.

use std::fmt;
use std::sync::{Arc, Mutex, Once};

use hyphae::{Cell, Pipeline, combine};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::loop_at;

/// Writes down each span that is entered, and the numbers among its fields.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    /// Name and numeric fields of each span, by id less one.
    spans: Vec<(&'static str, String)>,
    depth: usize,
    lines: Vec<(usize, u64)>,
}

struct Numbers<'a>(&'a mut String);

impl Visit for Numbers<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push_str(&format!(" {}={value}", field.name()));
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "hyphae"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut heard = self.0.lock().expect("no panic");
        let mut fields = String::new();
        attributes.record(&mut Numbers(&mut fields));
        heard.spans.push((attributes.metadata().name(), fields));
        Id::from_u64(heard.spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut heard = self.0.lock().expect("no panic");
        values.record(&mut Numbers(&mut heard.spans[span.into_u64() as usize - 1].1));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        let mut heard = self.0.lock().expect("no panic");
        let line = (heard.depth, span.into_u64());
        heard.lines.push(line);
        heard.depth += 1;
    }

    fn exit(&self, _: &Id) {
        self.0.lock().expect("no panic").depth -= 1;
    }
}

/// The spans that `f` makes, one a line.
///
/// A call site that another thread makes known while a listener comes can be taken for one that nobody wants: the first
/// listener of the process makes all known, and hears nothing that counts.
fn spans_of(f: impl FnOnce()) -> String {
    static KNOWN: Once = Once::new();
    KNOWN.call_once(|| {
        tracing::subscriber::with_default(Listener::default(), || {
            let source = Cell::new(0);
            let _guard = (&source).map(|v| v + 1).materialize().watch(|_| ());
            loop_at(7).1.frame(|_| source.set(1));
        });
    });
    let listener = Listener::default();
    tracing::subscriber::with_default(listener.clone(), f);
    let heard = listener.0.lock().expect("no panic");
    assert_eq!(heard.depth, 0, "all are closed");
    let line = |&(depth, id): &(usize, u64)| {
        let (name, fields) = &heard.spans[id as usize - 1];
        format!("{}{name}{fields}\n", "  ".repeat(depth))
    };
    heard.lines.iter().map(line).collect()
}

/// A diamond, and a source that a subscriber of its end writes.
#[test]
fn a_frame_has_its_waves_inside() {
    let a = Cell::new(0);
    let (b, c) = ((&a).map(|v| v + 1).materialize(), (&a).map(|v| v * 2).materialize());
    let d = combine((&b, &c), |(b, c)| b + c);
    let other = Cell::new(0);
    let _guard = d.watch_changes({
        let other = other.clone();
        move |&v| other.set(v)
    });
    let (_, mut frames) = loop_at(7);
    let text = spans_of(|| {
        frames.frame(|_| a.set(5));
    });
    let expected = "\
hyphae.frame index=0 boundary=7
  hyphae.wave wave=0 width=3 levels=2 widest=2 emits=4
    hyphae.compute
    hyphae.compute
    hyphae.compute
    hyphae.fanout
    hyphae.fanout
    hyphae.fanout
    hyphae.fanout
  hyphae.wave wave=1 width=0 levels=0 widest=0 emits=1
    hyphae.fanout
";
    assert_eq!(text, expected);
}

/// Whoever listens changes nothing of what a report says, and the other way round.
#[test]
fn reports_and_spans_do_not_disturb_each_other() {
    let a = Cell::new(0);
    let _b = (&a).map(|v| v + 1).materialize();
    let (_, frames) = loop_at(0);
    let mut frames = frames.with_levels(true);
    let mut sums = || {
        let report = frames.frame(|_| a.set(1));
        (report.emits, report.refires, report.levels, report.widest_level)
    };
    let expected = (2, 0, Some(1), Some(1));
    assert_eq!(sums(), expected);
    let text = spans_of(|| assert_eq!(sums(), expected));
    assert!(text.contains("width=1 levels=1 widest=1 emits=2"), "{text}");
    assert_eq!(sums(), expected);
    let text = spans_of(|| a.set(2));
    assert!(text.starts_with("hyphae.wave wave=0 width=1 levels=1 widest=1 emits=2"), "{text}");
}

/// A frame that panics closes its spans, innermost first.
#[test]
fn spans_close_when_a_frame_panics() {
    let (_, mut frames) = loop_at(0);
    let text = spans_of(|| {
        let frame = std::panic::AssertUnwindSafe(|| frames.frame(|_| panic!("in the frame")));
        assert!(std::panic::catch_unwind(frame).is_err());
    });
    assert!(text.starts_with("hyphae.frame index=0 boundary=0\n  hyphae.wave"), "{text}");
}
