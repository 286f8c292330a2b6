//! P14: tracked reads, in `computed` and `effect`; what is not tracked; and readers that have to wait.

use hyphae::{Cell, CellImmutable, Error, Limits, Pipeline, arena, batch, effect, untracked};

use crate::support::{Count, Heard, Log, Slot, owning, run_on_small_stack};

type Derived = Cell<i32, CellImmutable>;

/// All four ways to read are tracked; one that fails, too, as far as there is a cell to wait for.
#[test]
fn every_way_of_reading_is_tracked() {
    let a = Cell::new(1);
    let cells = [
        Cell::computed(owning!([a] move || a.get())),
        Cell::computed(owning!([a] move || a.with(|v| *v))),
        Cell::computed(owning!([a] move || a.try_get().unwrap_or(-1))),
        Cell::computed(owning!([a] move || a.try_with(|v| *v).unwrap_or(-1))),
        Cell::computed(owning!([a] {
            let locked = a.lock();
            move || locked.get()
        })),
        Cell::computed(owning!([a] {
            let weak = a.downgrade();
            move || weak.upgrade().map_or(-1, |a| a.get())
        })),
    ];
    assert_eq!(a.dependents(), cells.len());
    a.set(2);
    assert_eq!(cells.each_ref().map(Cell::get), [2; 6]);
    a.dispose();
    assert_eq!(cells.each_ref().map(Cell::get), [2; 6], "the last value stays");
}

/// Things that tell about a cell without reading its value.
#[test]
fn looking_at_a_cell_is_not_reading_it() {
    let a = Cell::new(1).with_name("a");
    let runs = Count::new();
    let o = Cell::computed(owning!([a, runs] move || {
        runs.up();
        let told = (a.name(), a.dependents(), a.subscriber_count(), a.cell_id(), a.place());
        let _ = (told, arena::info(a.cell_id()), a.clone(), a.downgrade(), format!("{a:?}"));
        let _ = untracked(|| (a.get(), a.with(|v| *v), a.try_get()));
        0
    }));
    assert_eq!((a.dependents(), o.get()), (0, 0));
    a.set(2);
    assert_eq!(runs.get(), 1);
}

/// `untracked` is for its closure only, also when it is left by a panic; tracked closures inside it track.
#[test]
fn untracked_ends_with_its_closure() {
    let [a, b, c] = [1, 10, 100].map(Cell::new);
    let o = Cell::computed(owning!([a, b, c] move || {
        let hidden = untracked(|| {
            let inside = Cell::computed(owning!([c] move || c.get()));
            assert_eq!(c.dependents(), 1);
            inside.get() + untracked(|| a.get())
        });
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            untracked(|| panic!("left"))
        }));
        hidden + b.get()
    }));
    assert_eq!([&a, &b, &c].map(Cell::dependents), [0, 1, 0]);
    a.set(2);
    c.set(200);
    assert_eq!(o.get(), 111);
    b.set(20);
    assert_eq!(o.get(), 222);
    assert_eq!(untracked(|| a.get()), 2, "outside of any closure it changes nothing");
}

/// Closures that run inside a tracked one have reads of their own.
#[test]
fn reads_of_nested_closures_are_their_own() {
    let [own, mapped, switched, computed, acted, watched] = [1; 6].map(Cell::new);
    let runs = Count::new();
    let o =
        Cell::computed(owning!([own, mapped, switched, computed, acted, watched, runs] move || {
            runs.up();
            let kept = (
                Cell::new(()).map(owning!([mapped] move |()| mapped.get())).materialize(),
                Cell::new(()).switch_map(owning!([switched] move |()| Cell::new(switched.get()))),
                Cell::computed(owning!([computed] move || computed.get())),
            );
            let guards = (
                effect(owning!([acted] move || {
                    acted.get();
                })),
                Cell::new(()).watch(owning!([watched] move |()| {
                    watched.get();
                })),
            );
            drop((kept, guards));
            own.get()
        }));
    let all = [&own, &mapped, &switched, &computed, &acted, &watched];
    assert_eq!(all.map(Cell::dependents), [1, 0, 0, 0, 0, 0]);
    all[1..].iter().for_each(|cell| cell.set(2));
    assert_eq!(runs.get(), 1);
    own.set(2);
    assert_eq!((o.get(), runs.get()), (2, 2));
}

