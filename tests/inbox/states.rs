//! Each capacity in each state; wakers, panics, ends.

use std::cell::{Cell as Count, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use hyphae::Capacity::{DropNewest, DropOldest, Refuse, Unbounded, Wait};
use hyphae::{
    Capacity, Cell, Inbox, InboxSender, Pipeline, SendError, Source, batch, drain_inboxes,
};

type Seen = Rc<RefCell<Vec<u32>>>;

fn logging(capacity: Capacity) -> (Inbox<u32>, Seen) {
    let seen = Seen::default();
    let log = seen.clone();
    (Inbox::new(capacity, move |n| log.borrow_mut().push(n)), seen)
}

/// Sends in another thread, which is over then.
fn elsewhere<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(f).join().expect("it does not panic"))
}

#[test]
fn each_capacity_keeps_what_it_says() {
    type Row = (Capacity, Vec<Result<(), SendError<u32>>>, Vec<u32>, u64);
    let full = |n| Err(SendError::Full(n));
    let rows: [Row; 5] = [
        (Unbounded, vec![Ok(()); 4], vec![1, 2, 3, 4], 0),
        (DropOldest(2), vec![Ok(()); 4], vec![3, 4], 2),
        (DropNewest(2), vec![Ok(()); 4], vec![1, 2], 2),
        (Refuse(2), vec![Ok(()), Ok(()), full(3), full(4)], vec![1, 2], 0),
        (Wait(2), vec![Ok(()), Ok(()), full(3), full(4)], vec![1, 2], 0),
    ];
    for (capacity, results, delivered, dropped) in rows {
        let (inbox, seen) = logging(capacity);
        let sender = inbox.sender();
        let got = elsewhere(move || (1..=4).map(|n| sender.try_send(n)).collect::<Vec<_>>());
        assert_eq!(got, results, "{capacity:?}");
        assert_eq!((inbox.len(), inbox.dropped()), (delivered.len(), dropped), "{capacity:?}");
        assert!(seen.borrow().is_empty());
        assert_eq!(inbox.drain(), delivered.len());
        assert_eq!((&*seen.borrow(), inbox.is_empty()), (&delivered, true), "{capacity:?}");
    }
}

#[test]
fn waiting_in_the_owners_thread_is_an_error_at_once() {
    let (inbox, seen) = logging(Wait(1));
    let sender = inbox.sender();
    assert_eq!(sender.send(1), Ok(()));
    let refused = sender.send(2).expect_err("it would wait for itself");
    assert!(refused.to_string().contains("drain it first"));
    assert_eq!((refused.into_inner(), inbox.drain()), (2, 1));
    assert_eq!(sender.send(3), Ok(()));
    inbox.drain();
    assert_eq!(*seen.borrow(), [1, 3]);
}

#[test]
fn a_waiting_sender_goes_on_when_there_is_room_and_gets_its_value_back_at_the_end() {
    let (inbox, seen) = logging(Wait(1));
    let (sender, other) = (inbox.sender(), inbox.sender());
    let worker = thread::spawn(move || (1..=3).map(|n| sender.send(n)).collect::<Vec<_>>());
    while seen.borrow().len() < 3 {
        inbox.drain();
        thread::yield_now();
    }
    assert_eq!(worker.join().unwrap(), [Ok(()); 3]);
    assert_eq!(other.send(4), Ok(()));
    let waiting = thread::spawn(move || other.send(5));
    drop(inbox);
    assert_eq!(waiting.join().unwrap(), Err(SendError::Closed(5)));
    assert_eq!(*seen.borrow(), [1, 2, 3]);
}

