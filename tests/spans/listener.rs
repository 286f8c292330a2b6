//! Who listens: nobody, someone who comes and goes, one that calls the library, one on another thread.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyphae::{Cell, Pipeline, arena, hot_traced_cells};
use tracing::Subscriber;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::capture::Capture;
use crate::support::{Log, Slot};

#[test]
fn from_the_next_wave_on() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| *v).materialize().with_name("b");
    a.set(1);
    let capture = Capture::new();
    a.set(2);
    let quiet = tracing::subscriber::set_default(NoSubscriber::default());
    a.set(3);
    drop(quiet);
    a.set(4);
    assert_eq!(capture.take().len(), 2 * 4);
    drop(b);
}

/// One who comes or goes in the middle of a wave: no span stays entered, none is left that was not entered.
#[test]
fn in_the_middle_of_a_wave() {
    let a = Cell::new(0).with_name("a");
    let b = (&a).map(|v| *v).materialize().with_name("b");
    let mut capture = Capture::new();
    capture.lenient = true;
    let quiet: Slot<DefaultGuard> = Slot::new();
    let _guard = a.watch_changes({
        let quiet = quiet.clone();
        move |v| match v {
            1 => quiet.put(tracing::subscriber::set_default(NoSubscriber::default())),
            _ => drop(quiet.take()),
        }
    });
    a.set(1);
    a.set(2);
    a.set(3);
    capture.check(
        "
        wave 0 1
          compute map b
          fanout a
        wave 0 1
          compute map b
          fanout a
          fanout b
        ",
    );
    drop(b);
}

thread_local! {
    static ACTION: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
}

fn act() {
    let action = ACTION.take();
    if let Some(action) = action {
        action();
        ACTION.replace(Some(action));
    }
}

/// A listener that calls the library whenever it is told something.
struct Meddler;

impl<S: Subscriber> Layer<S> for Meddler {
    fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        act();
    }

    fn on_record(&self, _: &Id, _: &Record<'_>, _: Context<'_, S>) {
        act();
    }

    fn on_enter(&self, _: &Id, _: Context<'_, S>) {
        act();
    }

    fn on_exit(&self, _: &Id, _: Context<'_, S>) {
        act();
    }

    fn on_close(&self, _: Id, _: Context<'_, S>) {
        act();
    }
}

/// Any call of the library is legal in a listener (rule S3); its writes wait like those of a callback.
#[test]
fn a_listener_may_call_the_library() {
    let (a, out) = (Cell::new(0).with_name("a"), Cell::new(0));
    let b = (&a).map(|v| v + 1).materialize();
    let log = Log::new();
    let _guard = (log.on(&out), b.watch(|_| ()));
    let _listens = tracing_subscriber::registry().with(Meddler).set_default();
    let left = Slot::new();
    left.put(3);
    let told = Arc::new(AtomicUsize::new(0));
    ACTION.replace(Some({
        let (a, b, told) = (a.clone(), b.clone(), told.clone());
        Box::new(move || {
            told.fetch_add(1, Ordering::Relaxed);
            assert_eq!(hot_traced_cells().len(), 3);
            assert_eq!(arena::name(a.cell_id()).as_deref(), Some("a"));
            a.set_name("a");
            assert!(b.get() > 0);
            if let Some(n) = left.take() {
                out.set(n);
                if n > 1 {
                    left.put(n - 1);
                }
            }
        })
    }));
    a.set(1);
    ACTION.take();
    log.check(&[0, 3, 2, 1]);
    // Four calls for each of the spans, and four for what each of the four waves says at its end.
    assert_eq!(told.load(Ordering::Relaxed), 4 * (1 + 3 + 2 * 3) + 4 * 4);
}

#[test]
fn another_thread_s_listener_hears_nothing_of_ours() {
    let capture = Capture::new();
    let ours = Cell::new(0).with_name("ours");
    std::thread::spawn(|| {
        let theirs = Cell::new(0).with_name("theirs");
        let below = (&theirs).map(|v| *v).materialize();
        theirs.set(1);
        below.get()
    })
    .join()
    .expect("it ends");
    ours.set(1);
    capture.check(
        "
        wave 0 0
          fanout ours
        ",
    );
}
