//! The store of a thread: the arena, its side tables, the waiting writes and the one settle loop.
//!
//! It knows nothing of operators, maps or time: a derived cell is a [`Kernel`](kernel::Kernel) to it.
//!
//! Invariants:
//! - **S3** nothing is borrowed while user code runs: every `RefCell` here is borrowed for a few lines that call none.
//! - **S4** `busy` counts the user code on the stack (callbacks, closures, `Clone`/`Drop`/`PartialEq` of values; the body
//!   of a batch is not counted). Writes are applied, waves run and memory is freed only where it was 0. Turns run only
//!   there too, inside a closure that waits for a cell it reads (see `track`), or in a read of a stale lazy cell (see `demand`).
//! - **S5** the sign `PENDING` is up whenever something waits for the moment at which `busy` falls to 0.
//!
//! Reading order: `flag`, `sign`, `kernel`, `node`, `callback`, `queue`, `subscribers`, `tables` (data), then `life` (birth and death), `guards`,
//! `hooks`, `write` (writes and batches), `backlog` (writes that wait), `wave` and `rounds` (the settle loop), `look` (reads and errors); last what changing inputs need:
//! `relink` (edges that come and go), `track` (reads that make edges), `closure` (what a closure makes at each run),
//! `demand` (cells that are computed when they are wanted).

mod backlog;
pub(crate) mod callback;
pub(crate) mod closure;
mod demand;
pub(crate) mod flag;
mod guards;
mod hooks;
pub(crate) mod kernel;
mod life;
mod look;
pub(crate) mod node;
pub(crate) mod probe;
mod queue;
mod relink;
mod rounds;
mod sign;
mod slab;
mod subscribers;
mod tables;
pub(crate) mod track;
mod wave;
mod write;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use life::Remains;
pub(crate) use queue::Write;
pub(crate) use subscribers::SubKey;
pub(crate) use tables::Hook;
#[cfg(feature = "trace")]
pub(crate) use tables::Tables;

use self::closure::{Closing, Making};
use self::kernel::End;
use self::node::NodeRef;
use self::probe::Probe;
use self::queue::Queue;
use self::sign::Signs;
use self::slab::Slab;
use self::subscribers::{Cursor, Subscribers};
use self::tables::Places;
#[cfg(not(feature = "trace"))]
use self::tables::Tables;
use self::track::Tracker;
use crate::error::{Error, Fallible};
use crate::graph::{CellKey, EdgeKind, Graph, NONE, Open, Run};
use crate::scope::ScopeBody;

/// How far feedback may go before it is stopped (see [`crate::set_limits`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The greatest generation: a write made in a callback has that of its wave plus one. Default 10 000.
    pub generations: u32,
    /// How many writes made in callbacks may wait at a time. Default 1 000 000.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { generations: 10_000, waiting: 1_000_000 }
    }
}

/// Counters over the life of the store.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) waves: Cell<u64>,
    pub(crate) recomputations: Cell<u64>,
    pub(crate) rounds: Cell<u64>,
    pub(crate) deliveries: Cell<u64>,
    pub(crate) stale: Cell<u64>,
}

pub(crate) fn add(counter: &Cell<u64>, n: u64) {
    counter.set(counter.get() + n);
}

/// A panic's payload.
pub(crate) type Payload = Box<dyn Any + Send>;

