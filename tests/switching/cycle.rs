//! P7: a closure that gives a cell which hangs on its own output. Circles by reads are in the field reports (CY).

use hyphae::{Cell, CellImmutable, Pipeline, WeakCell, arena, batch};

use crate::support::{Count, Log, Slot, caught, live, owning};

type Later = Slot<WeakCell<i32, CellImmutable>>;

fn of(slot: &Later) -> Cell<i32, CellImmutable> {
    slot.full().upgrade().expect("the test holds it")
}

/// The output itself, and cells one and a hundred steps below it: refused, with the names of the path.
#[test]
fn an_inner_below_the_output_is_refused() {
    for depth in [0, 1, 100] {
        let (sel, slot) = (Cell::new(0), Later::new());
        let o = sel.switch_map(owning!([slot] move |v| {
            if *v == 1 { of(&slot) } else { Cell::new(*v).lock() }
        }));
        let o = o.with_name("output");
        let mut below = o.clone();
        for i in 0..depth {
            below = below.map(|v| *v).materialize().with_name(format!("step {i}"));
        }
        slot.put(below.downgrade());
        let log = Log::new();
        let _guard = log.on(&o);
        sel.set(5);
        let before = live();
        let message = caught(|| sel.set(1)).expect("refused");
        assert!(message.contains("\"output\""), "{message}");
        assert_eq!(message.contains("step 0"), depth > 0, "{message}");
        assert!(message.contains(file!()), "{message}");
        assert_eq!((o.get(), below.get()), (5, 5));
        sel.set(6);
        assert_eq!(below.get(), 6);
        sel.set(5);
        log.check(&[0, 5, 6, 5]);
        assert_eq!(live()[..3], before[..3]);
    }
}

/// A fresh cell over the output, made in the closure: refused as well, and torn down.
#[test]
fn a_fresh_inner_over_the_output_is_refused() {
    let (sel, slot, runs) = (Cell::new(0), Later::new(), Count::new());
    let o = sel.switch_map(owning!([slot, runs] move |v| {
        if *v == 1 { of(&slot).map(runs.of(|v: &i32| v + 1)).materialize() } else { Cell::new(*v).lock() }
    }));
    slot.put(o.downgrade());
    let cells = arena::totals().cells;
    assert!(caught(|| sel.set(1)).is_some());
    assert_eq!((o.get(), o.dependents(), runs.get()), (0, 0, 1));
    assert!(arena::totals().cells <= cells, "the refused inner is gone, the former one, too");
    sel.set(2);
    assert_eq!((o.get(), arena::totals().cells), (2, cells));
}

/// A switch that fails so keeps its last value and hears of no inner, until its selector speaks again (P6).
#[test]
fn a_refused_switch_is_without_an_inner() {
    let (sel, slot, old) = (Cell::new(0), Later::new(), Cell::new(7));
    let o = sel.switch_map(owning!([slot, old] move |v| {
        if *v == 1 { of(&slot) } else { old.clone().lock() }
    }));
    slot.put(o.downgrade());
    assert!(caught(|| sel.set(1)).is_some());
    old.set(8);
    assert_eq!((o.get(), old.dependents()), (7, 0));
    sel.set(0);
    assert_eq!((o.get(), old.dependents()), (8, 1));
}

/// What is above the output is no circle: the selector itself, what it hangs on, what hangs on it.
#[test]
fn inner_cells_around_the_selector_are_fine() {
    let source = Cell::new(0);
    let sel = (&source).map(|v| v % 10).materialize();
    let beside = (&sel).map(|v| v * 100).materialize();
    let inners = [source.clone().lock(), sel.clone(), beside.clone()];
    let o = sel.switch_map(owning!([inners] move |v| inners[(*v % 3) as usize].clone()));
    let log = Log::new();
    let _guard = log.on(&o);
    [11, 12, 13, 14, 20].into_iter().for_each(|v| source.set(v));
    // 1: the selector, 2: beside it, 3: the source, 4: the selector, 0: the source.
    log.check(&[0, 1, 200, 13, 4, 20]);
}

