//! State machines: order of hooks, guards, what is invalid; against a plain interpreter.

use std::cell::{Cell as Flag, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use hyphae::{Cell, Pipeline, Source, batch};
use proptest::prelude::*;

type Log = Rc<RefCell<Vec<String>>>;

fn note(log: &Log, text: impl Into<String>) {
    log.borrow_mut().push(text.into());
}

/// A machine over 0, 1 and 2 with transitions 0 -> 1 (guarded), 1 -> 2, 2 -> 2, that notes all it calls.
fn machine(
    states: &Cell<u8>,
    open: &Rc<Flag<bool>>,
    log: &Log,
) -> Cell<u32, hyphae::CellImmutable> {
    let (open, log) = (open.clone(), log.clone());
    let hook = move |name: &'static str| {
        let log = log.clone();
        move |state: &u8| note(&log, format!("{name} {state}"))
    };
    states.state_transition(|sm| {
        let say = hook.clone();
        let change = move |name: &'static str| {
            let say = say(name);
            move |from: &u8, to: &u8| say(&(from * 10 + to))
        };
        let (gone, on) = (change("invalid"), change("on"));
        let on = move |from: &u8, to: &u8| {
            on(from, to);
            u32::from(from * 10 + to)
        };
        sm.with_default(99)
            .on(0, 1, on.clone())
            .on(1, 2, on.clone())
            .on(2, 2, on)
            .guard(0, 1, move |_, _| open.get())
            .on_exit(0, hook("exit"))
            .on_exit(1, hook("exit"))
            .on_enter(1, hook("enter"))
            .on_enter(2, hook("enter"))
            .on_any(hook("any"))
            .on_invalid(gone);
    })
}

/// What the machine above should note, and have at the end.
fn expected(states: &[(u8, bool)]) -> (Vec<String>, u32) {
    let (mut log, mut value, mut state) = (vec![], 99, 0);
    for &(next, open) in states {
        let pair = (state, next);
        state = next;
        let number = pair.0 * 10 + pair.1;
        match pair {
            (0, 1) if !open => (),
            (0, 1) | (1, 2) | (2, 2) => {
                if pair.0 != 2 {
                    log.push(format!("exit {}", pair.0));
                }
                log.push(format!("on {number}"));
                log.push(format!("enter {}", pair.1));
                log.push(format!("any {}", pair.1));
                value = u32::from(number);
            }
            _ => log.push(format!("invalid {number}")),
        }
    }
    (log, value)
}

#[test]
fn hooks_come_in_order_and_only_for_transitions() {
    let (states, open) = (Cell::new(0), Rc::new(Flag::new(false)));
    let log = Log::default();
    let cell = machine(&states, &open, &log);
    assert_eq!(cell.get(), 99);
    let calls = Rc::new(Flag::new(0));
    let counted = calls.clone();
    let guard = cell.watch(move |_| counted.set(counted.get() + 1));
    states.set(1);
    assert!(log.borrow().is_empty(), "refused by the guard, but the state is 1 now");
    states.set(2);
    assert_eq!(*log.borrow(), ["exit 1", "on 12", "enter 2", "any 2"]);
    states.set(0);
    open.set(true);
    states.set(1);
    let rest = ["invalid 20", "exit 0", "on 1", "enter 1", "any 1"];
    assert_eq!(log.borrow()[4..], rest);
    assert_eq!((cell.get(), calls.get()), (1, 3));
    states.complete();
    assert!(cell.is_complete());
    drop(guard);
}

#[test]
fn a_source_has_no_first_state_until_its_first_event() {
    let events = Source::new();
    let cell = events.clone().map(|c| *c).state_transition(|sm| {
        sm.on('a', 'b', |_, _| 1);
    });
    events.emit('a');
    assert_eq!(cell.get(), None);
    batch(|| {
        events.emit('b');
        events.emit('a');
        events.emit('b');
    });
    assert_eq!(cell.get(), Some(1));
}

#[test]
fn a_hook_that_panics_stops_nothing_else() {
    let states = Cell::new(0);
    let cell = states.state_transition(|sm| {
        sm.on(0, 1, |_, _| 1).on(1, 2, |_, _| 2).on_enter(1, |_| panic!("hook"));
    });
    assert!(catch_unwind(AssertUnwindSafe(|| states.set(1))).is_err());
    assert_eq!(cell.get(), 0);
    states.set(2);
    assert_eq!(cell.get(), 2, "its state was 1");
}

proptest! {
    #[test]
    fn agrees_with_an_interpreter(steps in prop::collection::vec((0..3_u8, any::<bool>()), 0..30)) {
        let (states, open) = (Cell::new(0), Rc::new(Flag::new(false)));
        let log = Log::default();
        let cell = machine(&states, &open, &log);
        for &(state, is_open) in &steps {
            open.set(is_open);
            states.set(state);
        }
        let (notes, value) = expected(&steps);
        prop_assert_eq!(&*log.borrow(), &notes);
        prop_assert_eq!(cell.get(), value);
    }
}
