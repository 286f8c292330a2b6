//! Shared pipelines: one hidden cell for all consumers, made by the first and gone with the last.

use std::cell::{Cell as StdCell, RefCell};
use std::panic::Location;
use std::rc::Rc;

use super::Pipeline;
use super::chain::{Chain, Give, input_of};
use super::seed::{Definite, derive};
use crate::cell::{Cell, CellImmutable, Strong};
use crate::error::{Error, Fallible};
use crate::graph::EdgeKind;
use crate::store::kernel::{End, Kernel, Over, Turn, Upstream};
use crate::store::node::{Input, NodeRef};
use crate::store::{expect, with_store};
use crate::weak::WeakCell;

struct Shared<C: Chain> {
    /// The chain; absent while one of its closures runs.
    chain: StdCell<Option<C>>,
    hidden: RefCell<Option<WeakCell<C::Out, CellImmutable>>>,
    /// Keeps the cells that the chain reads, for the next start; taken over from the chain's inputs at the first.
    roots: RefCell<Vec<Strong>>,
    started: StdCell<bool>,
    place: &'static Location<'static>,
}

/// A pipeline whose upstream is computed once for all its consumers; see [`Pipeline::share`].
///
/// ```
/// use hyphae::{Cell, Pipeline};
/// let n = Cell::new(1);
/// let sum = (&n).scan(0, |sum, n| sum + n).share();
/// let a = sum.clone().materialize();
/// let b = sum.clone().map(|s| s * 10).materialize();
/// n.set(4);
/// assert_eq!((a.get(), b.get()), (5, 50));
/// assert_eq!(n.dependents(), 1);
/// ```
pub struct SharedPipeline<C: Chain> {
    shared: Rc<Shared<C>>,
}

impl<C: Chain> Clone for SharedPipeline<C> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<C: Chain> std::fmt::Debug for SharedPipeline<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedPipeline(.. {})", C::OPERATOR)
    }
}

impl<C: Chain> SharedPipeline<C> {
    #[track_caller]
    pub(crate) fn new(chain: C) -> Self {
        let shared = Shared {
            chain: StdCell::new(Some(chain)),
            hidden: RefCell::new(None),
            roots: RefCell::default(),
            started: StdCell::new(false),
            place: Location::caller(),
        };
        Self { shared: Rc::new(shared) }
    }
}

impl<C: Give> Pipeline<C::Out, Definite> for SharedPipeline<C>
where
    C: Chain<Seed = Definite>,
{
    type Chain = SharedRoot<C>;

    fn into_chain(self) -> SharedRoot<C> {
        SharedRoot { shared: self.shared, input: None }
    }
}

impl<C: Give> Shared<C> {
    /// The hidden cell, made now if there is none.
    fn cell(self: &Rc<Self>) -> Fallible<Cell<C::Out, CellImmutable>> {
        let living = self.hidden.borrow().as_ref().and_then(WeakCell::upgrade);
        if let Some(cell) = living {
            return Ok(cell);
        }
        let Some(mut chain) = self.chain.take() else {
            // One of the chain's own closures consumes the pipeline before it has its first value.
            return Err(Box::new(Error::SharedLoop { place: self.place }));
        };
        if self.started.replace(true) {
            chain.restart();
        } else {
            self.adopt_roots(&mut chain)?;
        }
        self.chain.set(Some(chain));
        // It belongs to its consumers, not to the scope that happens to be current.
        let cell = with_store(|store| {
            store.in_scope(None, || derive(SharedKernel(self.clone()), self.place))
        })??;
        *self.hidden.borrow_mut() = Some(cell.downgrade());
        Ok(cell)
    }

    /// Takes over the references that the chain's inputs hold.
    fn adopt_roots(&self, chain: &mut C) -> Fallible<()> {
        with_store(|_| {
            chain.inputs(&mut |input| {
                if input.is_transient() {
                    return;
                }
                self.roots.borrow_mut().push(Strong::adopt(input.node()));
                input.linked();
            });
        })
    }

    /// Works on the chain while it is out of its place, so that its closures may do what they like.
    fn with_chain<R>(&self, f: impl FnOnce(&mut C) -> R) -> Option<R> {
        struct PutBack<'a, C: Chain>(&'a Shared<C>, Option<C>);
        impl<C: Chain> Drop for PutBack<'_, C> {
            fn drop(&mut self) {
                self.0.chain.set(self.1.take());
            }
        }
        let mut out = PutBack(self, self.chain.take());
        out.1.as_mut().map(f)
    }
}

/// The kernel of the hidden cell. The chain, and with it a reference to each root, stays with the shared state, so that
/// it can start again.
struct SharedKernel<C: Chain>(Rc<Shared<C>>);

impl<C: Give> Kernel for SharedKernel<C> {
    type Out = C::Out;
    const OPERATOR: &'static str = "share";

    fn turn(&mut self, turn: Turn, emit: impl FnOnce(C::Out)) -> Over {
        self.0.with_chain(|chain| chain.give(turn, emit)).unwrap_or(Over::No)
    }

    fn end(&self) -> End {
        self.0.with_chain(|chain| chain.end()).unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        self.0.with_chain(|chain| chain.inputs(&mut |input| visit(&mut Kept(input))));
    }
}

/// An input of the shared chain: the edge gets a reference of its own, that of a plain root stays with the shared state.
struct Kept<'a>(&'a mut dyn Upstream);

impl Upstream for Kept<'_> {
    fn node(&self) -> NodeRef {
        self.0.node()
    }

    fn linked(&mut self) {
        if self.0.is_transient() {
            return self.0.linked();
        }
        let node = self.node();
        let _ = with_store(|store| store.retain(node));
    }

    fn kind(&self) -> EdgeKind {
        self.0.kind()
    }
}

/// The input of a consumer of a shared pipeline: found again at each start.
struct Transient<'a, T: 'static>(&'a mut Input<T>);

impl<T: 'static> Upstream for Transient<'_, T> {
    fn node(&self) -> NodeRef {
        self.0.node()
    }

    fn linked(&mut self) {
        self.0.linked();
    }

    fn is_transient(&self) -> bool {
        true
    }
}

/// The root of a consumer: reads the hidden cell.
#[doc(hidden)]
pub struct SharedRoot<C: Chain> {
    shared: Rc<Shared<C>>,
    input: Option<Input<C::Out>>,
}

impl<C: Chain> std::fmt::Debug for SharedRoot<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedRoot")
    }
}

#[allow(private_interfaces)]
impl<C: Give> Chain for SharedRoot<C> {
    type Out = C::Out;
    type Seed = Definite;
    const OPERATOR: &'static str = "share";

    fn lend(&mut self, turn: Turn, with: impl FnOnce(&C::Out)) -> Over {
        self.input.as_ref().map_or(Over::No, |input| input.lend(turn, with))
    }

    fn end(&self) -> End {
        self.input.as_ref().and_then(Input::end).unwrap_or(End::Complete)
    }

    fn inputs(&mut self, visit: &mut dyn FnMut(&mut dyn Upstream)) {
        let shared = &self.shared;
        let input = self
            .input
            .get_or_insert_with(|| expect(shared.cell().and_then(|cell| input_of(cell.strong))));
        visit(&mut Transient(input));
    }

    fn restart(&mut self) {
        // The hidden cell of the last start may be gone.
        self.input = None;
    }
}

#[allow(private_interfaces)]
impl<C: Give> Give for SharedRoot<C>
where
    C::Out: Clone,
{
    fn give(&mut self, turn: Turn, emit: impl FnOnce(C::Out)) -> Over {
        self.lend(turn, |value| emit(value.clone()))
    }
}
