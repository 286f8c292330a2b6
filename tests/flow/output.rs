//! `BoundedOutput`, and the operators that pass everything on one thread.

use std::time::Duration;

use hyphae::{BoundedOutput, Cell, RecvError};

#[test]
fn values_come_out_in_order_the_current_one_first() {
    let cell = Cell::new(0);
    let output = BoundedOutput::new(&cell, 10);
    (1..=3).for_each(|n| cell.set(n));
    assert_eq!((output.len(), output.recv()), (4, Ok(0)));
    assert_eq!(output.try_recv(), Ok(1));
    assert_eq!(output.iter().collect::<Vec<_>>(), [2, 3]);
    assert!(output.is_empty());
    assert_eq!(output.recv(), Err(RecvError::Empty));
    assert_eq!(output.recv_timeout(Duration::from_secs(3600)), Err(RecvError::Empty));
    cell.set(4);
    cell.complete();
    assert_eq!(output.try_iter().collect::<Vec<_>>(), [4]);
    assert_eq!(output.recv(), Err(RecvError::Closed));
}

#[test]
fn a_full_one_refuses_or_drops_and_never_waits() {
    let cell = Cell::new(0);
    let (first, latest) = (BoundedOutput::new(&cell, 2), BoundedOutput::dropping(&cell, 2));
    (1..=3).for_each(|n| cell.set(n));
    assert_eq!(first.iter().collect::<Vec<_>>(), [0, 1]);
    assert_eq!(latest.iter().collect::<Vec<_>>(), [2, 3]);
    assert_eq!((first.lost(), latest.lost()), (2, 2));
    cell.set(4);
    assert_eq!((first.recv(), latest.recv()), (Ok(4), Ok(4)), "there is room again");
}

#[test]
fn it_is_a_subscriber_for_as_long_as_it_lives() {
    let cell = Cell::new(0);
    let output = BoundedOutput::new(&cell, 1);
    assert_eq!(cell.callbacks(), 1);
    drop(output);
    assert_eq!(cell.callbacks(), 0);
}

#[test]
fn nothing_is_dropped_between_cells() {
    let cell = Cell::new(0);
    let all = [cell.drop_oldest(1), cell.drop_newest(1), cell.sample_latest()];
    (1..=5).for_each(|n| {
        cell.set(n);
        assert!(all.iter().all(|follower| follower.get() == n));
    });
    cell.complete();
    assert!(all.iter().all(Cell::is_complete));
}