/// A read inside the closure of `with`: both cells are read.
#[test]
fn reads_inside_a_read_are_tracked() {
    let (a, b) = (Cell::new(1), Cell::new(10));
    let o = Cell::computed(owning!([a, b] move || a.with(|a| a + b.get())));
    assert_eq!((a.dependents(), b.dependents()), (1, 1));
    b.set(20);
    a.set(2);
    assert_eq!(o.get(), 22);
}

/// Clean-ups belong to the run that is over: what they read is nobody's dependency.
#[test]
fn reads_of_clean_ups_are_not_tracked() {
    let (a, b, runs) = (Cell::new(1), Cell::new(1), Count::new());
    let o = Cell::computed(owning!([a, b, runs] move || {
        runs.up();
        hyphae::on_cleanup(owning!([b] move || {
            b.get();
        }));
        a.get()
    }));
    a.set(2);
    b.set(2);
    assert_eq!((o.get(), runs.get(), b.dependents()), (2, 2, 0));
}

/// The set of cells read changes from run to run; only those of the last run count, each once.
#[test]
fn reads_follow_the_last_run() {
    let cells: Vec<_> = (0..8).map(|i| Cell::new(1 << i)).collect();
    let (mask, runs) = (Cell::new(0_usize), Count::new());
    let sum = Cell::computed(owning!([cells, mask, runs] move || {
        runs.up();
        let mask = mask.get();
        (0..8).filter(|i| mask & (1 << i) != 0).map(|i| cells[i].get()).sum::<i32>()
    }));
    let mut step = 7_usize;
    for _ in 0..500 {
        step = (step * 31 + 17) % 256;
        mask.set(step);
        assert_eq!(sum.get(), step as i32);
        assert_eq!(arena::totals().edges, 1 + step.count_ones() as usize);
        let before = runs.get();
        (0..8).for_each(|i| cells[i].set(1 << i));
        assert_eq!(runs.get() - before, step.count_ones() as usize);
    }
}

/// Several inputs of one wave, of one batch: one run, one delivery.
#[test]
fn one_run_for_all_inputs_of_a_wave() {
    let (a, runs) = (Cell::new(1), Count::new());
    let inputs: Vec<_> = (0..10).map(|i| (&a).map(move |v| v + i).materialize()).collect();
    let free: Vec<_> = (0..10).map(Cell::new).collect();
    let o = Cell::computed(owning!([inputs, free, runs] move || {
        runs.up();
        inputs.iter().map(Cell::get).sum::<i32>() + free.iter().map(Cell::get).sum::<i32>()
    }));
    let log = Log::new();
    let _guard = log.on(&o);
    a.set(2);
    batch(|| free.iter().for_each(|cell| cell.set(0)));
    log.check(&[100, 110, 65]);
    assert_eq!(runs.get(), 3);
}

/// A chain of readers made from its top to its bottom, each of which reads the next ones once it may: every edge comes
/// against the order, and not all readers can wait in place. What they abandon is repeated, and counts once.
#[test]
fn a_chain_of_readers_against_the_order() {
    const N: usize = 2_000;
    run_on_small_stack(256, || {
        let (open, runs) = (Cell::new(false), Count::new());
        let slots: Vec<Slot<Derived>> = (0..N + 2).map(|_| Slot::new()).collect();
        for i in 0..N {
            let [one, two] = [1, 2].map(|far| slots[i + far].clone());
            slots[i].put(Cell::computed(owning!([open, runs] move || {
                runs.up();
                if !open.get() {
                    return 0;
                }
                let read = |slot: &Slot<Derived>| slot.get().map_or(0, |cell| cell.get());
                read(&one).max(read(&two)) + 1
            })));
        }
        let log = Log::new();
        let _guard = log.on(&slots[0].full());
        open.set(true);
        assert_eq!(runs.get().clamp(2 * N, 4 * N), runs.get(), "twice abandoned at most");
        let (before, moves) = (runs.get(), arena::totals().moves);
        [false, true].into_iter().for_each(|v| open.set(v));
        log.check(&[0, N as i32, 0, N as i32]);
        assert_eq!((runs.get() - before, arena::totals().moves), (2 * N, moves));
    });
}

