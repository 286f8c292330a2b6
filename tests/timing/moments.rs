//! Chains of up to eight operators, those that wait and others, where timers and writes fall on the same nanoseconds.
//!
//! Waits and pauses are a few nanoseconds, so that operators ring together all the time, and at moments at which the script
//! writes. The references in [`timeline`](super::timeline) say what comes first then. A script also flushes and cancels what
//! waits in some operators, and stops anywhere, when all is dropped with timers pending.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use hyphae::{Cell, Edges, ManualClock, Pipeline, Signal, Waiting, batch, timers};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::chains::{Values, sum};
use super::plain::{PLAIN, Plain};
use super::timeline::{Control, Controls, End, Moment, Timeline};

/// When the clock starts: not at a multiple of the periods.
const START: u64 = 1009;
const SEED: u32 = 50;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    /// Without edges it is the method that has no handle.
    Debounce(Option<Edges>),
    Throttle(Option<Edges>),
    Audit,
    Delay,
    SampleTime,
    BufferTime,
    Timeout,
}

use Waits::*;

const WAITS: &[Waits] = &[
    Debounce(None),
    Debounce(Some(Edges::Leading)),
    Debounce(Some(Edges::Trailing)),
    Debounce(Some(Edges::Both)),
    Throttle(None),
    Throttle(Some(Edges::Leading)),
    Throttle(Some(Edges::Trailing)),
    Throttle(Some(Edges::Both)),
    Audit,
    Delay,
    SampleTime,
    BufferTime,
    Timeout,
];

/// A link of a chain: with the nanoseconds that it waits, or with its parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Link {
    Waits(Waits, u64),
    Plain(Plain, u32),
}

impl Link {
    /// Its operator, whatever the numbers are.
    fn kind(self) -> Self {
        match self {
            Self::Waits(waits, _) => Self::Waits(waits, 0),
            Self::Plain(plain, _) => Self::Plain(plain, 0),
        }
    }

    fn has_handle(self) -> bool {
        matches!(self, Self::Waits(Debounce(Some(_)) | Throttle(Some(_)), _))
    }

    fn cell(self, input: &Values, handles: &mut Vec<Waiting>) -> Values {
        let (waits, d) = match self {
            Self::Waits(waits, ns) => (waits, Duration::from_nanos(ns)),
            Self::Plain(plain, k) => return plain.cell(input, k),
        };
        let (cell, handle) = match waits {
            Debounce(Some(edges)) => input.debounce_with(d, edges),
            Throttle(Some(edges)) => input.throttle_with(d, edges),
            Debounce(None) => return input.debounce(d),
            Throttle(None) => return input.throttle(d),
            Audit => return input.audit(d),
            Delay => return input.delay(d),
            SampleTime => return input.sample_time(d),
            BufferTime => return input.buffer_time(d).map(|list| sum(list)).materialize(),
            Timeout => return input.timeout(d),
        };
        handles.push(handle);
        cell
    }