/// Two switches that give each other's outputs in turn: never a circle, if the one that lets go comes first.
#[test]
fn two_switches_that_take_turns() {
    let toggles = [Cell::new(false), Cell::new(false)];
    let slots = [Later::new(), Later::new()];
    let switches: Vec<_> = (0..2_usize)
        .map(|i| {
            let other = slots[1 - i].clone();
            let own = 10 * (i as i32 + 1);
            toggles[i].switch_map(move |t| if *t { of(&other) } else { Cell::new(own).lock() })
        })
        .collect();
    slots.iter().zip(&switches).for_each(|(slot, cell)| slot.put(cell.downgrade()));
    let values = || (switches[0].get(), switches[1].get());
    for _ in 0..100 {
        toggles[0].set(true);
        assert_eq!(values(), (20, 20));
        assert!(caught(|| toggles[1].set(true)).is_some(), "now it would be a circle");
        assert_eq!(values(), (20, 20));
        toggles[1].set(false);
        toggles[0].set(false);
        toggles[1].set(true);
        assert_eq!(values(), (10, 10));
        toggles[1].set(false);
    }
    let edges = arena::totals().edges;
    toggles[0].set(true);
    toggles[0].set(false);
    assert_eq!(arena::totals().edges, edges);
}

/// Two switches that each give the other's output, if told so, or a number of their own.
fn facing(toggles: [&Cell<bool>; 2]) -> [Cell<i32, CellImmutable>; 2] {
    let slots = [Later::new(), Later::new()];
    [0, 1].map(|i: usize| {
        let (other, own) = (slots[1 - i].clone(), Cell::new(10 * (i as i32 + 1)).lock());
        let t = toggles[i];
        let cell = t.switch_map(move |t| if *t { of(&other) } else { own.clone() });
        slots[i].put(cell.downgrade());
        cell
    })
}

/// The circle is cured at the other switch: the one that was refused follows, as a reader would (P7, last clause).
#[test]
fn a_refused_switch_is_cured_from_the_other_side() {
    let toggles = [Cell::new(false), Cell::new(false)];
    let [a, b] = facing(toggles.each_ref());
    toggles[0].set(true);
    assert!(caught(|| toggles[1].set(true)).is_some());
    assert_eq!((a.get(), b.get()), (20, 20));
    toggles[0].set(false);
    assert_eq!((a.get(), b.get()), (10, 10));
}

/// Who gives whom flips in one wave. What comes of it is no circle, so it is none on the way, in either direction.
#[test]
fn switches_that_swap_in_one_wave() {
    let toggles = [Cell::new(false), Cell::new(true)];
    let [a, b] = facing(toggles.each_ref());
    assert_eq!((a.get(), b.get()), (10, 10));
    for round in 0..4 {
        let (first, second) = (round % 2 == 0, round % 2 == 1);
        batch(|| {
            toggles[0].set(first);
            toggles[1].set(second);
        });
        assert_eq!((a.get(), b.get()), if first { (20, 20) } else { (10, 10) });
    }
}

/// `merge_map`: the inner that would close the circle is refused, the others go on.
#[test]
fn a_merge_map_over_its_own_output() {
    let (sel, slot, inner) = (Cell::new(0), Later::new(), Cell::new(1));
    let o = sel.merge_map(owning!([slot, inner] move |v| {
        if *v == 1 { of(&slot) } else { inner.clone().lock() }
    }));
    let o = o.with_name("output");
    slot.put(o.downgrade());
    let message = caught(|| sel.set(1)).expect("refused");
    assert!(message.contains("\"output\""), "{message}");
    inner.set(2);
    assert_eq!((o.get(), o.dependents()), (2, 0));
    sel.set(2);
    inner.set(3);
    assert_eq!(o.get(), 3);
}

/// Circles made and undone in one batch are none: what counts is the state that is settled.
#[test]
fn a_circle_undone_in_the_same_batch() {
    let (t, slot) = (Cell::new(false), Later::new());
    let a = Cell::computed(owning!([t, slot] move || if t.get() { of(&slot).get() } else { 1 }));
    let b = (&a).map(|a| a + 1).materialize();
    slot.put(b.downgrade());
    let outcome = caught(|| {
        batch(|| {
            t.set(true);
            t.set(false);
        });
    });
    assert_eq!((outcome, a.get(), b.get()), (None, 1, 2));
    // A read in between settles, and so finds the circle.
    let read = caught(|| {
        batch(|| {
            t.set(true);
            let read = b.get();
            t.set(false);
            read
        });
    });
    assert!(read.is_some());
    assert_eq!((a.get(), b.get()), (1, 2));
}
