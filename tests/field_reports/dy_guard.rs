//! DY-3, DY-6, DY-7 and DY-11 with operators whose inputs change: nobody looks, cells made inside, forbidden values.

use hyphae::{Cell, CellImmutable, Pipeline, arena, batch, effect, on_cleanup};

use crate::support::{Log, Slot, owning};

type Derived = Cell<i32, CellImmutable>;

/// A computed cell that was read and then observed kept the old value for ever.
#[test]
fn dy_3_first_subscription_of_a_computed_cell_finds_it_current() {
    let (s, t) = (Cell::new(0), Cell::new(false));
    let computed = Cell::computed(owning!([s, t] move || if t.get() { -s.get() } else { s.get() }));
    let switched = t.switch_map(owning!([s] move |t| {
        let sign = if *t { -1 } else { 1 };
        (&s).map(move |v| v * sign).materialize()
    }));
    assert_eq!((computed.get(), switched.get()), (0, 0));
    s.set(1);
    t.set(true);
    let (first, second) = (Log::new(), Log::new());
    let _guards = (first.on(&computed), second.on(&switched));
    assert_eq!((computed.get(), switched.get()), (-1, -1));
    s.set(2);
    first.check(&[-1, -2]);
    second.check(&[-1, -2]);
}

/// A second-level memo kept `true` after its input had moved on through two writes.
#[test]
fn dy_6_a_computed_second_level_is_current() {
    let input = Cell::new(0);
    let first = (&input).map(|v| *v == 1).deduped().materialize();
    let second = Cell::computed(owning!([first] move || first.get()));
    let third = second.switch_map(|v| Cell::new(*v));
    let _guard = first.watch(|_| ());
    input.set(1);
    assert!(second.get() && third.get());
    input.set(2);
    input.set(3);
    assert!(!second.get() && !third.get());
}

/// A memo made once inside an effect belonged to that run and died at the next. Here it belongs to its handle, in
/// every kind of closure; only what nobody else holds goes with the run.
#[test]
fn dy_7_a_cell_made_in_a_dynamic_closure_lives_by_its_handle() {
    let (n, log) = (Cell::new(0), Log::new());
    let slots: [Slot<Derived>; 3] = std::array::from_fn(|_| Slot::new());
    let doubled = |slot: &Slot<Derived>| {
        owning!([n, slot] move || {
            if slot.is_empty() {
                slot.put((&n).map(|v| v * 2).materialize());
            }
            slot.full()
        })
    };
    let [compute, switch, act] = slots.each_ref().map(doubled);
    let computed = Cell::computed(owning!([n] move || n.get() + compute().get()));
    let switched = n.switch_map(move |_| switch());
    let effect = effect(owning!([n, log] move || log.push(n.get() + act().get())));
    for v in 1..4 {
        n.set(v);
        assert_eq!((computed.get(), switched.get()), (v * 3, v * 2));
    }
    log.check(&[0, 3, 6, 9]);
    drop((computed, switched, effect));
    n.set(5);
    slots.iter().for_each(|slot| assert_eq!(slot.full().get(), 10));
    slots.iter().for_each(|slot| drop(slot.take()));
    drop(n);
    arena::assert_no_live();
}

/// What the closure made and nobody else holds is gone at the next switch, before the closure runs again.
#[test]
fn dy_7_what_nobody_holds_goes_at_the_next_switch() {
    let n = Cell::new(0);
    let (alive, last) = (Log::new(), Slot::new());
    let o = n.switch_map(owning!([n, alive, last] move |_| {
        if let Some(former) = last.get() {
            let former: hyphae::WeakCell<i32, CellImmutable> = former;
            alive.push(former.is_alive());
            assert!(former.upgrade().is_none());
        }
        let inner = (&n).map(|v| v * 2).materialize();
        last.put(inner.downgrade());
        inner
    }));
    assert!(last.full().is_alive());
    (1..4).for_each(|v| n.set(v));
    alive.check(&[false; 3]);
    assert!(last.full().is_alive(), "the switch holds its inner");
    assert_eq!((o.get(), n.dependents()), (6, 2));
    drop(o);
    assert!(!last.full().is_alive());
}

/// 100 divided by `a`, which never may be 0.
fn divide(a: &Cell<i32>, divisors: &Log<i32>) -> Derived {
    let divisors = divisors.clone();
    a.map(move |v| {
        divisors.push(*v);
        100 / v
    })
    .materialize()
}

/// Zero and not zero in turn, in waves, in batches, and read in a batch.
fn drive(a: &Cell<i32>, out: &Derived, divisors: &Log<i32>) {
    let log = Log::new();
    let _guard = log.on(out);
    a.set(0);
    a.set(4);
    batch(|| [2, 0].into_iter().for_each(|v| a.set(v)));
    batch(|| [0, 10].into_iter().for_each(|v| a.set(v)));
    let read = batch(|| {
        a.set(0);
        let read = out.get();
        a.set(20);
        read
    });
    assert_eq!(read, 0);
    log.check(&[20, 0, 25, 0, 10, 5]);
    assert!(!divisors.take().contains(&0));
}