pub(crate) struct Store {
    pub(crate) graph: RefCell<Graph<NodeRef>>,
    /// The open word of the dirty set.
    open: Rc<Open>,
    /// What is to be delivered, as far as the loops need no graph for it.
    due: Rc<Run<NodeRef>>,
    /// The nodes themselves.
    slab: RefCell<Slab>,
    pub(crate) subs: RefCell<Subscribers>,
    pub(crate) cursor: Cursor,
    pub(crate) tables: RefCell<Tables>,
    places: RefCell<Places>,
    queue: RefCell<Queue>,
    graveyard: RefCell<Vec<Remains>>,
    /// Cells whose first/last-subscriber hooks are due.
    hooks_due: RefCell<Vec<CellKey>>,
    /// Event cells whose event lasts for the round under way.
    lit: RefCell<Vec<CellKey>>,
    /// Running `update`s.
    lent: RefCell<Vec<(NodeRef, &'static Location<'static>)>>,
    lent_count: Cell<u32>,
    scratch: RefCell<Vec<u32>>,
    clean: RefCell<wave::Clean>,
    /// Moves on whenever something is made dirty by a write.
    marks: Cell<u64>,
    upstream: RefCell<Vec<(NodeRef, EdgeKind)>>,
    panic: RefCell<Option<Payload>>,
    trip: RefCell<Option<Error>>,
    scope: RefCell<Option<Rc<ScopeBody>>>,
    /// A scope for the next closure.
    spare_scope: RefCell<Option<Rc<ScopeBody>>>,
    /// Clean-ups of nodes that have just died.
    closings_due: RefCell<Vec<Closing>>,
    closing_depth: Cell<u32>,
    /// The clean-ups of a closure whose cell is being made.
    seed_closing: RefCell<Option<Closing>>,
    /// Where new cells go.
    pub(crate) making: Cell<Making>,
    /// Whether the turn under way is asked for, so that lazy cells do not put it off.
    pulling: Cell<bool>,
    /// Whether a lazy cell is computed in the middle of other user code, from the values of the moment.
    momentary: Cell<bool>,
    /// A buffer of `demand`.
    stale_path: RefCell<Vec<NodeRef>>,
    /// Whether reads become inputs of the closure that is running, which `tracker` knows.
    tracking: Cell<bool>,
    tracker: RefCell<Option<Tracker>>,
    /// The closures that wait for the one that is running, each with the cell it waits for.
    waiting: RefCell<Vec<(NodeRef, NodeRef)>>,
    /// Whether any of them may be upstream of something.
    waiters_feed: Cell<bool>,
    /// Where the stack was when the first of them began to wait.
    stack_base: Cell<usize>,
    /// Cells on refused cycles that have got or lost an input since.
    relinked: RefCell<Vec<CellKey>>,
    /// Switches that were refused in this settle.
    refused: RefCell<Vec<(CellKey, Box<Error>)>>,
    /// A round, and how many readers were woken in it because a cycle may be broken.
    wakes: Cell<(u64, u32)>,
    /// Cells that have more to give in the next round.
    more: RefCell<Vec<CellKey>>,
    /// Whether a cell ever owned a guard that counts.
    guards_owned: Cell<bool>,
    /// Moves on at every wave, round, subscription, birth and settle for a read; stamps of changes are readings of it.
    pub(crate) clock: Cell<u32>,
    round_start: Cell<u32>,
    /// The round of the open wave; numbers are never used again.
    round: Cell<u64>,
    /// How many rounds after that one the last one is that an event of the open wave was given.
    rounds_ahead: Cell<u64>,
    /// What is out of the ordinary.
    signs: Signs,
    busy: Cell<u32>,
    batch: Cell<u32>,
    group: Cell<u32>,
    generation: Cell<u32>,
    /// The node whose turn it is.
    pub(crate) current: Cell<Option<NodeRef>>,
    /// The subscriber that is being called, by its index.
    calling: Cell<u32>,
    /// Depth of `no_coalesce` scopes.
    pub(crate) keep_events: Cell<u32>,
    pub(crate) limits: Cell<Limits>,
    pub(crate) counters: Counters,
    pub(crate) probe: Probe,
    /// Unique to the store in the process; 58 bits.
    pub(crate) number: u64,
}

thread_local! {
    static STORE: Store = Store::new();
}

/// Calls `f` with the thread's store; `StoreClosed` once its thread has torn it down.
#[inline]
pub(crate) fn with_store<R>(f: impl FnOnce(&Store) -> R) -> Fallible<R> {
    STORE.try_with(f).map_err(|_| store_closed())
}

#[cold]
#[inline(never)]
fn store_closed() -> Box<Error> {
    Box::new(Error::StoreClosed)
}

/// How a node that ended did (for kernels, which have no store at hand).
#[cold]
pub(crate) fn end_of(node: NodeRef) -> Option<End> {
    STORE.try_with(|store| store.end_of(node)).ok().flatten()
}

/// When the end of a node was written, by the store's clock.
#[cold]
pub(crate) fn end_written(node: NodeRef) -> Option<u32> {
    STORE.try_with(|store| store.end_written(node)).ok().flatten()
}

/// When the last change of an event cell was written, by the store's clock.
pub(crate) fn event_written(node: NodeRef) -> u32 {
    STORE.try_with(|store| store.written(node)).unwrap_or(0)
}

/// Gives back one reference; does nothing when the store is gone (its teardown frees all nodes).
pub(crate) fn release_node(node: NodeRef) {
    let _ = STORE.try_with(|store| store.release(node));
}

/// Hands the outcome of a call to a caller that has no `Result`.
#[inline]
#[track_caller]
pub(crate) fn expect<R>(outcome: Fallible<R>) -> R {
    match outcome {
        Ok(given) => given,
        Err(error) => refuse(error),
    }
}

/// Takes the error over, so that callers need no way to drop it.
#[cold]
#[inline(never)]
#[track_caller]
fn refuse(error: Box<Error>) -> ! {
    panic!("{error}")
}

