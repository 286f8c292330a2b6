//! The [`Api`] over the library.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::{
    Cell, CellId, CellImmutable, Error, Pipeline, Scope, Signal, Source, SubscriptionGuard,
    WeakSource, arena, combine, join_vec, merge_vec, zip_vec,
};

use super::op::{CellKind, Chain, Heard, Several, Two, Val, Write, work};
use super::world::{Api, Callback, Class, State, Tick};

type Locked<T> = Cell<T, CellImmutable>;

#[derive(Default)]
pub struct Real {
    /// The arena gives no handles to sources.
    sources: RefCell<Vec<WeakSource<i64>>>,
}

#[derive(Clone)]
pub enum Handle {
    Cell(Cell<i64>),
    Int(Locked<i64>),
    Opt(Locked<Option<i64>>),
    Pair(Locked<(i64, i64)>),
    List(Locked<Vec<i64>>),
    OptList(Locked<Option<Vec<i64>>>),
    Source(Source<i64>),
}

/// A value type that cells of a case have.
trait Shown: Clone + 'static {
    fn val(&self) -> Val;
    fn handle(cell: Locked<Self>) -> Handle;
}

impl Shown for i64 {
    fn val(&self) -> Val {
        Val::Int(*self)
    }
    fn handle(cell: Locked<Self>) -> Handle {
        Handle::Int(cell)
    }
}

impl Shown for Option<i64> {
    fn val(&self) -> Val {
        Val::Opt(*self)
    }
    fn handle(cell: Locked<Self>) -> Handle {
        Handle::Opt(cell)
    }
}

impl Shown for (i64, i64) {
    fn val(&self) -> Val {
        Val::Pair(self.0, self.1)
    }
    fn handle(cell: Locked<Self>) -> Handle {
        Handle::Pair(cell)
    }
}

impl Shown for Vec<i64> {
    fn val(&self) -> Val {
        Val::List(self.clone())
    }
    fn handle(cell: Locked<Self>) -> Handle {
        Handle::List(cell)
    }
}

impl Shown for Option<Vec<i64>> {
    fn val(&self) -> Val {
        Val::OptList(self.clone())
    }
    fn handle(cell: Locked<Self>) -> Handle {
        Handle::OptList(cell)
    }
}

/// Runs `$body` with the cell of a handle, whatever its type; a source's is `$source`.
macro_rules! each {
    ($handle:expr, $cell:ident => $body:expr, $source:ident => $other:expr) => {
        match $handle {
            Handle::Cell($cell) => $body,
            Handle::Int($cell) => $body,
            Handle::Opt($cell) => $body,
            Handle::Pair($cell) => $body,
            Handle::List($cell) => $body,
            Handle::OptList($cell) => $body,
            Handle::Source($source) => $other,
        }
    };
}

/// Builds a chain that has a value if its root has, and hands it to the macro `$finish`; for other chains `$other`.
macro_rules! definite {
    ($root:expr, $chain:expr, $tick:expr, $finish:ident, $other:expr) => {{
        let (tick, again) = ($tick.clone(), $tick.clone());
        let ticked = move |v: &i64| tick(*v);
        match $chain {
            Chain::Map => $finish!($root.map(move |v| (ticked(v), work::map(*v)).1)),
            Chain::Halve => $finish!($root.map(move |v| (ticked(v), work::halve(*v)).1)),
            Chain::Scan => $finish!($root.scan(0, move |a, v| (ticked(v), work::add(*a, *v)).1)),
            Chain::Deduped => $finish!($root.deduped()),
            Chain::DedupedTap => $finish!($root.deduped().tap(ticked)),
            Chain::TakeTap(n) => $finish!($root.take(usize::from(n)).tap(ticked)),
            Chain::TapTake(n) => $finish!($root.tap(ticked).take(usize::from(n))),
            Chain::TapMaps => {
                let tapped = $root.tap(ticked);
                let mapped = tapped.map(move |v| (again(*v), work::map(*v)).1);
                $finish!(mapped.map(|v| work::halve(*v)))
            }
            Chain::HalveDeduped => {
                let mapped = $root.map(move |v| (ticked(v), work::halve(*v)).1);
                $finish!(mapped.deduped())
            }
            _ => $other,
        }
    }};
}

