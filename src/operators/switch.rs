//! `switch_map`: a cell that follows the cell that a closure chooses.
//!
//! Two nodes: the switcher, after the selector, and the output, after the switcher and the inner cell. So an inner cell
//! that only the switch keeps is gone before it could have its turn. The inner lives by the output's edge alone.

use std::cell::Cell as StdCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use crate::cell::{Cell, CellImmutable};
use crate::error::Fallible;
use crate::graph::{CellKey, EdgeKind};
use crate::pipeline::{Chain, Seedness, derive, input_of};
use crate::store::closure::Making;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::{Input, NodeRef};
use crate::store::{Store, expect, flag, with_store};

/// What the two nodes know of each other.
struct Link<U: 'static> {
    switcher: StdCell<Option<NodeRef>>,
    output: StdCell<Option<NodeRef>>,
    /// The inner cell, while the output has an edge from it.
    inner: StdCell<Option<NodeRef>>,
    /// The first inner cell, until there is an output.
    first: StdCell<Option<Input<U>>>,
    /// The cell that was chosen but depends on the output (not kept: it keeps the output).
    refused: StdCell<Option<CellKey>>,
}

impl<U: 'static> Link<U> {
    fn new() -> Rc<Self> {
        Rc::new(Self {
            switcher: StdCell::new(None),
            output: StdCell::new(None),
            inner: StdCell::new(None),
            first: StdCell::new(None),
            refused: StdCell::new(None),
        })
    }

    /// Lets go of the inner cell and takes the one that `choose` gives.
    fn switch<M>(&self, store: &Store, choose: impl FnOnce() -> Cell<U, M>) {
        let Some(me) = self.switcher.get() else { return };
        // What only the switch keeps goes before the closure runs; a cell that lives on is let go afterwards, by putting
        // another in its place.
        store.close(me, || {
            if self.inner.get().is_some_and(|inner| inner.strong.get() == 1) {
                self.let_go(store);
            }
        });
        if me.has(flag::DEAD) {
            return;
        }
        self.refused.set(None);
        me.lower(flag::REFUSED);
        let old = Unless(self, store, true);
        let (inner, closing) = store.call_closure(Making::Behind(me), choose);
        store.keep_closing(me, closing, Some(inner.key()));
        if me.has(flag::DEAD) {
            return;
        }
        let node = expect(inner.node(store));
        old.keep();
        match self.output.get() {
            None => self.first.set(Some(expect(input_of(inner.strong)))),
            Some(output) => {
                self.follow(store, me, node, output);
            }
        }
    }

    fn let_go(&self, store: &Store) {
        if let (Some(inner), Some(output)) = (self.inner.take(), self.output.get()) {
            store.disconnect(inner, output, EdgeKind::Trigger);
        }
    }

    /// Follows a cell, unless that depends on the output: then it follows nothing, until that is over.
    fn follow(&self, store: &Store, me: NodeRef, inner: NodeRef, output: NodeRef) -> bool {
        let linked = match self.inner.take() {
            Some(old) if old == inner => Ok(()),
            Some(old) => store.reconnect(old, inner, output),
            None => store.connect_new(inner, output, EdgeKind::Trigger),
        };
        match linked {
            Ok(()) => self.inner.set(Some(inner)),
            Err(path) => {
                self.refused.set(Some(store.id_of(inner)));
                store.refuse_switch(me, inner, output, path);
                return false;
            }
        }
        true
    }

    /// Tries again to follow the cell that was refused, now that an edge of the cycle has gone.
    fn retry(&self, store: &Store) -> bool {
        let Some(refused) = self.refused.take() else { return false };
        let (Some(me), Some(output)) = (self.switcher.get(), self.output.get()) else {
            return false;
        };
        me.lower(flag::REFUSED);
        let inner = store.find(refused).filter(|inner| !inner.has(flag::DISPOSED));
        inner.is_some_and(|inner| self.follow(store, me, inner, output))
    }
}

/// Lets go of the inner cell if the closure that is to choose another one panics.
struct Unless<'a, U: 'static>(&'a Link<U>, &'a Store, bool);

impl<U: 'static> Unless<'_, U> {
    fn keep(mut self) {
        self.2 = false;
    }
}

impl<U: 'static> Drop for Unless<'_, U> {
    fn drop(&mut self) {
        if self.2 {
            self.0.let_go(self.1);
        }
    }
}

