//! Operators that do not wait, as links of a chain: each as a cell of numbers, and what it should do with a script.

use hyphae::Pipeline;

use super::chains::{Line, Values};
use super::reference::Event;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Plain {
    Map,
    Filter,
    Scan,
    Deduped,
    Distinct,
    Pairwise,
    Skip,
    SkipWhile,
    Take,
    TakeWhile,
    Last,
    Window,
    BufferCount,
}

use Plain::*;

pub(crate) const PLAIN: &[Plain] = &[
    Map,
    Filter,
    Scan,
    Deduped,
    Distinct,
    Pairwise,
    Skip,
    SkipWhile,
    Take,
    TakeWhile,
    Last,
    Window,
    BufferCount,
];

/// What stands for a value that is not there yet.
const NOTHING: u32 = 999;

/// A number that stands for a list: other lists have others, mostly.
fn digest(list: &[u32]) -> u32 {
    list.iter().fold(7, |digest, value| (digest * 31 + value) % 997)
}

impl Plain {
    /// The cell of the operator with parameter `k`.
    pub(crate) fn cell(self, input: &Values, k: u32) -> Values {
        match self {
            Map => input.map(move |v| (v * 3 + k) % 1000).materialize(),
            Scan => input.scan(k, |sum, v| (sum + v) % 1000).materialize(),
            Deduped => input.deduped().materialize(),
            Distinct => input.distinct().materialize(),
            Take => input.take(k as usize + 1).materialize(),
            Window => input.window(k as usize + 1).map(|list| digest(list)).materialize(),
            BufferCount => {
                input.buffer_count(k as usize + 1).map(|list| digest(list)).materialize()
            }
            _ => self.cell_without_seed(input, k).map(|v| v.unwrap_or(NOTHING)).materialize(),
        }
    }

    fn cell_without_seed(
        self,
        input: &Values,
        k: u32,
    ) -> hyphae::Cell<Option<u32>, hyphae::CellImmutable> {
        match self {
            Filter => input.filter(move |v| v % 2 == k % 2).materialize(),
            Pairwise => input.pairwise().map(|(a, b)| digest(&[*a, *b])).materialize(),
            Skip => input.skip(k as usize).materialize(),
            SkipWhile => input.skip_while(move |v| *v < 10 * k).materialize(),
            TakeWhile => input.take_while(move |v| *v < 25 * (k + 1)).materialize(),
            Last => input.last().materialize(),
            _ => unreachable!("{self:?} has a seed"),
        }
    }

    /// What that cell starts with, and what happens to it.
    pub(crate) fn expected(self, input: &Line, k: u32) -> Line {
        let mut state = State { seen: vec![], k };
        let (mut seed, mut script, mut over) = (None, vec![], false);
        let first = [(0, Event::Set(input.seed))];
        for (index, &(t, event)) in first.iter().chain(&input.script).enumerate() {
            if over {
                break;
            }
            let (out, ends) = match event {
                Event::Set(value) => {
                    let (out, closes) = state.step(self, value, index == 0);
                    (out, closes.then_some(Event::Complete))
                }
                Event::Complete => (state.finish(self), Some(event)),
                Event::Fail => (None, Some(event)),
            };
            match index {
                0 => seed = out,
                _ => script.extend(out.map(|out| (t, Event::Set(out)))),
            }
            script.extend(ends.map(|end| (t, end)));
            over = ends.is_some();
        }
        Line { seed: seed.unwrap_or(NOTHING), script }
    }
}

/// All values so far, and the parameter.
struct State {
    seen: Vec<u32>,
    k: u32,
}

impl State {
    /// What comes of a value, and whether that is the end.
    fn step(&mut self, plain: Plain, value: u32, is_seed: bool) -> (Option<u32>, bool) {
        let k = self.k;
        let before = self.seen.clone();
        self.seen.push(value);
        let count = self.seen.len();
        let size = k as usize + 1;
        let out = match plain {
            Map => Some((value * 3 + k) % 1000),
            Scan => Some((k + self.seen.iter().sum::<u32>()) % 1000),
            Deduped => Some(value).filter(|value| before.last() != Some(value)),
            Distinct => Some(value).filter(|value| !before.contains(value)),
            Filter => Some(value).filter(|value| value % 2 == k % 2),
            Pairwise => before.last().map(|&last| digest(&[last, value])),
            Skip => Some(value).filter(|_| count > k as usize),
            SkipWhile => Some(value).filter(|_| self.seen.iter().any(|v| *v >= 10 * k)),
            Take => Some(value),
            TakeWhile => Some(value).filter(|value| *value < 25 * (k + 1)),
            Last => None,
            Window => Some(digest(&self.seen[count.saturating_sub(size)..])),
            BufferCount if is_seed => Some(digest(&[])),
            BufferCount => self.seen[1..]
                .chunks_exact(size)
                .last()
                .filter(|_| (count - 1).is_multiple_of(size))
                .map(digest),
        };
        let closes = match plain {
            Take => count == size,
            TakeWhile => out.is_none(),
            _ => false,
        };
        (out, closes)
    }

    /// What is left at a completion.
    fn finish(&self, plain: Plain) -> Option<u32> {
        let later = &self.seen[1..];
        match plain {
            Last => later.last().copied(),
            BufferCount => {
                let rest = later.chunks_exact(self.k as usize + 1).remainder();
                (!rest.is_empty()).then(|| digest(rest))
            }
            _ => None,
        }
    }
}
