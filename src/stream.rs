//! Cells and async code (feature `async`): a cell as a stream, waiting for a change, a cell that is fed by a future or stream.
//!
//! Everything is for the thread of the store: nothing is `Send`, and any executor of one thread will do. It is an ordinary
//! user of cells and knows nothing of the store.
//!
//! Costs: a stream is a subscriber with a queue. A waker is called when a value comes and the task waits for one; in a
//! callback, with nothing borrowed.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use crate::cell::{Cell, CellImmutable, CellMutable};
use crate::error::CellError;
use crate::signal::Signal;
use crate::subscription::SubscriptionGuard;

/// What waits for the task, and what wakes it.
struct Queue<T> {
    waiting: VecDeque<T>,
    limit: usize,
    lost: u64,
    /// How the cell ended.
    end: Option<Option<CellError>>,
    waker: Option<Waker>,
}

/// The values of a cell as a [`Stream`]: the current one first, then each change. It ends when the cell does;
/// [`error`](Self::error) tells whether that failed, and [`with_errors`](Self::with_errors) is a stream whose last item is the
/// error. Dropping it unsubscribes.
///
/// The task is woken in the delivery of a wave, and polled when its executor runs: changes wait in between.
#[must_use = "streams do nothing unless polled"]
pub struct CellStream<T: 'static> {
    queue: Rc<RefCell<Queue<T>>>,
    _guard: SubscriptionGuard,
}

impl<T> fmt::Debug for CellStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CellStream({} wait)", self.queue.borrow().waiting.len())
    }
}

impl<T: Clone + 'static> CellStream<T> {
    #[track_caller]
    fn of<M>(cell: &Cell<T, M>, limit: usize) -> Self {
        assert!(limit > 0, "a stream needs room for at least 1 value");
        let (waiting, waker) = (VecDeque::new(), None);
        let queue = Rc::new(RefCell::new(Queue { waiting, limit, lost: 0, end: None, waker }));
        let fed = queue.clone();
        let guard = cell.subscribe(move |signal| feed(&fed, signal));
        Self { queue, _guard: guard }
    }

    /// The error with which the cell has failed, once the stream has ended for that.
    pub fn error(&self) -> Option<CellError> {
        let queue = self.queue.borrow();
        queue.end.clone().flatten().filter(|_| queue.waiting.is_empty())
    }

    /// The values as results: when the cell fails, the error comes as the last item.
    ///
    /// ```
    /// use std::{pin::pin, task::{Context, Poll, Waker}};
    /// use futures_core::Stream;
    /// use hyphae::{AsyncWatchableExt, Cell};
    /// let level = Cell::new(1);
    /// let mut results = pin!(level.to_stream().with_errors());
    /// level.fail("unplugged");
    /// let mut cx = Context::from_waker(Waker::noop());
    /// let mut next = || match results.as_mut().poll_next(&mut cx) {
    ///     Poll::Ready(item) => item.map(|item| item.map_err(|error| error.to_string())),
    ///     Poll::Pending => unreachable!("the cell has ended"),
    /// };
    /// assert_eq!((next(), next(), next()), (Some(Ok(1)), Some(Err("unplugged".to_owned())), None));
    /// ```
    pub fn with_errors(self) -> CellResults<T> {
        CellResults { stream: self, over: false }
    }

    /// How many values were dropped because there was no room.
    pub fn lost(&self) -> u64 {
        self.queue.borrow().lost
    }
}

/// Puts a signal into the queue and wakes the task; what is the user's is cloned, dropped and called with nothing borrowed.
fn feed<T: Clone>(shared: &RefCell<Queue<T>>, signal: &Signal<'_, T>) {
    let value = match signal {
        Signal::Value(value) => Some(T::clone(value)),
        _ => None,
    };
    let mut queue = shared.borrow_mut();
    let mut oldest = None;
    match (signal, value) {
        (Signal::Error(error), _) => queue.end = Some(Some((*error).clone())),
        (_, Some(value)) => {
            if queue.waiting.len() == queue.limit {
                queue.lost += 1;
                oldest = queue.waiting.pop_front();
            }
            queue.waiting.push_back(value);
        }
        _ => queue.end = Some(None),
    }
    let waker = queue.waker.take();
    drop(queue);
    drop(oldest);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<T> Stream for CellStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // The executor's code, before anything is borrowed.
        let waker = cx.waker().clone();
        let mut queue = self.queue.borrow_mut();
        if let Some(value) = queue.waiting.pop_front() {
            return Poll::Ready(Some(value));
        }
        if queue.end.is_some() {
            return Poll::Ready(None);
        }
        let old = queue.waker.replace(waker);
        drop(queue);
        drop(old);
        Poll::Pending
    }
}

/// The values of a cell as a [`Stream`] of results, of which the last may be its error. See [`CellStream::with_errors`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct CellResults<T: 'static> {
    stream: CellStream<T>,
    /// Whether the end was told.
    over: bool,
}

