//! A panic of the library points at the caller's line.

use std::cell::{Cell as StdCell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Once;

use hyphae::DepNode;
use hyphae::{
    Cell, Mutable, Pipeline, Scope, Source, Watchable, batch, flat, join_vec, on_cleanup,
};
use uuid::Uuid;

type Place = (String, u32);

thread_local! {
    /// Whether panics of this thread are noted instead of printed.
    static LISTENS: StdCell<bool> = const { StdCell::new(false) };
    static LAST: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// Makes the panic hook note where a panic was, for threads that listen.
fn note_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if LISTENS.try_with(StdCell::get) == Ok(true) {
                let place = info.location().map(|at| (at.file().to_owned(), at.line()));
                LAST.with(|last| *last.borrow_mut() = place);
            } else {
                before(info);
            }
        }));
    });
}

/// Where `f` panics.
fn place_of<R>(f: impl FnOnce() -> R) -> Option<Place> {
    note_places();
    LISTENS.set(true);
    let panics = catch_unwind(AssertUnwindSafe(f)).is_err();
    LISTENS.set(false);
    LAST.take().filter(|_| panics)
}

/// Checks that `f`, which stands on the line of this call, panics on it.
#[track_caller]
fn panics_here<R>(f: impl FnOnce() -> R) {
    let line = Location::caller();
    assert_eq!(place_of(f), Some((line.file().to_owned(), line.line())));
}

fn disposed() -> Cell<i32> {
    let cell = Cell::new(1);
    cell.dispose();
    cell
}

#[test]
#[rustfmt::skip] // each call stands on one line
fn calls_on_a_disposed_cell() {
    let (gone, good) = (disposed(), Cell::new(1));
    panics_here(|| gone.get());
    panics_here(|| gone.with(|v| *v));
    panics_here(|| gone.set(1));
    panics_here(|| gone.set_if_changed(1));
    panics_here(|| gone.replace(1));
    panics_here(|| gone.update(|v| *v = 1));
    panics_here(|| gone.modify(|v| *v = 1));
    panics_here(|| gone.complete());
    panics_here(|| gone.fail("no"));
    panics_here(|| gone.subscribe(|_| ()));
    panics_here(|| gone.subscribe_changes(|_| ()));
    panics_here(|| gone.subscribe_result(|_| Ok(())));
    panics_here(|| gone.watch(|_| ()));
    panics_here(|| gone.watch_changes(|_| ()));
    panics_here(|| gone.own(good.watch(|_| ())));
    panics_here(|| gone.own_keyed(Uuid::nil(), good.watch(|_| ())));
    panics_here(|| gone.on_first_subscriber(|| ()));
    panics_here(|| gone.on_last_unsubscribe(|| ()));
    panics_here(|| gone.clone().with_uuid(Uuid::nil()));
    panics_here(|| gone.join(&good));
    panics_here(|| good.join(&gone));
    panics_here(|| join_vec([good.clone(), gone.clone()]));
}

/// A root that was disposed of is found where the chain is begun or where it is materialized.
#[test]
#[rustfmt::skip]
fn pipelines_of_a_disposed_cell() {
    let (gone, good) = (disposed(), Cell::new(1));
    panics_here(|| (&gone).map(|v| *v));
    panics_here(|| gone.clone().filter(|_| true));
    panics_here(|| (&gone).share());
    panics_here(|| good.clone().window(0));
    panics_here(|| good.clone().buffer_count(0));
}

#[test]
#[rustfmt::skip]
fn calls_through_traits() {
    let gone = disposed();
    panics_here(|| hyphae::Gettable::get(&gone));
    panics_here(|| Watchable::subscribe(&gone, |_| ()));
    panics_here(|| Watchable::subscribe_result(&gone, |_| Ok(())));
    panics_here(|| Mutable::set(&gone, 1));
    panics_here(|| Mutable::complete(&gone));
    panics_here(|| Mutable::fail(&gone, "no"));
}

#[test]
#[rustfmt::skip]
fn calls_on_a_disposed_source() {
    let source = Source::<i32>::new();
    source.dispose();
    panics_here(|| source.emit(1));
    panics_here(|| source.complete());
    panics_here(|| source.subscribe(|_| ()));
    panics_here(|| source.own(Cell::new(1).watch(|_| ())));
    panics_here(|| source.clone().map(|v| *v));
}

#[test]
#[rustfmt::skip]
fn calls_outside_of_their_place() {
    let cell = Cell::new(1);
    let _live = Cell::new(2).with_uuid(Uuid::from_u128(3));
    panics_here(|| on_cleanup(|| ()));
    panics_here(|| hyphae::arena::assert_no_live());
    panics_here(|| cell.clone().with_uuid(Uuid::from_u128(3)));
}

/// Feedback that does not converge is the fault of the outermost call.
#[test]
#[rustfmt::skip]
fn feedback_points_at_the_outermost_call() {
    hyphae::set_limits(hyphae::Limits { generations: 10, waiting: 10 });
    let cell = Cell::new(1);
    let _guard = cell.subscribe_changes({ let cell = cell.downgrade(); move |_| cell.upgrade().unwrap().set(1) });
    panics_here(|| cell.set(2));
    panics_here(|| batch(|| cell.set(2)));
    panics_here(|| cell.update(|v| *v = 3));
    panics_here(|| cell.modify(|v| *v = 3));
}

#[test]
#[rustfmt::skip] // the lines count
fn cells_know_the_line_that_made_them() {
    let first = line!();
    let a = Cell::new(1);
    let b = Cell::with_cutoff(1, |a, b| a == b);
    let pair = a.join(&b);
    let sum = pair.clone().map(flat!(|a, b| a + b)).filter(|_| true).materialize();
    let all = join_vec([a.clone(), b.clone()]);
    let source = Source::<i32>::default();
    let shared = (&a).map(|v| *v).share();
    let consumer = shared.materialize();
    let hidden = hyphae::arena::dependencies(consumer.cell_id()).expect("it lives")[0];
    let places = [a.place(), b.place(), pair.place(), sum.place(), all.place(), DepNode::place(&source), hyphae::arena::place(hidden), consumer.place()];
    let lines: Vec<u32> = places.iter().map(|at| at.map_or(0, Location::line) - first).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(places.iter().all(|at| at.is_some_and(|at| at.file() == file!())));
}

#[test]
#[rustfmt::skip]
fn guards_know_the_line_that_made_them() {
    let cell = Cell::new(1);
    let line = line!() + 1;
    let _guards = (cell.watch(|_| ()), cell.subscribe(|_| ()), cell.subscribe_result(|_| Ok(())));
    let guards = hyphae::arena::guards();
    assert_eq!(guards.len(), 3);
    assert!(
        guards.iter().all(|guard| guard.place.line() == line && guard.cell.id() == Some(cell.cell_id()))
    );
}

/// A scope's body that uses a disposed cell panics where it does.
#[test]
#[rustfmt::skip]
fn a_panic_in_a_scope_keeps_its_place() {
    let gone = disposed();
    let scope = Scope::new();
    let place = place_of(|| scope.run(|| gone.get()));
    assert_eq!(place, Some((file!().to_owned(), line!() - 1)));
}
