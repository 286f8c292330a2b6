//! CY: feedback that does not converge is stopped, named and survived (rule P7).

use hyphae::{Cell, Error, Limits, Pipeline, SubscriptionGuard, arena};

use crate::support::{Count, Log, caught};

/// Each value that `from` takes is written to `to`, one higher, as long as `open` holds.
fn forward(from: &Cell<u64>, to: &Cell<u64>, open: &Cell<bool>) -> SubscriptionGuard {
    let (to, open) = (to.clone(), open.clone());
    from.watch(move |v| {
        if open.get() {
            to.set(v + 1);
        }
    })
}

/// Cells named "p1" and "p2" that drive each other once `open` is set; the guards keep the loop.
struct Ring {
    p1: Cell<u64>,
    p2: Cell<u64>,
    open: Cell<bool>,
    _guards: [SubscriptionGuard; 2],
}

impl Ring {
    fn new() -> Self {
        let p1 = Cell::new(0).with_name("p1");
        let p2 = Cell::new(0).with_name("p2");
        let open = Cell::new(false);
        let guards = [forward(&p1, &p2, &open), forward(&p2, &p1, &open)];
        Self { p1, p2, open, _guards: guards }
    }
}

// An effect that increments the value it reads froze the page or ate all memory.
#[test]
fn cy_1_callback_that_writes_its_own_source_without_converging() {
    let a = Cell::new(0_u64).with_name("counter");
    let runs = Count::new();
    let message = caught(|| {
        a.watch({
            let (a, runs) = (a.clone(), runs.clone());
            move |v| {
                runs.up();
                a.set(v + 1);
            }
        })
    });
    let message = message.expect("the loop is reported");
    assert!(message.contains("counter"), "{message}");
    assert!((2..=10_001).contains(&runs.get()), "{} runs", runs.get());
    // A subscribe that fails leaves nothing behind (P6).
    assert_eq!(a.callbacks(), 0);

    let b = Cell::new(0);
    let log = Log::new();
    let _guard = log.on(&b);
    b.set(1);
    log.check(&[0, 1]);
}

// The same through the call that gives the error back.
#[test]
fn cy_1_try_subscribe_gives_the_error_of_the_loop() {
    let a = Cell::new(0_u64).with_name("counter");
    let looping = a.clone();
    let outcome = caught(|| {
        let subscribed = a.try_subscribe(move |signal| {
            if let hyphae::Signal::Value(v) = signal {
                looping.set(**v + 1);
            }
        });
        assert!(matches!(subscribed, Err(Error::NoConvergence { .. })), "{subscribed:?}");
    });
    assert_eq!(outcome, None, "try_subscribe does not panic");
    assert_eq!(a.callbacks(), 0);
}

// The same when making a cell starts the loop: it is half made, and must go.
#[test]
fn cy_1_a_construction_that_starts_a_loop_leaves_nothing_behind() {
    let a = Cell::new(0_u64).with_name("counter");
    let on = Cell::new(true);
    let loops = Cell::new(0).with_name("loops");
    let _guard = loops.subscribe_changes({
        let loops = loops.clone();
        move |_| loops.set(0)
    });
    let before = arena::totals();
    let message = caught(|| {
        let (on, loops) = (on.clone(), loops.clone());
        (&a).map(move |_| on.get().then(|| loops.set(1))).materialize()
    });
    assert!(message.is_some_and(|text| text.contains("loops")));
    assert_eq!(a.dependents(), 0);
    assert_eq!(arena::totals().cells, before.cells);
    assert_eq!(arena::totals().edges, before.edges);
}

// The same for a read that starts one.
#[test]
fn cy_1_try_with_gives_the_error_of_the_loop() {
    let a = Cell::new(0_u64);
    let _guard = a.subscribe_changes({
        let a = a.clone();
        move |_| a.set(0)
    });
    let outcome = caught(|| {
        let read = a.try_with(|_| a.set(1));
        assert!(matches!(read, Err(Error::NoConvergence { .. })), "{read:?}");
    });
    assert_eq!(outcome, None, "try_with does not panic");
}

// A loop that starts later is the error of the write that started it, with the callback and the cell it wrote.
#[test]
fn cy_1_the_write_that_starts_a_loop_gets_the_error() {
    let a = Cell::new(0_u64).with_name("counter");
    let on = Cell::new(false);
    let _guard = forward(&a, &a, &on);
    on.set(true);
    let Err(Error::NoConvergence { feedback, .. }) = a.try_set(1) else {
        panic!("the loop is an error");
    };
    assert_eq!(feedback.len(), 1, "one callback loops: {feedback:?}");
    let named = |info: &Option<hyphae::CellInfo>| info.as_ref().and_then(|info| info.name.clone());
    assert_eq!(named(&feedback[0].on).as_deref(), Some("counter"));
    assert_eq!(named(&feedback[0].wrote).as_deref(), Some("counter"));
    assert!(feedback[0].callback.is_some());

    // Usable at once: the same cells, with the loop open no more.
    on.set(false);
    a.set(5);
    assert_eq!(a.get(), 5);
}

