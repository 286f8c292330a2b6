//! Cases that once failed, shortened.

use super::check;
use super::op::{CellKind, Chain, Op, Trap, Two, Write};

fn cell(value: i8) -> Op {
    Op::NewCell { value, kind: CellKind::Plain }
}

fn derive(of: u8, chain: Chain) -> Op {
    Op::Derive { of, chain, trap: Trap::default() }
}

fn scope(ops: Vec<Op>) -> Op {
    Op::NewScope { cleanup: None, ops }
}

#[track_caller]
fn agree(ops: &[Op]) {
    if let Err(difference) = check::run(ops) {
        panic!("{difference}");
    }
}

#[test]
fn a_disposed_cell_that_dies_as_its_subscriber_hears_of_it() {
    agree(&[
        cell(0),
        cell(2),
        cell(0),
        derive(0, Chain::Scan),
        scope(vec![derive(3, Chain::Map), scope(vec![Op::DropHandle(0)])]),
        Op::Subscribe { to: 3, script: vec![(2, scope(vec![Op::DropGuard(7)]))] },
        Op::DropScope(0),
        Op::Batch(vec![
            Op::With(0, Box::new(Op::With(0, Box::new(Op::DropHandle(3))))),
            Op::DropScope(0),
        ]),
    ]);
}

#[test]
fn a_cut_off_that_is_read_from_while_its_write_is_not_compared() {
    let parity = Op::NewCell { value: 1, kind: CellKind::Parity };
    let watch = || Op::Subscribe { to: 0, script: vec![] };
    let write = |v| Op::Write(0, Write::Set(v));
    agree(&[parity.clone(), Op::Batch(vec![write(3), derive(0, Chain::Map)])]);
    agree(&[parity.clone(), Op::Batch(vec![write(3), watch(), write(1)])]);
    let in_callback = Op::With(1, Box::new(watch()));
    agree(&[parity.clone(), cell(0), Op::Batch(vec![write(3), in_callback, write(5)])]);
    let modify = Op::Write(0, Write::Modify(1));
    agree(&[parity, Op::Batch(vec![write(3), modify, watch()])]);
}

#[test]
fn a_take_that_is_full_when_a_later_stage_panics() {
    let trap = Trap { panic_on: Some(5), script: vec![] };
    let take = Op::Derive { of: 0, chain: Chain::TakeTap(2), trap };
    let write = |v| Op::Write(0, Write::Set(v));
    agree(&[cell(0), take, write(5), write(6)]);
}

#[test]
fn a_batch_that_ends_and_disposes() {
    let ops = vec![Op::Write(0, Write::Set(1)), Op::Write(0, Write::Complete), Op::Dispose(0)];
    let watch = Op::SubscribeChanges { to: 0, script: vec![] };
    agree(&[cell(0), derive(0, Chain::Last), watch, Op::Batch(ops)]);
}

#[test]
fn a_subscriber_that_panics_on_the_end_of_a_disposed_cell() {
    let watch = Op::SubscribeChanges { to: 0, script: vec![(1, Op::Panic)] };
    agree(&[cell(0), watch, Op::Dispose(0)]);
}

#[test]
fn a_clean_up_that_panics() {
    let scope = Op::NewScope { cleanup: Some(Box::new(Op::Panic)), ops: vec![] };
    agree(&[cell(0), scope, Op::DropScope(0), Op::Write(0, Write::Set(1))]);
}

#[test]
fn an_event_of_an_update_that_writes_its_own_cell() {
    let events = Op::NewCell { value: 0, kind: CellKind::NoCoalesce };
    let watch = Op::SubscribeChanges { to: 0, script: vec![] };
    let update = Op::UpdateWith(0, 2, Box::new(Op::Write(0, Write::Set(1))));
    agree(&[events, watch, Op::Batch(vec![update.clone(), update.clone()]), update]);
}

#[test]
fn a_modify_that_an_update_needs_works_on_what_a_cut_off_takes_back() {
    let write = |write| Op::Write(0, write);
    let update = |add, op| Op::UpdateWith(0, add, Box::new(op));
    let script = vec![
        (2, update(2, write(Write::Modify(0)))),
        (2, update(0, Op::Read(1))),
        (3, write(Write::Modify(1))),
        (3, write(Write::Set(2))),
        (3, write(Write::Modify(2))),
        (3, update(1, Op::Read(1))),
    ];
    let watch = Op::Subscribe { to: 1, script };
    let parity = Op::NewCell { value: 0, kind: CellKind::Parity };
    let write = || Op::Write(1, Write::Set(0));
    agree(&[parity, cell(0), watch, write(), write()]);
}

#[test]
fn a_guard_that_goes_with_what_only_a_disposed_cell_kept() {
    let watch = Op::SubscribeChanges { to: 1, script: vec![] };
    let own = Op::Own { owner: 0, guard: 0 };
    agree(&[cell(0), Op::JoinVec(vec![0]), watch, own, Op::DropHandle(0), Op::Dispose(0)]);
}

#[test]
fn a_disposed_cut_off_that_a_shared_pipeline_reads_later() {
    let parity = Op::NewCell { value: 0, kind: CellKind::Parity };
    let share = Op::Share { of: 0, chain: Chain::Map, trap: Trap::default() };
    let consume = Box::new(Op::Consume { plan: 0, mapped: false });
    let dispose = Op::Batch(vec![Op::Write(0, Write::Set(1)), Op::Dispose(0)]);
    let late = Op::Batch(vec![Op::With(0, consume)]);
    agree(&[parity, cell(0), share, Op::Join(0, 1), dispose, late]);
}

#[test]
fn an_error_overtakes_what_waits_in_a_concat() {
    let write = |at, write| Op::Write(at, write);
    let ops = vec![
        write(0, Write::Set(2)),
        write(0, Write::Complete),
        write(1, Write::Set(1)),
        write(1, Write::Fail(0)),
    ];
    agree(&[cell(0), cell(0), Op::Two(Two::Concat, 0, 1), Op::Batch(ops)]);
}
