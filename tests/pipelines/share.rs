//! Shared pipelines: one upstream edge, right for late consumers, drained and started again from the current values.

use hyphae::{Cell, Pipeline, Source, arena, batch};

use crate::support::{Count, Heard, Log, caught};

#[test]
fn nothing_is_made_before_the_first_consumer() {
    let cell = Cell::new(1);
    let runs = Count::new();
    let before = arena::totals().cells;
    let shared = (&cell).map(runs.of(|v: &i32| v * 10)).share();
    assert_eq!((cell.dependents(), runs.get(), arena::totals().cells), (0, 0, before));
    assert_eq!(format!("{shared:?}"), "SharedPipeline(.. map)");
}

#[test]
fn consumers_share_one_edge_and_one_run() {
    let cell = Cell::new(1);
    let runs = Count::new();
    let shared = (&cell).map(runs.of(|v: &i32| v * 10)).share();
    let a = shared.clone().map(|v| v + 1).materialize();
    let b = shared.clone().map(|v| v * 2).materialize();
    assert_eq!((cell.dependents(), runs.get()), (1, 1));
    cell.set(5);
    assert_eq!((a.get(), b.get(), runs.get()), (51, 100, 2));
    let more: Vec<_> = (0..5).map(|_| shared.clone().materialize()).collect();
    cell.set(7);
    assert!(more.iter().all(|cell| cell.get() == 70));
    assert_eq!((cell.dependents(), runs.get()), (1, 3));
}

#[test]
fn the_last_consumer_lets_go_of_upstream() {
    let cell = Cell::new(1);
    let cells = arena::totals().cells;
    let shared = (&cell).map(|v| v * 10).share();
    let (a, b) = (shared.clone().materialize(), shared.clone().materialize());
    drop(a);
    assert_eq!(cell.dependents(), 1);
    drop(b);
    assert_eq!((cell.dependents(), arena::totals().cells), (0, cells));
    drop(shared);
    drop(cell);
    arena::assert_no_live();
}

/// A late consumer sees what the others see, also behind stages with memory.
#[test]
fn late_consumers_join_the_state_of_the_others() {
    let cell = Cell::new(1);
    let sum = (&cell).scan(0, |a, v| a + v).share();
    let early = sum.clone().materialize();
    cell.set(2);
    let late = sum.clone().materialize();
    assert_eq!((early.get(), late.get()), (3, 3));
    cell.set(5);
    assert_eq!((early.get(), late.get()), (8, 8));
    // A stage of the consumer's own starts at what is there now.
    let own = sum.clone().cold().materialize();
    cell.set(1);
    assert_eq!((own.get().as_deref(), early.get()), (Some(&9), 9));
}

#[test]
fn a_consumer_that_joins_in_a_batch_sees_its_writes() {
    let cell = Cell::new(1);
    let sum = (&cell).scan(0, |a, v| a + v).share();
    let early = sum.clone().materialize();
    let late = batch(|| {
        cell.set(10);
        sum.clone().materialize()
    });
    assert_eq!((early.get(), late.get()), (11, 11));
}

#[test]
fn it_starts_again_from_the_current_values() {
    let cell = Cell::new(1);
    let sum = (&cell).scan(100, |a, v| a + v).share();
    let first = sum.clone().materialize();
    cell.set(2);
    assert_eq!(first.get(), 103);
    drop(first);
    cell.set(7); // nobody listens
    let second = sum.clone().materialize();
    assert_eq!((second.get(), cell.dependents()), (107, 1));
    cell.set(1);
    assert_eq!(second.get(), 108);
}

/// Every stage with memory forgets it when the pipeline drains.
#[test]
fn every_stage_starts_again() {
    let cell = Cell::new(1);
    let shared = (&cell)
        .deduped()
        .distinct()
        .distinct_until_changed_by(|a, b| a == b)
        .window(2)
        .map(|w| w.iter().sum::<i32>())
        .scan(0, |a, v| a + v)
        .take(3)
        .buffer_count(2)
        .share();
    for _ in 0..3 {
        let log = Log::new();
        let consumer = shared.clone().materialize();
        let guard = log.hear(&consumer);
        [2, 2, 4, 5].into_iter().for_each(|v| cell.set(v));
        // Windows sum to 1, 3, 6; they add up to 1, 4, 10; the first is the start.
        log.check(&[Heard::Value(vec![]), Heard::Value(vec![4, 10]), Heard::Complete]);
        drop(guard);
        drop(consumer);
        assert_eq!(cell.dependents(), 0);
        cell.set(1);
    }
}

#[test]
fn a_consumer_after_the_end_finds_it() {
    let cell = Cell::new(1);
    let shared = (&cell).map(|v| v * 10).share();
    let a = shared.clone().materialize();
    cell.set(2);
    cell.complete();
    assert!(a.is_complete());
    let b = shared.clone().materialize();
    assert_eq!((b.get(), b.is_complete()), (20, true));
    drop((a, b));
    let c = shared.clone().materialize();
    assert_eq!((c.get(), c.is_complete(), cell.dependents()), (20, true, 0));
}

