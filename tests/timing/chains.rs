//! Chains of up to eight operators, those that wait and others, against references that work on the whole script at once.
//!
//! What happens at the same moment, `moments` has. Here no two timers are due together: a script runs in
//! whole units, and the operator at place `i` waits for whole units and `64^i` nanoseconds. A moment tells by its digits
//! whose timers it has come through, since none is due more than 63 times.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hyphae::{Cell, CellImmutable, Edges, ManualClock, Pipeline, Signal, timers};
use proptest::prelude::*;

use super::plain::{PLAIN, Plain};
use super::reference::{self, Event, Heard};

/// The unit of scripts, in nanoseconds.
const UNIT: u64 = 1 << 32;
const UNTIL: u64 = 120 * UNIT;

/// So many operators of a chain may wait, that there are digits for them.
const MOST_WAITING: usize = 5;

pub(crate) type Values = Cell<u32, CellImmutable>;
type Script = Vec<(u64, Event)>;

/// What a cell starts with and what happens to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) seed: u32,
    pub(crate) script: Script,
}

/// An operator that waits: its cell, its reference, and its seed for one of its input.
type Waits = (
    &'static str,
    fn(&Values, Duration) -> Values,
    fn(&[(u64, Event)], u64) -> Heard,
    fn(u32) -> u32,
);

/// The sum of a list, which stands for it.
pub(crate) fn sum(list: &[u32]) -> u32 {
    list.iter().sum::<u32>() % 1000
}

const WAITING: &[Waits] = &[
    ("debounce", |c, d| c.debounce(d), |s, d| reference::debounce(s, d, false, true), |v| v),
    (
        "debounce leading",
        |c, d| c.debounce_with(d, Edges::Leading).0,
        |s, d| reference::debounce(s, d, true, false),
        |v| v,
    ),
    (
        "debounce both",
        |c, d| c.debounce_with(d, Edges::Both).0,
        |s, d| reference::debounce(s, d, true, true),
        |v| v,
    ),
    ("throttle", |c, d| c.throttle(d), |s, d| reference::throttle(s, d, true, false), |v| v),
    (
        "throttle trailing",
        |c, d| c.throttle_with(d, Edges::Trailing).0,
        |s, d| reference::throttle(s, d, false, true),
        |v| v,
    ),
    (
        "throttle both",
        |c, d| c.throttle_with(d, Edges::Both).0,
        |s, d| reference::throttle(s, d, true, true),
        |v| v,
    ),
    ("audit", |c, d| c.audit(d), reference::audit, |v| v),
    ("delay", |c, d| c.delay(d), reference::delay, |v| v),
    ("sample_time", |c, d| c.sample_time(d), reference::sample_time, |v| v),
    (
        "buffer_time",
        |c, d| c.buffer_time(d).map(|list| sum(list)).materialize(),
        |s, d| reference::buffer_time(s, d, UNTIL),
        |_| 0,
    ),
    ("timeout", |c, d| c.timeout(d), |s, d| reference::timeout(s, d, UNTIL), |v| v),
];

/// What the references tell in words, as a script again.
fn script_of(heard: Heard) -> Script {
    let event = |text: &str| match text {
        "complete" => Event::Complete,
        "error" => Event::Fail,
        list if list.starts_with('[') => {
            let words = list[1..list.len() - 1].split(", ").filter(|word| !word.is_empty());
            let numbers: Vec<u32> = words.map(|word| word.parse().expect("a number")).collect();
            Event::Set(sum(&numbers))
        }
        number => Event::Set(number.parse().expect("a number")),
    };
    heard.into_iter().map(|(t, text)| (t, event(&text))).collect()
}

/// A link of a chain.
#[derive(Clone, Copy, Debug)]
enum Link {
    /// An operator of [`WAITING`], and the units that it waits.
    Waits(usize, u64),
    Plain(Plain, u32),
}

impl Link {
    fn name(self) -> String {
        match self {
            Self::Waits(at, _) => WAITING[at].0.to_owned(),
            Self::Plain(plain, _) => format!("{plain:?}"),
        }
    }

    fn waits_ns(units: u64, place: usize) -> u64 {
        units * UNIT + 64_u64.pow(place as u32)
    }

    fn cell(self, input: &Values, place: usize) -> Values {
        match self {
            Self::Waits(at, units) => {
                WAITING[at].1(input, Duration::from_nanos(Self::waits_ns(units, place)))
            }
            Self::Plain(plain, k) => plain.cell(input, k),
        }
    }

    fn expected(self, input: Line, place: usize) -> Line {
        match self {
            Self::Waits(at, units) => Line {
                seed: WAITING[at].3(input.seed),
                script: script_of(WAITING[at].2(&input.script, Self::waits_ns(units, place))),
            },
            Self::Plain(plain, k) => plain.expected(&input, k),
        }
    }
}

