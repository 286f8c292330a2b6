//! What a combinator costs: one node, one edge for each distinct input, one turn a wave; and the names it gets.

use hyphae::{
    Cell, CellId, CellImmutable, Pipeline, Source, arena, batch, combine, combine_vec, join_vec,
    merge_vec, selector, zip_vec,
};

use crate::support::{Count, Log};

/// Nodes and edges that `make` adds while what it gives is kept; in the end both are as before.
#[track_caller]
fn check_cost<R>(nodes: usize, edges: usize, operator: &str, make: impl FnOnce() -> (CellId, R)) {
    let before = arena::totals();
    let (id, kept) = make();
    let after = arena::totals();
    assert_eq!((after.cells - before.cells, after.edges - before.edges), (nodes, edges));
    assert_eq!(arena::operator(id), Some(operator));
    drop(kept);
    let end = arena::totals();
    assert_eq!((end.cells, end.edges), (before.cells, before.edges));
}

fn kept<T>(cell: Cell<T, CellImmutable>) -> (CellId, Cell<T, CellImmutable>) {
    (cell.cell_id(), cell)
}

#[test]
fn each_is_one_node_with_an_edge_from_each_input() {
    let cells: Vec<Cell<i32>> = (0..8).map(Cell::new).collect();
    let [a, b, c, d, e, f, g, h] = &cells[..] else { panic!("eight cells") };
    let all = || cells.iter().cloned();
    let events = Source::<()>::new();
    check_cost(1, 2, "join", || kept(a.join(b)));
    check_cost(1, 8, "join_vec", || kept(join_vec(all())));
    check_cost(1, 2, "zip", || kept(a.zip(b)));
    check_cost(1, 8, "zip_vec", || kept(zip_vec(all())));
    check_cost(1, 2, "merge", || kept(a.merge(b)));
    check_cost(1, 8, "merge", || kept(merge_vec(all())));
    check_cost(1, 2, "concat", || kept(a.concat(b)));
    check_cost(1, 2, "take_until", || kept(a.take_until(b)));
    check_cost(1, 2, "with_latest_from", || kept(a.clone().with_latest_from(b).materialize()));
    check_cost(1, 2, "sample", || kept(a.sample(b).materialize()));
    check_cost(1, 2, "sample_on", || kept(a.sample_on(&events)));
    check_cost(1, 2, "combine", || kept(combine((a, b), |(a, b)| a + b)));
    check_cost(1, 3, "combine", || kept(combine((a, b, c), |(a, b, c)| a + b + c)));
    check_cost(1, 8, "combine", || {
        kept(combine((a, b, c, d, e, f, g, h), |(a, b, c, d, e, f, g, h)| {
            a + b + c + d + e + f + g + h
        }))
    });
    check_cost(1, 8, "combine_vec", || kept(combine_vec(&cells, |all| all.iter().sum::<i32>())));
    // A selector is a node of its own, and one for each key that somebody asks for.
    check_cost(3, 3, "selector", || {
        let selector = selector(a);
        let keys = [1, 2, 1].map(|key| selector.is(key));
        (keys[0].cell_id(), (selector, keys))
    });
    // Two consumers of a shared pipeline: the hidden cell has the two edges.
    check_cost(3, 4, "share", || {
        let shared = a.clone().with_latest_from(b).share();
        let consumers = [shared.clone().materialize(), shared.materialize()];
        (consumers[0].cell_id(), consumers)
    });
}

#[test]
fn without_inputs_it_is_one_node_without_edges() {
    let none = Vec::<Cell<i32>>::new;
    check_cost(1, 0, "join_vec", || kept(join_vec(none())));
    check_cost(1, 0, "combine_vec", || kept(combine_vec(&none(), |all| all.len())));
    check_cost(1, 0, "zip_vec", || kept(zip_vec(none())));
    check_cost(1, 0, "merge", || kept(merge_vec(none())));
}

#[test]
fn the_same_cell_twice_is_one_edge() {
    let a = Cell::new(1);
    check_cost(1, 1, "zip", || kept(a.zip(&a)));
    check_cost(1, 1, "merge", || kept(a.merge(&a)));
    check_cost(1, 1, "concat", || kept(a.concat(&a)));
    check_cost(1, 1, "take_until", || kept(a.take_until(&a)));
    check_cost(1, 1, "zip_vec", || kept(zip_vec(vec![a.clone(); 20])));
    check_cost(1, 1, "combine_vec", || kept(combine_vec(&vec![a.clone(); 20], |all| all.len())));
    check_cost(1, 1, "combine", || kept(combine((&a, &a, &a), |(x, y, z)| x + y + z)));
}

/// One of the two reasons to have an edge is to be woken.
#[test]
fn a_cell_that_is_both_trigger_and_read_wakes() {
    let a = Cell::new(1);
    let log = Log::new();
    let beside = (&a).with_latest_from(&a).materialize();
    let sampled = a.sample(&a).materialize();
    let _guards = (log.on(&beside), log.on(&sampled.join(&sampled)));
    a.set(2);
    log.check(&[(1, 1), (1, 1), (2, 2), (2, 2)]);
}