    fn expected(self, input: &Timeline, controls: &Controls, until: u64) -> Timeline {
        let (waits, d) = match self {
            Self::Waits(waits, ns) => (waits, ns),
            Self::Plain(plain, k) => return input.plain(plain, k),
        };
        match waits {
            Debounce(edges) => input.debounce(d, edges.unwrap_or(Edges::Trailing), controls),
            Throttle(edges) => input.throttle(d, edges.unwrap_or(Edges::Leading), controls),
            Audit => input.audit(d),
            Delay => input.delay(d),
            SampleTime => input.sample_time(d),
            BufferTime => input.buffer_time(d, until),
            Timeout => input.timeout(d, until),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(u64),
    Set(u32),
    Complete,
    Fail,
    /// A value and the completion in one batch.
    SetLast(u32),
    /// Of the handles of a chain, the one of this number; they are counted in a circle.
    Ask(usize, Control),
}

use Step::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Value(u32),
    End(End),
}

type Heard = Vec<(u64, Told)>;

/// What the last cell of a chain has told, and some facts about the run.
struct Run {
    heard: Heard,
    /// How many timers were called at the busiest moment.
    most_together: usize,
    /// How many were set when all was dropped.
    pending: usize,
}

fn note(cell: &Values) -> (Rc<RefCell<Heard>>, hyphae::SubscriptionGuard) {
    let heard = Rc::new(RefCell::new(vec![]));
    let log = heard.clone();
    let guard = cell.subscribe(move |signal| {
        let told = match signal {
            Signal::Value(value) => Told::Value(**value),
            Signal::Complete => Told::End(End::Complete),
            Signal::Error(error) if error.to_string() == "timeout" => Told::End(End::TimedOut),
            Signal::Error(_) => Told::End(End::Failed),
        };
        log.borrow_mut().push((timers::now_ns() - START, told));
    });
    (heard, guard)
}

/// Tells how many timers were called at the busiest moment.
fn wait(clock: &ManualClock, ns: u64) -> usize {
    let (until, mut most) = (timers::now_ns() + ns, 0);
    while let Some(next) = timers::next_deadline_ns().filter(|&next| next <= until) {
        clock.set(next);
        most = most.max(timers::poll());
    }
    clock.set(until);
    most
}

fn take_step(step: Step, source: &Cell<u32>, handles: &[Waiting]) {
    match step {
        Wait(_) => (),
        Set(value) => source.set(value),
        Complete => source.complete(),
        Fail => source.fail("failed"),
        SetLast(value) => batch(|| {
            source.set(value);
            source.complete();
        }),
        Ask(..) if handles.is_empty() => (),
        Ask(n, Control::Flush) => handles[n % handles.len()].flush(),
        Ask(n, Control::Cancel) => handles[n % handles.len()].cancel(),
    }
}

fn run(chain: &[Link], script: &[Step]) -> Run {
    let clock = ManualClock::at(START);
    timers::set_clock(clock.clone());
    let (source, mut handles) = (Cell::new(SEED), vec![]);
    let first = source.clone().lock();
    let last = chain.iter().fold(first, |cell, link| link.cell(&cell, &mut handles));
    let (heard, guard) = note(&last);
    let mut most_together = 0;
    for &step in script {
        if let Wait(ns) = step {
            most_together = most_together.max(wait(&clock, ns));
        }
        take_step(step, &source, &handles);
    }
    let pending = timers::waiting();
    drop((guard, last));
    assert_eq!(timers::waiting(), 0, "timers go with their cells");
    // Handles may outlive their cells.
    for step in [Set(1), Ask(0, Control::Flush), Ask(1, Control::Cancel)] {
        take_step(step, &source, &handles);
    }
    drop((source, handles));
    assert_eq!((timers::waiting(), hyphae::arena::totals().cells), (0, 0));
    Run { heard: heard.take(), most_together, pending }
}

/// The script as what its source does, what is asked of which handle, and when it is over.
fn read(script: &[Step]) -> (Timeline, Vec<(Moment, usize, Control)>, u64) {
    let (mut now, mut outs, mut end, mut asked) = (0, vec![], None, vec![]);
    for (n, &step) in script.iter().enumerate() {
        let at = (now, n + 1, 1);
        match step {
            Wait(ns) => now += ns,
            Ask(handle, control) => asked.push((at, handle, control)),
            _ if end.is_some() => (),
            Set(value) => outs.push((at, value)),
            Complete => end = Some((at, End::Complete)),
            Fail => end = Some((at, End::Failed)),
            SetLast(value) => {
                outs.push((at, value));
                end = Some((at, End::Complete));
            }
        }
    }
    (Timeline::new(SEED, outs, end), asked, now)
}

/// What each link of the chain does, the source before them.
fn expected(chain: &[Link], script: &[Step]) -> (Vec<Timeline>, u64) {
    let (source, asked, until) = read(script);
    let handles = chain.iter().filter(|link| link.has_handle()).count();
    let (mut lines, mut handle) = (vec![source], 0);
    for link in chain {
        let own = asked.iter().filter(|asked| link.has_handle() && asked.1 % handles == handle);
        let controls = own.map(|&(at, _, control)| (at, control)).collect();
        lines.push(link.expected(&lines[lines.len() - 1], &controls, until));
        handle += usize::from(link.has_handle());
    }
    (lines, until)
}

/// What a subscriber of a cell hears.
fn heard(line: &Timeline, until: u64) -> Heard {
    let told = line.beats.iter().flat_map(|beat| {
        let told = [beat.value.map(Told::Value), beat.end.map(Told::End)];
        told.into_iter().flatten().map(|told| (beat.at.0, told))
    });
    told.filter(|told| told.0 <= until).collect()
}

/// Compares a run with the references, and gives it.
fn check(chain: &[Link], script: &[Step]) -> Run {
    let (lines, until) = expected(chain, script);
    let run = run(chain, script);
    assert_eq!(run.heard, heard(&lines[lines.len() - 1], until), "{chain:?} over {script:?}");
    run
}

/// What shares a moment, by hand: chain, script, and what is told after the seed.
#[test]
fn what_shares_a_moment() {
    let value = |t, value| (t, Told::Value(value));
    let table: &[(&[Link], &[Step], &[(u64, Told)])] = &[
        // A burst ends before a value of the same moment, from a timer or from a write.
        (
            &[Link::Waits(Delay, 2), Link::Waits(Debounce(None), 3)],
            &[Set(1), Wait(3), Set(2), Wait(9)],
            &[value(5, 1), value(8, 2)],
        ),
        (&[Link::Waits(Debounce(None), 3)], &[Set(1), Wait(3), Set(2), Wait(2)], &[value(3, 1)]),
        // A value that comes as a period ends is of the next one.
        (
            &[Link::Waits(Delay, 2), Link::Waits(BufferTime, 4)],
            &[Set(1), Wait(2), Set(2), Wait(6)],
            &[value(4, 1), value(8, 2)],
        ),
        // Values that are due together come one by one.
        (&[Link::Waits(Delay, 2)], &[Set(1), Set(2), Wait(2)], &[value(2, 1), value(2, 2)]),
        // At its limit a `timeout` takes a value of a timer, not of a write, and no end.
        (
            &[Link::Waits(Delay, 1), Link::Waits(Timeout, 3)],
            &[Wait(2), Set(1), Wait(2)],
            &[value(3, 1)],
        ),
        (&[Link::Waits(Timeout, 3)], &[Wait(3), Set(1)], &[(3, Told::End(End::TimedOut))]),
        (
            &[Link::Waits(Delay, 1), Link::Waits(Timeout, 3)],
            &[Wait(2), Complete, Wait(2)],
            &[(3, Told::End(End::TimedOut))],
        ),
        // The last value of a burst and the first of the next one: one value in a round.
        (
            &[Link::Waits(Delay, 1), Link::Waits(Debounce(Some(Edges::Both)), 2)],
            &[Set(1), Wait(1), Set(2), Wait(2), Set(3), Wait(1)],
            &[value(1, 1), value(4, 2), value(4, 3)],
        ),
    ];
    for (chain, script, told) in table {
        assert_eq!(check(chain, script).heard[1..], **told, "{chain:?} over {script:?}");
    }
}

fn kinds() -> Vec<Link> {
    let waits = WAITS.iter().map(|&waits| Link::Waits(waits, 0));
    waits.chain(PLAIN.iter().map(|&plain| Link::Plain(plain, 0))).collect()
}

/// Each operator first and last, with each other one.
#[test]
fn every_pair_of_operators_at_shared_moments() {
    let links = |ns, k| {
        kinds().into_iter().map(move |kind| match kind {
            Link::Waits(waits, _) => Link::Waits(waits, ns),
            Link::Plain(plain, _) => Link::Plain(plain, k),
        })
    };
    let values = [Set(4), Wait(1), Set(57), Set(8), Wait(2), Set(3), Wait(4), Set(91), Wait(2)];
    let asks =
        [Ask(0, Control::Flush), Set(12), Wait(1), Set(13), Ask(1, Control::Cancel), Wait(5)];
    for end in [Wait(0), Complete, Fail, SetLast(7)] {
        let end = [Set(33), Wait(1), Set(6), end, Wait(5)];
        let script: Vec<_> = values.into_iter().chain(asks).chain(end).collect();
        for first in links(2, 1) {
            links(4, 2).for_each(|last| drop(check(&[first, last], &script)));
            links(2, 0).for_each(|last| drop(check(&[first, last], &script)));
        }
    }
}

fn link() -> impl Strategy<Value = Link> {
    prop_oneof![
        3 => (prop::sample::select(WAITS), 1..7_u64).prop_map(|(waits, ns)| Link::Waits(waits, ns)),
        2 => (prop::sample::select(PLAIN), 0..5_u32).prop_map(|(plain, k)| Link::Plain(plain, k)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let control = prop_oneof![Just(Control::Flush), Just(Control::Cancel)];
    prop_oneof![
        10 => (0..7_u64).prop_map(Wait),
        12 => (1..100_u32).prop_map(Set),
        4 => (0..8_usize, control).prop_map(|(n, control)| Ask(n, control)),
    ]
}

fn case() -> impl Strategy<Value = (Vec<Link>, Vec<Step>)> {
    let end =
        prop_oneof![Just(Wait(0)), Just(Complete), Just(Fail), (1..100_u32).prop_map(SetLast)];
    let steps = (prop::collection::vec(step(), 0..40), end, prop::collection::vec(step(), 0..8));
    let script = steps.prop_map(|(mut script, end, rest)| {
        script.push(end);
        script.extend(rest);
        script
    });
    (prop::collection::vec(link(), 1..=8), script)
}

/// Where the operators of some random cases stand, and which told something after their seed.
#[derive(Default)]
struct Places {
    first: Vec<Link>,
    last: Vec<Link>,
    told: Vec<Link>,
}

impl Places {
    fn add(&mut self, chain: &[Link], lines: &[Timeline]) {
        self.first.push(chain[0].kind());
        self.last.push(chain[chain.len() - 1].kind());
        let told = chain.iter().zip(&lines[1..]).filter(|(_, line)| !line.values().is_empty());
        self.told.extend(told.map(|(link, _)| link.kind()));
    }
}

/// What a random case may be for.
const FACTS: [&str; 5] =
    ["a value after the seed", "a control", "timers together", "timers pending", "five that wait"];

fn facts(chain: &[Link], script: &[Step], lines: &[Timeline]) -> [bool; 5] {
    let run = check(chain, script);
    let waits = |link: &&Link| matches!(link, Link::Waits(..));
    // A `delay` may be called twice at a moment.
    let delays = chain.iter().any(|link| matches!(link, Link::Waits(Delay, _)));
    let unasked: Vec<_> =
        script.iter().map(|&step| if let Ask(..) = step { Wait(0) } else { step }).collect();
    [
        run.heard.iter().filter(|told| matches!(told.1, Told::Value(_))).count() > 1,
        run.heard != check(chain, &unasked).heard,
        !delays && run.most_together > 1,
        run.pending > 0,
        chain.iter().filter(waits).count() >= 5 && !lines[lines.len() - 1].values().is_empty(),
    ]
}

/// The random cases reach what they are for.
#[test]
fn random_chains_reach_every_operator_and_share_moments() {
    let (mut runner, mut places) = (TestRunner::deterministic(), Places::default());
    let mut counts = [0; 5];
    for _ in 0..600 {
        let (chain, script) = case().new_tree(&mut runner).expect("a case").current();
        let (lines, _) = expected(&chain, &script);
        places.add(&chain, &lines);
        let facts = facts(&chain, &script, &lines);
        counts.iter_mut().zip(facts).for_each(|(count, fact)| *count += i32::from(fact));
    }
    for kind in kinds() {
        for links in [&places.first, &places.last, &places.told] {
            assert!(links.contains(&kind), "{kind:?}");
        }
    }
    for (count, fact) in counts.into_iter().zip(FACTS) {
        assert!(count >= 30, "{fact}: {count} of 600");
    }
}

proptest! {
    #[test]
    fn a_chain_at_shared_moments_does_as_its_references_say((chain, script) in case()) {
        check(&chain, &script);
    }
}
