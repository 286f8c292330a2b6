//! Facts about pipelines that programs rely on, with the types that they use: results, pairs, lists, texts.

use std::collections::HashSet;
use std::sync::Arc;

use hyphae::{
    Cell, CellError, CellImmutable, Definite, Give, Pipeline, ResultLike, Seedness, arena, batch,
};

use crate::support::{Count, Heard, Log, caught};

#[test]
fn three_maps_are_one_subscription() {
    let cell = Cell::new(1);
    let chain = (&cell).map(|x| x + 1).map(|x| x * 2).map(|x| x + 10).materialize();
    assert_eq!((chain.get(), cell.subscriber_count()), (14, 1));
    cell.set(5);
    assert_eq!(chain.get(), 22);
}

#[test]
fn a_filter_keeps_the_last_value_that_passed() {
    let even = |start| {
        let cell = Cell::new(start);
        (cell.clone(), cell.filter(|v| v % 2 == 0).materialize())
    };
    let (cell, passed) = even(10);
    assert_eq!(passed.get(), Some(10));
    cell.set(3);
    assert_eq!(passed.get(), Some(10));
    cell.set(6);
    assert_eq!(passed.get(), Some(6));
    let (cell, passed) = even(11);
    assert_eq!(passed.get(), None);
    [(4, 4), (7, 4), (8, 8)].into_iter().for_each(|(value, expected)| {
        cell.set(value);
        assert_eq!(passed.get(), Some(expected));
    });
}

#[test]
fn a_filter_between_maps() {
    let cell = Cell::new(1);
    let chain = (&cell).map(|x| x + 10).filter(|x| x % 2 == 0).map(|x| x * 100).materialize();
    assert_eq!(chain.get(), None);
    cell.set(2);
    assert_eq!((chain.get(), cell.subscriber_count()), (Some(1200), 1));
}

fn positive(v: &i32) -> Result<String, String> {
    if *v > 0 { Ok(v.to_string()) } else { Err("must be positive".to_owned()) }
}

#[test]
fn try_map_makes_errors_values() {
    let cell = Cell::new(10);
    let texts = (&cell).try_map(positive).materialize();
    assert_eq!(texts.get().as_deref(), Ok("10"));
    cell.set(-5);
    assert_eq!(texts.get(), Err("must be positive".to_owned()));
    assert!(!texts.is_error());
    cell.set(7);
    assert_eq!(texts.get().as_deref(), Ok("7"));
}

#[test]
fn operators_on_results() {
    let cell: Cell<Result<i32, String>> = Cell::new(Ok(10));
    let doubled = (&cell).map_ok(|v| v * 2).materialize();
    let length = (&cell).map_err(String::len).materialize();
    let caught = (&cell).catch_error(|_| -1).materialize();
    let or_zero = (&cell).unwrap_or(0).materialize();
    let or_text =
        (&cell).map_ok(i32::to_string).unwrap_or_else(|e| format!("default-{e}")).materialize();
    let all = || (doubled.get(), length.get(), caught.get(), or_zero.get(), or_text.get());
    assert_eq!(all(), (Ok(20), Ok(10), 10, 10, "10".to_owned()));
    cell.set(Err("404".to_owned()));
    assert_eq!(all(), (Err("404".to_owned()), Err(3), -1, 0, "default-404".to_owned()));
    cell.set(Ok(100));
    assert_eq!(all(), (Ok(200), Ok(100), 100, 100, "100".to_owned()));
}

#[test]
fn results_along_a_chain() {
    let cell = Cell::new(10);
    let chain = (&cell)
        .try_map(|v| if *v < 0 { Err("negative") } else { Ok(*v) })
        .map_ok(|v| v * 2)
        .catch_error(|_| 0)
        .materialize();
    for (value, expected) in [(10, 20), (-5, 0), (7, 14)] {
        cell.set(value);
        assert_eq!(chain.get(), expected);
    }
}

