//! A store for each thread, and handles that outlive theirs (rule S1).

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use hyphae::{
    Cell, CellImmutable, Error, Pipeline, Scope, Source, SubscriptionGuard, SubscriptionId,
    WeakCell, WeakSource, arena, batch, limits, no_coalesce, set_limits, try_batch,
};
use uuid::Uuid;

type Report = Arc<Mutex<Vec<String>>>;

#[test]
fn each_thread_has_its_own_store() {
    let here = Cell::new(1).with_name("here");
    let uuid = here.id();
    let id = thread::spawn(move || {
        assert_eq!((arena::totals().cells, arena::by_uuid(uuid)), (0, None));
        let there = Cell::new(2);
        assert_eq!(arena::cells(), [there.cell_id()]);
        there.id()
    });
    let id = id.join().expect("no panic");
    assert_ne!(id, uuid);
    assert_eq!(arena::by_uuid(id), None);
    assert_eq!((here.get(), arena::totals().cells), (1, 1));
}

/// Also of threads that run at the same time and give their slots the same ids.
#[test]
fn uuids_of_different_threads_never_collide() {
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let barrier = barrier.clone();
            thread::spawn(move || {
                barrier.wait();
                let cells: Vec<_> = (0..500).map(Cell::new).collect();
                cells.iter().map(Cell::id).collect::<Vec<Uuid>>()
            })
        })
        .collect();
    let uuids: Vec<Uuid> = threads.into_iter().flat_map(|t| t.join().expect("no panic")).collect();
    assert_eq!(uuids.iter().collect::<HashSet<_>>().len(), 2000);
    // One of another thread may be given here: nobody in this store has it or will compute it.
    let cell = Cell::new(1).with_uuid(uuids[0]);
    assert_eq!(arena::by_uuid(uuids[0]), Some(cell.cell_id()));
    assert_eq!(arena::by_uuid(uuids[1]), None);
}

/// Handles of every kind, kept past the store's end.
struct Kept {
    cell: Cell<i32>,
    derived: Cell<i32, CellImmutable>,
    weak: WeakCell<i32>,
    source: Source<i32>,
    weak_source: WeakSource<i32>,
    guard: SubscriptionGuard,
    id: SubscriptionId,
    callback: Option<SubscriptionGuard>,
    scope: Scope,
    report: Report,
}

impl Kept {
    fn new(report: &Report) -> Self {
        let cell = Cell::new(1).with_name("kept");
        let derived = (&cell).map(|v| v + 1).materialize();
        let source = Source::new();
        let guard = derived.watch(|_| ());
        let scope = Scope::new();
        scope.run(|| drop(Cell::new(5)));
        let id = cell.watch(|_| ()).leak().expect("an id");
        let report = report.clone();
        let dropped = report.clone();
        let callback = SubscriptionGuard::from_callback(move || note(&dropped, "callback"));
        let (weak, weak_source) = (cell.downgrade(), source.downgrade());
        let callback = Some(callback);
        Self { cell, derived, weak, source, weak_source, guard, id, callback, scope, report }
    }

    /// Every call on the handles: none does anything, those with a result tell why.
    fn try_all(&self) {
        let closed = |what: &str, outcome: Result<(), Error>| {
            assert_eq!(outcome, Err(Error::StoreClosed), "{what}");
        };
        closed("get", self.cell.try_get().map(drop));
        closed("with", self.derived.try_with(|_| ()));
        closed("set", self.cell.try_set(2));
        closed("update", self.cell.try_update(|_| ()));
        closed("subscribe", self.cell.try_subscribe(|_| ()).map(drop));
        closed("emit", self.source.try_emit(1));
        closed("uuid", self.cell.clone().try_with_uuid(Uuid::nil()).map(drop));
        closed("batch", try_batch(|| ()));
        closed("new", Cell::try_new(1).map(drop));
        self.try_quiet();
        self.try_loud();
    }