/// Builds a chain that has no value from the start.
macro_rules! empty {
    ($root:expr, $chain:expr, $tick:expr) => {{
        let tick = $tick.clone();
        let ticked = move |v: &i64| tick(*v);
        match $chain {
            Chain::Filter => {
                handle!($root.filter(move |v| (ticked(v), work::keep(*v)).1))
            }
            Chain::Pairwise => {
                let pairs = $root.pairwise();
                handle!(pairs.map(move |(a, b)| (ticked(b), work::pair(*a, *b)).1))
            }
            Chain::Skip(n) => handle!($root.skip(usize::from(n))),
            Chain::Last => handle!($root.tap(ticked).last()),
            _ => {
                let kept = $root.filter(move |v| (ticked(v), work::keep(*v)).1);
                handle!(kept.scan(0, |a, v| work::add(*a, *v)))
            }
        }
    }};
}

macro_rules! handle {
    ($pipeline:expr) => {
        Shown::handle($pipeline.materialize())
    };
}

macro_rules! plan {
    ($pipeline:expr) => {{
        let shared = $pipeline.share();
        let consume = move |mapped| match mapped {
            true => Shown::handle(shared.clone().map(|v| v + 1).materialize()),
            false => Shown::handle(shared.clone().materialize()),
        };
        Some(Rc::new(consume) as Rc<dyn Fn(bool) -> Handle>)
    }};
}

macro_rules! derived {
    ($root:expr, $chain:expr, $tick:expr) => {
        definite!($root, $chain, $tick, handle, empty!($root, $chain, $tick))
    };
}

macro_rules! shared {
    ($root:expr, $chain:expr, $tick:expr) => {
        definite!($root, $chain, $tick, plan, None)
    };
}

fn number<T: Shown>(value: &T) -> i64 {
    value.val().number()
}

fn heard<T: Shown>(signal: &Signal<'_, T>) -> Heard {
    match signal {
        Signal::Value(value) => Heard::Value(value.val()),
        Signal::Complete => Heard::Complete,
        Signal::Error(error) => Heard::Error(error.to_string()),
    }
}

fn state<T: Shown, M>(cell: &Cell<T, M>) -> State {
    let end = match cell.error() {
        Some(error) => Some(Heard::Error(error.to_string())),
        None => cell.is_complete().then_some(Heard::Complete),
    };
    (cell.try_get().ok().map(|value| value.val()), end)
}

fn locked(of: &Handle) -> Locked<i64> {
    match of {
        Handle::Cell(cell) => cell.clone().lock(),
        Handle::Int(cell) => cell.clone(),
        _ => unreachable!("only cells of numbers are joined"),
    }
}

fn write_cell(cell: &Cell<i64>, write: Write) -> Option<i64> {
    match write {
        Write::Set(v) => cell.set(i64::from(v)),
        Write::SetIfChanged(v) => cell.set_if_changed(i64::from(v)),
        Write::Replace(v) => return Some(cell.replace(i64::from(v))),
        Write::Update(n) => cell.update(|v| *v = work::bump(*v, n)),
        Write::Modify(n) => cell.modify(move |v| *v = work::bump(*v, n)),
        Write::Complete => cell.complete(),
        Write::Fail(n) => cell.fail(format!("error {n}")),
    }
    None
}

impl Api for Real {
    type Handle = Handle;
    type Guard = SubscriptionGuard;
    type Plan = Rc<dyn Fn(bool) -> Handle>;
    type Key = (CellId, Class);
    type Scope = Rc<Scope>;

    fn new_cell(&self, value: i64, kind: CellKind) -> Handle {
        Handle::Cell(match kind {
            CellKind::Plain => Cell::new(value),
            CellKind::Parity => Cell::with_cutoff(value, |a, b| work::same_parity(*a, *b)),
            CellKind::Equal => Cell::with_cutoff(value, i64::eq),
            CellKind::NoCoalesce => Cell::new(value).no_coalesce(),
        })
    }

    fn new_source(&self) -> Handle {
        let source = Source::new();
        self.sources.borrow_mut().push(source.downgrade());
        Handle::Source(source)
    }