#[test]
fn the_end_of_the_owners_thread_closes_it_and_drops_what_waits() {
    let token = Arc::new(());
    let sender: InboxSender<Arc<()>> = thread::spawn(|| {
        let inbox = Inbox::new(Unbounded, |_: Arc<()>| ());
        let sender = inbox.sender();
        sender.send(Arc::new(())).unwrap();
        sender
    })
    .join()
    .unwrap();
    assert!(sender.is_closed());
    assert!(matches!(sender.send(token.clone()), Err(SendError::Closed(_))));
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_leaked_inbox_closes_with_its_thread() {
    let sender = thread::spawn(|| {
        let inbox = Inbox::new(Wait(1), |_: u32| ());
        let sender = inbox.sender();
        sender.send(1).unwrap();
        std::mem::forget(inbox);
        sender
    })
    .join()
    .unwrap();
    assert_eq!(sender.send(2), Err(SendError::Closed(2)), "and does not wait for ever");
}

#[test]
#[should_panic(expected = "has it already")]
fn an_inbox_has_one_waker() {
    let inbox = Inbox::new(Unbounded, |_: u32| ()).with_waker(|| ());
    drop(inbox.with_waker(|| ()));
}

#[test]
fn a_drain_is_one_batch_in_order_of_arrival() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let (to_a, to_b) = (a.inbox(Unbounded), b.inbox(Unbounded));
    let both = a.join(&b);
    let seen = Rc::new(RefCell::new(vec![]));
    let log = seen.clone();
    let guard = both.watch_changes(move |both| log.borrow_mut().push(*both));
    let (first, second) = (to_a.sender(), to_b.sender());
    elsewhere(move || {
        (1..=3).for_each(|n| first.send(n).unwrap());
        second.send(9).unwrap();
    });
    assert_eq!(drain_inboxes(), 4);
    assert_eq!(*seen.borrow(), [(3, 9)]);
    let source = Source::new();
    let events = source.inbox(Unbounded);
    let sums = source.clone().scan(0, |sum, n| sum + n).materialize();
    let sender = events.sender();
    elsewhere(move || (1..=4).for_each(|n| sender.send(n).unwrap()));
    assert_eq!((events.drain(), sums.get()), (4, Some(10)), "each event counts");
    drop(guard);
}

#[test]
fn an_inbox_closes_with_its_cell() {
    let cell = Cell::new(0);
    let inbox = cell.inbox(Unbounded);
    let sender = inbox.sender();
    cell.complete();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(inbox.drain(), 1);
    assert!(inbox.is_closed() && inbox.is_empty());
    assert_eq!(sender.send(3), Err(SendError::Closed(3)));
}