impl<T: Clone + 'static> Stream for CellResults<T> {
    type Item = Result<T, CellError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = Pin::new(&mut self.stream).poll_next(cx);
        item.map(|item| match item {
            Some(value) => Some(Ok(value)),
            None if std::mem::replace(&mut self.over, true) => None,
            None => self.stream.error().map(Err),
        })
    }
}

/// Cells in async code.
pub trait AsyncWatchableExt<T: Clone + 'static> {
    /// The values of the cell as a stream; those that the task has not taken yet wait, without bound.
    ///
    /// # Panics
    /// As [`Cell::subscribe`].
    fn to_stream(&self) -> CellStream<T>;

    /// [`to_stream`](Self::to_stream) with room for so many values: while it is full, the oldest goes for a new one.
    ///
    /// # Panics
    /// When the room is 0; else as [`Cell::subscribe`].
    fn to_stream_bounded(&self, room: usize) -> CellStream<T>;

    /// The value of the next change from now on; `None` when the cell completes before, its error when it fails.
    ///
    /// # Panics
    /// As [`Cell::subscribe`].
    fn next_value(&self) -> impl Future<Output = Option<Result<T, CellError>>> + 'static;

    /// Waits for the next change from now on, and tells whether there was one: else the cell has ended.
    ///
    /// # Panics
    /// As [`Cell::subscribe`].
    fn changed(&self) -> impl Future<Output = bool> + 'static;
}

impl<T: Clone + 'static, M> AsyncWatchableExt<T> for Cell<T, M> {
    #[track_caller]
    fn to_stream(&self) -> CellStream<T> {
        CellStream::of(self, usize::MAX)
    }

    #[track_caller]
    fn to_stream_bounded(&self, room: usize) -> CellStream<T> {
        CellStream::of(self, room)
    }

    #[track_caller]
    fn next_value(&self) -> impl Future<Output = Option<Result<T, CellError>>> + 'static {
        let stream = CellStream::of(self, usize::MAX);
        // The current value is no change. (It goes with nothing borrowed: its `Drop` may set the cell.)
        let current = std::mem::take(&mut stream.queue.borrow_mut().waiting);
        drop(current);
        let mut results = stream.with_errors();
        poll_fn(move |cx| Pin::new(&mut results).poll_next(cx))
    }

    #[track_caller]
    fn changed(&self) -> impl Future<Output = bool> + 'static {
        let next = self.next_value();
        async move { matches!(next.await, Some(Ok(_))) }
    }
}

impl<T: 'static> Cell<T, CellMutable> {
    /// Sets the cell to each item of a stream, and completes it when the stream ends: a future for the application's
    /// executor, which stops when it is dropped, or when the cell has ended otherwise.
    ///
    /// ```
    /// use std::{future::Future, pin::pin, task::{Context, Poll, Waker}};
    /// use hyphae::{AsyncWatchableExt, Cell};
    /// let from = Cell::new(1);
    /// let seen = Cell::new(0);
    /// let mut feeding = pin!(seen.feed(from.to_stream()));
    /// let mut cx = Context::from_waker(Waker::noop());
    /// assert!(feeding.as_mut().poll(&mut cx).is_pending());
    /// assert_eq!(seen.get(), 1);
    /// from.set(2);
    /// from.complete();
    /// assert_eq!(feeding.as_mut().poll(&mut cx), Poll::Ready(()));
    /// assert!(seen.get() == 2 && seen.is_complete());
    /// ```
    pub fn feed(&self, stream: impl Stream<Item = T>) -> impl Future<Output = ()> {
        let cell = self.clone();
        async move {
            let mut stream = pin!(stream);
            while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                if cell.try_set(item).is_err() {
                    return;
                }
            }
            if !cell.is_complete() && !cell.is_error() {
                cell.complete();
            }
        }
    }
}

impl<T: 'static> Cell<Option<T>, CellImmutable> {
    /// A cell that is `None` until a future is done, and then has what it gave and is complete; and the future for the
    /// application's executor that brings this about. If that is dropped, the cell stays as it is.
    ///
    /// ```
    /// use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// use hyphae::Cell;
    /// let (answer, work) = Cell::of_future(async { 42 });
    /// assert_eq!(answer.get(), None);
    /// assert!(pin!(work).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    /// assert_eq!((answer.get(), answer.is_complete()), (Some(42), true));
    /// ```
    #[track_caller]
    pub fn of_future<F: Future<Output = T>>(future: F) -> (Self, impl Future<Output = ()>) {
        let cell = Cell::new(None);
        let answer = cell.clone().lock();
        let work = async move {
            let given = future.await;
            if cell.try_set(Some(given)).is_ok() && !cell.is_complete() {
                cell.complete();
            }
        };
        (answer, work)
    }
}