    fn derive(&self, of: &Handle, chain: Chain, tick: Tick) -> Handle {
        match of {
            Handle::Cell(cell) => derived!(cell, chain, tick),
            Handle::Int(cell) => derived!(cell, chain, tick),
            Handle::Opt(cell) => derived!(cell.map(number), chain, tick),
            Handle::Pair(cell) => derived!(cell.map(number), chain, tick),
            Handle::List(cell) => derived!(cell.map(number), chain, tick),
            Handle::OptList(cell) => derived!(cell.map(number), chain, tick),
            Handle::Source(source) => derived!(source.clone(), chain, tick),
        }
    }

    fn share(&self, of: &Handle, chain: Chain, tick: Tick) -> Option<Self::Plan> {
        match of {
            Handle::Cell(cell) => shared!(cell, chain, tick),
            Handle::Int(cell) => shared!(cell, chain, tick),
            Handle::Opt(cell) => shared!(cell.map(number), chain, tick),
            Handle::Pair(cell) => shared!(cell.map(number), chain, tick),
            Handle::List(cell) => shared!(cell.map(number), chain, tick),
            Handle::OptList(cell) => shared!(cell.map(number), chain, tick),
            Handle::Source(_) => None,
        }
    }

    fn consume(&self, plan: &Self::Plan, mapped: bool) -> Handle {
        plan(mapped)
    }

    fn join(&self, left: &Handle, right: &Handle) -> Handle {
        Handle::Pair(locked(left).join(&locked(right)))
    }

    fn join_vec(&self, of: &[Handle]) -> Handle {
        Handle::List(join_vec(of.iter().map(locked)))
    }

    fn combine(&self, of: &[Handle], tick: Tick) -> Handle {
        let ticked = move |values: &[i64]| {
            let made = work::combine(values);
            tick(made);
            made
        };
        let cells: Vec<Locked<i64>> = of.iter().map(locked).collect();
        Handle::Int(match &cells[..] {
            [a, b] => combine((a, b), move |(a, b)| ticked(&[*a, *b])),
            [a, b, c] => combine((a, b, c), move |(a, b, c)| ticked(&[*a, *b, *c])),
            _ => unreachable!("cases combine two or three cells"),
        })
    }

    fn two(&self, two: Two, left: &Handle, right: &Handle) -> Handle {
        let cell = locked(left);
        Handle::Int(match (two, right) {
            (Two::SampleOn, Handle::Source(source)) => cell.sample_on(source),
            (Two::Zip, _) => return Handle::Pair(cell.zip(&locked(right))),
            (Two::Sample, _) => cell.sample(&locked(right)).materialize(),
            (Two::Merge, _) => cell.merge(&locked(right)),
            (Two::Concat, _) => cell.concat(&locked(right)),
            (Two::TakeUntil, _) => cell.take_until(&locked(right)),
            _ => unreachable!("only a source is sampled on"),
        })
    }

    fn several(&self, several: Several, of: &[Handle]) -> Handle {
        let cells = of.iter().map(locked);
        match several {
            Several::Zip => Handle::OptList(zip_vec(cells)),
            Several::Merge => Handle::Opt(merge_vec(cells)),
        }
    }

    fn latest(&self, of: &Handle, beside: &Handle, tick: Tick) -> Handle {
        let pairs = locked(of).with_latest_from(&locked(beside));
        Shown::handle(pairs.map(move |(a, b)| (tick(*a), work::pair(*a, *b)).1).materialize())
    }

    fn subscribe(&self, to: &Handle, first: bool, mut callback: Callback) -> SubscriptionGuard {
        each!(to,
            cell => match first {
                true => cell.subscribe(move |signal| callback(heard(signal))),
                false => cell.subscribe_changes(move |signal| callback(heard(signal))),
            },
            source => source.subscribe(move |signal| callback(heard(signal)))
        )
    }

    fn write(&self, to: &Handle, write: Write) -> Option<i64> {
        match (to, write) {
            (Handle::Cell(cell), write) => return write_cell(cell, write),
            (Handle::Source(source), Write::Set(v)) => source.emit(i64::from(v)),
            (Handle::Source(source), Write::Complete) => source.complete(),
            _ => unreachable!("only cells and sources are written"),
        }
        None
    }

