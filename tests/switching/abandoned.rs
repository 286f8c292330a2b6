//! Runs that are abandoned because they read too early (P14), and runs at odd moments: what they opened is closed, what they
//! made is gone, their result counts once.

use hyphae::{
    Cell, CellImmutable, Error, Pipeline, WeakCell, arena, batch, effect, no_coalesce, on_cleanup,
};

use crate::support::{Count, Log, Slot, caught, live, owning, run_on_small_stack};

type Derived = Cell<i32, CellImmutable>;

/// Cells made from the top to the bottom, each of which reads the next once `open`: `run` is called in each run.
fn against_the_order(
    n: usize,
    open: &Cell<bool>,
    run: impl Fn() + Clone + 'static,
) -> Vec<Derived> {
    let slots: Vec<Slot<WeakCell<i32, CellImmutable>>> = (0..=n).map(|_| Slot::new()).collect();
    (0..n)
        .map(|i| {
            let (next, run) = (slots[i + 1].clone(), run.clone());
            let cell = Cell::computed(owning!([open] move || {
                run();
                if !open.get() {
                    return 0;
                }
                next.get().and_then(|next| next.upgrade()).map_or(0, |next| next.get()) + 1
            }));
            slots[i].put(cell.downgrade());
            cell
        })
        .collect()
}

/// Each run opens something and closes it once, abandoned or not: one is open for each cell.
#[test]
fn every_run_is_cleaned_up_once() {
    const N: usize = 2_000;
    run_on_small_stack(256, || {
        let (open, opened, closed) = (Cell::new(false), Count::new(), Count::new());
        let cells = against_the_order(
            N,
            &open,
            owning!([opened, closed] move || {
                opened.up();
                on_cleanup(owning!([closed] move || closed.up()));
            }),
        );
        for round in 0..4 {
            open.set(round % 2 == 0);
            assert_eq!(opened.get() - closed.get(), N);
            assert_eq!(cells[0].get(), if round % 2 == 0 { N as i32 } else { 0 });
        }
        assert!(opened.get() > 5 * N, "some were abandoned");
        drop(cells);
        assert_eq!(opened.get(), closed.get());
    });
}

/// Cells that a run makes, reads and throws away leave nothing, whether the run came to its end or not.
#[test]
fn what_abandoned_runs_make_is_gone() {
    const N: usize = 500;
    let (open, source, dropped, made) =
        (Cell::new(false), Cell::new(1), Count::new(), Count::new());
    let cells = against_the_order(
        N,
        &open,
        owning!([source, dropped, made] move || {
            made.up();
            let token = dropped.token();
            let own = (&source).map(move |v| (*v, &token).0).materialize();
            assert_eq!(own.get(), 1);
        }),
    );
    for round in 0..4 {
        open.set(round % 2 == 0);
        assert_eq!(
            arena::totals().cells,
            2 + 2 * N,
            "a cell that was read is an input of its reader"
        );
        assert_eq!(made.get() - dropped.get(), N);
    }
    drop(cells);
    assert_eq!((made.get() - dropped.get(), source.dependents()), (0, 0));
}

/// Subscribers hear of each cell once a wave, with the final value, however often its closure was run.
#[test]
fn abandoned_runs_are_not_heard() {
    const N: usize = 300;
    let (open, log) = (Cell::new(false), Log::new());
    let cells = against_the_order(N, &open, || ());
    let guards: Vec<_> = cells
        .iter()
        .enumerate()
        .map(|(i, cell)| cell.watch_changes(owning!([log] move |v| log.push((i, *v)))))
        .collect();
    open.set(true);
    let mut heard = log.take();
    heard.sort_unstable();
    assert!(heard.into_iter().eq((0..N).map(|i| (i, (N - i) as i32))));
    drop(guards);
}

/// The store prints nothing of its own way to unwind: it is no panic for the program's hook.
#[test]
fn abandoning_is_no_panic_for_the_hook() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let this = std::thread::current().id();
    let former = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == this {
            SEEN.fetch_add(1, Ordering::Relaxed);
        } else {
            former(info);
        }
    }));
    let open = Cell::new(false);
    let runs = Count::new();
    let cells = against_the_order(2_000, &open, owning!([runs] move || runs.up()));
    open.set(true);
    assert_eq!(cells[0].get(), 2_000);
    assert_eq!(SEEN.load(Ordering::Relaxed), 0);
}

/// A computed cell and an effect that make a cell and read it, again and again.
#[test]
fn a_cell_made_and_read_in_one_run() {
    let (n, log) = (Cell::new(0), Log::new());
    let o = Cell::computed(owning!([n] move || {
        let own = Cell::new(n.get() * 2);
        let below = (&own).map(|v| v + 1).materialize();
        own.get() + below.get()
    }));
    let guard = effect(owning!([n, log] move || {
        let own = Cell::computed(owning!([n] move || n.get() * 3));
        log.push(own.get());
    }));
    n.set(1);
    let before = live();
    for v in 2..1000 {
        n.set(v);
        assert_eq!(o.get(), v * 4 + 1);
    }
    assert_eq!(live(), before);
    assert!(log.take().into_iter().eq((0..1000).map(|v| v * 3)));
    drop((o, guard));
    assert_eq!((arena::totals().cells, n.subscriber_count()), (1, 0));
}