    fn try_quiet(&self) {
        assert!(self.weak.upgrade().is_none() && !self.weak.is_alive());
        assert!(self.weak_source.upgrade().is_none());
        assert_eq!((self.cell.name(), self.cell.place(), self.cell.owned_count()), (None, None, 0));
        assert_eq!((self.cell.subscriber_count(), self.source.subscriber_count()), (0, 0));
        assert!(!self.cell.is_complete() && !self.cell.is_error() && self.cell.error().is_none());
        self.cell.set_name("new");
        self.id.unsubscribe();
        self.cell.unsubscribe(self.id);
        assert!(self.guard.id().is_some() && self.guard.source().is_none());
        // A handle has no id of its own: without its store it gives that of no cell.
        assert!(self.guard.cell().is_some_and(|id| id != self.derived.cell_id()));
        assert_eq!(self.derived.cell_id(), self.cell.cell_id());
        drop((self.cell.clone().no_coalesce().lock(), self.source.clone(), self.weak.clone()));
        assert!(format!("{:?}", self.cell).starts_with("Cell { id: CellId("));
        assert_eq!((arena::cells().len(), arena::totals()), (0, arena::Totals::default()));
        assert!(arena::guards().is_empty() && arena::cell::<i32>(self.cell.cell_id()).is_none());
        assert_eq!((arena::json(), arena::capacity()), ("[]".to_owned(), 0));
        arena::shrink_to_fit();
        arena::assert_no_live();
        set_limits(hyphae::Limits { generations: 1, waiting: 1 });
        assert_eq!(limits(), hyphae::Limits::default());
        assert_eq!(self.scope.len(), 1);
        drop(Scope::new());
    }

    /// What has no result panics with the message.
    fn try_loud(&self) {
        let loud: [(&str, &dyn Fn()); 9] = [
            ("get", &|| assert_eq!(self.cell.get(), 0)),
            ("set", &|| self.cell.set(1)),
            ("id", &|| assert!(self.cell.id().is_nil())),
            ("map", &|| drop((&self.cell).map(|v| *v))),
            ("join", &|| drop(self.cell.join(&self.derived))),
            ("new", &|| drop(Cell::new(1))),
            ("source", &|| drop(Source::<u8>::new())),
            ("batch", &|| batch(|| ())),
            ("no_coalesce", &|| no_coalesce(|| ())),
        ];
        for (what, call) in loud {
            let payload = catch_unwind(AssertUnwindSafe(call)).expect_err(what);
            let text = payload.downcast_ref::<String>().expect("a text");
            assert_eq!(*text, Error::StoreClosed.to_string(), "{what}");
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let closed = self.cell.try_get() == Err(Error::StoreClosed);
        if closed {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.try_all()));
            note(&self.report, if outcome.is_ok() { "inert" } else { "a check failed" });
        } else {
            note(&self.report, "too early");
        }
        drop(self.callback.take());
        note(&self.report, "dropped");
    }
}