/// A reader that waits for a cell of the same wave gets the new value, and delivers once.
#[test]
fn a_reader_waits_for_what_is_not_computed_yet() {
    let (a, slot, runs) = (Cell::new(0), Slot::<Derived>::new(), Count::new());
    let reader = Cell::computed(owning!([a, slot, runs] move || {
        runs.up();
        (a.get(), slot.get().map(|later| later.get()))
    }));
    slot.put(Cell::computed(owning!([a] move || a.get() * 10)));
    let below = (&reader).map(|pair| *pair).materialize();
    let log = Log::new();
    let _guard = log.on(&below);
    (1..4).for_each(|v| a.set(v));
    log.check(&[(0, None), (1, Some(10)), (2, Some(20)), (3, Some(30))]);
    assert!(runs.get() <= 5, "abandoned once at most, at the first read: {}", runs.get());
    drop(slot.take());
}

/// The same while another value is lent, by `with` and by an outer `with`: the reader can't wait there.
#[test]
fn a_reader_waits_inside_with() {
    let (a, slot) = (Cell::new(0), Slot::<Derived>::new());
    let text = (&a).map(|v| v.to_string()).materialize();
    let reader = Cell::computed(owning!([a, text, slot] move || {
        text.with(|text| a.with(|v| format!("{text} {v} {:?}", slot.get().map(|later| later.get()))))
    }));
    slot.put(Cell::computed(owning!([text] move || text.with(String::len) as i32)));
    let log = Log::new();
    let _guard = log.on(&reader);
    [1, 22, 333].into_iter().for_each(|v| a.set(v));
    log.check(&["0 0 None", "1 1 Some(1)", "22 22 Some(2)", "333 333 Some(3)"]);
}

/// A computed cell ends with the cells of its last run, not with those of an earlier one.
#[test]
fn a_computed_cell_ends_with_what_it_read_last() {
    let (t, a, b) = (Cell::new(true), Cell::new(1), Cell::new(10));
    let o = Cell::computed(owning!([t, a, b] move || if t.get() { a.get() } else { b.get() }));
    let log = Log::new();
    let _guard = log.hear(&o);
    a.complete();
    t.set(false);
    t.complete();
    assert!(!o.is_complete());
    b.set(20);
    b.complete();
    let heard = [1, 10, 20].map(Heard::Value).into_iter().chain([Heard::Complete]);
    log.check(&heard.collect::<Vec<_>>());
    assert_eq!(arena::totals().edges, 0);
}

/// It fails with the first error of the cells it read.
#[test]
fn a_computed_cell_fails_with_what_it_read() {
    let (a, b) = (Cell::new(1), Cell::new(10));
    let o = Cell::computed(owning!([a, b] move || a.get() + b.get()));
    let log = Log::new();
    let _guard = log.hear(&o);
    a.fail("broken");
    b.set(20);
    b.complete();
    assert!(o.is_error());
    assert_eq!(log.take().last(), Some(&Heard::Error("broken".into())));
}

/// Errors of reads are values for who asks for them; no edge is left to a cell that can't be read.
#[test]
fn reads_that_fail() {
    let (t, gone) = (Cell::new(false), Cell::new(1).with_name("gone"));
    gone.dispose();
    let o = Cell::computed(
        owning!([t, gone] move || t.get() && matches!(gone.try_get(), Err(Error::Disposed(_)))),
    );
    t.set(true);
    assert!(o.get());
    assert_eq!(gone.dependents(), 0);
    t.set(false);
    assert!(!o.get());
}

/// A computed cell that writes what it reads is feedback (P7): bounded, and named.
#[test]
fn a_computed_cell_that_writes_what_it_reads() {
    hyphae::set_limits(Limits { generations: 100, ..Limits::default() });
    let (n, runs) = (Cell::new(0).with_name("n"), Count::new());
    let clamped = Cell::computed(owning!([n, runs] move || {
        runs.up();
        if n.get() < 10 {
            n.set(n.get() + 1);
        }
        n.get()
    }));
    assert_eq!((n.get(), clamped.get(), runs.get()), (10, 10, 11));
    let endless =
        crate::support::caught(|| Cell::computed(owning!([n] move || n.set(n.get() + 1))));
    assert!(endless.is_some_and(|text| text.contains("\"n\"")));
    assert_eq!(n.dependents(), 1);
    n.set(3);
    assert_eq!((n.get(), clamped.get()), (10, 10));
}
