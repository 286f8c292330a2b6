//! PR: what profilers could not see.

use hyphae::{Cell, Pipeline, Scope, arena};

use crate::support::{Count, live};

/// Frames of cells in this program's symbols, by `nm`: (kind, address); or why there are none.
#[cfg(feature = "profiling")]
fn frames() -> Result<Vec<(String, String)>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let nm = std::process::Command::new("nm").arg("-C").arg(program).output();
    let nm = nm.map_err(|error| format!("no nm: {error}"))?;
    let text = String::from_utf8_lossy(&nm.stdout);
    if !nm.status.success() || text.is_empty() {
        return Err(format!("nm tells nothing: {}", String::from_utf8_lossy(&nm.stderr)));
    }
    let frame = |line: &str| {
        let (address, name) = (line.split(' ').next()?, line.split("probe::frames::").nth(1)?);
        let kind = name.rsplit("::").next()?;
        Some((kind.to_owned(), address.to_owned()))
    };
    Ok(text.lines().filter_map(frame).collect())
}

// Inlined functions vanish from profiles: the same program seemed to spend 45 % or 11 % in one of them. That the symbols
// stay apart in an optimized program, and name the type, is checked by the crate in tests/forwarding.
#[cfg(feature = "profiling")]
#[test]
fn pr_1_the_frames_of_each_value_type_are_functions_of_their_own() {
    #[derive(Clone)]
    struct Meters(i64);
    #[derive(Clone)]
    struct Seconds(i64);
    #[derive(Clone)]
    struct Notes(i64);
    let a = Cell::new(1);
    let meters = (&a).map(|v| Meters(*v)).materialize();
    let seconds = (&a).map(|v| Seconds(*v)).materialize();
    let notes = (&a).map(|v| Notes(*v)).materialize();
    a.set(2);
    assert_eq!((meters.get().0, seconds.get().0, notes.get().0), (2, 2, 2));
    let frames = match frames() {
        Ok(frames) => frames,
        Err(reason) => return println!("skipped: {reason}"),
    };
    for kind in ["notify", "write_value", "fanout"] {
        let mut at: Vec<_> = frames.iter().filter(|frame| frame.0 == kind).map(|f| &f.1).collect();
        let symbols = at.len();
        at.sort();
        at.dedup();
        assert!(symbols >= 3, "{kind}: {symbols} symbols for at least three types");
        assert_eq!(at.len(), symbols, "{kind}: symbols that share an address");
    }
}

// Leaks were found by the memory they took: nobody could see what was subscribed.
#[test]
fn pr_3_subscriptions_are_counted_and_listed() {
    let global = Cell::new(0).with_name("global");
    let row = || {
        let scope = Scope::new();
        scope.run(|| {
            let cells = [(); 3].map(|()| Cell::new(0));
            let maps = [(); 2].map(|()| global.clone().map(|v| v + 1).materialize());
            scope.own(maps[0].watch(|_| ()));
            drop(cells);
        });
        scope
    };
    let before = live();
    assert_eq!(before[..3], [1, 0, 0]);
    let rows: Vec<_> = (0..7).map(|_| row()).collect();
    assert_eq!(live()[..3], [1 + 7 * 5, 7 * 2, 7], "cells, edges, subscriptions");
    let recomputed = arena::totals().recomputations;
    global.set(1);
    assert_eq!(arena::totals().recomputations - recomputed, 14);
    let leaked = global.watch(|_| ()).leak();
    let leaked_at = line!() - 1;
    drop(rows);
    assert_eq!(live()[..3], [1, 0, 1]);
    let guards = arena::guards();
    assert_eq!(guards.len(), 1);
    assert_eq!(guards[0].cell.name.as_deref(), Some("global"));
    assert_eq!((guards[0].place.file(), guards[0].place.line()), (file!(), leaked_at));
    leaked.expect("it is a subscription").unsubscribe();
    assert_eq!(live()[..3], before[..3]);
}

// The same for a shared pipeline (LK-5) and a switch (SW-3).
#[test]
fn pr_3_counts_of_shared_and_switched_cells() {
    let source = Cell::new(0);
    let calls = Count::new();
    let shared = (&source).tap(|_| ()).share();
    assert_eq!(
        (live()[..3].to_vec(), source.dependents()),
        (vec![1, 0, 0], 0),
        "nobody consumes it"
    );
    let consumers = [(); 3].map(|()| shared.clone().materialize());
    let guards = consumers.each_ref().map(|cell| {
        let calls = calls.clone();
        cell.watch_changes(move |_| calls.up())
    });
    source.set(1);
    assert_eq!((calls.get(), source.dependents(), arena::totals().subscribers), (3, 1, 3));
    drop((guards, consumers));
    assert_eq!((live()[..3].to_vec(), source.dependents()), (vec![1, 0, 0], 0));
    drop(shared);

    let inner = Cell::new(5).with_name("inner");
    let switched = source.switch_map({
        let inner = inner.clone();
        move |_| inner.clone()
    });
    let guard = switched.watch(|_| ());
    // Two sources, chooser and output; source to chooser, chooser and inner to output.
    assert_eq!(live()[..3], [4, 3, 1]);
    assert_eq!((inner.dependents(), switched.callbacks()), (1, 1));
    let stale = arena::totals().stale_accesses;
    let id = switched.cell_id();
    drop((guard, switched));
    assert_eq!(live()[..3], [2, 0, 0]);
    assert!(arena::info(id).is_none());
    assert_eq!((inner.dependents(), arena::totals().stale_accesses > stale), (0, true));
}

/// With counters, the listing of cells says the same.
#[cfg(feature = "trace")]
#[test]
fn pr_3_the_hot_cells_have_the_same_numbers() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| v + 1).materialize();
    let _guards = [b.watch(|_| ()), b.watch(|_| ())];
    a.own(b.watch(|_| ()));
    let hot = hyphae::hot_traced_cells();
    let of = |id| hot.get(id).map(|cell| (cell.subscriber_count, cell.owned_count));
    assert_eq!((of(a.cell_id()), of(b.cell_id())), (Some((1, 1)), Some((3, 0))));
    let row = hyphae::census().iter().map(|row| row.subscriber_count).sum::<usize>();
    assert_eq!(row, arena::totals().subscribers + arena::totals().edges);
}
