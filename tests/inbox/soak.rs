//! Four threads and many messages: none is lost or doubled, each sender's order is kept, and memory is bounded.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use hyphae::{Capacity, Signal, Source, drain_inboxes};

const SENDERS: usize = 4;
const ROOM: usize = 1000;
/// A build without optimizations takes some twenty times as long.
const EACH: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

#[test]
fn none_is_lost_none_is_doubled_and_each_sender_s_order_is_kept() {
    let source = Source::new();
    let inbox = source.inbox(Capacity::Wait(ROOM));
    let next = Rc::new(RefCell::new([0_u64; SENDERS]));
    let guard = source.subscribe({
        let next = next.clone();
        move |signal| {
            if let &Signal::Value(&(sender, number)) = signal {
                let next: &mut u64 = &mut next.borrow_mut()[sender];
                assert_eq!(*next, number, "sender {sender}");
                *next += 1;
            }
        }
    });
    let workers: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let inbox = inbox.sender();
            thread::spawn(move || (0..EACH).try_for_each(|number| inbox.send((sender, number))))
        })
        .collect();
    let mut delivered = 0;
    while delivered < SENDERS as u64 * EACH {
        assert!(inbox.len() <= ROOM);
        match drain_inboxes() {
            0 => thread::yield_now(),
            drained => delivered += drained as u64,
        }
    }
    assert!(workers.into_iter().all(|worker| worker.join().expect("no panic").is_ok()));
    assert_eq!((*next.borrow(), drain_inboxes()), ([EACH; SENDERS], 0));
    drop(guard);
}
