//! DE-5: many inner cells that have completed, or complete at once, on a small stack (rules C6, P12, P13).

use hyphae::{Cell, CellImmutable, Source, arena, batch, merge_vec, zip_vec};

use crate::support::{Heard, Log, owning, run_on_small_stack};

/// KiB of stack for the threads of this file.
const STACK: usize = 256;
const MANY: u64 = 100_000;

type Plan = fn(&Source<u64>, Vec<Cell<u64>>) -> Cell<Option<u64>, CellImmutable>;

/// Cells that hold their numbers and are complete, or not.
fn numbers(complete: bool) -> Vec<Cell<u64>> {
    let cells: Vec<_> = (0..MANY).map(Cell::new).collect();
    if complete {
        cells.iter().for_each(Cell::complete);
    }
    cells
}

/// What was heard: nothing at first, then `values`, then one `Complete`.
#[track_caller]
fn check_all(log: &Log<Heard<Option<u64>>>, values: impl Iterator<Item = u64>) {
    let expected = std::iter::once(None).chain(values.map(Some)).map(Heard::Value);
    assert!(log.take().into_iter().eq(expected.chain([Heard::Complete])));
}

/// A merge over thousands of inners overflowed the stack when all completed. Here they have, before they are started.
fn run_over_completed(plan: Plan) {
    run_on_small_stack(STACK, move || {
        let (source, cells) = (Source::new(), numbers(true));
        let all = plan(&source, cells);
        let log = Log::new();
        let guard = log.hear(&all);
        (0..MANY).for_each(|i| source.emit(i));
        source.complete();
        check_all(&log, 0..MANY);
        assert_eq!(arena::totals().edges, 0);
        drop((all, guard, source));
        arena::assert_no_live();
    });
}

#[test]
fn de_5_merge_map_over_completed_inners() {
    run_over_completed(|source, cells| {
        source.clone().merge_map(move |i| cells[*i as usize].clone())
    });
}

#[test]
fn de_5_merge_map_with_a_limit_over_completed_inners() {
    run_over_completed(|source, cells| {
        source.clone().merge_map_limit(1, move |i| cells[*i as usize].clone())
    });
}

#[test]
fn de_5_switch_map_over_completed_inners() {
    run_over_completed(|source, cells| {
        source.clone().switch_map(move |i| cells[*i as usize].clone())
    });
}

/// All events in one batch: each is a round of its own.
#[test]
fn de_5_completed_inners_of_one_batch() {
    run_on_small_stack(STACK, || {
        let (source, cells) = (Source::new(), numbers(true));
        let all = source.clone().merge_map_limit(1, move |i: &u64| cells[*i as usize].clone());
        let log = Log::new();
        let _guard = log.hear(&all);
        batch(|| {
            (0..MANY).for_each(|i| source.emit(i));
            source.complete();
        });
        check_all(&log, 0..MANY);
    });
}

/// The network goes down: one is live, the others wait, and one signal completes all of them. Each starts the next.
#[test]
fn de_5_waiting_inners_that_complete_at_one_signal() {
    run_on_small_stack(STACK, || {
        let (source, cells) = (Source::new(), numbers(false));
        let all = source
            .clone()
            .merge_map_limit(1, owning!([cells] move |i: &u64| cells[*i as usize].clone()));
        let log = Log::new();
        let _guard = log.hear(&all);
        (0..MANY).for_each(|i| source.emit(i));
        source.complete();
        assert_eq!((log.len(), cells.iter().filter(|cell| cell.dependents() > 0).count()), (2, 1));
        batch(|| cells.iter().for_each(Cell::complete));
        check_all(&log, 0..MANY);
        assert_eq!(arena::totals().edges, 0);
    });
}

/// The same without a limit, all live, and completed from the last to the first.
#[test]
fn de_5_live_inners_that_complete_at_one_signal() {
    run_on_small_stack(STACK, || {
        let (source, cells) = (Source::new(), numbers(false));
        let all =
            source.clone().merge_map(owning!([cells] move |i: &u64| cells[*i as usize].clone()));
        let log = Log::new();
        let guard = log.hear(&all);
        (0..MANY).for_each(|i| source.emit(i));
        source.complete();
        assert!(cells.iter().all(|cell| cell.dependents() == 1));
        batch(|| cells.iter().rev().for_each(Cell::complete));
        check_all(&log, 0..MANY);
        drop((all, guard, source, cells));
        arena::assert_no_live();
    });
}

/// One node over all of them.
#[test]
fn de_5_merge_and_zip_of_completed_cells() {
    run_on_small_stack(STACK, || {
        let cells = numbers(true);
        let (merged, zipped) = (merge_vec(cells.iter().cloned()), zip_vec(cells));
        let (on_merged, on_zipped) = (Log::new(), Log::new());
        let _guards = (on_merged.hear(&merged), on_zipped.hear(&zipped));
        on_merged.check(&[Heard::Value(Some(MANY - 1)), Heard::Complete]);
        let all: Vec<u64> = (0..MANY).collect();
        on_zipped.check(&[Heard::Value(Some(all)), Heard::Complete]);
        assert_eq!(arena::totals().edges, 0);
    });
}

/// One after the other, in a row of as many nodes: complete before, or at one signal.
#[test]
fn de_5_a_long_row_of_concatenations() {
    for before in [true, false] {
        run_on_small_stack(STACK, move || {
            let cells = numbers(before);
            let mut row = cells[0].clone().lock();
            for next in &cells[1..] {
                row = row.concat(next);
            }
            let log = Log::new();
            let guard = log.hear(&row);
            if !before {
                log.check(&[Heard::Value(0)]);
                batch(|| cells.iter().rev().for_each(Cell::complete));
            }
            log.check(&[Heard::Value(0), Heard::Complete]);
            assert_eq!(arena::totals().edges, 0);
            drop((row, guard, cells));
            arena::assert_no_live();
        });
    }
}

/// Switches inside switches, each the inner of the one before: all end with the innermost.
#[test]
fn de_5_deeply_nested_switches_complete_and_drop() {
    for dropped in [true, false] {
        run_on_small_stack(STACK, move || {
            let innermost = Cell::new(0_u64);
            let mut nested = innermost.clone().lock();
            for _ in 0..10_000 {
                let (inner, selector) = (nested, Cell::new(()));
                nested = selector.switch_map(move |()| inner.clone());
                selector.complete();
            }
            let log = Log::new();
            let guard = log.hear(&nested);
            innermost.set(1);
            if dropped {
                drop((nested, guard));
            } else {
                innermost.complete();
                log.check(&[Heard::Value(0), Heard::Value(1), Heard::Complete]);
                assert_eq!(arena::totals().edges, 0);
                drop((nested, guard));
            }
            drop(innermost);
            arena::assert_no_live();
        });
    }
}