// One callback whose writes multiply filled the queue long before any generation counter noticed.
#[test]
fn cy_1_a_loop_that_multiplies_is_stopped_by_the_number_of_waiting_writes() {
    hyphae::set_limits(Limits { generations: u32::MAX, waiting: 1000 });
    let a = Cell::new(0_u64).with_name("counter");
    let runs = Count::new();
    let _guard = a.subscribe_changes({
        let (a, runs) = (a.clone(), runs.clone());
        move |_| {
            runs.up();
            a.set(1);
            a.set(2);
        }
    });
    assert!(matches!(a.try_set(1), Err(Error::NoConvergence { .. })));
    assert!(runs.get() <= 1001, "{} runs", runs.get());
}

// Feedback that comes to rest was refused by libraries that forbid writes in effects.
#[test]
fn cy_1_feedback_that_converges_is_fine() {
    let a = Cell::new(0_u64);
    let log = Log::new();
    let _clamp = a.watch({
        let a = a.clone();
        move |v| {
            if *v < 5_000 {
                a.set(v + 1);
            }
        }
    });
    assert_eq!(a.get(), 5_000);
    let _guard = log.on(&a);
    a.set(4_998);
    log.check(&[5_000, 4_998, 4_999, 5_000]);
}

// Under a toggle A depended on B and B on A: the new version stayed silent with a stale B. Here the way back from B to
// A is a callback, since an edge that closes a circle can't be made.
#[test]
fn cy_3_circular_dependency_is_an_error_that_names_it() {
    let t = Cell::new(false);
    let p = Cell::new(0_u64).with_name("way back");
    let a = t.join(&p).map(|(t, p)| if *t { *p } else { 1 }).materialize().with_name("A");
    let b = (&a).map(|a| a + 1).materialize().with_name("B");
    let last = Log::new();
    let _log = last.on(&b);
    let _back = b.watch({
        let p = p.clone();
        move |b| {
            if p.get() != *b {
                p.set(*b);
            }
        }
    });
    assert_eq!((a.get(), b.get(), p.get()), (1, 2, 2));

    let error = t.try_set(true).expect_err("it does not converge");
    assert!(matches!(error, Error::NoConvergence { .. }));
    let message = error.to_string();
    assert!(message.contains("\"B\""), "{message}");
    assert!(message.contains("\"way back\""), "{message}");
    // Not quietly stale: what the subscriber saw last is B, and B fits A.
    assert_eq!(last.take().last(), Some(&b.get()));
    assert_eq!(b.get(), a.get() + 1);

    t.set(false);
    assert_eq!((a.get(), b.get(), p.get()), (1, 2, 2));
}

// "Does not converge after 100 iterations: instance of ReactionImpl" did not help to find the culprit.
#[test]
fn cy_5_the_error_names_cells_ids_and_places_of_the_loop() {
    let ring = Ring::new();
    let price = Cell::new(0).with_name("price");
    let _start = price.subscribe_changes({
        let (open, p1) = (ring.open.clone(), ring.p1.clone());
        move |_| {
            open.set(true);
            p1.set(1);
        }
    });
    let error = price.try_set(1).expect_err("the loop is an error");
    let message = error.to_string();
    for cell in [&ring.p1, &ring.p2] {
        let info = arena::info(cell.cell_id()).expect("the cell lives");
        let name = info.name.clone().expect("the cell has a name");
        let place = format!("{}:{}", info.place.file(), info.place.line());
        assert!(message.contains(&name), "{name} in {message}");
        assert!(message.contains(&place), "{place} in {message}");
        assert!(message.contains(&format!("{:?}", info.id().unwrap())), "{message}");
    }
    let Error::NoConvergence { feedback, .. } = error else {
        panic!("{message}");
    };
    assert!(feedback.iter().all(|one| one.callback.is_some()), "{feedback:?}");
}

// The culprits stood among thousands of innocent callbacks.
#[test]
fn cy_5_innocent_callbacks_are_not_named() {
    let ring = Ring::new();
    let bystander = Cell::new(0).with_name("bystander");
    let _writes_once = ring.p1.subscribe_changes({
        let bystander = bystander.clone();
        let mut done = false;
        move |_| {
            if !std::mem::replace(&mut done, true) {
                bystander.set(1);
            }
        }
    });
    ring.open.set(true);
    let message = ring.p2.try_set(1).expect_err("a loop").to_string();
    assert!(message.contains("\"p1\"") && message.contains("\"p2\""));
    assert!(!message.contains("bystander"), "{message}");
}