/// Tells stores apart: the low bits count, the high bits are a salt of the process.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static SALT: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let salt = *SALT.get_or_init(|| RandomState::new().hash_one(0_u8));
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    (salt << 32 | count & 0xffff_ffff) & ((1 << 58) - 1)
}

/// User code is on the stack while this lives; the last one to go settles what waits.
pub(crate) struct Busy<'a>(&'a Store);

impl Busy<'_> {
    /// Ends the callback with the error that what waited has run into. What the caller has made and not handed out yet
    /// must be held by a local: if a panic goes on from here, unwinding drops that local.
    #[inline]
    pub(crate) fn leave(self) -> Fallible<()> {
        let store = self.0;
        std::mem::forget(self);
        store.busy.set(store.busy.get() - 1);
        if store.signs.has(sign::PENDING) && store.busy.get() == 0 {
            store.rest_and_tell()
        } else {
            Ok(())
        }
    }
}

impl Drop for Busy<'_> {
    #[inline]
    fn drop(&mut self) {
        let store = self.0;
        store.busy.set(store.busy.get() - 1);
        if store.signs.has(sign::PENDING) && store.busy.get() == 0 {
            store.rest_and_report();
        }
    }
}

impl Store {
    fn new() -> Self {
        let graph = Graph::new();
        Self {
            open: graph.open(),
            due: graph.run(),
            graph: RefCell::new(graph),
            slab: RefCell::default(),
            subs: RefCell::default(),
            cursor: Cursor::new(),
            tables: RefCell::default(),
            places: RefCell::default(),
            queue: RefCell::default(),
            graveyard: RefCell::default(),
            hooks_due: RefCell::default(),
            lit: RefCell::default(),
            lent: RefCell::default(),
            scratch: RefCell::default(),
            clean: RefCell::default(),
            marks: Cell::new(0),
            upstream: RefCell::default(),
            panic: RefCell::default(),
            trip: RefCell::default(),
            scope: RefCell::default(),
            spare_scope: RefCell::default(),
            closings_due: RefCell::default(),
            closing_depth: Cell::new(0),
            seed_closing: RefCell::default(),
            making: Cell::new(Making::Outside),
            pulling: Cell::new(false),
            momentary: Cell::new(false),
            stale_path: RefCell::default(),
            tracking: Cell::new(false),
            tracker: RefCell::default(),
            waiting: RefCell::default(),
            waiters_feed: Cell::new(false),
            stack_base: Cell::new(0),
            relinked: RefCell::default(),
            refused: RefCell::default(),
            wakes: Cell::new((0, 0)),
            more: RefCell::default(),
            guards_owned: Cell::new(false),
            clock: Cell::new(1),
            round_start: Cell::new(1),
            round: Cell::new(0),
            rounds_ahead: Cell::new(0),
            signs: Signs::default(),
            busy: Cell::new(0),
            batch: Cell::new(0),
            group: Cell::new(0),
            generation: Cell::new(0),
            current: Cell::new(None),
            calling: Cell::new(NONE),
            lent_count: Cell::new(0),
            keep_events: Cell::new(0),
            limits: Cell::new(Limits::default()),
            counters: Counters::default(),
            probe: Probe::default(),
            number: next_number(),
        }
    }

