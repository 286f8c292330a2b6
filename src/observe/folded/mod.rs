//! A layer of `tracing` that folds spans in memory by what they are called and by the cell that they name, for flame
//! graphs of cells.
//!
//! It knows nothing of the store: all it sees are spans and their fields. Invariant: on each thread, time between two
//! of the layer's calls belongs to the span entered last, or to nothing when none is entered; so the self times add up
//! to the time in which at least one span was entered. One lock guards everything, and no code of a program runs under
//! it but the clock.

mod label;
mod result;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tracing::span::{Attributes, Id};
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

pub use result::{Folded, FoldedError, FoldedStack};
use state::State;

/// The target of the crate's own spans.
const TARGET: &str = "hyphae";

type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// A layer for `tracing-subscriber` that adds up where time goes, by stack of spans, and names the cells.
///
/// Each distinct stack has a time and a count. The time is the **self time** in nanoseconds: while a span of the stack
/// was the innermost one, not what the spans inside took. Time outside of any span is left out, so the times add up to
/// the busy time.
///
/// A frame of a stack is called by the span's field `operator`, or else by the span's name, and then by its field
/// `name` in brackets: `hyphae.fanout [price]`, `map [total]`, `hyphae.wave`. Other fields are left out, so all waves
/// are one frame. Cells of equal name are folded together unless [`by_id`](Self::by_id) is asked. A renamed cell shows
/// up under both names, each with the time that it took under it. Characters that would break the format are written in
/// Rust's notation: a `;` is `\u{3b}`, a line break `\n`.
///
/// Spans of other targets than `hyphae` are not taken, and their time stays with the span of ours around them.
///
/// ```
/// use hyphae::FoldedLayer;
/// use tracing_subscriber::prelude::*;
///
/// let (layer, folded) = FoldedLayer::new();
/// let _guard = tracing_subscriber::registry().with(layer).set_default();
/// {
///     // hyphae makes such spans by itself when it is built with the feature `profiling`
///     let _wave = tracing::trace_span!(target: "hyphae", "hyphae.wave", width = 2).entered();
///     let _cell = tracing::trace_span!(target: "hyphae", "hyphae.fanout", name = "price").entered();
/// }
/// let text = folded.to_string(); // one line for each stack: frames, nanoseconds
/// assert!(text.lines().any(|line| line.starts_with("hyphae.wave;hyphae.fanout [price] ")));
/// ```
///
/// # Threads, and what is out of order
/// Each thread has a stack of its own, and the times of threads are added. A span goes below those entered on its
/// thread before it, whatever its parent is. Spans may be left in any order; a span entered again before it is left
/// counts once. A span that is never left stays the innermost one of its thread: it takes the time until now, or, when
/// the thread has ended, until the last time that the thread called the layer or a result was taken.
///
/// # Cost
/// Two clock reads a span and, once a stack has been seen, no allocation. A span takes two to three times as long as on
/// a registry with a layer that does nothing. What the layer spends before a span is entered and after it is left is in
/// the self time of the span around it (`hyphae.wave`, as a rule), so the cells' own times are right and the sum is a
/// little high. Memory grows with the number of distinct stacks, about 100 bytes each, and of labels. Spans of other
/// targets cost a lock and a look-up whenever they are entered or left; where there are many, give the layer a filter:
/// `layer.with_filter(...)`.
pub struct FoldedLayer {
    shared: Arc<Shared>,
    by_id: bool,
    other_targets: bool,
    /// Nobody else wants spans: what is not taken here is switched off.
    alone: bool,
}

/// What the layer and its handles have in common.
struct Shared {
    state: Mutex<State>,
    clock: Clock,
}

impl Shared {
    /// A panic of the clock leaves the state usable: a span too few or too many.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FoldedLayer {
    /// A layer that reads the system's monotonic clock, and the handle to take the result from.
    #[allow(clippy::new_ret_no_self)] // the layer alone would be of no use
    pub fn new() -> (Self, Folded) {
        let start = Instant::now();
        // 2^64 ns are 584 years.
        Self::with_clock(move || start.elapsed().as_nanos() as u64)
    }

    /// A layer that reads `clock`, which gives nanoseconds from any start: a manual one for tests, a cheaper one for
    /// the shortest spans. Where it goes backwards no time passes. It must not make spans itself.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use tracing_subscriber::prelude::*;
    ///
    /// static NOW: AtomicU64 = AtomicU64::new(0);
    /// let (layer, folded) = hyphae::FoldedLayer::with_clock(|| NOW.load(Relaxed));
    /// let _guard = tracing_subscriber::registry().with(layer).set_default();
    /// tracing::trace_span!(target: "hyphae", "hyphae.fanout", name = "price")
    ///     .in_scope(|| NOW.fetch_add(1_500, Relaxed));
    /// assert_eq!(folded.to_string(), "hyphae.fanout [price] 1500\n");
    /// ```
    pub fn with_clock(clock: impl Fn() -> u64 + Send + Sync + 'static) -> (Self, Folded) {
        let state = Mutex::new(State::default());
        let shared = Arc::new(Shared { state, clock: Box::new(clock) });
        let folded = Folded::new(Arc::clone(&shared));
        (Self { shared, by_id: false, other_targets: false, alone: false }, folded)
    }

    /// Keeps cells of equal name apart: the span's field `id` joins the name, `hyphae.fanout [price 6b1f...]`. It costs
    /// the formatting of an id for each span.
    #[must_use]
    pub fn by_id(mut self) -> Self {
        self.by_id = true;
        self
    }

    /// Whether spans of other targets than `hyphae` are taken, too; not so at first. They are called by the span's name
    /// only.
    #[must_use]
    pub fn with_other_targets(mut self, taken: bool) -> Self {
        self.other_targets = taken;
        self
    }

    /// Makes a subscriber of this layer alone, for the whole program. Spans and events that the layer does not take are
    /// switched off where they are made. To use it along with other layers, add it to a subscriber with `.with(layer)`.
    ///
    /// # Errors
    /// [`FoldedError::Installed`] when the program has a global subscriber already.
    pub fn install(mut self) -> Result<(), FoldedError> {
        self.alone = true;
        let subscriber = tracing_subscriber::registry().with(self);
        subscriber.try_init().map_err(|_| FoldedError::Installed)
    }

    fn takes(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && (self.other_targets || metadata.target() == TARGET)
    }
}

impl<S: Subscriber> Layer<S> for FoldedLayer {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.alone && !self.takes(metadata) { Interest::never() } else { Interest::always() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        !self.alone || self.takes(metadata)
    }

    fn on_new_span(&self, span: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        if self.takes(span.metadata()) {
            label::with_parts(span, self.by_id, |parts| {
                self.shared.state().open(id.into_u64(), parts);
            });
        }
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        state::on_thread(|thread| {
            self.shared.state().enter(id.into_u64(), thread, &self.shared.clock);
        });
    }

    fn on_exit(&self, id: &Id, _: Context<'_, S>) {
        // Read before the lock: the span does not pay for waiting.
        let now = (self.shared.clock)();
        state::on_thread(|thread| self.shared.state().exit(id.into_u64(), thread, now));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.shared.state().close(id.into_u64());
    }
}

impl fmt::Debug for FoldedLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoldedLayer")
            .field("by_id", &self.by_id)
            .field("other_targets", &self.other_targets)
            .finish_non_exhaustive()
    }
}
