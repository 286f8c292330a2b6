//! PA: panics and errors (rule P6), as reported. The wider kinds of the same faults are in `pa_wide`.

use hyphae::{Cell, CellError, Pipeline, Scope, Signal, batch, effect, on_cleanup};

use crate::support::{Count, Heard, Log, caught, owning};

/// The subscriber behind the failing one was skipped, and then ran for an unrelated write.
#[test]
fn pa_1_siblings_of_a_failing_subscriber_run_in_their_own_wave() {
    let (a, b) = (Cell::new(0), Cell::new(0));
    let (a1, a2, a3, b1) = (Log::new(), Log::new(), Log::new(), Log::new());
    let _a1 = a1.on(&a);
    let _a2 = a.watch({
        let a2 = a2.clone();
        move |v| {
            assert!(*v != 2, "A2 got 2");
            a2.push(*v);
        }
    });
    let _a3 = a3.on(&a);
    let _b1 = b1.on(&b);
    a.set(1);
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("A2 got 2"));
    a3.check(&[0, 1, 2]);
    b.set(3);
    a3.check(&[0, 1, 2]);
    a.set(4);
    a1.check(&[0, 1, 2, 4]);
    a2.check(&[0, 1, 4]);
    a3.check(&[0, 1, 2, 4]);
    b1.check(&[0, 3]);
}

/// Code in a batch panicked and the depth was never lowered: later writes notified nobody.
#[test]
fn pa_3_a_panic_in_a_batch_closes_it() {
    let a = Cell::new(0);
    let derived = (&a).map(|v| v * 10).materialize();
    let (log, on_derived) = (Log::new(), Log::new());
    let _guards = (log.on(&a), on_derived.on(&derived));
    let message = caught(|| {
        batch(|| {
            a.set(1);
            panic!("in the batch");
        })
    });
    assert_eq!(message.as_deref(), Some("in the batch"));
    log.check(&[0, 1]);
    a.set(2);
    log.check(&[0, 1, 2]);
    on_derived.check(&[0, 10, 20]);
}

/// The same two deep: caught in the middle, the outer batch goes on; not caught, both close.
#[test]
fn pa_3_a_panic_in_a_nested_batch_closes_all_that_it_leaves() {
    let a = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&a);
    let inner = || {
        batch(|| {
            a.set(1);
            panic!("in the inner batch");
        })
    };
    batch(|| {
        assert!(caught(inner).is_some());
        log.check(&[0]);
        a.set(2);
    });
    log.check(&[0, 2]);
    let message = caught(|| batch(|| batch(inner)));
    assert_eq!(message.as_deref(), Some("in the inner batch"));
    log.check(&[0, 2, 1]);
    a.set(3);
    log.check(&[0, 2, 1, 3]);
}

/// The same in a callback: what the batch wrote is settled, and later writes are no part of it.
#[test]
fn pa_3_a_panic_in_a_batch_of_a_callback_closes_it() {
    let (s, x, y) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let both = x.join(&y);
    let log = Log::new();
    let _log = log.on(&both);
    let _guard = s.subscribe_changes({
        let (x, y) = (x.clone(), y.clone());
        move |_| {
            let inside = caught(|| {
                batch(|| {
                    x.set(1);
                    y.set(1);
                    panic!("in the batch");
                })
            });
            assert!(inside.is_some());
            x.set(2);
            y.set(2);
            batch(|| panic!("in the last batch"));
        }
    });
    assert_eq!(caught(|| s.set(1)).as_deref(), Some("in the last batch"));
    log.check(&[(0, 0), (1, 1), (2, 1), (2, 2)]);
    x.set(3);
    log.check(&[(0, 0), (1, 1), (2, 1), (2, 2), (3, 2)]);
}

/// A subscriber that failed in its first call stayed, without anybody holding its guard.
#[test]
fn pa_5_a_subscriber_that_fails_at_once_is_not_registered() {
    let a = Cell::new(0);
    let calls = Count::new();
    let subscribe = || drop(a.watch(calls.of(|_: &i32| panic!("at once"))));
    assert_eq!(caught(subscribe).as_deref(), Some("at once"));
    a.set(1);
    a.set(2);
    assert_eq!((calls.get(), a.callbacks()), (1, 0));
}

/// After one caught failure a "running" flag stuck: no new reaction ever ran.
#[test]
fn pa_6_the_store_is_as_usable_as_before() {
    let a = Cell::new(0);
    assert!(caught(|| drop(a.watch(|_| panic!("first")))).is_some());
    let (x, y) = (Log::new(), Log::new());
    let _x = x.on(&a);
    let d = (&a).map(|v| v + 1).materialize();
    let _y = y.on(&d);
    a.set(1);
    x.check(&[0, 1]);
    y.check(&[1, 2]);
}

