//! A layer that keeps the tree of spans of its thread, and notes whatever is out of order.

use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, MutexGuard};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// A span as it was told.
#[derive(Clone, Default, Debug)]
pub(crate) struct Told {
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) children: Vec<u64>,
    entered: u32,
    open: bool,
}

impl Told {
    /// What a field says; empty if it says nothing.
    pub(crate) fn field(&self, name: &str) -> &str {
        let field = self.fields.iter().find(|field| field.0 == name);
        field.map_or("", |field| &*field.1)
    }
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.push((field.name(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name(), value.to_owned()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.push((field.name(), value.to_string()));
    }
}

/// All spans by number (1 is the first), those without a parent, those entered, and what was wrong.
#[derive(Default)]
pub(crate) struct Spans {
    pub(crate) all: HashMap<u64, Told>,
    pub(crate) roots: Vec<u64>,
    numbers: HashMap<u64, u64>,
    stack: Vec<u64>,
    faults: Vec<String>,
}

impl Spans {
    fn fault(&mut self, what: impl fmt::Display) {
        self.faults.push(what.to_string());
    }

    fn number(&self, id: &Id) -> u64 {
        self.numbers.get(&id.into_u64()).copied().unwrap_or(0)
    }

    fn enter(&mut self, number: u64) {
        let parent = self.stack.last().copied();
        match parent.and_then(|parent| self.all.get_mut(&parent)) {
            Some(parent) => parent.children.push(number),
            None => self.roots.push(number),
        }
        self.stack.push(number);
        let span = self.all.get_mut(&number).expect("it was made");
        span.entered += 1;
        if span.entered > 1 {
            self.fault(format!("span {number} was entered again"));
        }
    }

    fn exit(&mut self, number: u64) {
        if self.stack.pop() != Some(number) {
            self.fault(format!("span {number} was left, which is not the innermost"));
        }
    }

    fn close(&mut self, number: u64) {
        let span = self.all.get_mut(&number).expect("it was made");
        span.open = false;
        if self.stack.contains(&number) || span.entered != 1 {
            self.fault(format!("span {number} was closed while it was entered, or never was"));
        }
    }

    fn write(&self, number: u64, depth: usize, lines: &mut Vec<String>) {
        let span = &self.all[&number];
        let shown = span
            .fields
            .iter()
            .filter(|field| ["wave", "width", "operator", "name"].contains(&field.0));
        let fields: Vec<&str> = shown.map(|field| &*field.1).collect();
        let name = span.name.strip_prefix("hyphae.").unwrap_or(span.name);
        lines.push(format!("{}{name} {}", "  ".repeat(depth), fields.join(" ")));
        span.children.iter().for_each(|&child| self.write(child, depth + 1, lines));
    }

    /// How many spans of a name are below one.
    pub(crate) fn below(&self, number: u64, name: &str) -> usize {
        let children = self.all[&number].children.iter();
        children
            .map(|&child| usize::from(self.all[&child].name == name) + self.below(child, name))
            .sum()
    }
}

/// Records the spans of its thread while it lives.
pub(crate) struct Capture {
    spans: Arc<Mutex<Spans>>,
    _listens: DefaultGuard,
    /// A registry closes no span that is left while another one listens.
    pub(crate) lenient: bool,
}

/// The layer; can be put on any registry.
pub(crate) struct Capturing(pub(crate) Arc<Mutex<Spans>>);

impl Capture {
    pub(crate) fn new() -> Self {
        Self::with(|layer| Box::new(tracing_subscriber::registry().with(layer).set_default()))
    }

    /// The same, put into place by `install`.
    pub(crate) fn with(install: impl FnOnce(Capturing) -> Box<DefaultGuard>) -> Self {
        let spans = Arc::new(Mutex::new(Spans::default()));
        let listens = *install(Capturing(spans.clone()));
        Self { spans, _listens: listens, lenient: false }
    }

    /// All that was told; it was in order.
    #[track_caller]
    pub(crate) fn spans(&self) -> MutexGuard<'_, Spans> {
        let spans = self.spans.lock().expect("no panic under the lock");
        assert_eq!(spans.faults, [""; 0]);
        assert_eq!(spans.stack, [0; 0], "left open");
        let open = spans.all.values().filter(|span| span.open).count();
        assert!(open == 0 || self.lenient, "{open} spans were not closed");
        spans
    }

    /// The tree as lines, two blanks a level: what a span is, and what it says but for the id. Forgets it.
    #[track_caller]
    pub(crate) fn take(&self) -> Vec<String> {
        let mut spans = self.spans();
        let mut lines = Vec::new();
        spans.roots.iter().for_each(|&root| spans.write(root, 0, &mut lines));
        *spans = Spans::default();
        lines
    }

    /// Checks the tree, and forgets it.
    #[track_caller]
    pub(crate) fn check(&self, tree: &str) {
        let lines = self.take();
        let expected: Vec<&str> = tree.lines().filter(|line| !line.trim().is_empty()).collect();
        let indent = expected.first().map_or(0, |line| line.len() - line.trim_start().len());
        let expected: Vec<&str> = expected.iter().map(|line| &line[indent..]).collect();
        assert_eq!(lines, expected, "\n{}", lines.join("\n"));
    }

    /// Name and id of each span of a kind, in order of their making.
    #[track_caller]
    pub(crate) fn named(&self, kind: &str) -> Vec<(String, String)> {
        let spans = self.spans();
        let mut numbers: Vec<_> = spans.all.iter().filter(|span| span.1.name == kind).collect();
        numbers.sort_by_key(|span| span.0);
        let told = numbers.into_iter().map(|(_, told)| told);
        told.map(|told| (told.field("name").to_owned(), told.field("id").to_owned())).collect()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Capturing {
    fn on_new_span(&self, made: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let data = made.metadata();
        let mut told = Told { name: data.name(), open: true, ..Told::default() };
        made.record(&mut told);
        let above = context.span(id).and_then(|span| span.parent()).map(|parent| parent.id());
        let mut spans = self.0.lock().expect("no panic under the lock");
        let (number, top) = (spans.all.len() as u64 + 1, spans.stack.last().copied());
        if above.map(|id| spans.number(&id)) != top {
            spans.fault(format!("the parent of span {number} is not the innermost"));
        }
        if (data.target(), *data.level()) != ("hyphae", Level::TRACE) {
            spans.fault(format!("{} {} at {}", data.target(), data.name(), data.level()));
        }
        spans.numbers.insert(id.into_u64(), number);
        spans.all.insert(number, told);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut spans = self.0.lock().expect("no panic under the lock");
        let number = spans.number(id);
        values.record(spans.all.get_mut(&number).expect("it was made"));
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        let mut spans = self.0.lock().expect("no panic under the lock");
        let number = spans.number(id);
        spans.enter(number);
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        let mut spans = self.0.lock().expect("no panic under the lock");
        let number = spans.number(id);
        spans.exit(number);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut spans = self.0.lock().expect("no panic under the lock");
        let number = spans.number(&id);
        spans.close(number);
    }
}

/// The capture itself: spans that are out of order are found.
#[test]
fn the_capture_sees_what_is_out_of_order() {
    let spans = Arc::new(Mutex::new(Spans::default()));
    let _listens = tracing_subscriber::registry().with(Capturing(spans.clone())).set_default();
    let outer = tracing::trace_span!(target: "hyphae", "outer").entered();
    let inner = tracing::trace_span!(target: "hyphae", parent: None, "inner").entered();
    drop(outer);
    drop(inner);
    tracing::debug_span!(target: "noise", "other");
    let faults = spans.lock().expect("no panic under the lock").faults.join("\n");
    for part in ["parent of span 2", "not the innermost", "noise other at DEBUG", "never was"] {
        assert!(faults.contains(part), "{part}: {faults}");
    }
}