/// What can't be cloned can be combined.
#[test]
fn combine_vec_lends_what_it_gives() {
    struct Name(&'static str);
    let names = ["ab", "cd", "ef"].map(|name| Cell::new(Name(name)));
    let last = combine_vec(&names, |names| {
        let letters = names.fold(String::new(), |line, name| line + name.0);
        (letters, names.with(names.len() - 1, |name| name.0))
    });
    names[2].set(Name("gh"));
    assert_eq!(last.get(), ("abcdgh".to_string(), "gh"));
}

#[test]
fn each_has_one_turn_a_wave() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let runs = Count::new();
    let counted = runs.clone();
    let sum = combine((&a, &b), move |(a, b)| {
        counted.up();
        a + b
    });
    let others = (a.zip(&b), a.join(&b), a.take_until(&Cell::new(())), join_vec([a.clone()]));
    let turns = arena::totals().recomputations;
    batch(|| {
        (0..5).for_each(|v| a.set(v));
        (0..5).for_each(|v| b.set(v));
    });
    assert_eq!(arena::totals().recomputations - turns, 5);
    assert_eq!((sum.get(), runs.get(), others.0.get()), (8, 2, (4, 4)));
}

/// What only reads is not woken, what lies behind is not computed.
#[test]
fn a_cell_that_is_only_read_wakes_nobody() {
    let (a, b) = (Cell::new(1), Cell::new(2));
    let events = Source::<()>::new();
    let readers =
        ((&a).with_latest_from(&b).materialize(), b.sample(&a).materialize(), b.sample_on(&events));
    let turns = arena::totals().recomputations;
    (0..10).for_each(|v| b.set(v));
    assert_eq!(arena::totals().recomputations, turns);
    assert_eq!((readers.0.get(), readers.1.get(), readers.2.get()), ((1, 2), 2, 2));
    assert_eq!((a.dependents(), b.dependents()), (2, 3));
}

const MANY: usize = 10_000;

#[test]
fn ten_thousand_inputs_are_one_node() {
    let cells: Vec<Cell<u64>> = (0..MANY as u64).map(Cell::new).collect();
    let before = arena::totals();
    let all = join_vec(cells.iter().cloned());
    let log = Log::new();
    let guard = all.watch_changes({
        let log = log.clone();
        move |all: &Vec<u64>| log.push((all[0], all[MANY - 1], all.iter().sum::<u64>()))
    });
    let made = arena::totals();
    assert_eq!((made.cells - before.cells, made.edges - before.edges), (1, MANY));
    batch(|| cells.iter().for_each(|cell| cell.update(|v| *v += 1)));
    cells[MANY - 1].set(0);
    let n = MANY as u64;
    log.check(&[(1, n, n * (n + 1) / 2), (1, 0, n * (n - 1) / 2)]);
    assert_eq!(arena::totals().recomputations - made.recomputations, 2);
    batch(|| cells[1..].iter().for_each(Cell::complete));
    assert!(!all.is_complete());
    cells[0].complete();
    assert!(all.is_complete());
    assert_eq!(arena::totals().edges, before.edges);
    drop((guard, all));
    assert_eq!(arena::totals().cells, before.cells);
}

#[test]
fn a_thousand_inputs_zip_and_merge() {
    const MANY: usize = 1000;
    let cells: Vec<Cell<usize>> = (0..MANY).map(Cell::new).collect();
    let (rows, merged) = (zip_vec(cells.iter().cloned()), merge_vec(cells.iter().cloned()));
    let log = Log::new();
    let _guard = log.on(&merged);
    let rounds = arena::totals().rounds;
    batch(|| cells.iter().rev().for_each(|cell| cell.update(|v| *v += 1)));
    assert_eq!(arena::totals().rounds - rounds, MANY as u64);
    let expected: Vec<usize> = std::iter::once(MANY - 1).chain((1..=MANY).rev()).collect();
    assert!(log.take().into_iter().eq(expected.into_iter().map(Some)));
    assert!(rows.get().into_iter().flatten().eq(1..=MANY));
}

#[test]
fn a_cell_from_a_named_one_is_named_after_it() {
    let (a, b) = (Cell::new(1).with_name("a"), Cell::new(2));
    let of_a = [
        a.join(&b).name(),
        a.zip(&b).name(),
        a.merge(&b).name(),
        a.concat(&b).name(),
        a.take_until(&b).name(),
        a.sample_on(&Source::<()>::new()).name(),
    ];
    let names: Vec<_> = of_a.iter().flatten().map(|name| &**name).collect();
    let expected = ["a::join", "a::zip", "a::merge", "a::concat", "a::take_until", "a::sample_on"];
    assert_eq!(names, expected);
    let of_b = [b.zip(&a).name(), b.merge(&a).name(), b.concat(&a).name(), b.take_until(&a).name()];
    assert_eq!(of_b, [None, None, None, None]);
    assert_eq!(combine((&a, &b), |(a, b)| a + b).name(), None);
    assert_eq!(a.zip(&b).with_name("own").name().as_deref(), Some("own"));
}
