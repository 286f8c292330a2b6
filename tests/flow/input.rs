//! `BoundedInput` with each policy, in each state of its buffer.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::OverflowPolicy::{self, Block, DropNewest, DropOldest, Error};
use hyphae::{BoundedInput, SubscriptionGuard};

type Seen = Rc<RefCell<Vec<i32>>>;

fn input(policy: OverflowPolicy) -> (BoundedInput<i32>, Seen, SubscriptionGuard) {
    let input = BoundedInput::new(0, 3, policy);
    let seen = Seen::default();
    let log = seen.clone();
    let guard = input.to_cell().watch_changes(move |n| log.borrow_mut().push(*n));
    (input, seen, guard)
}

#[test]
fn each_policy_keeps_what_it_says() {
    // What five values leave: seen before the flush, seen in all, pushed, dropped, found it full.
    type Row = (OverflowPolicy, Vec<i32>, Vec<i32>, [u64; 3]);
    let rows: [Row; 3] = [
        (Block, vec![1, 2, 3], vec![1, 2, 3, 4, 5], [5, 0, 1]),
        (DropOldest, vec![], vec![3, 4, 5], [5, 2, 2]),
        (DropNewest, vec![], vec![1, 2, 3], [3, 2, 2]),
    ];
    for (policy, before, all, counts) in rows {
        let (input, seen, _guard) = input(policy);
        (1..=5).for_each(|n| assert_eq!(input.push(n), Ok(()), "{policy:?}"));
        assert_eq!(*seen.borrow(), before, "{policy:?}");
        input.flush();
        assert_eq!(*seen.borrow(), all, "{policy:?}");
        let metrics = input.metrics();
        let got = [metrics.total_pushed(), metrics.dropped_count(), metrics.backpressure_events()];
        assert_eq!(got, counts, "{policy:?}");
        assert_eq!(input.get(), all[all.len() - 1]);
        input.close();
        assert!(input.to_cell().is_complete() && input.is_closed());
        assert_eq!(input.push(9), Err(9));
    }
}

#[test]
fn an_error_fails_the_cell_and_gives_the_value_back() {
    let (input, seen, _guard) = input(Error);
    assert!((1..=3).all(|n| input.push(n).is_ok()));
    assert_eq!(input.push(4), Err(4));
    assert!(input.to_cell().is_error() && input.is_error() && input.is_closed());
    assert_eq!(input.push(5), Err(5));
    input.flush();
    assert!(seen.borrow().is_empty());
    assert_eq!((input.get(), input.capacity()), (0, 3));
}

#[test]
fn closing_flushes_and_clones_share() {
    let (input, seen, _guard) = input(DropOldest);
    let other = input.clone();
    assert_eq!(other.push(1), Ok(()));
    assert_eq!(input.push_flush(2), Ok(()));
    assert_eq!(*seen.borrow(), [1, 2]);
    assert_eq!(other.push(3), Ok(()));
    input.close();
    input.close();
    assert_eq!(*seen.borrow(), [1, 2, 3]);
    assert!(other.is_closed() && other.is_complete());
    let ended = Rc::new(RefCell::new(vec![]));
    let log = ended.clone();
    drop(other.subscribe(move |signal| log.borrow_mut().push(signal.is_value())));
    assert_eq!(*ended.borrow(), [true, false], "the last value and the end");
    assert_eq!(format!("{other:?}"), "BoundedInput(0 of 3)");
}

#[test]
fn a_callback_may_push_and_flush() {
    let (input, seen, guard) = input(Block);
    let again = input.clone();
    let second = input.to_cell().watch_changes(move |n| {
        if *n < 6 {
            assert_eq!(again.push_flush(n + 1), Ok(()));
        }
    });
    assert_eq!(input.push_flush(1), Ok(()));
    assert_eq!(*seen.borrow(), [1, 2, 3, 4, 5, 6]);
    drop((guard, second));
}

#[test]
#[should_panic(expected = "capacity must be positive")]
fn a_buffer_needs_room() {
    let _ = BoundedInput::new(0, 0, Block);
}