    /// Marks that user code is about to run.
    #[inline]
    pub(crate) fn enter(&self) -> Busy<'_> {
        self.busy.set(self.busy.get() + 1);
        Busy(self)
    }

    /// Moves the clock on; what happened up to now is before what happens from now on.
    pub(crate) fn tick(&self) -> u32 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
    }

    /// Runs user code whose panic must not stop the store; the first payload is kept for the outermost caller.
    pub(crate) fn guarded<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(given) => Some(given),
            Err(payload) => {
                self.caught(payload);
                None
            }
        }
    }

    #[cold]
    pub(crate) fn caught(&self, payload: Payload) {
        self.signs.raise(sign::PENDING);
        let mut first = self.panic.borrow_mut();
        if first.is_none() {
            self.signs.raise(sign::TROUBLED);
            *first = Some(payload);
            return;
        }
        drop(first);
        Self::log_other(payload);
    }

    /// Calls `f` while a panic is on its way that is the first: those that `f` brings are logged.
    #[cold]
    pub(crate) fn after_first_panic(&self, f: impl FnOnce()) {
        let before = self.panic.borrow_mut().take();
        f();
        let other = self.panic.replace(before);
        other.into_iter().for_each(Self::log_other);
    }

    fn log_other(payload: Payload) {
        log::error!("another panic in a callback of the same call: {}", message_of(&payload));
        // The payload is the user's: its `Drop` must not stop the store either.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(again);
        }
    }

    /// Does what waits, now that no user code is on the stack: frees the dead, calls hooks, runs queued writes.
    #[cold]
    #[inline(never)]
    pub(crate) fn rest(&self) {
        debug_assert_eq!(self.busy.get(), 0);
        self.busy.set(1);
        while self.signs.take(sign::PENDING) {
            self.bury();
            self.call_hooks();
            if self.batch.get() > 0 {
                self.join_batch();
            } else {
                self.run_queue();
                self.run_woken();
            }
        }
        if self.batch.get() == 0 {
            self.tidy();
        }
        self.busy.set(0);
    }

    fn rest_and_report(&self) {
        expect(self.rest_and_tell());
    }

    fn rest_and_tell(&self) -> Fallible<()> {
        self.rest();
        if self.batch.get() > 0 {
            return Ok(());
        }
        if std::thread::panicking() {
            self.log_outcome();
            return Ok(());
        }
        self.outcome()
    }

    /// What the outermost call has to tell its caller: a panic goes on, a loop that was stopped is an error.
    #[inline]
    pub(crate) fn outcome(&self) -> Fallible<()> {
        if self.signs.has(sign::TROUBLED) { self.bad_outcome() } else { Ok(()) }
    }

    /// A panic is under way already: what else went wrong is logged.
    fn log_outcome(&self) {
        self.signs.lower(sign::TROUBLED);
        let first = self.panic.borrow_mut().take();
        if let Some(payload) = first {
            log::error!("another panic in a callback of the same call: {}", message_of(&payload));
        }
        let trip = self.trip.borrow_mut().take();
        if let Some(error) = trip {
            log::error!("{error}");
        }
    }

    #[cold]
    fn bad_outcome(&self) -> Fallible<()> {
        self.signs.lower(sign::TROUBLED);
        let payload = self.panic.borrow_mut().take();
        let trip = self.trip.borrow_mut().take();
        if let Some(payload) = payload {
            if let Some(error) = trip {
                log::error!("{error}");
            }
            resume_unwind(payload);
        }
        trip.map_or(Ok(()), |error| Err(Box::new(error)))
    }

    /// Calls `f` with `body` as the scope that owns what is made.
    pub(crate) fn in_scope<R>(&self, body: Option<Rc<ScopeBody>>, f: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Store, Option<Rc<ScopeBody>>);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.set_scope(self.1.take());
            }
        }
        let _restore = Restore(self, self.set_scope(body));
        f()
    }

    /// Makes a scope the current one; gives the former.
    pub(crate) fn set_scope(&self, body: Option<Rc<ScopeBody>>) -> Option<Rc<ScopeBody>> {
        match body {
            Some(_) => self.signs.raise(sign::SCOPED),
            None => self.signs.lower(sign::SCOPED),
        }
        self.scope.replace(body)
    }

    pub(crate) fn current_scope(&self) -> Option<Rc<ScopeBody>> {
        self.scope.borrow().clone()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.graph.borrow().bytes()
            + self.subs.borrow().bytes()
            + self.tables.borrow().bytes()
            + self.places.borrow().bytes()
            + self.queue.borrow().bytes()
            + self.graveyard.borrow().capacity() * size_of::<Remains>()
            + self.probe.bytes()
            + self.slab.borrow().spare_bytes()
    }

    pub(crate) fn shrink_to_fit(&self) {
        self.graph.borrow_mut().shrink_to_fit();
        self.subs.borrow_mut().shrink_to_fit();
        self.queue.borrow_mut().shrink_to_fit();
        self.graveyard.borrow_mut().shrink_to_fit();
        self.probe.shrink_to_fit();
        self.slab.borrow_mut().shrink_to_fit();
    }
}

pub(crate) fn message_of(payload: &Payload) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        return text;
    }
    payload.downcast_ref::<String>().map_or("(a payload that is not text)", String::as_str)
}

impl Drop for Store {
    /// The thread ends: all nodes go, user `Drop`s run with nothing borrowed; handles they hold are inert by now.
    fn drop(&mut self) {
        self.busy.set(1);
        let nodes: Vec<NodeRef> = self.graph.borrow().iter().map(|(_, _, node)| node).collect();
        let mut callbacks = Vec::new();
        for node in &nodes {
            let keep = |callback| callbacks.push(callback);
            self.subs.borrow_mut().remove_all(&self.cursor, node.subs.get(), keep);
        }
        *self.graph.borrow_mut() = Graph::new();
        let tables = self.tables.take();
        let remains = self.graveyard.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(callbacks)));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(tables)));
        for node in nodes.into_iter().map(Remains::Node).chain(remains) {
            let _ = catch_unwind(AssertUnwindSafe(|| node.bury(self)));
        }
    }
}

/// Bytes of one entry in the subscriber lists.
pub(crate) fn subscriber_bytes() -> usize {
    Subscribers::entry_bytes()
}