/// The links, each with its place among those that wait.
fn placed(chain: &[Link]) -> impl Iterator<Item = (Link, usize)> {
    let mut place = 0;
    chain.iter().map(move |&link| {
        let own = place;
        place += usize::from(matches!(link, Link::Waits(..)));
        (link, own)
    })
}

fn note<M>(cell: &Cell<u32, M>) -> (Rc<RefCell<Script>>, hyphae::SubscriptionGuard) {
    let heard = Rc::new(RefCell::new(vec![]));
    let log = heard.clone();
    let guard = cell.subscribe(move |signal| {
        let event = match signal {
            Signal::Value(value) => Event::Set(**value),
            Signal::Complete => Event::Complete,
            Signal::Error(_) => Event::Fail,
        };
        log.borrow_mut().push((timers::now_ns(), event));
    });
    (heard, guard)
}

/// What the last cell of the chain tells until `stop`, when all is dropped.
fn run(chain: &[Link], script: &[(u64, Event)], stop: u64) -> Script {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    let source = Cell::new(0);
    let first = source.clone().lock();
    let last = placed(chain).fold(first, |cell, (link, place)| link.cell(&cell, place));
    let (heard, guard) = note(&last);
    for &(t, event) in script.iter().take_while(|step| step.0 <= stop) {
        timers::advance_to(&clock, t);
        match event {
            Event::Set(value) => source.set(value),
            Event::Complete => source.complete(),
            Event::Fail => source.fail("failed"),
        }
    }
    timers::advance_to(&clock, stop);
    drop((guard, last, source));
    assert_eq!(timers::waiting(), 0, "timers go with their cells");
    assert_eq!(hyphae::arena::totals().cells, 0);
    heard.take()
}

fn expected(chain: &[Link], script: &[(u64, Event)], stop: u64) -> Script {
    let input = Line { seed: 0, script: script.to_vec() };
    let line = placed(chain).fold(input, |line, (link, place)| link.expected(line, place));
    let seed = [(0, Event::Set(line.seed))];
    seed.into_iter().chain(line.script).filter(|step| step.0 <= stop).collect()
}

fn check(chain: &[Link], script: &[(u64, Event)], stop: u64) {
    let names: Vec<_> = chain.iter().map(|link| link.name()).collect();
    assert_eq!(
        run(chain, script, stop),
        expected(chain, script, stop),
        "{} of {chain:?} over {script:?}",
        names.join(" -> ")
    );
}

fn link() -> impl Strategy<Value = Link> {
    prop_oneof![
        (0..WAITING.len(), 2..20_u64).prop_map(|(at, units)| Link::Waits(at, units)),
        (prop::sample::select(PLAIN), 0..5_u32).prop_map(|(plain, k)| Link::Plain(plain, k)),
    ]
}

/// As many that wait as there are digits for.
fn chain() -> impl Strategy<Value = Vec<Link>> {
    prop::collection::vec(link(), 1..=8).prop_map(|mut chain| {
        let mut waiting = 0;
        chain.retain(|link| {
            waiting += usize::from(matches!(link, Link::Waits(..)));
            !matches!(link, Link::Waits(..)) || waiting <= MOST_WAITING
        });
        chain
    })
}

fn script() -> impl Strategy<Value = Script> {
    let value = (0..9_u64, 1..100_u32);
    let end = prop_oneof![Just(None), Just(Some(Event::Complete)), Just(Some(Event::Fail))];
    (prop::collection::vec(value, 0..14), 0..9_u64, end).prop_map(|(steps, pause, end)| {
        let mut now = 0;
        let mut script: Script = vec![];
        for (pause, value) in steps {
            now += pause * UNIT;
            script.push((now, Event::Set(value)));
        }
        script.extend(end.map(|end| (now + pause * UNIT, end)));
        script
    })
}

/// Each operator before and after each other one, over a script in which all of them have something to do.
#[test]
fn every_pair_of_operators() {
    let waiting = (0..WAITING.len()).map(|at| Link::Waits(at, 3));
    let links: Vec<_> = waiting.chain(PLAIN.iter().map(|&plain| Link::Plain(plain, 2))).collect();
    let values = [(0, 4), (1, 4), (2, 7), (6, 8), (7, 8), (20, 3), (21, 9), (22, 1), (40, 6)];
    let values = values.map(|(t, value)| (t * UNIT, Event::Set(value)));
    for end in [None, Some(Event::Complete), Some(Event::Fail)] {
        let end = end.map(|end| (41 * UNIT, end));
        let script: Script = values.into_iter().chain(end).collect();
        for &first in &links {
            for &second in &links {
                check(&[first, second], &script, UNTIL);
            }
        }
    }
}

proptest! {
    #[test]
    fn a_chain_does_as_its_references_say(
        chain in chain(),
        script in script(),
        stop in prop_oneof![Just(UNTIL), 0..UNTIL],
    ) {
        check(&chain, &script, stop);
    }
}
