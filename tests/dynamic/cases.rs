//! Cases of the random test that once failed, shortened.

use super::check;
use super::op::{CellKind, Make, Op, Over, Pick, Term, Trap};

#[track_caller]
fn holds(ops: &[Op]) {
    if let Err(what) = check::run(ops) {
        panic!("{what}");
    }
}

#[test]
fn a_cell_that_was_refused_its_maker_which_is_on_another_cycle_now() {
    holds(&[
        Op::NewCell(0, CellKind::Plain),
        Op::Make(Make::Computed {
            formula: vec![
                Term::Read(0),
                Term::Fresh(Box::new(Make::Computed {
                    formula: vec![Term::Read(16), Term::Read(2)],
                    editable: false,
                    cutoff: false,
                    trap: Trap::default(),
                })),
            ],
            editable: false,
            cutoff: true,
            trap: Trap {
                panic_on: None,
                cleanups: 0,
                cleanup: None,
                script: vec![(2, Op::Write(0, 0)), (2, Op::Write(0, 0))],
            },
        }),
        Op::Make(Make::MergeMap {
            of: 1,
            over: Over::Cell,
            limit: None,
            picks: vec![
                Pick::Kept(Box::new(Make::Map(0, Trap::default()))),
                Pick::Existing(0),
                Pick::Existing(0),
            ],
            trap: Trap::default(),
        }),
        Op::Subscribe(0, vec![(1, Op::Batch(vec![Op::DropHandle(2)]))]),
        Op::Make(Make::Computed {
            formula: vec![],
            editable: false,
            cutoff: false,
            trap: Trap {
                panic_on: Some(0),
                cleanups: 1,
                cleanup: Some(Box::new(Op::Write(0, 0))),
                script: vec![],
            },
        }),
    ]);
}

/// A cell that has to run first, for one that waits, and reads what depends on that one, was unwound for ever.
#[test]
fn a_run_is_not_abandoned_for_ever() {
    holds(&[
        Op::NewCell(0, CellKind::Plain),
        Op::NewCell(0, CellKind::Plain),
        Op::NewCell(0, CellKind::Plain),
        Op::Make(Make::Computed {
            formula: vec![],
            editable: false,
            cutoff: false,
            trap: Trap::default(),
        }),
        Op::Make(Make::MergeMap {
            of: 0,
            over: Over::Cell,
            limit: None,
            picks: vec![Pick::Existing(2)],
            trap: Trap::default(),
        }),
        Op::Make(Make::Switch {
            of: 3,
            over: Over::Cell,
            picks: vec![Pick::Fresh(Box::new(Make::Computed {
                formula: vec![
                    Term::Read(2),
                    Term::Fresh(Box::new(Make::Computed {
                        formula: vec![Term::Read(2), Term::If(4, 0, 23), Term::Read(2)],
                        editable: false,
                        cutoff: false,
                        trap: Trap::default(),
                    })),
                    Term::If(1, 2, 0),
                ],
                editable: false,
                cutoff: false,
                trap: Trap {
                    panic_on: None,
                    cleanups: 0,
                    cleanup: None,
                    script: vec![(1, Op::Write(2, 5))],
                },
            }))],
            trap: Trap::default(),
        }),
        Op::Make(Make::Combine(0, 0, Some(1), Trap::default())),
        Op::Make(Make::MergeMap {
            of: 5,
            over: Over::Cell,
            limit: None,
            picks: vec![Pick::Existing(12)],
            trap: Trap::default(),
        }),
        Op::Make(Make::Map(1, Trap::default())),
        Op::Write(13, 4),
        Op::Make(Make::Switch {
            of: 19,
            over: Over::Cell,
            picks: vec![
                Pick::Kept(Box::new(Make::Computed {
                    formula: vec![],
                    editable: false,
                    cutoff: true,
                    trap: Trap::default(),
                })),
                Pick::Fresh(Box::new(Make::Map(0, Trap::default()))),
            ],
            trap: Trap::default(),
        }),
        Op::Make(Make::Switch {
            of: 0,
            over: Over::Cell,
            picks: vec![Pick::Kept(Box::new(Make::Switch {
                of: 6,
                over: Over::Cell,
                picks: vec![Pick::Source(0)],
                trap: Trap::default(),
            }))],
            trap: Trap::default(),
        }),
        Op::Write(0, 0),
        Op::Make(Make::MergeMap {
            of: 3,
            over: Over::Cell,
            limit: None,
            picks: vec![Pick::Fresh(Box::new(Make::Computed {
                formula: vec![Term::If(10, 0, 3)],
                editable: false,
                cutoff: false,
                trap: Trap {
                    panic_on: None,
                    cleanups: 2,
                    cleanup: Some(Box::new(Op::Write(19, 3))),
                    script: vec![],
                },
            }))],
            trap: Trap::default(),
        }),
        Op::DropHandle(0),
        Op::Make(Make::Switch {
            of: 12,
            over: Over::Cell,
            picks: vec![Pick::Existing(6)],
            trap: Trap::default(),
        }),
        Op::Make(Make::Combine(12, 6, Some(16), Trap::default())),
        Op::Make(Make::Switch {
            of: 3,
            over: Over::Cell,
            picks: vec![Pick::Fresh(Box::new(Make::Switch {
                of: 21,
                over: Over::Cell,
                picks: vec![Pick::Existing(17)],
                trap: Trap::default(),
            }))],
            trap: Trap::default(),
        }),
        Op::Make(Make::Computed {
            formula: vec![],
            editable: true,
            cutoff: false,
            trap: Trap::default(),
        }),
        Op::Make(Make::Map(8, Trap::default())),
        Op::Make(Make::Computed {
            formula: vec![],
            editable: true,
            cutoff: false,
            trap: Trap::default(),
        }),
        Op::Write(13, 2),
    ]);
}
