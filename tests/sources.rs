//! Event streams: [`Source`], `no_coalesce`, and the rounds of a wave (rule P12).

use hyphae::{Cell, Error, Pipeline, Signal, Source, arena, batch};

#[allow(dead_code)] // each binary uses a part of it
#[path = "field_reports/support.rs"]
mod support;

use support::{Count, Heard, Log};

fn listen<T: Clone + 'static>(source: &Source<T>) -> (Log<Heard<T>>, hyphae::SubscriptionGuard) {
    let log = Log::new();
    let guard = source.subscribe({
        let log = log.clone();
        move |signal: &Signal<'_, T>| log.push(Heard::of(signal))
    });
    (log, guard)
}

#[test]
fn nothing_is_replayed() {
    let source = Source::new();
    source.emit(1);
    let (log, guard) = listen(&source);
    assert_eq!(log.len(), 0);
    source.emit(2);
    source.emit(2);
    drop(guard);
    source.emit(3);
    log.check(&[Heard::Value(2), Heard::Value(2)]);
}

#[test]
fn emits_add_up() {
    let source = Source::new();
    let sum = source.clone().scan(0, |a, v: &i32| a + v).materialize();
    assert_eq!(sum.get(), None);
    (1..=3).for_each(|v| source.emit(v));
    assert_eq!(sum.get(), Some(6));
}

#[test]
fn after_the_end_nothing_is_taken() {
    let source = Source::new();
    let (log, _guard) = listen(&source);
    source.emit(1);
    source.complete();
    source.complete();
    source.emit(99);
    log.check(&[Heard::Value(1), Heard::Complete]);
    assert!(source.is_complete());
    assert!(
        matches!(source.try_emit(2), Err(Error::Ended(info)) if info.id() == Some(source.cell_id()))
    );
    // A late subscriber of an ended source hears nothing; a late pipeline is over.
    let (late, _late_guard) = listen(&source);
    assert_eq!(late.len(), 0);
    let derived = source.map(|v| v + 1).materialize();
    assert_eq!((derived.get(), derived.is_complete()), (None, true));
}

#[test]
fn events_before_the_end_of_a_batch_come_first() {
    let source = Source::new();
    let (log, _guard) = listen(&source);
    batch(|| {
        source.emit(1);
        source.emit(2);
        source.complete();
        assert!(!source.is_complete());
        source.emit(3);
    });
    log.check(&[Heard::Value(1), Heard::Value(2), Heard::Complete]);
}

/// Outside of a batch each emit has settled when it returns; inside, no read takes an event before the end.
#[test]
fn no_read_takes_an_event_of_a_batch() {
    let source = Source::new();
    let last = source.clone().map(|v: &i32| *v).materialize();
    let (log, _guard) = listen(&source);
    batch(|| {
        source.emit(1);
        source.emit(2);
        assert_eq!((last.get(), log.len()), (None, 0));
    });
    assert_eq!((last.get(), log.len()), (Some(2), 2));
}

#[test]
fn a_pipeline_made_while_an_event_is_in_flight_does_not_see_it() {
    let source = Source::new();
    let made = Log::new();
    let _guard = source.subscribe({
        let (source, made) = (source.clone(), made.clone());
        move |signal: &Signal<'_, i32>| {
            if signal.is_value() {
                made.push(source.clone().map(|v| *v).materialize());
            }
        }
    });
    source.emit(1);
    let first = made.take().remove(0);
    assert_eq!(first.get(), None);
    source.emit(2);
    assert_eq!(first.get(), Some(2));
}

#[test]
fn emits_in_a_callback_are_waves_of_their_own() {
    let (source, trigger) = (Source::new(), Source::new());
    let (log, _guard) = listen(&source);
    let _writer = trigger.subscribe({
        let (source, log) = (source.clone(), log.clone());
        move |_: &Signal<'_, ()>| {
            source.emit(1);
            source.emit(2);
            assert_eq!(log.len(), 0);
        }
    });
    let waves = arena::totals().waves;
    trigger.emit(());
    log.check(&[Heard::Value(1), Heard::Value(2)]);
    assert_eq!(arena::totals().waves - waves, 3);
}

