//! S3 for cells whose inputs change: `Clone`, `Drop`, `PartialEq`, `Hash` of values call the store back while it links,
//! lets go and compares.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, arena, effect, selector};

use crate::support::{Count, Log, owning};

/// What a value does when it is cloned, compared, hashed or dropped.
#[derive(Clone)]
struct Hook(Rc<RefCell<dyn FnMut(&'static str)>>);

impl Hook {
    fn new(f: impl FnMut(&'static str) + 'static) -> Self {
        Self(Rc::new(RefCell::new(f)))
    }

    /// Not from within itself.
    fn call(&self, what: &'static str) {
        if let Ok(mut f) = self.0.try_borrow_mut() {
            f(what);
        }
    }
}

/// A number that calls its hook.
struct Busy(u64, Hook);

impl Clone for Busy {
    fn clone(&self) -> Self {
        self.1.call("clone");
        Self(self.0, self.1.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.1.call("drop");
    }
}

impl PartialEq for Busy {
    fn eq(&self, other: &Self) -> bool {
        self.1.call("eq");
        self.0 == other.0
    }
}

impl Eq for Busy {}

impl Hash for Busy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.1.call("hash");
        self.0.hash(state);
    }
}

/// Reads, writes, makes and drops cells: all that a callback may do.
fn meddling(source: &Cell<u64>, written: &Cell<u64>, calls: &Log<&'static str>) -> Hook {
    Hook::new(owning!([source, written, calls] move |what| {
        calls.push(what);
        let v = source.get();
        written.set(v);
        let brief = source.switch_map(|v| Cell::new(v + 1));
        assert_eq!(brief.get(), v + 1);
        let read = Cell::computed(owning!([brief] move || brief.get() + 1));
        drop(effect(owning!([read] move || assert_eq!(read.get(), v + 2))));
        drop(read.watch(|_| ()));
    }))
}

/// A switch to fresh cells, to cached ones, and a computed cell, over values that meddle.
fn programs(sel: &Cell<u64>, hook: &Hook) -> [Cell<Busy, CellImmutable>; 3] {
    let cached = [0, 1].map(|n| Cell::new(Busy(n, hook.clone())));
    [
        sel.switch_map(owning!([hook] move |v| Cell::new(Busy(v % 2, hook.clone()))))
            .deduped()
            .materialize(),
        sel.switch_map(owning!([cached] move |v| cached[(v % 2) as usize].clone()))
            .deduped()
            .materialize(),
        Cell::computed(owning!([sel, cached] move || {
            cached[(sel.get() % 2) as usize].with(|busy| Busy(busy.0, busy.1.clone()))
        }))
        .deduped()
        .materialize(),
    ]
}

#[test]
fn values_that_call_the_store_while_it_switches() {
    let (sel, source, written, calls) = (Cell::new(0), Cell::new(5), Cell::new(0), Log::new());
    let hook = meddling(&source, &written, &calls);
    let outs = programs(&sel, &hook);
    let heard = Log::new();
    let guards: Vec<_> = outs
        .iter()
        .enumerate()
        .map(|(i, out)| out.watch_changes(owning!([heard] move |busy| heard.push((i, busy.0)))))
        .collect();
    calls.take();
    for v in [2, 1, 3, 4] {
        source.set(v * 10);
        sel.set(v);
        assert_eq!(written.get(), v * 10, "the hooks' writes have settled");
        outs.iter().for_each(|out| out.with(|busy| assert_eq!(busy.0, v % 2)));
    }
    heard.check(&[(0, 1), (1, 1), (2, 1), (0, 0), (1, 0), (2, 0)]);
    let kinds = calls.take();
    assert!(["clone", "drop", "eq"].iter().all(|kind| kinds.contains(kind)));
    drop((guards, outs));
    assert!(calls.take().contains(&"drop"));
    assert_eq!((source.dependents(), sel.dependents()), (0, 0));
    drop((hook, sel, source, written));
    arena::assert_no_live();
}

/// The value let go of by the switch drives the switch on: its `Drop` writes the selector.
#[test]
fn a_drop_that_writes_the_selector() {
    let (sel, runs) = (Cell::new(0), Count::new());
    let hook = Hook::new(owning!([sel] move |what| {
        if what == "drop" && sel.get() < 5 {
            sel.set(sel.get() + 1);
        }
    }));
    let o = sel.switch_map(owning!([runs, hook] move |v| {
        runs.up();
        let busy = Busy(*v, hook.clone());
        Cell::new(()).map(move |()| (busy.0, &busy).0).materialize()
    }));
    sel.set(1);
    assert_eq!((sel.get(), o.get()), (5, 5));
    assert_eq!(runs.get(), 6, "0 to 5, once each");
}

/// Keys that call the store when they are hashed, compared, cloned and dropped.
#[test]
fn keys_of_a_selector_that_call_the_store() {
    let (source, written, calls) = (Cell::new(5), Cell::new(0), Log::new());
    let hook = meddling(&source, &written, &calls);
    let sel = Cell::new(Busy(0, hook.clone()));
    let chosen = selector(&sel);
    let rows: Vec<_> = (0..3).map(|n| chosen.is(Busy(n, hook.clone()))).collect();
    let log = Log::new();
    let guards: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(n, row)| row.watch_changes(owning!([log] move |is| log.push((n, *is)))))
        .collect();
    source.set(6);
    sel.set(Busy(2, hook.clone()));
    let mut heard = log.take();
    heard.sort_unstable();
    assert_eq!(heard, [(0, false), (2, true)]);
    assert_eq!(rows.iter().map(Cell::get).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(written.get(), 6);
    let kinds = calls.take();
    assert!(["hash", "eq", "drop"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    drop((guards, rows, chosen, sel));
    assert_eq!((source.dependents(), written.dependents()), (0, 0));
    drop((hook, source, written));
    arena::assert_no_live();
}

/// A panic in the `Drop` of what a switch lets go: reported, and the switch is where it should be.
#[test]
fn a_drop_that_panics_while_it_switches() {
    let (sel, armed) = (Cell::new(0_u64), Cell::new(false));
    let hook = Hook::new(owning!([armed] move |what| {
        assert!(what != "drop" || !armed.get(), "in drop");
    }));
    let o = sel.switch_map(owning!([hook] move |v| {
        let busy = Busy(*v, hook.clone());
        Cell::new(()).map(move |()| (busy.0, &busy).0).materialize()
    }));
    armed.set(true);
    let message = crate::support::caught(|| sel.set(1));
    assert_eq!(message.as_deref(), Some("in drop"));
    assert_eq!(o.get(), 1);
    armed.set(false);
    sel.set(2);
    assert_eq!(o.get(), 2);
}
