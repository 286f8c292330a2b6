//! Tries every order of the steps of some threads at an inbox, with the file of the crate that the library has.
//!
//! What it can't tell: more than three threads, or more than three switches away from a thread that could go on.
#![cfg(test)]
#![allow(dead_code, reason = "the library uses more of the file")]

#[path = "../../../src/inbox/handover.rs"]
mod handover;

/// What the hand-over is built on: loom's, which gives each step to the search.
mod sync {
    pub(super) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(super) use loom::thread;
}

use handover::{Capacity, Handover, SendError};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

fn every_order(test: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(test);
}

/// An owner that sleeps until its inbox wakes it.
struct Owner {
    inbox: Arc<Handover<u32>>,
    woken: Arc<(Mutex<bool>, Condvar)>,
}

impl Owner {
    fn new(capacity: Capacity) -> Self {
        let (inbox, woken) = (Arc::new(Handover::new(capacity)), Arc::default());
        let bell: Arc<(Mutex<bool>, Condvar)> = Arc::clone(&woken);
        let set = inbox.set_waker(Box::new(move || {
            *bell.0.lock().unwrap() = true;
            bell.1.notify_one();
        }));
        assert!(set);
        Self { inbox, woken }
    }

    fn sleep(&self) {
        let mut woken = self.woken.0.lock().unwrap();
        while !*woken {
            woken = self.woken.1.wait(woken).unwrap();
        }
        *woken = false;
    }

    /// One drain, as an inbox does it.
    fn drain(&self, seen: &mut Vec<u32>) {
        self.inbox.deliver(&mut |value| {
            seen.push(value);
            true
        });
        self.inbox.remind();
    }

    /// Drains until so many have come; a wake-up that is missed is a deadlock, which the search reports.
    fn receive(&self, count: usize) -> Vec<u32> {
        let mut seen = vec![];
        while seen.len() < count {
            self.sleep();
            self.drain(&mut seen);
            assert!(self.inbox.len() <= self.inbox.capacity().limit());
        }
        seen
    }
}

fn sender(owner: &Owner, values: &'static [u32]) -> thread::JoinHandle<()> {
    let inbox = owner.inbox.clone();
    thread::spawn(move || values.iter().for_each(|&value| inbox.send(value, true).unwrap()))
}

/// None lost, none twice, each sender's in order, nobody asleep for ever.
#[test]
fn two_senders_that_wait_for_room() {
    every_order(|| {
        let owner = Owner::new(Capacity::Wait(1));
        let senders = [sender(&owner, &[10, 11]), sender(&owner, &[20])];
        let seen = owner.receive(3);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        let of = |tens| seen.iter().copied().filter(move |value| value / 10 == tens);
        assert!(of(1).eq([10, 11]) && of(2).eq([20]), "{seen:?}");
    });
}

#[test]
fn two_senders_without_a_bound() {
    every_order(|| {
        let owner = Owner::new(Capacity::Unbounded);
        let senders = [sender(&owner, &[10, 11]), sender(&owner, &[20])];
        let seen = owner.receive(3);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        assert!(seen.iter().filter(|value| **value < 20).eq(&[10, 11]), "{seen:?}");
    });
}

/// Each value is with the owner, or with its sender, which waits no longer.
#[test]
fn closing_gives_the_values_back() {
    every_order(|| {
        let owner = Owner::new(Capacity::Wait(1));
        let senders = [1, 2].map(|value| {
            let inbox = owner.inbox.clone();
            thread::spawn(move || inbox.send(value, true))
        });
        let mut seen = vec![];
        owner.drain(&mut seen);
        owner.inbox.close();
        let mut with_senders = 0;
        for (sender, value) in senders.into_iter().zip(1..) {
            match sender.join().unwrap() {
                Ok(()) => (),
                Err(SendError::Closed(back)) => {
                    assert_eq!(back, value);
                    assert!(!seen.contains(&value));
                    with_senders += 1;
                }
                Err(error) => unreachable!("{error}"),
            }
        }
        assert!(seen.len() + with_senders <= 2 && owner.inbox.len() == 0);
    });
}

/// What is dropped is counted, and the newest is never the one.
#[test]
fn the_oldest_goes() {
    every_order(|| {
        let owner = Owner::new(Capacity::DropOldest(1));
        let senders = [sender(&owner, &[10, 11]), sender(&owner, &[20])];
        let mut seen = vec![];
        owner.sleep();
        owner.drain(&mut seen);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        let before = seen.len();
        owner.drain(&mut seen);
        assert_eq!(seen.len() as u64 + owner.inbox.dropped(), 3, "{seen:?}");
        // What came after the first drain woke the owner again.
        assert!(before == seen.len() || *owner.woken.0.lock().unwrap());
    });
}