#[test]
fn tap_sees_each_value_and_lets_it_pass() {
    let cell = Cell::new(42);
    let log = Log::new();
    let tapped = (&cell)
        .tap({
            let log = log.clone();
            move |v| log.push(*v)
        })
        .materialize();
    cell.set(43);
    log.check(&[42, 43]);
    assert_eq!(tapped.get(), 43);
}

#[test]
fn scan_accumulates_into_another_type() {
    let cell = Cell::new(1);
    let text = (&cell).scan(String::new(), |text, v| format!("{text}{v}")).materialize();
    let log = Log::new();
    let _guard = log.on(&text);
    cell.set(2);
    cell.set(3);
    log.check(&["1", "12", "123"]);
}

#[test]
fn pairs_windows_and_chunks() {
    let cell = Cell::new(0);
    let pairs = (&cell).pairwise().materialize();
    let windows = cell.window(3).materialize();
    let chunks = cell.buffer_count(3).materialize();
    let (of_pairs, of_windows, of_chunks) = (Log::new(), Log::new(), Log::new());
    let _guards = (of_pairs.on(&pairs), of_windows.on(&windows), of_chunks.hear(&chunks));
    (1..=4).for_each(|v| cell.set(v));
    cell.complete();
    of_pairs.check(&[None, Some((0, 1)), Some((1, 2)), Some((2, 3)), Some((3, 4))]);
    of_windows.check(&[vec![0], vec![0, 1], vec![0, 1, 2], vec![1, 2, 3], vec![2, 3, 4]]);
    let value = Heard::Value;
    of_chunks.check(&[value(vec![]), value(vec![1, 2, 3]), value(vec![4]), Heard::Complete]);
}

#[test]
fn sizes_of_zero_are_refused_with_the_reason() {
    let cell = Cell::new(0);
    let window = caught(|| drop(cell.window(0))).expect("a panic");
    assert!(window.contains("window(0)") && window.contains("at least 1"), "{window}");
    let buffer = caught(|| drop(cell.buffer_count(0))).expect("a panic");
    assert!(buffer.contains("buffer_count(0)") && buffer.contains("at least 1"), "{buffer}");
    assert_eq!(cell.dependents(), 0);
}

#[test]
fn repeated_values_by_all_and_by_the_last() {
    let names = Cell::new("Alice");
    let by_letter =
        (&names).distinct_until_changed_by(|a, b| a.as_bytes()[0] == b.as_bytes()[0]).materialize();
    let distinct = (&names).distinct().materialize();
    let deduped = (&names).deduped().materialize();
    let logs = [Log::new(), Log::new(), Log::new()];
    let _guards = (logs[0].on(&by_letter), logs[1].on(&distinct), logs[2].on(&deduped));
    for name in ["Alicia", "Bob", "Bob", "Alice"] {
        names.set(name);
    }
    logs[0].check(&["Alice", "Bob", "Alice"]);
    logs[1].check(&["Alice", "Alicia", "Bob"]);
    logs[2].check(&["Alice", "Alicia", "Bob", "Alice"]);
}

/// A `deduped` stage compares with the last value that passed, also when a batch sets a value and sets it back.
#[test]
fn deduped_sees_no_change_in_a_batch_that_sets_back() {
    let cell = Cell::new(1);
    let deduped = (&cell).deduped().materialize();
    let log = Log::new();
    let _guard = log.on(&deduped);
    batch(|| {
        cell.set(2);
        cell.set(1);
    });
    log.check(&[1]);
}

#[test]
fn taking_ends_on_the_last_value_taken() {
    let cell = Cell::new(1);
    let two = (&cell).take(2).materialize();
    let log = Log::new();
    let _guard = log.hear(&two);
    (2..=4).for_each(|v| cell.set(v));
    log.check(&[Heard::Value(1), Heard::Value(2), Heard::Complete]);
    let first = (&cell).first().materialize();
    assert_eq!((first.get(), first.is_complete()), (4, true));
    let none = (&cell).take(0).materialize();
    assert_eq!((none.get(), none.is_complete()), (4, true));
}

#[test]
fn skipping_counts_the_value_at_the_start() {
    let cell = Cell::new(0);
    let skipped = (&cell).skip(2).materialize();
    let log = Log::new();
    let _guard = log.on(&skipped);
    (1..=3).for_each(|v| cell.set(v));
    log.check(&[None, Some(2), Some(3)]);
}