/// Many reads in another order each time: each cell is one input, and the edges stay as they are.
#[test]
fn many_reads_in_changing_order() {
    const N: usize = 1_000;
    let cells: Vec<_> = (0..N as u64).map(Cell::new).collect();
    let (turn, runs) = (Cell::new(1_usize), Count::new());
    let sum = Cell::computed(owning!([cells, turn, runs] move || {
        runs.up();
        let stride = [1, 7, 333, 999][turn.get() % 4];
        (0..N).map(|i| cells[i * stride % N].get()).sum::<u64>()
    }));
    for v in 0..20 {
        turn.set(v);
        assert_eq!((sum.get(), arena::totals().edges), ((N * (N - 1) / 2) as u64, N + 1));
    }
    let before = runs.get();
    cells.iter().for_each(|cell| cell.update(|v| *v += 1));
    assert_eq!((runs.get() - before, sum.get()), (N, (N * (N + 1) / 2) as u64));
}

/// A computed cell disposed of, or dropped, by its own closure; by what it reads; by what it waits for.
#[test]
fn a_reader_that_goes_while_it_runs() {
    for place in 0..3 {
        let (n, slot) = (Cell::new(0), Slot::<Derived>::new());
        let act = |own: i32| {
            owning!([slot] move || {
                if own == place {
                    slot.take().into_iter().for_each(|cell| cell.dispose());
                }
            })
        };
        let (before, between, after) = (act(0), act(1), act(2));
        let later = Slot::<Derived>::new();
        slot.put(Cell::computed(owning!([n, later] move || {
            if n.get() == 1 {
                before();
            }
            let read = later.get().map_or(0, |cell| cell.get());
            if n.get() == 1 {
                after();
            }
            read
        })));
        later.put(
            (&n).map(move |v| {
                if *v == 1 {
                    between();
                }
                v * 10
            })
            .materialize(),
        );
        let weak = slot.full().downgrade();
        n.set(1);
        n.set(2);
        assert!(!weak.is_alive(), "{place}");
        assert_eq!(later.full().get(), 20);
        drop(later.take());
        assert_eq!((n.dependents(), arena::totals().cells), (0, 1), "{place}");
    }
}

/// Reading what is lent to an `update`, through a computed cell that is made there or was made before.
#[test]
fn reads_of_a_lent_cell() {
    let a = Cell::new(1).with_name("a");
    let kept = Cell::computed(owning!([a] move || a.get() * 10));
    let cells = arena::totals().cells;
    let mut errors = Vec::new();
    a.update(|v| {
        *v = 2;
        errors.push(kept.try_get().err());
        errors.push(caught(|| Cell::computed(owning!([a] move || a.get()))).map(|text| {
            assert!(text.contains("lent"), "{text}");
            Error::StoreClosed
        }));
    });
    assert!(matches!(errors[0], Some(Error::Lent { .. })), "{errors:?}");
    assert!(errors[1].is_some(), "a construction that fails");
    assert_eq!((kept.get(), a.dependents(), arena::totals().cells), (20, 1, cells));
}

/// Events keep their rounds through switches, computed cells and effects (P12).
#[test]
fn each_event_is_a_round_of_its_own() {
    let events = no_coalesce(|| Cell::new(0));
    let plain = Cell::new(0);
    let (switched, read, acted, inner) = (Log::new(), Log::new(), Log::new(), Count::new());
    let s = events.switch_map(owning!([plain, inner] move |v| {
        inner.up();
        let v = *v;
        (&plain).map(move |p| (v, *p)).materialize()
    }));
    let c = Cell::computed(owning!([events, plain] move || (events.get(), plain.get())));
    let _guards = (switched.on(&s), read.on(&c));
    let _effect =
        effect(owning!([events, plain, acted] move || acted.push((events.get(), plain.get()))));
    batch(|| {
        events.set(1);
        plain.set(5);
        events.set(2);
        events.set(3);
        plain.set(6);
    });
    let expected = [(0, 0), (1, 6), (2, 6), (3, 6)];
    switched.check(&expected);
    read.check(&expected);
    acted.check(&expected);
    assert_eq!(inner.get(), 4);
}

/// Everything alive when the thread ends: values and closures are dropped, nothing is called any more.
#[test]
fn a_thread_ends_with_everything_alive() {
    let drops = std::sync::Arc::new(());
    let held = drops.clone();
    let thread = std::thread::spawn(move || {
        let n = Cell::new(0);
        let token = || held.clone();
        let (a, b, c, d, e) = (token(), token(), token(), token(), token());
        let switched = n.switch_map(move |v| {
            let (a, b) = (a.clone(), b.clone());
            on_cleanup(move || drop(b));
            Cell::new(*v).map(move |v| (*v, &a).0).materialize()
        });
        let computed = Cell::computed(owning!([switched] move || (switched.get(), &c).0));
        let merged = computed.merge_map(move |v| (Cell::new(*v), &d).0);
        effect(owning!([merged] move || {
            let _ = (&e, merged.get());
        }))
        .leak();
        n.set(1);
        std::mem::forget((n, switched, computed, merged));
    });
    thread.join().expect("it ends well");
    assert_eq!(std::sync::Arc::strong_count(&drops), 1);
}
