//! `join`, `join_vec` and `flat!`.

use hyphae::{Cell, Pipeline, Signal, arena, batch, flat, join_vec};

use crate::support::{Count, Heard, Log};

#[test]
fn a_join_has_both_values() {
    let (n, text) = (Cell::new(1), Cell::new("hello".to_owned()));
    let pair = n.join(&text);
    let log = Log::new();
    let _guard = log.on(&pair);
    n.set(2);
    text.set("world".to_owned());
    batch(|| {
        n.set(3);
        text.set("!".to_owned());
    });
    let seen: Vec<(i32, String)> = log.take();
    let seen: Vec<(i32, &str)> = seen.iter().map(|(n, text)| (*n, text.as_str())).collect();
    assert_eq!(seen, [(1, "hello"), (2, "hello"), (2, "world"), (3, "!")]);
}

#[test]
fn flat_opens_nested_pairs() {
    let cells: [Cell<i32>; 5] = std::array::from_fn(|i| Cell::new(i as i32 + 1));
    let [a, b, c, d, e] = &cells;
    let two = a.join(b).map(flat!(|a, b| a * 10 + b)).materialize();
    let three = a.join(b).join(c).map(flat!(|a, b, c| a * 100 + b * 10 + c)).materialize();
    let four = a.join(b).join(c).join(d).map(flat!(|a, b, c, d| a + b + c + d)).materialize();
    let five = four.join(e).map(flat!(|sum, e| sum + e)).materialize();
    assert_eq!((two.get(), three.get(), four.get(), five.get()), (12, 123, 10, 15));
    b.set(7);
    assert_eq!((two.get(), three.get(), four.get(), five.get()), (17, 173, 15, 20));
}

/// Complete and fail on either side, in either order, before and after construction.
#[test]
fn a_join_completes_with_both_and_fails_with_either() {
    for (first, second, expected) in
        [("|", "|", "|"), ("|", "!", "!"), ("!", "|", "!"), ("!", "!", "!")]
    {
        for made_after in 0..=2 {
            for swapped in [false, true] {
                let ends = [first, second];
                check_join_ends(ends, expected, made_after, swapped);
            }
        }
    }
}

fn end(cell: &Cell<i32>, how: &str, which: usize) {
    if how == "|" { cell.complete() } else { cell.fail(format!("side {which}")) }
}

fn check_join_ends(ends: [&str; 2], expected: &str, made_after: usize, swapped: bool) {
    let cells = [Cell::new(1), Cell::new(2)];
    let order = if swapped { [1, 0] } else { [0, 1] };
    let step = |i: usize| end(&cells[order[i]], ends[i], i);
    (0..made_after).for_each(step);
    let pair = cells[0].join(&cells[1]);
    assert_eq!(pair.get(), (1, 2));
    (made_after..2).for_each(step);
    assert_eq!((pair.is_complete(), pair.is_error()), (expected == "|", expected == "!"));
    if let Some(error) = pair.error() {
        let first = if ends[0] == "!" { 0 } else { 1 };
        let both_before = made_after == 2 && ends == ["!", "!"];
        // Of two errors that lie before, the left one counts.
        let which =
            if both_before { order.iter().position(|&at| at == 0).unwrap_or(2) } else { first };
        assert_eq!(error.to_string(), format!("side {which}"));
    }
    assert_eq!((cells[0].dependents(), cells[1].dependents()), (0, 0));
}

#[test]
fn a_join_goes_on_with_the_side_that_is_left() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let pair = a.join(&b);
    let log = Log::new();
    let _guard = log.hear(&pair);
    a.complete();
    b.set(3);
    batch(|| {
        b.set(4);
        b.complete();
    });
    log.check(&[Heard::Value((1, 2)), Heard::Value((1, 3)), Heard::Value((1, 4)), Heard::Complete]);
}

#[test]
fn a_join_takes_the_name_of_its_left_side() {
    let a = Cell::new(1).with_name("left");
    assert_eq!(a.join(&Cell::new(2)).name().as_deref(), Some("left::join"));
    assert_eq!(Cell::new(2).join(&a).name(), None);
}

#[test]
fn a_join_with_itself_is_one_edge_and_one_turn() {
    let a = Cell::new(1);
    let runs = Count::new();
    let pair = a.join(&a).map(runs.of(|pair: &(i32, i32)| *pair)).materialize();
    a.set(2);
    assert_eq!((pair.get(), runs.get(), a.dependents()), ((2, 2), 2, 1));
}

#[test]
fn join_vec_keeps_the_order_given() {
    let cells: Vec<Cell<i32>> = (1..=3).map(Cell::new).collect();
    let all = join_vec(cells.iter().rev().cloned());
    let log = Log::new();
    let _guard = log.on(&all);
    cells.iter().for_each(|cell| cell.set(cell.get() * 10));
    batch(|| cells.iter().for_each(|cell| cell.set(0)));
    log.check(&[vec![3, 2, 1], vec![3, 2, 10], vec![3, 20, 10], vec![30, 20, 10], vec![0, 0, 0]]);
    assert_eq!(arena::operator(all.cell_id()), Some("join_vec"));
    assert_eq!(arena::dependencies(all.cell_id()).map(|ids| ids.len()), Some(3));
}

#[test]
fn join_vec_of_nothing_is_empty_and_complete() {
    let all = join_vec(Vec::<Cell<i32>>::new());
    let log = Log::new();
    let _guard = log.hear(&all);
    log.check(&[Heard::Value(Vec::new()), Heard::Complete]);
}

#[test]
fn join_vec_completes_with_the_last_and_fails_with_the_first() {
    let cells: Vec<Cell<i32>> = (1..=3).map(Cell::new).collect();
    let (all, failing) = (join_vec(cells[..2].iter().cloned()), join_vec(cells.iter().cloned()));
    cells[0].complete();
    assert!(!all.is_complete());
    cells[1].set(5);
    assert_eq!(all.get(), [1, 5]);
    cells[1].complete();
    assert!(all.is_complete());
    assert!(!failing.is_complete() && !failing.is_error());
    cells[2].fail("last straw");
    assert_eq!(failing.error().map(|e| e.to_string()).as_deref(), Some("last straw"));
    assert_eq!(failing.get(), [1, 5, 3]);
    assert!(cells.iter().all(|cell| cell.dependents() == 0));
}

#[test]
fn join_vec_over_ended_cells_is_over_at_once() {
    let cells = [Cell::new(1), Cell::new(2)];
    cells[0].fail("gone");
    assert!(join_vec(cells.iter().cloned()).is_error());
    assert_eq!(cells[1].dependents(), 0);
}

#[test]
fn the_same_cell_many_times_is_one_edge() {
    for n in [2, 17, 40] {
        let cell = Cell::new(1);
        let all = join_vec(std::iter::repeat_n(cell.clone(), n));
        cell.set(2);
        assert_eq!((all.get(), cell.dependents()), (vec![2; n], 1));
        drop(all);
        assert_eq!(cell.dependents(), 0);
    }
}

/// A signal reaches a subscriber of a join once although both sides bring one.
#[test]
fn both_ends_in_a_batch_are_one_end() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let pair = a.join(&b);
    let ends = Count::new();
    let _guard = pair.subscribe({
        let ends = ends.clone();
        move |signal: &Signal<'_, (i32, i32)>| {
            if !signal.is_value() {
                ends.up();
            }
        }
    });
    batch(|| {
        a.complete();
        b.complete();
    });
    assert_eq!(ends.get(), 1);
}
