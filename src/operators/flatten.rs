//! `merge_map`: a cell with the values of all cells that a closure has given.
//!
//! The starter, after the selector, calls the closure. Each inner cell has a relay, which hands its values to the output
//! and tells of its end, so that a change of one among many costs the same. The output has an edge from each relay.

use std::cell::{Cell as StdCell, RefCell};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use super::merge::Backlog;
use crate::cell::{Cell, CellImmutable, Strong};
use crate::error::Fallible;
use crate::graph::EdgeKind;
use crate::pipeline::{Chain, Seedness, derive, input_of};
use crate::store::closure::Making;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::{Input, NodeRef};
use crate::store::{Store, expect, flag, with_store};

/// What the nodes know of each other.
struct Hub<U> {
    starter: StdCell<Option<NodeRef>>,
    output: StdCell<Option<NodeRef>>,
    /// Values on the way to the output: when they came, from which inner, and what.
    fresh: RefCell<Vec<(u32, u64, U)>>,
    /// Relays whose inner has ended.
    finished: RefCell<Vec<NodeRef>>,
    /// Relays that were made before there was an output.
    first: RefCell<Vec<Strong>>,
    /// The first error of an inner.
    error: RefCell<Option<End>>,
    live: StdCell<usize>,
    queued: StdCell<usize>,
    started: StdCell<u64>,
    place: &'static Location<'static>,
}

impl<U: Clone + 'static> Hub<U> {
    /// Calls the closure and takes in the cell that it gives.
    fn start<M>(self: &Rc<Self>, store: &Store, choose: impl FnOnce() -> Cell<U, M>) {
        let (inner, closing) = store.call_closure(Making::Inside, choose);
        if self.is_gone() {
            return store.close_now(closing);
        }
        let number = self.started.get();
        self.started.set(number + 1);
        let node = expect(inner.node(store));
        if node.has(flag::ENDED) {
            self.fail_if(store.end_of(node));
            let value = node.with(U::clone);
            self.fresh.borrow_mut().push((store.clock.get(), number, value));
            return store.close_now(closing);
        }
        let relay = expect(self.relay(store, inner.strong.clone(), number));
        let relay_node = relay.node(store);
        store.keep_closing(relay_node, closing, Some(inner.key()));
        match self.output.get() {
            None => self.first.borrow_mut().push(relay),
            Some(output) => {
                let linked = store.connect_new(relay_node, output, EdgeKind::Trigger);
                expect(linked.map_err(|path| store.cycle(path)));
            }
        }
        self.live.set(self.live.get() + 1);
        let value = node.with(U::clone);
        self.fresh.borrow_mut().push((store.clock.get(), number, value));
    }

    fn relay(self: &Rc<Self>, store: &Store, inner: Strong, number: u64) -> Fallible<Strong> {
        let _aside = store.set_aside();
        store.making.set(Making::Inside);
        let relay = MergeMapRelay { inner: input_of(inner)?, hub: self.clone(), number };
        Ok(derive(relay, self.place)?.strong)
    }

    /// Whether there is no cell any more whose inners these are.
    fn is_gone(&self) -> bool {
        let gone = |node: NodeRef| node.has(flag::DEAD | flag::DISPOSED);
        self.starter.get().is_none_or(gone) || self.output.get().is_some_and(gone)
    }

    fn fail_if(&self, end: Option<End>) {
        if let Some(error @ End::Error(_)) = end {
            self.error.borrow_mut().get_or_insert(error);
        }
    }
}

/// Hands the values of one inner cell on.
struct MergeMapRelay<U: 'static> {
    inner: Input<U>,
    hub: Rc<Hub<U>>,
    number: u64,
}

impl<U: Clone + 'static> Kernel for MergeMapRelay<U> {
    type Out = ();
    const OPERATOR: &'static str = "merge_map";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(())) -> Over {
        let (inner, hub) = (&self.inner, &self.hub);
        if turn.is_seed() {
            emit(());
            return Over::No;
        }
        if inner.fresh(turn) {
            let value = inner.with(U::clone);
            hub.fresh.borrow_mut().push((inner.arrival(), self.number, value));
            emit(());
        }
        if !inner.ended() {
            return Over::No;
        }
        hub.fail_if(inner.end());
        hub.live.set(hub.live.get() - 1);
        let _ = with_store(|store| {
            hub.finished.borrow_mut().extend(store.current_node());
            if let Some(starter) = hub.starter.get().filter(|_| hub.queued.get() > 0) {
                store.mark_dirty(starter);
            }
        });
        Over::Closed
    }

    fn end(&self) -> End {
        End::Complete
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.inner);
    }
}

struct MergeMap<C: Chain, F, U> {
    chain: C,
    choose: F,
    hub: Rc<Hub<U>>,
    limit: usize,
    /// Keeps a value that has to wait (never called without a limit).
    keep: fn(&C::Out) -> Option<C::Out>,
    queue: VecDeque<C::Out>,
    over: Over,
}

impl<C: Chain, F, U, M> Kernel for MergeMap<C, F, U>
where
    F: FnMut(&C::Out) -> Cell<U, M> + 'static,
    U: Clone + 'static,
    M: 'static,
{
    type Out = ();
    const OPERATOR: &'static str = "merge_map";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(())) -> Over {
        if self.hub.starter.get().is_none() {
            // The closure runs when there is a node.
            emit(());
            return Over::No;
        }
        let before = self.hub.started.get();
        let started = with_store(|store| self.work(store, turn));
        if self.hub.started.get() != before {
            emit(());
        }
        // An error overtakes what waits.
        let failed = || self.over == Over::Upstream && matches!(self.chain.end(), End::Error(_));
        let over = started.is_ok() && (self.queue.is_empty() || failed());
        if over { self.over } else { Over::No }
    }

    fn end(&self) -> End {
        self.chain.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.chain.inputs(visit);
    }
}