/// An event opens a new round when its cell already has one in the current round; coalescing writes are of the first.
#[test]
fn the_rounds_of_a_batch() {
    let (a, b, plain) = (Source::new(), Source::new(), Cell::new(0));
    let from = |source: &Source<char>| {
        source.clone().scan(String::new(), |s, c| format!("{s}{c}")).materialize()
    };
    let rows = from(&a).join(&from(&b)).join(&plain);
    let log = Log::new();
    let _guard = log.on(&rows);
    let before = arena::totals();
    batch(|| {
        a.emit('1');
        b.emit('x'); // the first round still has room for an event of `b`
        a.emit('2'); // the second round
        plain.set(5); // belongs to the first
        b.emit('y'); // joins the second
        b.emit('z'); // the third
    });
    let after = arena::totals();
    assert_eq!((after.waves - before.waves, after.rounds - before.rounds), (1, 3));
    let row = |a: &str, b: &str, n| {
        let text = |s: &str| Some(s.to_owned()).filter(|s| !s.is_empty());
        ((text(a), text(b)), n)
    };
    log.check(&[row("", "", 0), row("1", "x", 5), row("12", "xy", 5), row("12", "xyz", 5)]);
}

#[test]
fn coalesced_events_and_kept_ones() {
    let (plain, kept) = (Cell::new(0), Cell::new(0).no_coalesce());
    let events = |cell: &Cell<i32>| {
        let log = Log::new();
        let guard = log.hear(cell);
        log.take();
        (log, guard)
    };
    let ((of_plain, _a), (of_kept, _b)) = (events(&plain), events(&kept));
    batch(|| {
        for v in 1..=3 {
            plain.set(v);
            kept.set(v);
            assert_eq!((plain.get(), kept.get()), (v, 0));
        }
        kept.complete();
    });
    of_plain.check(&[Heard::Value(3)]);
    of_kept.check(&[Heard::Value(1), Heard::Value(2), Heard::Value(3), Heard::Complete]);
}

/// `update` on a cell that keeps events adds up over those that wait.
#[test]
fn updates_of_kept_events_add_up() {
    let kept = Cell::new(0).no_coalesce();
    let log = Log::new();
    let _guard = log.on(&kept);
    batch(|| {
        kept.update(|v| *v += 1);
        kept.modify(|v| *v += 10);
        kept.update(|v| *v += 100);
        kept.set_if_changed(111);
    });
    log.check(&[0, 1, 11, 111]);
}

#[test]
fn subscribers_are_called_in_the_order_of_subscription() {
    let source = Source::new();
    let log = Log::new();
    let _guards: Vec<_> = (0..5)
        .map(|n| {
            let log = log.clone();
            source.subscribe(move |_| log.push(n))
        })
        .collect();
    source.emit(());
    log.check(&[0, 1, 2, 3, 4]);
}

#[test]
fn handles_of_a_source() {
    let source = Source::<i32>::default().with_name("keys");
    let weak = source.downgrade();
    assert_eq!(
        (arena::name(source.cell_id()).as_deref(), source.subscriber_count()),
        (Some("keys"), 0)
    );
    assert_eq!(arena::by_uuid(source.id()), Some(source.cell_id()));
    for text in [format!("{source:?}"), format!("{weak:?}")] {
        assert!(
            text.contains("Source") && text.contains("keys") && text.contains("sources.rs"),
            "{text}"
        );
    }
    let upgraded = weak.clone().upgrade().expect("it lives");
    assert_eq!(upgraded.cell_id(), source.cell_id());
    let count = upgraded.batched().scan(0, |n, _| n + 1).materialize();
    let (_log, guard) = listen(&source);
    assert_eq!(source.subscriber_count(), 2);
    drop((count, guard));
    assert_eq!(source.subscriber_count(), 0);
    drop(source);
    assert!(weak.upgrade().is_none());
    arena::assert_no_live();
}