struct SwitchMap<C, F, U: 'static> {
    chain: C,
    choose: F,
    link: Rc<Link<U>>,
}

impl<C, F, U, M> Kernel for SwitchMap<C, F, U>
where
    C: Chain,
    F: FnMut(&C::Out) -> Cell<U, M> + 'static,
    U: 'static,
    M: 'static,
{
    type Out = ();
    const OPERATOR: &'static str = "switch_map";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(())) -> Over {
        if self.link.switcher.get().is_none() {
            // The closure runs when there is a node that its cells can be behind.
            emit(());
            return Over::No;
        }
        let Self { chain, choose, link } = self;
        let mut switched = false;
        let over = chain.lend(turn, |value| {
            switched = true;
            let _ = with_store(|store| link.switch(store, || choose(value)));
        });
        let retried = !switched && !turn.is_quiet() && link.refused.get().is_some();
        if switched || (retried && with_store(|store| link.retry(store)).unwrap_or(false)) {
            emit(());
        }
        over
    }

    fn end(&self) -> End {
        self.chain.end()
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.chain.inputs(visit);
    }
}

/// Nobody may follow the pointers of a node that is gone.
impl<C, F, U: 'static> Drop for SwitchMap<C, F, U> {
    fn drop(&mut self) {
        self.link.switcher.set(None);
        self.link.first.take();
    }
}

struct SwitchMapOutput<U: 'static, S> {
    switcher: Input<()>,
    first: Option<Input<U>>,
    link: Rc<Link<U>>,
    seed: PhantomData<fn() -> S>,
}

impl<U: 'static, S> Drop for SwitchMapOutput<U, S> {
    fn drop(&mut self) {
        self.link.output.set(None);
        self.link.inner.set(None);
    }
}

impl<U: 'static, S> SwitchMapOutput<U, S> {
    fn inner(&self) -> Option<Input<U>> {
        self.link.inner.get().map(Input::of_linked)
    }
}

impl<U: Clone + 'static, S: Seedness> Kernel for SwitchMapOutput<U, S> {
    type Out = S::Value<U>;
    const OPERATOR: &'static str = "switch_map";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(S::Value<U>)) -> Over {
        if turn.is_seed() {
            self.link.inner.set(self.first.as_ref().map(Upstream::node));
        }
        let inner = self.inner();
        match &inner {
            Some(inner) if inner.fresh(turn) || self.switcher.fresh(turn) => {
                emit(S::some(inner.with(U::clone)));
            }
            None if turn.is_seed() => {
                if let Some(seed) = S::none() {
                    emit(seed);
                }
            }
            _ => (),
        }
        let (failed, ended) = inner.map_or((false, true), |inner| (inner.failed(), inner.ended()));
        let all = ended && self.switcher.ended();
        Over::upstream_if(self.switcher.failed() || failed || all)
    }

    fn end(&self) -> End {
        let inner = self.inner().and_then(|inner| inner.end());
        super::combine::end_when_all([self.switcher.end(), inner].into_iter())
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.first.iter_mut().for_each(|inner| visit(inner));
        visit(&mut self.switcher);
    }
}

/// Makes the two nodes of a switch over what a chain gives.
pub(crate) fn switch_map<C, F, U, M>(
    chain: C,
    choose: F,
    place: &'static Location<'static>,
) -> Fallible<Cell<<C::Seed as Seedness>::Value<U>, CellImmutable>>
where
    C: Chain,
    F: FnMut(&C::Out) -> Cell<U, M> + 'static,
    U: Clone + 'static,
    M: 'static,
{
    let link = Link::new();
    let kernel = SwitchMap { chain, choose, link: link.clone() };
    let switcher = with_store(|store| store.hidden(|| derive(kernel, place)))??;
    with_store(|store| {
        let node = switcher.node(store)?;
        link.switcher.set(Some(node));
        let busy = store.enter();
        // Of what is half made nothing may be left when a panic lets waiting writes go on.
        let switcher = switcher;
        store.first_turn(node);
        let (switcher, first) = (input_of(switcher.strong)?, link.first.take());
        let kernel = SwitchMapOutput { switcher, first, link: link.clone(), seed: PhantomData };
        let output = derive::<SwitchMapOutput<U, C::Seed>>(kernel, place)?;
        link.output.set(Some(output.node(store)?));
        busy.leave()?;
        Ok(output)
    })?
}
