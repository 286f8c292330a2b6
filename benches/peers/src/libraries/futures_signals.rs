//! futures-signals: a source is a `Mutable`, a node a `Broadcaster`, a sink a task of the pool below.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use futures_signals::map_ref;
use futures_signals::signal::{
    Broadcaster, BroadcasterSignal, Mutable, MutableSignal, Signal, SignalExt,
};

use crate::library::{Hear, Library, One, Two};

type Boxed = Pin<Box<dyn Signal<Item = u64>>>;

/// What nodes are made of.
#[derive(Clone)]
pub(crate) enum Node {
    Source(Mutable<u64>),
    Derived(Broadcaster<Boxed>),
}

impl Node {
    fn signal(&self) -> Input {
        match self {
            Node::Source(source) => Input::Source(source.signal()),
            Node::Derived(node) => Input::Derived(node.signal()),
        }
    }
}

/// A signal of either, without a box.
enum Input {
    Source(MutableSignal<u64>),
    Derived(BroadcasterSignal<Boxed>),
}

impl Signal for Input {
    type Item = u64;

    fn poll_change(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        match &mut *self {
            Input::Source(signal) => Pin::new(signal).poll_change(cx),
            Input::Derived(signal) => Pin::new(signal).poll_change(cx),
        }
    }
}

/// The library has nothing that takes a list of signals of one value each.
struct Fold<F, G> {
    inputs: Vec<(Input, Option<u64>)>,
    f: F,
    then: G,
}

impl<F: Two + Unpin, G: One + Unpin> Signal for Fold<F, G> {
    type Item = u64;

    fn poll_change(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        let mut changed = false;
        for (input, value) in &mut self.inputs {
            if let Poll::Ready(Some(new)) = Pin::new(input).poll_change(cx) {
                *value = Some(new);
                changed = true;
            }
        }
        if !changed {
            return Poll::Pending;
        }
        let folded = self.inputs.iter().fold(0, |sum, (_, v)| (self.f)(sum, v.unwrap_or(0)));
        Poll::Ready(Some((self.then)(folded)))
    }
}

type Woken = Arc<Mutex<Vec<Arc<Task>>>>;

/// A task that may be in the list of those to poll.
struct Task {
    id: usize,
    queued: AtomicBool,
    woken: Woken,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Relaxed)
            && let Ok(mut woken) = self.woken.lock()
        {
            woken.push(self.clone());
        }
    }
}

type Slot = Option<(Pin<Box<dyn Future<Output = ()>>>, Waker)>;

/// The least that can run sinks: polls the tasks that were woken, in that order.
#[derive(Default)]
struct Pool {
    tasks: Vec<Slot>,
    free: Vec<usize>,
    woken: Woken,
}

impl Pool {
    fn spawn(&mut self, future: impl Future<Output = ()> + 'static) -> usize {
        let id = self.free.pop().unwrap_or(self.tasks.len());
        let task = Arc::new(Task { id, queued: AtomicBool::new(false), woken: self.woken.clone() });
        let slot =
            Some((Box::pin(future) as Pin<Box<dyn Future<Output = ()>>>, task.clone().into()));
        match self.tasks.get_mut(id) {
            Some(free) => *free = slot,
            None => self.tasks.push(slot),
        }
        task.wake();
        id
    }

    fn end(&mut self, id: usize) {
        self.tasks[id] = None;
        self.free.push(id);
    }

    fn run(&mut self) {
        loop {
            let woken = match self.woken.lock() {
                Ok(mut woken) if !woken.is_empty() => std::mem::take(&mut *woken),
                _ => return,
            };
            for task in woken {
                task.queued.store(false, Relaxed);
                if let Some((future, waker)) = &mut self.tasks[task.id] {
                    let _ = future.as_mut().poll(&mut Context::from_waker(waker));
                }
            }
        }
    }
}

/// A task, ended when dropped.
pub(crate) struct Sink {
    id: usize,
    pool: Rc<RefCell<Pool>>,
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.pool.borrow_mut().end(self.id);
    }
}

pub(crate) struct FuturesSignals {
    pool: Rc<RefCell<Pool>>,
}

fn node(signal: impl Signal<Item = u64> + 'static) -> Node {
    Node::Derived(Broadcaster::new(Box::pin(signal)))
}

impl Library for FuturesSignals {
    type Source = Mutable<u64>;
    type Node = Node;
    type Sink = Sink;

    fn new(_: usize) -> Self {
        Self { pool: Rc::default() }
    }

    fn source(&mut self, value: u64) -> Self::Source {
        Mutable::new(value)
    }

    fn node(&self, source: &Self::Source) -> Self::Node {
        Node::Source(source.clone())
    }

    fn map(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        node(input.signal().map(f))
    }

    fn map_source(&mut self, input: &Self::Source, f: impl One) -> Self::Node {
        node(input.signal().map(f))
    }

    fn map2(&mut self, a: &Self::Node, b: &Self::Node, f: impl Two) -> Self::Node {
        let (a, b) = (a.signal(), b.signal());
        node(map_ref! { let a = a, let b = b => f(*a, *b) })
    }

    fn fold(&mut self, inputs: &[Self::Node], f: impl Two, then: impl One) -> Self::Node {
        let inputs = inputs.iter().map(|input| (input.signal(), None)).collect();
        // Boxes, for closures may not be `Unpin`.
        let (f, then) = (Box::new(f), Box::new(then));
        node(Fold { inputs, f: move |a, b| f(a, b), then: move |v| then(v) })
    }

    fn map_distinct(&mut self, input: &Self::Node, f: impl One) -> Self::Node {
        node(input.signal().map(f).dedupe())
    }

    fn switch(
        &mut self,
        selector: &Self::Node,
        choices: &Arc<[Self::Node]>,
        pick: impl One,
    ) -> Self::Node {
        let choices = choices.clone();
        let pick = move |v| choices[pick(v) as usize % choices.len()].signal();
        node(selector.signal().switch(pick))
    }

    fn sink(&mut self, input: &Self::Node, f: impl Hear) -> Self::Sink {
        let signal = input.signal();
        let id = self.pool.borrow_mut().spawn(signal.for_each(move |v| {
            f(v);
            std::future::ready(())
        }));
        Sink { id, pool: self.pool.clone() }
    }

    fn settle(&mut self) {
        self.pool.borrow_mut().run();
    }

    fn set(&mut self, source: &Self::Source, value: u64) {
        source.set(value);
        self.settle();
    }

    fn batch<'a>(&mut self, writes: impl Iterator<Item = (&'a Self::Source, u64)>) {
        writes.for_each(|(source, value)| source.set(value));
        self.settle();
    }
}