#[test]
fn cold_drops_what_is_there_and_nothing_else() {
    let cell = Cell::new(42);
    let cold = (&cell).cold().materialize();
    let log = Log::new();
    let _guard = log.on(&cold);
    cell.set(100);
    cell.set(100);
    let value = Arc::new(100);
    log.check(&[None, Some(value.clone()), Some(value)]);
}

fn finalized(cell: &Cell<i32>) -> (Cell<i32, hyphae::CellImmutable>, Count) {
    let count = Count::new();
    let chain = cell
        .finalize({
            let count = count.clone();
            move || count.up()
        })
        .materialize();
    (chain, count)
}

#[test]
fn finalize_runs_once_at_either_end_and_not_on_drop() {
    let cell = Cell::new(1);
    let (chain, count) = finalized(&cell);
    cell.set(2);
    assert_eq!(count.get(), 0);
    cell.complete();
    cell.complete();
    assert_eq!((count.get(), chain.get()), (1, 2));
    let cell = Cell::new(1);
    let (_chain, count) = finalized(&cell);
    cell.fail("boom");
    assert_eq!(count.get(), 1);
    let cell = Cell::new(1);
    let (chain, count) = finalized(&cell);
    drop(chain);
    cell.complete();
    assert_eq!(count.get(), 0);
}

/// It runs before the subscribers hear of the end, and at construction when upstream has ended before.
#[test]
fn finalize_comes_before_the_end() {
    let cell = Cell::new(1);
    let log = Log::new();
    let chain = (&cell)
        .finalize({
            let log = log.clone();
            move || log.push("finalize")
        })
        .materialize();
    let _guard = chain.subscribe_changes({
        let log = log.clone();
        move |_| log.push("end")
    });
    cell.complete();
    log.check(&["finalize", "end"]);
    let (chain, count) = finalized(&cell);
    assert_eq!((chain.is_complete(), count.get()), (true, 1));
}

#[test]
fn finalize_of_a_pipeline_that_takes_nothing() {
    let cell = Cell::new(1);
    let count = Count::new();
    let up = || {
        let count = count.clone();
        move || count.up()
    };
    assert!((&cell).take(0).finalize(up()).materialize().is_complete());
    assert_eq!(count.get(), 1);
    assert!((&cell).filter(|_| true).take(0).finalize(up()).materialize().is_complete());
    assert_eq!(count.get(), 2);
    assert_eq!((&cell).take(0).last_or(5).materialize().get(), Some(5));
}

/// Two finalizers of one chain both run, the upper one first.
#[test]
fn finalizers_run_from_the_root_down() {
    let cell = Cell::new(1);
    let log = Log::new();
    let push = |what| {
        let log = log.clone();
        move || log.push(what)
    };
    let _chain = (&cell).finalize(push(1)).take(2).finalize(push(2)).materialize();
    cell.set(2);
    // `take` ends the chain below it alone: what is above has not ended.
    log.check(&[2]);
}

#[test]
fn the_error_goes_through_a_chain_as_it_is() {
    #[derive(Debug, PartialEq)]
    struct Broken(i32);
    impl std::fmt::Display for Broken {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "broken {}", self.0)
        }
    }
    impl std::error::Error for Broken {}
    let cell = Cell::new(1);
    let chain = (&cell).map(|v| v + 1).filter(|_| true).window(2).materialize();
    cell.fail(Broken(7));
    let error: CellError = chain.error().expect("an error");
    assert_eq!(error.get().downcast_ref::<Broken>(), Some(&Broken(7)));
    assert_eq!(chain.get(), Some(vec![2]));
}