#[test]
fn a_guard_keeps_a_source_and_a_source_owns_guards() {
    let (source, other) = (Source::<i32>::new(), Cell::new(1));
    let weak = source.downgrade();
    let (_log, guard) = listen(&source);
    source.own(other.watch(|_| ()));
    drop(source);
    assert!(weak.upgrade().is_some());
    assert_eq!(other.callbacks(), 1);
    drop(guard);
    assert!(weak.upgrade().is_none());
    assert_eq!(other.callbacks(), 0);
}

#[test]
fn a_disposed_source() {
    let source = Source::new();
    let (log, _guard) = listen(&source);
    let derived = source.clone().map(|v: &i32| *v).materialize();
    source.emit(1);
    source.dispose();
    source.dispose();
    log.check(&[Heard::Value(1), Heard::Complete]);
    assert_eq!((derived.get(), derived.is_complete()), (Some(1), true));
    assert!(matches!(source.try_emit(2), Err(Error::Disposed(_))));
    assert!(source.downgrade().upgrade().is_none());
}

/// A thousand events of a batch are a thousand rounds of one wave, each computed once.
#[test]
fn many_events_cost_one_turn_each() {
    let source = Source::new();
    let runs = Count::new();
    let _last = source.clone().map(runs.of(|v: &i32| *v)).materialize();
    let before = arena::totals();
    batch(|| (0..1000).for_each(|v| source.emit(v)));
    let after = arena::totals();
    assert_eq!(
        (runs.get(), after.rounds - before.rounds, after.waves - before.waves),
        (1000, 1000, 1)
    );
    assert_eq!(after.recomputations - before.recomputations, 1000);
}

#[test]
fn events_without_clone() {
    struct Key(char);
    let source = Source::new();
    let text = source.clone().filter(|k: &Key| k.0 != ' ').map(|k| k.0.to_string()).materialize();
    source.emit(Key('a'));
    source.emit(Key(' '));
    assert_eq!(text.get().as_deref(), Some("a"));
}

/// With a cut-off each kept event is compared with the one before it.
#[test]
fn kept_events_with_a_cut_off() {
    let cell = Cell::with_cutoff(1, |a, b| a == b).no_coalesce();
    let log = Log::new();
    let _guard = log.on(&cell);
    batch(|| [1, 2, 2, 1, 1, 3].into_iter().for_each(|v| cell.set(v)));
    log.check(&[1, 2, 1, 3]);
}

/// A burst from a callback: each emit is a wave; in a batch of the callback they are rounds of one.
#[test]
fn bursts_of_callbacks() {
    let (trigger, source) = (Cell::new(0), Source::new());
    let (log, _guard) = listen(&source);
    let _writer = trigger.subscribe_changes({
        let source = source.clone();
        move |_| batch(|| (1..=3).for_each(|v| source.emit(v)))
    });
    let before = arena::totals();
    trigger.set(1);
    let after = arena::totals();
    assert_eq!((after.waves - before.waves, after.rounds - before.rounds), (2, 4));
    log.check(&[Heard::Value(1), Heard::Value(2), Heard::Value(3)]);
}

/// A subscriber that comes or goes between two rounds hears the later ones, or not.
#[test]
fn subscribing_and_leaving_between_rounds() {
    let source = Source::new();
    let slot = std::rc::Rc::new(std::cell::RefCell::new(None));
    let late = Log::new();
    let _first = source.subscribe({
        let (source, slot, late) = (source.clone(), slot.clone(), late.clone());
        move |signal: &Signal<'_, i32>| match signal.value_ref() {
            Some(2) => {
                let late = late.clone();
                let guard =
                    source.subscribe(move |signal| late.push(*signal.value_ref().unwrap_or(&-1)));
                *slot.borrow_mut() = Some(guard);
            }
            Some(4) => drop(slot.take()),
            _ => (),
        }
    });
    batch(|| (1..=5).for_each(|v| source.emit(v)));
    late.check(&[3]);
}