#[test]
fn the_waker_is_called_when_the_first_value_comes() {
    let wakes = Arc::new(AtomicUsize::new(0));
    let count = wakes.clone();
    let wake = move || {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let inbox = Inbox::new(Refuse(2), |_: u32| ()).with_waker(wake);
    let sender = inbox.sender();
    let send = move |n| {
        let _ = sender.send(n);
    };
    (1..=3).for_each(&send);
    assert_eq!(wakes.load(Ordering::Relaxed), 1);
    inbox.drain();
    send(4);
    assert_eq!(wakes.load(Ordering::Relaxed), 2);
}

#[test]
fn a_panic_loses_the_value_it_was_about_and_no_other() {
    let seen = Seen::default();
    let log = seen.clone();
    let inbox = Inbox::new(Unbounded, move |n| {
        assert_ne!(n, 2, "two");
        log.borrow_mut().push(n);
    });
    let sender = inbox.sender();
    (1..=3).for_each(|n| sender.send(n).unwrap());
    assert!(catch_unwind(AssertUnwindSafe(|| inbox.drain())).is_err());
    assert_eq!((inbox.len(), &*seen.borrow()), (1, &vec![1]));
    assert_eq!((inbox.drain(), &*seen.borrow()), (1, &vec![1, 3]));
}

#[test]
fn draining_in_callbacks_batches_and_itself_is_no_trouble() {
    let cell = Cell::new(0);
    let inbox = Rc::new(cell.inbox(Unbounded));
    let sender = inbox.sender();
    let (again, log) = (inbox.clone(), Rc::new(Count::new(0)));
    let guard = cell.watch_changes({
        let log = log.clone();
        move |n| {
            log.set(log.get() + n);
            again.drain();
        }
    });
    sender.send(1).unwrap();
    batch(|| inbox.drain());
    assert_eq!(log.get(), 1);
    sender.send(2).unwrap();
    cell.set(10);
    assert_eq!((cell.get(), log.get()), (2, 13));
    let nested = Rc::new(RefCell::new(None::<Rc<Inbox<u32>>>));
    let (own, counts) = (nested.clone(), Rc::new(RefCell::new(vec![])));
    let counted = counts.clone();
    let inner = Rc::new(Inbox::new(Unbounded, move |_: u32| {
        let inbox = own.borrow().clone();
        counted.borrow_mut().extend(inbox.map(|inbox| inbox.drain()));
    }));
    nested.replace(Some(inner.clone()));
    inner.sender().send(1).unwrap();
    assert_eq!((inner.drain(), &*counts.borrow()), (1, &vec![0]));
    nested.take();
    drop(guard);
}

#[test]
#[should_panic(expected = "capacity of at least 1")]
fn an_inbox_needs_room() {
    drop(Inbox::new(Wait(0), |_: u32| ()));
}

#[cfg(feature = "frames")]
#[test]
fn a_frame_begins_with_what_has_come() {
    let cell = Cell::new(0);
    let inbox = cell.inbox(Unbounded);
    let sender = inbox.sender();
    let mut frames = hyphae::FrameLoop::new(60).with_clock(hyphae::ManualClock::new());
    sender.send(5).unwrap();
    let seen = Count::new(0);
    frames.frame(|_| seen.set(cell.get()));
    assert_eq!((seen.get(), inbox.len()), (5, 0));
}

/// A program that sleeps until the waker calls must hear of everything that a drain has left.
#[test]
fn what_a_drain_leaves_is_woken_for_again() {
    let wakes = Arc::new(AtomicUsize::new(0));
    let woken = wakes.clone();
    let again = Rc::new(RefCell::new(None::<InboxSender<u32>>));
    let sends = again.clone();
    let wake = move || {
        woken.fetch_add(1, Ordering::SeqCst);
    };
    let inbox = Inbox::new(Capacity::Unbounded, move |n: u32| {
        // As if another thread's value came just now: the second still waits.
        if n == 1 {
            sends.borrow().as_ref().unwrap().send(3).unwrap();
        }
    });
    let inbox = inbox.with_waker(wake);
    let sender = inbox.sender();
    *again.borrow_mut() = Some(inbox.sender());
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(wakes.load(Ordering::SeqCst), 1);
    assert_eq!((inbox.drain(), inbox.len()), (2, 1));
    assert_eq!(wakes.load(Ordering::SeqCst), 2);
    assert_eq!((inbox.drain(), inbox.len()), (1, 0));
    assert_eq!(wakes.load(Ordering::SeqCst), 2, "nothing was left");
}

#[test]
fn after_a_panic_the_rest_is_woken_for_in_every_inbox() {
    let wakes = Arc::new(AtomicUsize::new(0));
    let [first, second] = [wakes.clone(), wakes.clone()].map(|count| {
        move || {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let failing = Inbox::new(Unbounded, |n: u32| assert_ne!(n, 1, "one")).with_waker(first);
    let later = Inbox::new(Unbounded, |_: u32| ()).with_waker(second);
    (1..=2).for_each(|n| failing.sender().send(n).unwrap());
    later.sender().send(3).unwrap();
    assert_eq!(wakes.swap(0, Ordering::SeqCst), 2);
    assert!(catch_unwind(drain_inboxes).is_err());
    assert_eq!((failing.len(), later.len()), (1, 1));
    assert_eq!(wakes.swap(0, Ordering::SeqCst), 2);
    assert_eq!((drain_inboxes(), wakes.load(Ordering::SeqCst)), (2, 0));
}