/// A clean-up that failed was called again and again, the others were skipped, the owner was stuck.
#[test]
fn pa_7_a_clean_up_that_fails_does_not_hold_its_scope_up() {
    let (d1, d2) = (Count::new(), Count::new());
    let a = Cell::new(0);
    let open = |fails: bool| {
        let scope = Scope::new();
        let inner = scope.run(|| {
            let (d1, d2) = (d1.clone(), d2.clone());
            on_cleanup(move || d2.up());
            on_cleanup(move || {
                d1.up();
                assert!(!fails, "D1");
            });
            (&a).map(|v| *v).materialize().downgrade()
        });
        (scope, inner)
    };
    let (scope, inner) = open(true);
    assert_eq!(caught(|| drop(scope)).as_deref(), Some("D1"));
    assert_eq!((d1.get(), d2.get()), (1, 1));
    assert!(!inner.is_alive());
    assert_eq!(a.dependents(), 0);
    for run in 2..4 {
        let (scope, inner) = open(false);
        a.set(run);
        assert_eq!(inner.upgrade().map(|i| i.get()), Some(run));
        drop(scope);
        assert!(!inner.is_alive());
    }
    assert_eq!((d1.get(), d2.get()), (3, 3));
}

/// Clean-ups of a run: the first fails at its first call, both are counted.
fn register(d1: &Count, d2: &Count) {
    on_cleanup(owning!([d2] move || d2.up()));
    on_cleanup(owning!([d1] move || {
        d1.up();
        assert!(d1.get() > 1, "D1");
    }));
}

/// The same in the closures of a switch, a computed cell and an effect: the error is reported once, the closure runs.
#[test]
fn pa_7_a_clean_up_that_fails_does_not_hold_its_closure_up() {
    for kind in 0..3 {
        let (a, d1, d2, log) = (Cell::new(0), Count::new(), Count::new(), Log::new());
        let run = owning!([d1, d2] move || register(&d1, &d2));
        let guard = match kind {
            0 => log.on(&a.switch_map(move |v| {
                run();
                Cell::new(*v)
            })),
            1 => log.on(&Cell::computed(owning!([a] move || {
                run();
                a.get()
            }))),
            _ => effect(owning!([a, log] move || {
                run();
                log.push(a.get());
            })),
        };
        assert_eq!((d1.get(), d2.get()), (0, 0), "{kind}");
        assert_eq!(caught(|| a.set(1)).as_deref(), Some("D1"), "{kind}");
        assert_eq!((d1.get(), d2.get()), (1, 1), "{kind}");
        assert_eq!(caught(|| a.set(2)), None, "{kind}");
        assert_eq!((d1.get(), d2.get()), (2, 2), "{kind}");
        log.check(&[0, 1, 2]);
        drop(guard);
        assert_eq!((d1.get(), d2.get(), a.subscriber_count()), (3, 3, 0), "{kind}");
    }
}

/// A provisional result stayed after a panic; later requests looped or mixed values and errors.
#[test]
fn pa_9_a_computation_that_panics_keeps_its_last_value_until_it_recovers() {
    let a = Cell::new(1);
    let runs = Count::new();
    let compute = runs.of(|v: &i32| {
        assert!(*v != 2, "a is 2");
        v * 10
    });
    let d = (&a).map(compute).materialize();
    let e = (&d).map(|v| v + 1).materialize();
    let (on_d, on_e) = (Log::new(), Log::new());
    let _guards = (on_d.on(&d), on_e.on(&e));
    assert_eq!(caught(|| a.set(2)).as_deref(), Some("a is 2"));
    assert_eq!((a.get(), d.get(), e.get(), runs.get()), (2, 10, 11, 2));
    a.set(3);
    assert_eq!((d.get(), e.get(), runs.get()), (30, 31, 3));
    on_d.check(&[10, 30]);
    on_e.check(&[11, 31]);
}

/// The first subscriber had no arm for errors; the next, which had one, never got the error.
#[test]
fn pa_10_an_error_value_reaches_every_subscriber() {
    let s = Cell::new(1);
    let t = (&s).try_map(|v| if *v == 2 { Err("two") } else { Ok(*v) }).materialize();
    let (s1, s2) = (Log::new(), Log::new());
    let _s1 = t.watch({
        let s1 = s1.clone();
        move |v| v.iter().for_each(|v| s1.push(*v))
    });
    let _s2 = s2.on(&t);
    s.set(2);
    s1.check(&[1]);
    s2.check(&[Ok(1), Err("two")]);
}

/// The same with an error that ends the cell: subscribers, a failing one among them, and dependents.
#[test]
fn pa_10_an_error_signal_reaches_every_subscriber() {
    let s = Cell::new(1);
    let t = (&s).map(|v| v * 10).materialize();
    let (ignoring, hearing, on_t) = (Log::new(), Log::new(), Log::new());
    let _ignoring = ignoring.on(&s);
    let _panicking = s.subscribe(|signal| assert!(!signal.is_error(), "no arm for it"));
    let _refusing = s.subscribe_result(|signal| match signal {
        Signal::Error(error) => Err(error.to_string()),
        _ => Ok(()),
    });
    let _hearing = hearing.hear(&s);
    let _on_t = on_t.hear(&t);
    assert_eq!(caught(|| s.fail("broken")).as_deref(), Some("no arm for it"));
    ignoring.check(&[1]);
    hearing.check(&[Heard::Value(1), Heard::Error("broken".to_owned())]);
    on_t.check(&[Heard::Value(10), Heard::Error("broken".to_owned())]);
    assert_eq!(t.error().map(|error: CellError| error.to_string()).as_deref(), Some("broken"));
    assert!(caught(|| s.set(2)).is_none());
    assert_eq!((s.get(), t.get(), hearing.len()), (1, 10, 2));
}