/// The operators show up under their names.
#[test]
fn a_derived_cell_tells_its_last_operator() {
    let cell = Cell::new(1);
    let source = hyphae::Source::<i32>::new();
    let names = [
        arena::operator((&cell).map(|v| *v).materialize().cell_id()),
        arena::operator((&cell).filter(|_| true).materialize().cell_id()),
        arena::operator((&cell).scan(0, |a, _| *a).materialize().cell_id()),
        arena::operator((&cell).last_or(1).materialize().cell_id()),
        arena::operator((&cell).tap(|_| ()).materialize().cell_id()),
        arena::operator(source.clone().materialize().cell_id()),
        arena::operator(cell.cell_id()),
        arena::operator(source.cell_id()),
    ];
    let names: Vec<&str> = names.into_iter().flatten().collect();
    assert_eq!(names, ["map", "filter", "scan", "last_or", "tap", "source", "cell", "source"]);
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), 7);
}

/// Programs write functions over pipelines: the bound `Give` says that what comes out can be materialized.
#[test]
fn a_function_can_take_and_give_pipelines() {
    fn doubled<S: Seedness>(p: impl Pipeline<i32, S>) -> impl Pipeline<i32, S> {
        p.map(|v| v * 2)
    }
    fn kept<S: Seedness>(
        p: impl Pipeline<i32, S, Chain: Give>,
    ) -> Cell<S::Value<i32>, CellImmutable> {
        p.materialize()
    }
    fn source_of(cell: &Cell<i32>) -> impl Pipeline<i32, Definite, Chain: Give> + use<> {
        cell.map(|v| v + 100)
    }
    let cell = Cell::new(1);
    let (whole, optional) = (kept(source_of(&cell)), kept((&cell).filter(|v| *v > 1)));
    assert_eq!(
        (whole.get(), optional.get(), source_of(&cell).materialize().get()),
        (101, None, 101)
    );
    let definite: Cell<i32, CellImmutable> = doubled(doubled(&cell)).map(|v| v + 1).materialize();
    let empty = doubled((&cell).filter(|v| *v > 1)).map(|v| v + 1).materialize();
    assert_eq!((definite.get(), empty.get()), (5, None));
    cell.set(3);
    assert_eq!((definite.get(), empty.get()), (13, Some(7)));
}

/// Operators on results take any `Result`, also in code that is generic over it.
#[test]
fn results_can_be_generic() {
    fn goods<R: ResultLike<Ok = i32, Err: Clone> + Clone>(
        cell: &Cell<R>,
    ) -> Cell<i32, CellImmutable> {
        cell.map(|r| r.as_result().ok().copied().unwrap_or(-1)).materialize()
    }
    let cell = Cell::new(Err::<i32, _>("bad"));
    let good = goods(&cell);
    assert_eq!(good.get(), -1);
    cell.set(Ok(4));
    assert_eq!(good.get(), 4);
}

/// A finalizer that panics: the cell has ended all the same, and the finalizer is not called again.
#[test]
fn a_finalizer_that_panics() {
    let cell = Cell::new(1);
    let runs = Count::new();
    let failing = (&cell)
        .finalize({
            let runs = runs.clone();
            move || {
                runs.up();
                panic!("finalizer");
            }
        })
        .materialize();
    let log = Log::new();
    let _guard = log.hear(&failing);
    assert_eq!(caught(|| cell.complete()).as_deref(), Some("finalizer"));
    log.check(&[Heard::Value(1), Heard::Complete]);
    assert_eq!((failing.is_complete(), runs.get(), cell.dependents()), (true, 1, 0));
}

/// A gate that closes in a batch, at a read: what comes after is not taken, subscribers hear value and end once.
#[test]
fn a_gate_that_closes_at_a_read_in_a_batch() {
    let cell = Cell::new(1);
    let two = (&cell).take(2).materialize();
    let below = (&two).map(|v| v * 10).materialize();
    let log = Log::new();
    let _guards = (log.hear(&two), log.hear(&below));
    log.take();
    batch(|| {
        cell.set(2);
        assert_eq!((below.get(), below.is_complete(), cell.dependents()), (20, true, 0));
        cell.set(3);
        assert_eq!((two.get(), below.get()), (2, 20));
        assert_eq!(log.len(), 0);
    });
    let heard = log.take();
    assert_eq!(heard, [Heard::Value(2), Heard::Complete, Heard::Value(20), Heard::Complete]);
}