/// The division ran with 0 in the very settle in which its guard said no.
#[test]
fn dy_11_a_guarded_division_is_torn_down_before_it_could_run() {
    let (a, divisors) = (Cell::new(5), Log::new());
    let is_zero = (&a).map(|v| *v == 0).deduped().materialize();
    let o = is_zero.switch_map(owning!([a, divisors] move |z| {
        if *z { Cell::new(0).lock() } else { divide(&a, &divisors) }
    }));
    let o = o.deduped().materialize();
    let log = Log::new();
    let _guard = log.on(&o);
    a.set(0);
    a.set(4);
    log.check(&[20, 0, 25]);
    divisors.check(&[5, 4]);
    a.set(5);
    drive(&a, &o, &divisors);
}

/// The guard is decided far below the source, the division hangs directly on it.
#[test]
fn dy_11_the_guard_takes_a_long_way() {
    let (a, divisors) = (Cell::new(5), Log::new());
    let mut far = a.clone().lock();
    for _ in 0..50 {
        far = far.map(|v| *v).materialize();
    }
    let is_zero = far.map(|v| *v == 0).deduped().materialize();
    let o = is_zero.switch_map(owning!([a, divisors] move |z| {
        if *z { Cell::new(0).lock() } else { divide(&a, &divisors) }
    }));
    drive(&a, &o, &divisors);
}

/// Cells between the source and its guard have gone, and left room in the order for the division to come too early.
#[test]
fn dy_11_there_is_room_before_the_guard() {
    let (a, divisors) = (Cell::new(5), Log::new());
    let room: Vec<_> = (0..100).map(|_| (&a).map(|v| *v).materialize()).collect();
    let is_zero = (&a).map(|v| *v == 0).deduped().materialize();
    let more: Vec<_> = (0..100).map(|_| (&is_zero).map(|z| *z).materialize()).collect();
    let o = is_zero.switch_map(owning!([a, divisors] move |z| {
        if *z {
            return Cell::new(0).lock();
        }
        let first = divide(&a, &divisors);
        let second = Cell::computed(owning!([a, divisors] move || {
            divisors.push(a.get());
            100 / a.get()
        }));
        first.join(&second).map(|(first, second)| (first + second) / 2).materialize()
    }));
    drop((room, more));
    drive(&a, &o, &divisors);
}

/// A condition and its branch in one computed cell.
#[test]
fn dy_11_a_computed_condition() {
    let (a, divisors) = (Cell::new(5), Log::new());
    let is_zero = Cell::computed(owning!([a] move || a.get() == 0)).deduped().materialize();
    let o = Cell::computed(owning!([a, is_zero, divisors] move || {
        if is_zero.get() {
            return 0;
        }
        divisors.push(a.get());
        100 / a.get()
    }));
    drive(&a, &o.deduped().materialize(), &divisors);
}

/// The same with the source read before the condition, and the condition made after the cell that asks it.
#[test]
fn dy_11_a_computed_condition_made_after_what_it_guards() {
    let (a, divisors, wake) = (Cell::new(5), Log::new(), Cell::new(()));
    let slot = Slot::<Cell<bool, CellImmutable>>::new();
    let o = Cell::computed(owning!([a, slot, divisors, wake] move || {
        wake.get();
        let v = a.get();
        if slot.get().is_none_or(|is_zero| is_zero.get()) {
            return 0;
        }
        divisors.push(v);
        100 / v
    }));
    slot.put((&a).map(|v| *v == 0).deduped().materialize());
    wake.set(());
    drive(&a, &o.deduped().materialize(), &divisors);
}

/// The division inside a switch inside the guarded switch, and as a computed cell there.
#[test]
fn dy_11_a_division_in_a_nested_switch() {
    let (a, divisors) = (Cell::new(5), Log::new());
    let is_zero = (&a).map(|v| *v == 0).deduped().materialize();
    let even = (&a).map(|v| v % 2 == 0).deduped().materialize();
    let o = is_zero.switch_map(owning!([a, even, divisors] move |z| {
        if *z {
            return Cell::new(0).lock();
        }
        even.switch_map(owning!([a, divisors] move |even| {
            if *even {
                return divide(&a, &divisors);
            }
            Cell::computed(owning!([a, divisors] move || {
                divisors.push(a.get());
                100 / a.get()
            }))
        }))
    }));
    drive(&a, &o.deduped().materialize(), &divisors);
}

/// An effect of the guarded part, which its clean-up ends, is not called with the forbidden value either.
#[test]
fn dy_11_an_effect_of_the_guarded_part() {
    let (a, divisors) = (Cell::new(5), Log::new());
    let is_zero = (&a).map(|v| *v == 0).deduped().materialize();
    let o = is_zero.switch_map(owning!([a, divisors] move |z| {
        if !*z {
            let guard = effect(owning!([a, divisors] move || divisors.push(100 / a.get())));
            on_cleanup(move || drop(guard));
        }
        Cell::new(*z)
    }));
    let log = Log::new();
    let _guard = log.on(&o);
    [0, 4, 2, 0].into_iter().for_each(|v| a.set(v));
    divisors.check(&[20, 25, 50]);
    log.check(&[false, true, false, true]);
    assert_eq!(a.subscriber_count(), 1);
}
