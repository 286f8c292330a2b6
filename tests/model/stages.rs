//! The stages of chains as the model has them: a value and an end go through one after the other.

use super::op::{Chain, Heard, work};
use super::world::Tick;

/// One stage with what it remembers.
pub enum Stage {
    Map(fn(i64) -> i64, Option<Tick>),
    Filter(Tick),
    Tap(Tick),
    Scan(Option<i64>, Option<Tick>),
    Deduped(Option<i64>),
    Pairwise(Option<i64>, Tick),
    Take { limit: usize, taken: usize },
    Skip(usize),
    Last(Option<i64>),
}

/// What comes out of a chain or a cell: a value, an end, or both, the value first.
#[derive(Clone, Debug)]
pub struct Given<V> {
    pub value: Option<V>,
    pub end: Option<Heard>,
    /// There is more to give, in the next round.
    pub more: bool,
}

impl<V> Default for Given<V> {
    fn default() -> Self {
        Self { value: None, end: None, more: false }
    }
}

impl Stage {
    /// The stages of a chain, and whether it has no value from the start.
    pub fn of(chain: Chain, tick: &Tick) -> (Vec<Stage>, bool) {
        let tick = || tick.clone();
        let halve = || Stage::Map(work::halve, None);
        match chain {
            Chain::Map => (vec![Stage::Map(work::map, Some(tick()))], false),
            Chain::Halve => (vec![Stage::Map(work::halve, Some(tick()))], false),
            Chain::Filter => (vec![Stage::Filter(tick())], true),
            Chain::Scan => (vec![Stage::Scan(None, Some(tick()))], false),
            Chain::Deduped => (vec![Stage::Deduped(None)], false),
            Chain::DedupedTap => (vec![Stage::Deduped(None), Stage::Tap(tick())], false),
            Chain::Pairwise => (vec![Stage::Pairwise(None, tick())], true),
            Chain::TakeTap(n) => (vec![take(n), Stage::Tap(tick())], false),
            Chain::TapTake(n) => (vec![Stage::Tap(tick()), take(n)], false),
            Chain::Skip(n) => (vec![Stage::Skip(usize::from(n))], true),
            Chain::Last => (vec![Stage::Tap(tick()), Stage::Last(None)], true),
            Chain::TapMaps => {
                let map = Stage::Map(work::map, Some(tick()));
                (vec![Stage::Tap(tick()), map, halve()], false)
            }
            Chain::FilterScan => (vec![Stage::Filter(tick()), Stage::Scan(None, None)], true),
            Chain::HalveDeduped => {
                let map = Stage::Map(work::halve, Some(tick()));
                (vec![map, Stage::Deduped(None)], false)
            }
        }
    }

    /// A value that comes in; what goes on.
    fn step(&mut self, value: i64, seed: bool) -> Option<i64> {
        match self {
            Stage::Map(f, tick) => {
                if let Some(tick) = tick {
                    tick(value);
                }
                Some(f(value))
            }
            Stage::Filter(tick) => {
                tick(value);
                work::keep(value).then_some(value)
            }
            Stage::Tap(tick) => {
                tick(value);
                Some(value)
            }
            Stage::Scan(sum, tick) => {
                if let Some(tick) = tick {
                    tick(value);
                }
                *sum = Some(work::add(sum.unwrap_or(0), value));
                *sum
            }
            Stage::Deduped(last) => {
                let news = *last != Some(value);
                *last = Some(value);
                news.then_some(value)
            }
            Stage::Pairwise(last, tick) => {
                let before = last.replace(value)?;
                tick(value);
                Some(work::pair(before, value))
            }
            Stage::Take { taken, .. } => {
                *taken += 1;
                Some(value)
            }
            Stage::Skip(left) if *left > 0 => {
                *left -= 1;
                None
            }
            Stage::Skip(_) => Some(value),
            Stage::Last(held) => {
                if !seed {
                    *held = Some(value);
                }
                None
            }
        }
    }

    /// Whether it takes nothing more.
    fn is_full(&self) -> bool {
        matches!(self, Stage::Take { limit, taken } if taken >= limit)
    }

    /// What it still gives when all before it has ended.
    fn finish(&mut self, end: &Heard) -> Option<i64> {
        match self {
            Stage::Last(held) => held.take().filter(|_| *end == Heard::Complete),
            _ => None,
        }
    }

    /// Forgets all values.
    pub fn restart(&mut self) {
        match self {
            Stage::Scan(sum, _) => *sum = None,
            Stage::Deduped(last) => *last = None,
            Stage::Take { taken, .. } => *taken = 0,
            _ => (),
        }
    }
}

fn take(n: u8) -> Stage {
    let limit = usize::from(n);
    Stage::Take { limit, taken: 0 }
}

/// Sends what the root gave through the stages. A stage that is full ends what comes after it (P6: it stays full when a
/// later stage panicked).
pub fn flow(stages: &mut [Stage], root: Given<i64>, seed: bool) -> Given<i64> {
    let mut given = root;
    for stage in stages {
        given.value = given.value.and_then(|value| stage.step(value, seed));
        if stage.is_full() {
            given.end = Some(Heard::Complete);
        } else if let Some(end) = &given.end {
            given.value = stage.finish(end).or(given.value);
        }
    }
    given
}

/// Whether a gate is closed before any value.
pub fn is_spent(stages: &[Stage]) -> bool {
    stages.iter().any(Stage::is_full)
}
