//! GL: glitches in diamonds and sampled inputs (rule P0).

use hyphae::{Cell, Pipeline, arena, batch, join_vec};

use crate::support::{Count, Log, turns};

/// One write gave two emissions, the first with the new value beside the old inner pair.
#[test]
fn gl_1_pair_built_from_a_value_and_a_pair_of_it() {
    let (a, c) = (Cell::new(0), Cell::new(0));
    let b = a.join(&c);
    let d = a.join(&b);
    let (log, emits) = (Log::new(), Count::new());
    let _sink = (&d).map(emits.of(|_| ())).materialize();
    let _guard = log.on(&d);
    assert_eq!(turns(|| a.set(1)), 3, "b, d and the sink once each");
    assert_eq!(turns(|| c.set(5)), 3);
    log.check(&[(0, (0, 0)), (1, (1, 0)), (1, (1, 5))]);
    assert_eq!(emits.get(), 3);
}

/// The same fault with paths of very different length, and with the short path linked last.
#[test]
fn gl_1_paths_of_different_length() {
    let a = Cell::new(0_i64);
    let mut long = (&a).map(|v| *v).materialize();
    for _ in 0..50 {
        long = long.map(|v| v + 1).materialize();
    }
    let (left, right) = (long.join(&a), a.join(&long));
    let runs = Count::new();
    let torn = left
        .join(&right)
        .map(runs.of(|((l1, a1), (a2, l2))| l1 - a1 != 50 || l2 - a2 != 50))
        .materialize();
    let log = Log::new();
    let _guard = log.on(&torn);
    a.set(7);
    batch(|| (8..20).for_each(|v| a.set(v)));
    log.check(&[false; 3]);
    assert_eq!(runs.get(), 3);
}

/// A subscriber of one branch read the other branch and the source: it met a mix.
#[test]
fn gl_1_reads_in_a_subscriber_see_one_wave() {
    let a = Cell::new(1);
    let (ten, hundred) = ((&a).map(|v| v * 10).materialize(), (&a).map(|v| v * 100).materialize());
    let log = Log::new();
    let reader = || {
        let (log, a, ten, hundred) = (log.clone(), a.clone(), ten.clone(), hundred.clone());
        move |_: &i32| log.push((a.get(), ten.get(), hundred.get()))
    };
    let _guards = [a.watch(reader()), ten.watch(reader())];
    log.take();
    a.set(2);
    log.check(&[(2, 20, 200); 2]);
}

/// k paths from source to sink gave k runs of the sink.
#[test]
fn gl_3_wide_diamond_runs_its_sink_once() {
    let a = Cell::new(1);
    let (branch_runs, sink_runs) = (Count::new(), Count::new());
    let branches: Vec<_> =
        (0..100).map(|i| (&a).map(branch_runs.of(move |v| v + i)).materialize()).collect();
    let sum = join_vec(branches)
        .map(sink_runs.of(|all: &Vec<i32>| all.iter().sum::<i32>()))
        .materialize();
    let log = Log::new();
    let _guard = log.on(&sum);
    assert_eq!(turns(|| a.set(2)), 102);
    log.check(&[5050, 5150]);
    assert_eq!((branch_runs.get(), sink_runs.get()), (200, 2));
}

/// A computed whose inputs came out equal ran and notified all the same.
#[test]
fn gl_5_sink_rests_when_no_input_changed() {
    let a = Cell::new("x");
    let (b_runs, c_runs, emits) = (Count::new(), Count::new(), Count::new());
    let b = (&a).map(b_runs.of(|s: &&str| s.len())).deduped().materialize();
    let c = (&a).map(c_runs.of(|s: &&str| s.is_empty())).deduped().materialize();
    let d = b.join(&c);
    let _sink = (&d).map(emits.of(|_| ())).materialize();
    let log = Log::new();
    let _guard = log.on(&d);
    assert_eq!(turns(|| a.set("y")), 2, "b and c only");
    assert_eq!(emits.get(), 1);
    assert_eq!(turns(|| a.set("yy")), 4, "b, c, d and the sink");
    assert_eq!(emits.get(), 2);
    log.check(&[(1, false), (2, false)]);
    assert_eq!((b_runs.get(), c_runs.get()), (3, 3));
}

/// Reading one cell twice registered two edges: double work, slow teardown.
#[test]
fn gl_9_joining_a_cell_with_itself_is_one_edge() {
    let a = Cell::new(0);
    let j = a.join(&a);
    let log = Log::new();
    let _guard = log.on(&j);
    assert_eq!((a.dependents(), arena::totals().edges), (1, 1));
    assert_eq!(turns(|| a.set(1)), 1);
    log.check(&[(0, 0), (1, 1)]);
    j.dispose();
    assert_eq!((a.dependents(), arena::totals().edges), (0, 0));
}

/// 1000 readers of one key met 200 000 observer entries on teardown.
#[test]
fn gl_9_the_same_cell_a_thousand_times_is_one_edge() {
    let (a, b) = (Cell::new(1), Cell::new(1));
    let inputs = (0..1000).map(|i| if i % 2 == 0 { a.clone() } else { b.clone() });
    let all = join_vec(inputs);
    let log = Log::new();
    let guard = log.on(&(&all).map(|v| v.iter().sum::<i32>()).materialize());
    assert_eq!((a.dependents(), b.dependents()), (1, 1));
    assert_eq!(turns(|| a.set(2)), 2);
    assert_eq!(
        turns(|| batch(|| {
            a.set(0);
            b.set(0);
        })),
        2
    );
    log.check(&[1000, 1500, 0]);
    drop((all, guard));
    assert_eq!((a.dependents(), b.dependents()), (0, 0));
    drop((a, b));
    arena::assert_no_live();
}