#[test]
fn an_error_reaches_all_consumers() {
    let cell = Cell::new(1);
    let shared = (&cell).map(|v| v * 10).share();
    let (a, b) = (shared.clone().materialize(), shared.clone().map(|v| v + 1).materialize());
    cell.fail("boom");
    let texts = [a.error(), b.error(), shared.materialize().error()];
    assert!(texts.iter().all(|e| e.as_ref().is_some_and(|e| e.to_string() == "boom")));
}

/// Consumers of a pipeline that closed itself have ended and let go of it: it has drained.
#[test]
fn a_shared_pipeline_that_closed_itself_starts_again() {
    let cell = Cell::new(1);
    let shared = (&cell).take(2).share();
    let a = shared.clone().materialize();
    cell.set(2);
    cell.set(3);
    assert_eq!((a.get(), a.is_complete(), cell.dependents()), (2, true, 0));
    let b = shared.materialize();
    assert_eq!((b.get(), b.is_complete(), cell.dependents()), (3, false, 1));
}

#[test]
fn shared_pipelines_nest() {
    let cell = Cell::new(1);
    let runs = Count::new();
    let inner = (&cell).map(runs.of(|v: &i32| v + 1)).share();
    let outer = inner.clone().map(|v| v * 10).share();
    let (a, b, c) = (outer.clone().materialize(), outer.materialize(), inner.materialize());
    cell.set(4);
    assert_eq!((a.get(), b.get(), c.get(), runs.get()), (50, 50, 5, 2));
    drop((a, b, c));
    assert_eq!(cell.dependents(), 0);
}

/// Two consumers joined again never show a mix, and settle once.
#[test]
fn consumers_settle_together() {
    let cell = Cell::new(1);
    let shared = (&cell).map(|v| v * 10).share();
    let left = shared.clone().map(|v| v + 1).materialize();
    let right = shared.map(|v| v + 2).materialize();
    let log = Log::new();
    let pair = left.join(&right);
    let _guard = log.on(&pair);
    cell.set(2);
    log.check(&[(11, 12), (21, 22)]);
}

#[test]
fn a_closure_that_panics_at_the_start_leaves_nothing() {
    let cell = Cell::new(0);
    let shared = (&cell).map(|v| 10 / v).share();
    assert!(caught(|| shared.clone().materialize()).is_some());
    assert_eq!(cell.dependents(), 0);
    cell.set(2);
    let good = shared.clone().materialize();
    assert_eq!((good.get(), cell.dependents()), (5, 1));
    drop((good, shared, cell));
    arena::assert_no_live();
}

/// The hidden cell belongs to its consumers, not to the scope in which the first of them was made.
#[test]
fn a_scope_does_not_own_the_hidden_cell() {
    let cell = Cell::new(1);
    let shared = (&cell).map(|v| v * 10).share();
    let scope = hyphae::Scope::new();
    scope.run(|| drop(shared.clone().materialize()));
    let outside = shared.clone().map(|v| v + 1).materialize();
    drop(scope);
    cell.set(3);
    assert_eq!((outside.get(), outside.is_complete()), (31, false));
}

#[test]
fn it_keeps_its_roots_while_it_is_drained() {
    let cell = Cell::new(1);
    let weak = cell.downgrade();
    let shared = cell.map(|v| v * 10).share();
    drop(shared.clone().materialize());
    assert!(weak.is_alive());
    assert_eq!(shared.clone().materialize().get(), 10);
    drop(shared);
    assert!(!weak.is_alive());
    arena::assert_no_live();
}

#[test]
fn a_definite_pipeline_of_a_source_is_shared_through_a_cell() {
    let source = Source::new();
    let counted = source.clone().scan(0, |n, _: &char| n + 1).materialize();
    let shared = counted.map(|n| n.unwrap_or(0)).share();
    let (a, b) = (shared.clone().materialize(), shared.materialize());
    source.emit('x');
    assert_eq!((a.get(), b.get()), (1, 1));
}

#[test]
fn windows_and_lists_of_a_shared_pipeline_and_of_a_source() {
    let (cell, source) = (Cell::new(1), Source::new());
    let shared = (&cell).map(|v| v * 10).share();
    let last = shared.clone().window(2).materialize();
    let pairs = shared.buffer_count(2).materialize();
    let (last_events, event_pairs) =
        (source.window(2).materialize(), source.buffer_count(2).materialize());
    (2..=4).for_each(|n| {
        cell.set(n);
        source.emit(n);
    });
    assert_eq!((last.get(), pairs.get()), (vec![30, 40], vec![20, 30]));
    assert_eq!((last_events.get(), event_pairs.get()), (Some(vec![3, 4]), Some(vec![2, 3])));
    source.complete();
    assert_eq!(event_pairs.get(), Some(vec![4]));
}
