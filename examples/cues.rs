//! A cue list, read from a JSON file and run by a state machine on the manual clock: the same output each time.
//!
//! `cargo run --example cues -- [FILE]`: each cue waits, fades to its level, and is followed by the next. The machine says
//! which changes of state are right, and reports those that are not.

use std::cell::{Cell as Count, RefCell};
use std::rc::Rc;
use std::time::Duration;

use hyphae::{Cell, ManualClock, interval, timers};
use serde_json::Value;

const MS: u64 = 1_000_000;
/// How often a fade moves the level.
const STEP_MS: u64 = 500;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum State {
    Idle,
    Waiting,
    Fading,
    Done,
}

#[derive(Clone, Debug)]
struct Cue {
    name: String,
    after_ms: u64,
    fade_ms: u64,
    level: u64,
}

fn read(path: &str) -> Result<Vec<Cue>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let list: Value = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    let list = list.as_array().ok_or_else(|| format!("{path}: not a list of cues"))?;
    list.iter().enumerate().map(|(at, cue)| cue_of(cue, &format!("{path}, cue {at}"))).collect()
}

fn cue_of(cue: &Value, whose: &str) -> Result<Cue, String> {
    let number = |key: &str| {
        cue[key].as_u64().ok_or_else(|| format!("{whose}: `{key}` is to be a number of 0 or more"))
    };
    let name = cue["name"].as_str().ok_or_else(|| format!("{whose}: it has no `name`"))?;
    let level = number("level")?;
    if level > 100 {
        return Err(format!("{whose}: `level` is {level}, but 100 is full"));
    }
    let (after_ms, fade_ms) = (number("after_ms")?, number("fade_ms")?);
    Ok(Cue { name: name.to_owned(), after_ms, fade_ms, level })
}

/// The show: the state of its list, and the level of its light.
#[derive(Clone)]
struct Show {
    cues: Rc<Vec<Cue>>,
    at: Rc<Count<usize>>,
    state: Cell<State>,
    level: Cell<u64>,
}

impl Show {
    fn new(cues: Vec<Cue>) -> Self {
        Self {
            cues: Rc::new(cues),
            at: Rc::default(),
            state: Cell::new(State::Idle),
            level: Cell::new(0),
        }
    }

    fn cue(&self) -> &Cue {
        &self.cues[self.at.get()]
    }

    /// Waits for the current cue.
    fn go(&self) {
        let Some(cue) = self.cues.get(self.at.get()) else { return self.state.set(State::Done) };
        self.state.set(State::Waiting);
        let show = self.clone();
        timers::after(Duration::from_millis(cue.after_ms), move || show.fade()).detach();
    }

    fn fade(&self) {
        self.state.set(State::Fading);
        let (from, start_ms) = (self.level.get(), timers::now_ns() / MS);
        let (show, steps) = (self.clone(), interval(Duration::from_millis(STEP_MS)));
        let guard = steps.watch_changes(move |_| {
            let (cue, gone_ms) = (show.cue(), timers::now_ns() / MS - start_ms);
            let part = gone_ms.min(cue.fade_ms);
            let to = |a: u64, b: u64| (a * (cue.fade_ms - part) + b * part) / cue.fade_ms;
            show.level.set(to(from, cue.level));
        });
        let (show, wait) = (self.clone(), Duration::from_millis(self.cue().fade_ms));
        // Also a fade of no time ends later than it begins: what is due together would be one batch, and one state.
        timers::after(wait, move || {
            drop((guard, steps));
            show.end();
        })
        .detach();
    }

    fn end(&self) {
        self.level.set(self.cue().level);
        self.at.set(self.at.get() + 1);
        self.go();
    }
}

type Log = Rc<RefCell<Vec<String>>>;

fn note(log: &Log, text: String) {
    let line = format!("{:>6} ms  {text}", timers::now_ns() / MS);
    println!("{line}");
    log.borrow_mut().push(line);
}

fn run(cues: Vec<Cue>, log: &Log) -> Show {
    let clock = ManualClock::new();
    timers::set_clock(clock.clone());
    let show = Show::new(cues);
    let (on, gone, own) = (log.clone(), log.clone(), show.clone());
    let starts = show.state.state_transition(move |machine| {
        use State::{Done, Fading, Idle, Waiting};
        let (ends, begins) = (on.clone(), own);
        machine
            .on(Idle, Waiting, |_, _| 0)
            .on(Waiting, Fading, |_, _| 1)
            .on(Fading, Waiting, |_, _| 0)
            .on(Fading, Done, |_, _| 0)
            .on_enter(Fading, move |_| note(&on, format!("starts {:?}", begins.cue().name)))
            .on_enter(Done, move |_| note(&ends, "the list is over".to_owned()))
            .on_invalid(move |from, to| {
                note(&gone, format!("{from:?} -> {to:?} is no transition"));
            });
    });
    let levels = log.clone();
    let guard = show.level.watch_changes(move |level| note(&levels, format!("level {level}")));
    show.go();
    while let Some(next_ns) = timers::next_deadline_ns() {
        timers::advance_to(&clock, next_ns);
    }
    show.state.set(State::Fading);
    drop((guard, starts));
    show
}

fn main() -> Result<(), String> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "examples/data/cues.json".to_owned());
    let cues = read(&path)?;
    let (count, last) = (cues.len(), cues.last().map_or(0, |cue| cue.level));
    let (first, second) = (Log::default(), Log::default());
    let show = run(cues.clone(), &first);
    assert_eq!((show.at.get(), show.level.get()), (count, last));
    let starts = first.borrow().iter().filter(|line| line.contains("starts")).count();
    assert_eq!(starts, count, "each cue starts once");
    println!("again:");
    run(cues, &second);
    assert_eq!(first, second, "the same each time");
    Ok(())
}
