//! Spans for whoever listens through `tracing`: target `hyphae`, level TRACE. A wave, in it the turns (`hyphae.compute`) and then
//! the fan-outs (`hyphae.fanout`), one for each cell that emits, strictly nested.
//!
//! Invariants: **Z1** nothing is formatted, no UUID is made and no span exists unless someone listens. **Z2** a span is closed
//! by the drop of what opened it, so that they nest also when a callback panics.
//!
//! Costs: nobody listens: one look at the level a wave, one flag a turn. Somebody does: what he does with a span, and
//! its fields, which are borrowed or computed from the id.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use tracing::span::EnteredSpan;
use tracing::{Level, field, span_enabled, trace_span};
use uuid::Uuid;

use crate::store::node::NodeRef;
use crate::store::{Store, flag};
use crate::uuids;

/// Whether someone listens.
#[derive(Default)]
pub(super) struct Spans {
    listened: Cell<bool>,
    /// Turns before the wave under way.
    computed: Cell<u64>,
}

/// The name of a cell as fields show it: its own, else where it was made.
struct Label(Option<Rc<str>>, &'static std::panic::Location<'static>);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => f.write_str(name),
            None => write!(f, "{}:{}", self.1.file(), self.1.line()),
        }
    }
}

/// The span of a wave; the fields that are known at its end are recorded by its drop.
pub(crate) struct WaveSpan<'a>(&'a Store, Option<EnteredSpan>);

impl Drop for WaveSpan<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(span) = &self.1 {
            self.0.finish_wave_span(span);
        }
    }
}

impl Store {
    /// Whether someone listened when the wave began.
    #[inline]
    pub(crate) fn listens(&self) -> bool {
        self.probe.spans.listened.get()
    }

    /// Calls `f`; turns meanwhile have no spans.
    pub(crate) fn unheard<R>(&self, f: impl FnOnce() -> R) -> R {
        let listened = self.probe.spans.listened.replace(false);
        let given = f();
        self.probe.spans.listened.set(listened);
        given
    }

    #[inline]
    pub(crate) fn look_for_listener(&self) {
        let listens = span_enabled!(target: "hyphae", Level::TRACE);
        if listens {
            self.probe.spans.computed.set(self.counters.recomputations.get());
        }
        if self.probe.spans.listened.replace(listens) != listens {
            self.probe.tally.ask(listens);
            self.probe.tally.ask_levels(listens);
            self.probe.look_for_asked();
        }
    }

    /// The span of a frame of the program: its waves are inside.
    #[cfg(feature = "frames")]
    pub(crate) fn frame_span(&self, index: u64, boundary: u64) -> EnteredSpan {
        trace_span!(target: "hyphae", "hyphae.frame", index, boundary).entered()
    }

    #[inline]
    pub(crate) fn wave_span(&self) -> WaveSpan<'_> {
        WaveSpan(self, self.listens().then(|| self.open_wave_span()))
    }

    #[cold]
    #[inline(never)]
    fn open_wave_span(&self) -> EnteredSpan {
        trace_span!(
            target: "hyphae",
            "hyphae.wave",
            wave = self.generation.get(),
            width = field::Empty,
            levels = field::Empty,
            widest = field::Empty,
            emits = field::Empty,
        )
        .entered()
    }

    #[cold]
    #[inline(never)]
    fn finish_wave_span(&self, span: &EnteredSpan) {
        let computed = self.probe.spans.computed.get();
        span.record("width", self.counters.recomputations.get() - computed);
        let (levels, widest) = self.probe.tally.wave_levels();
        span.record("levels", levels);
        span.record("widest", widest);
        span.record("emits", self.probe.tally.wave_emits());
    }

    #[inline]
    pub(crate) fn compute_span(&self, node: NodeRef) -> Option<EnteredSpan> {
        self.listens().then(|| self.open_compute_span(node))
    }

    #[cold]
    #[inline(never)]
    fn open_compute_span(&self, node: NodeRef) -> EnteredSpan {
        trace_span!(
            target: "hyphae",
            "hyphae.compute",
            operator = node.operator(),
            id = field::display(self.told_id(node)),
            name = %self.label_of(node),
        )
        .entered()
    }

    #[inline]
    pub(crate) fn fanout_span(&self, node: NodeRef) -> Option<EnteredSpan> {
        self.listens().then(|| self.open_fanout_span(node))
    }

    #[cold]
    #[inline(never)]
    fn open_fanout_span(&self, node: NodeRef) -> EnteredSpan {
        trace_span!(
            target: "hyphae",
            "hyphae.fanout",
            id = field::display(self.told_id(node)),
            name = %self.label_of(node),
        )
        .entered()
    }

    /// Who listens takes nothing away: the application may still give the cell another id.
    fn told_id(&self, node: NodeRef) -> Uuid {
        uuids::peek(self, &self.tables.borrow(), self.id_of(node), node)
    }

    fn label_of(&self, node: NodeRef) -> Label {
        let name = node.has(flag::NAMED).then(|| {
            let id = self.id_of(node);
            self.tables.borrow().names.get(id).cloned()
        });
        Label(name.flatten(), self.place(node.place))
    }
}
