//! Cells in async code, polled by hand: the wakes are counted.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_core::Stream;
use hyphae::{AsyncWatchableExt, Cell, CellError, Pipeline, batch};

/// Counts how often it is woken.
#[derive(Default)]
struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task that is polled by hand.
struct Task {
    alarm: Arc<Alarm>,
    waker: Waker,
}

impl Task {
    fn new() -> Self {
        let alarm = Arc::new(Alarm::default());
        Self { waker: alarm.clone().into(), alarm }
    }

    fn wakes(&self) -> usize {
        self.alarm.0.load(Ordering::Relaxed)
    }

    fn poll<F: Future + ?Sized>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(&self.waker))
    }

    /// What a stream gives now: items, `None` at its end.
    fn take<S: Stream + Unpin>(&self, stream: &mut S) -> Vec<Option<S::Item>> {
        let mut items = vec![];
        while let Poll::Ready(item) =
            Pin::new(&mut *stream).poll_next(&mut Context::from_waker(&self.waker))
        {
            let ended = item.is_none();
            items.push(item);
            if ended {
                break;
            }
        }
        items
    }
}

fn values<T>(values: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
    values.into_iter().map(Some).collect()
}

#[test]
fn a_stream_has_the_current_value_and_each_change() {
    let (task, cell) = (Task::new(), Cell::new(0));
    let mut stream = cell.to_stream();
    assert_eq!(task.take(&mut stream), values([0]));
    cell.set(1);
    assert_eq!(task.wakes(), 1);
    cell.set(2);
    assert_eq!(task.wakes(), 1, "a task that was woken is not woken again");
    assert_eq!(task.take(&mut stream), values([1, 2]));
    batch(|| (3..=5).for_each(|n| cell.set(n)));
    cell.complete();
    assert_eq!(task.take(&mut stream), [Some(5), None]);
    assert_eq!(task.take(&mut stream), [None]);
    assert_eq!(task.wakes(), 2);
}

#[test]
fn an_error_is_the_last_item() {
    let (task, cell) = (Task::new(), Cell::new(0));
    let (mut stream, mut results) = (cell.to_stream(), cell.to_stream().with_errors());
    cell.set(1);
    cell.fail("gone");
    assert!(stream.error().is_none(), "the values come first");
    assert_eq!(task.take(&mut stream), [Some(0), Some(1), None]);
    assert_eq!(stream.error().map(|error| error.to_string()), Some("gone".to_owned()));
    let text =
        |item: Option<Result<i32, CellError>>| item.map(|item| item.map_err(|e| e.to_string()));
    let all: Vec<_> = task.take(&mut results).into_iter().map(text).collect();
    assert_eq!(all, [Some(Ok(0)), Some(Ok(1)), Some(Err("gone".to_owned())), None]);
    assert!(matches!(task.take(&mut results)[..], [None]));
    let mut late = cell.to_stream().with_errors();
    assert_eq!(task.take(&mut late).len(), 3, "the last value, the error, the end");
    let done = Cell::new(0);
    done.complete();
    let mut stream = done.to_stream();
    assert_eq!((task.take(&mut stream), stream.error().is_none()), (vec![Some(0), None], true));
}

#[test]
fn a_bounded_stream_drops_the_oldest() {
    let (task, cell) = (Task::new(), Cell::new(0));
    let mut stream = cell.to_stream_bounded(2);
    (1..=4).for_each(|n| cell.set(n));
    assert_eq!((task.take(&mut stream), stream.lost()), (values([3, 4]), 3));
}

#[test]
fn dropping_a_stream_or_a_future_unsubscribes() {
    let cell = Cell::new(0);
    let stream = cell.to_stream();
    let (next, changed) = (cell.next_value(), cell.changed());
    assert_eq!(cell.callbacks(), 3);
    drop((stream, next, changed));
    assert_eq!(cell.callbacks(), 0);
}

#[test]
fn next_value_and_changed_wait_for_a_change_from_then_on() {
    let (task, cell) = (Task::new(), Cell::new(0));
    let mut next = pin!(cell.next_value());
    let mut changed = pin!(cell.changed());
    assert!(task.poll(next.as_mut()).is_pending() && task.poll(changed.as_mut()).is_pending());
    cell.set(1);
    cell.set(2);
    assert_eq!(
        task.poll(next.as_mut()).map(|next| next.map(Result::ok)),
        Poll::Ready(Some(Some(1)))
    );
    assert_eq!(task.poll(changed.as_mut()), Poll::Ready(true));
    let (mut next, mut changed) = (pin!(cell.next_value()), pin!(cell.changed()));
    cell.complete();
    assert!(matches!(task.poll(next.as_mut()), Poll::Ready(None)));
    assert_eq!(task.poll(changed.as_mut()), Poll::Ready(false));
    let failing = Cell::new(0);
    let mut next = pin!(failing.next_value());
    failing.fail("gone");
    assert!(matches!(task.poll(next.as_mut()), Poll::Ready(Some(Err(_)))));
}

/// Sets a cell when it is dropped, once.
#[derive(Clone)]
struct Setter(Rc<std::cell::RefCell<Option<Cell<Setter>>>>);

impl Drop for Setter {
    fn drop(&mut self) {
        let cell = self.0.take();
        cell.into_iter().for_each(|cell| cell.set(Setter(Rc::default())));
    }
}

#[test]
fn a_value_may_set_its_cell_when_it_is_dropped() {
    let task = Task::new();
    let armed = Setter(Rc::default());
    let cell = Cell::new(armed.clone());
    armed.0.replace(Some(cell.clone()));
    std::mem::forget(armed);
    let mut next = pin!(cell.next_value());
    assert!(
        matches!(task.poll(next.as_mut()), Poll::Ready(Some(Ok(_)))),
        "what it sets is a change"
    );
}

#[test]
fn values_need_not_be_send_and_a_task_may_write() {
    let (task, cell) = (Task::new(), Cell::new(Rc::new(0)));
    let lengths = Cell::new(0);
    let sums = (&lengths).scan(0, |sum, n| sum + n).materialize();
    let work = async {
        let mut stream = cell.to_stream();
        while let Some(value) = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)).await {
            lengths.set(*value);
        }
    };
    let mut work = pin!(work);
    for n in 1..=3 {
        assert!(task.poll(work.as_mut()).is_pending());
        cell.set(Rc::new(n));
    }
    cell.complete();
    assert!(task.poll(work.as_mut()).is_ready());
    assert_eq!((sums.get(), task.wakes()), (6, 3));
}

#[test]
fn a_cell_is_fed_until_one_of_both_ends() {
    let task = Task::new();
    let (from, to) = (Cell::new(1), Cell::new(0));
    let mut feeding = pin!(to.feed(from.to_stream()));
    assert!(task.poll(feeding.as_mut()).is_pending());
    from.set(2);
    assert!(task.poll(feeding.as_mut()).is_pending());
    assert_eq!(to.get(), 2);
    to.complete();
    from.set(3);
    assert!(task.poll(feeding.as_mut()).is_ready());
    assert_eq!(to.get(), 2);
    let (answer, work) = Cell::of_future(async { "done" });
    drop(work);
    assert_eq!((answer.get(), answer.is_complete()), (None, false));
}

#[test]
#[should_panic(expected = "at least 1 value")]
fn a_bounded_stream_needs_room() {
    drop(Cell::new(0).to_stream_bounded(0));
}