impl<C: Chain, F, U, M> MergeMap<C, F, U>
where
    F: FnMut(&C::Out) -> Cell<U, M> + 'static,
    U: Clone + 'static,
{
    /// Starts what may be started.
    fn work(&mut self, store: &Store, turn: Turn) {
        let Self { chain, choose, hub, limit, keep, queue, over } = self;
        if *over == Over::No {
            *over = chain.lend(turn, |value| {
                if queue.is_empty() && hub.live.get() < *limit {
                    hub.start(store, || choose(value));
                } else {
                    queue.extend(keep(value));
                }
            });
        }
        while hub.live.get() < *limit
            && !hub.is_gone()
            && let Some(value) = queue.pop_front()
        {
            hub.queued.set(queue.len());
            hub.start(store, || choose(&value));
        }
        hub.queued.set(queue.len());
    }
}

/// Nobody may follow the pointers of a node that is gone.
impl<C: Chain, F, U> Drop for MergeMap<C, F, U> {
    fn drop(&mut self) {
        self.hub.starter.set(None);
        self.hub.first.take();
    }
}

struct MergeMapOutput<U: 'static, S> {
    starter: Input<()>,
    relays: Vec<Input<()>>,
    hub: Rc<Hub<U>>,
    backlog: Backlog<U>,
    seed: PhantomData<fn() -> S>,
}

impl<U: 'static, S> Drop for MergeMapOutput<U, S> {
    fn drop(&mut self) {
        self.hub.output.set(None);
        self.hub.finished.take();
    }
}

impl<U: Clone + 'static, S: Seedness> MergeMapOutput<U, S> {
    /// Takes what the relays have brought, the first to come first, and lets go of those that are through.
    fn collect(&mut self) {
        let mut fresh = self.hub.fresh.take();
        fresh.sort_by_key(|&(stamp, number, _)| (stamp, number));
        fresh.into_iter().for_each(|(_, _, value)| self.backlog.push(value));
        let _ = with_store(|store| {
            let Some(output) = self.hub.output.get() else { return };
            for relay in self.hub.finished.take() {
                store.disconnect(relay, output, EdgeKind::Trigger);
            }
        });
    }
}

impl<U: Clone + 'static, S: Seedness> Kernel for MergeMapOutput<U, S> {
    type Out = S::Value<U>;
    const OPERATOR: &'static str = "merge_map";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(S::Value<U>)) -> Over {
        if turn.is_seed() {
            let last = self.hub.fresh.take().pop().map(|(_, _, value)| S::some(value));
            if let Some(seed) = last.or_else(S::none) {
                emit(seed);
            }
        } else {
            self.collect();
            self.backlog.emit_next(|value| emit(S::some(value)));
        }
        let failed = self.starter.failed() || self.hub.error.borrow().is_some();
        let through = self.starter.ended() && self.hub.live.get() == 0;
        Over::upstream_if(failed || (through && self.backlog.is_empty()))
    }

    fn end(&self) -> End {
        let error = self.hub.error.borrow().clone();
        super::combine::end_when_all([self.starter.end(), error].into_iter())
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        visit(&mut self.starter);
        self.relays.iter_mut().for_each(|relay| visit(relay));
    }
}

/// Makes the nodes of a `merge_map` over what a chain gives.
pub(crate) fn merge_map<C, F, U, M>(
    chain: C,
    limit: usize,
    keep: fn(&C::Out) -> Option<C::Out>,
    choose: F,
    place: &'static Location<'static>,
) -> Fallible<Cell<<C::Seed as Seedness>::Value<U>, CellImmutable>>
where
    C: Chain,
    F: FnMut(&C::Out) -> Cell<U, M> + 'static,
    U: Clone + 'static,
    M: 'static,
{
    assert!(limit > 0, "merge_map_limit(0) can start nothing; give it a limit of at least 1");
    let hub = Rc::new(Hub {
        starter: StdCell::new(None),
        output: StdCell::new(None),
        fresh: RefCell::default(),
        finished: RefCell::default(),
        first: RefCell::default(),
        error: RefCell::default(),
        live: StdCell::new(0),
        queued: StdCell::new(0),
        started: StdCell::new(0),
        place,
    });
    let queue = VecDeque::new();
    let kernel = MergeMap { chain, choose, hub: hub.clone(), limit, keep, queue, over: Over::No };
    let starter = with_store(|store| store.hidden(|| derive(kernel, place)))??;
    with_store(|store| {
        let node = starter.node(store)?;
        hub.starter.set(Some(node));
        let busy = store.enter();
        // Of what is half made nothing may be left when a panic lets waiting writes go on.
        let starter = starter;
        store.first_turn(node);
        let relays = hub.first.take().into_iter().map(input_of).collect::<Fallible<_>>()?;
        let starter = input_of(starter.strong)?;
        let backlog = Backlog::default();
        let kernel =
            MergeMapOutput { starter, relays, hub: hub.clone(), backlog, seed: PhantomData };
        let output: Cell<_, _> = derive::<MergeMapOutput<U, C::Seed>>(kernel, place)?;
        hub.output.set(Some(output.node(store)?));
        busy.leave()?;
        Ok(output)
    })?
}