fn note(report: &Report, what: &str) {
    report.lock().expect("no panic while it is held").push(what.to_owned());
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
    static BEFORE: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Thread-locals are torn down in an order that is the platform's: one that is registered before the store and one
/// after it; at least one of the two outlives the store.
#[test]
fn handles_that_outlive_the_store_are_inert() {
    let (first, second): (Report, Report) = Default::default();
    let reports = (first.clone(), second.clone());
    let thread = thread::spawn(move || {
        BEFORE.with(|before| assert!(before.borrow().is_none()));
        let early = Kept::new(&reports.0);
        BEFORE.set(Some(early));
        KEPT.set(Some(Kept::new(&reports.1)));
    });
    thread.join().expect("handles do not panic as the thread ends");
    let reports = [first, second].map(|report| report.lock().expect("no panic").clone());
    let inert = ["inert", "callback", "dropped"];
    let early = ["too early", "callback", "dropped"];
    assert!(reports.iter().all(|r| *r == inert || *r == early), "{reports:?}");
    assert!(reports.iter().any(|r| *r == inert), "{reports:?}");
}

/// A value whose `Drop` calls everything while the store is torn down.
struct Busy {
    sibling: Option<Cell<i32>>,
    report: Report,
}

impl Drop for Busy {
    fn drop(&mut self) {
        let sibling = self.sibling.take().expect("it is there until now");
        let text = match sibling.try_get() {
            Err(Error::StoreClosed) => "closed",
            Ok(_) => "open",
            Err(_) => "another error",
        };
        let refused = Cell::try_new(1).map(drop) == Err(Error::StoreClosed);
        assert!(refused == (text == "closed"));
        drop((sibling.clone(), sibling.downgrade().upgrade(), arena::totals()));
        drop(sibling);
        note(&self.report, text);
    }
}

fn busy(sibling: &Cell<i32>, report: &Report) -> Busy {
    Busy { sibling: Some(sibling.clone()), report: report.clone() }
}

/// In a value, in a closure, in a callback, under an owner and in a hook: all are dropped once.
#[test]
fn the_teardown_runs_user_drops_with_nothing_borrowed() {
    let report = Report::default();
    let given = report.clone();
    let thread = thread::spawn(move || {
        let sibling = Cell::new(1);
        let make = || busy(&sibling, &given);
        let value = Cell::new(make());
        let in_closure = make();
        let derived = (&value).map(move |_| drop(in_closure.report.clone())).materialize();
        let in_callback = make();
        derived.watch(move |()| drop(in_callback.report.clone())).leak();
        let in_guard = make();
        sibling.own(SubscriptionGuard::from_callback(move || drop(in_guard)));
        let in_hook = make();
        sibling.on_last_unsubscribe(move || drop(in_hook.report.clone()));
        // None of the handles is dropped: the store has to free everything by itself.
        std::mem::forget((sibling, value, derived));
    });
    thread.join().expect("the teardown does not panic");
    assert_eq!(*report.lock().expect("no panic"), ["closed"; 5]);
}

/// A `Drop` that panics in the teardown does not keep the others from theirs.
#[test]
fn a_panic_in_the_teardown_is_kept_inside() {
    struct Last(Report, bool);
    impl Drop for Last {
        fn drop(&mut self) {
            note(&self.0, "dropped");
            assert!(!self.1, "in a teardown");
        }
    }
    let report = Report::default();
    let given = report.clone();
    let thread = thread::spawn(move || {
        for fails in [false, true, false, true, false] {
            std::mem::forget(Cell::new(Last(given.clone(), fails)));
        }
    });
    thread.join().expect("the panic stays inside");
    assert_eq!(report.lock().expect("no panic").len(), 5);
}

/// Values and closures need not be `Send`.
#[test]
fn values_of_a_thread_stay_there() {
    let total = thread::spawn(|| {
        let shared = Rc::new(std::cell::Cell::new(0));
        let cell = Cell::new(shared.clone());
        let doubled = (&cell).map(|rc| Rc::new(rc.get() * 2)).materialize();
        let _guard = doubled.watch({
            let shared = shared.clone();
            move |v| shared.set(shared.get() + **v)
        });
        shared.set(5);
        cell.set(shared.clone());
        shared.get()
    });
    assert_eq!(total.join().expect("no panic"), 15);
}

/// S1: what closures have registered runs at the end of the thread, where the store is closed.
#[test]
fn clean_ups_run_at_the_end_of_their_thread() {
    let report = Report::default();
    let given = report.clone();
    let thread = thread::spawn(move || {
        let source = Cell::new(1);
        let computed = Cell::computed({
            let source = source.clone();
            move || {
                let (value, given) = (source.get(), given.clone());
                hyphae::on_cleanup(move || {
                    note(&given, if Cell::try_new(0).is_err() { "closed" } else { "open" });
                });
                value
            }
        });
        source.set(2);
        std::mem::forget(computed);
    });
    thread.join().expect("no panic");
    // One before the second run, one at the end.
    assert_eq!(*report.lock().expect("no panic"), ["open", "closed"]);
}