    fn update(&self, to: &Handle, change: &mut dyn FnMut(i64) -> i64) {
        let Handle::Cell(cell) = to else { unreachable!("only cells are updated") };
        cell.update(|value| *value = change(*value));
    }

    fn dispose(&self, what: &Handle) {
        each!(what, cell => cell.dispose(), source => source.dispose());
    }

    fn own(&self, owner: &Handle, guard: SubscriptionGuard) {
        each!(owner, cell => cell.own(guard), source => source.own(guard));
    }

    fn batch(&self, body: &mut dyn FnMut()) {
        hyphae::batch(body);
    }

    fn new_scope(&self) -> Rc<Scope> {
        Rc::new(Scope::new())
    }

    fn run_in(&self, scope: &Self::Scope, body: &mut dyn FnMut()) {
        scope.run(body);
    }

    fn on_cleanup(&self, scope: &Self::Scope, cleanup: Box<dyn FnOnce()>) {
        scope.on_cleanup(cleanup);
    }

    fn own_by_scope(&self, scope: &Self::Scope, guard: SubscriptionGuard) {
        scope.own(guard);
    }

    fn with(&self, what: &Handle, body: &mut dyn FnMut(Val)) -> bool {
        let read: Result<(), Error> = each!(what,
            cell => cell.try_with(|value| body(value.val())),
            _source => Ok(()));
        read.is_ok()
    }

    fn class(&self, what: &Handle) -> Class {
        match what {
            Handle::Cell(_) => Class::Cell,
            Handle::Int(_) => Class::Int,
            Handle::Opt(_) => Class::Opt,
            Handle::Pair(_) => Class::Pair,
            Handle::List(_) => Class::List,
            Handle::OptList(_) => Class::OptList,
            Handle::Source(_) => Class::Source,
        }
    }

    fn readable(&self, what: &Handle) -> bool {
        each!(what, cell => cell.try_with(|_| ()).is_ok(), _source => true)
    }

    fn usable(&self, what: &Handle) -> bool {
        each!(what,
            cell => cell.downgrade().is_alive(),
            source => source.downgrade().upgrade().is_some())
    }

    fn key(&self, what: &Handle) -> Self::Key {
        let id = each!(what, cell => cell.cell_id(), source => source.cell_id());
        (id, self.class(what))
    }

    fn contains(&self, key: Self::Key) -> bool {
        arena::contains(key.0)
    }

    fn upgrade(&self, (id, class): Self::Key) -> Option<Handle> {
        match class {
            Class::Cell | Class::Int => arena::cell(id).map(Handle::Int),
            Class::Opt => arena::cell(id).map(Handle::Opt),
            Class::Pair => arena::cell(id).map(Handle::Pair),
            Class::List => arena::cell(id).map(Handle::List),
            Class::OptList => arena::cell(id).map(Handle::OptList),
            Class::Source => {
                let sources = self.sources.borrow();
                let mut live = sources.iter().filter_map(WeakSource::upgrade);
                live.find(|source| source.cell_id() == id).map(Handle::Source)
            }
        }
    }

    fn state(&self, what: &Handle) -> State {
        each!(what,
            cell => state(cell),
            source => (None, source.is_complete().then_some(Heard::Complete)))
    }

    fn totals(&self) -> [usize; 5] {
        let totals = arena::totals();
        let deliveries = usize::try_from(totals.deliveries).unwrap_or(usize::MAX);
        let rounds = usize::try_from(totals.rounds).unwrap_or(usize::MAX);
        [totals.cells, totals.edges, totals.subscribers, deliveries, rounds]
    }

    fn round(&self) -> u64 {
        arena::totals().rounds
    }

    /// A hidden cell of a shared pipeline stands for what it reads.
    fn inputs(&self, of: Self::Key, among: &[Self::Key]) -> Vec<usize> {
        let number = |id| among.iter().position(|key| key.0 == id);
        let deps = arena::dependencies(of.0).unwrap_or_default();
        let through = |id| match number(id) {
            Some(number) => vec![number],
            None => {
                let behind = arena::dependencies(id).unwrap_or_default();
                behind.into_iter().filter_map(number).collect()
            }
        };
        deps.into_iter().flat_map(through).collect()
    }
}
