//! What operators that wait should give where much happens at one moment, each worked out from its whole input at once.
//!
//! A [`Moment`] is a nanosecond, a wave in it and a round of that wave. Two rules are enough to say what comes first:
//!
//! - All timers of a nanosecond are one batch (T2), its wave 0. What the script does then comes after, each step a wave.
//! - In the first round of wave 0 each operator rings before it takes what comes to it at that moment. So a value at the end
//!   of a pause, period or burst belongs to the next one. A `timeout` alone minds what comes in the round in which it rings: a
//!   value saves it, an end does not.
//!
//! An operator gives one value in a round at the most (P0). What a ring, a value and an end bring together comes in rounds of
//! its own (P10), as does what `delay` has for one moment.

use hyphae::Edges;

use super::chains::{Line, sum};
use super::plain::Plain;
use super::reference::Event;

pub(crate) type Moment = (u64, usize, usize);

/// When what is due at a nanosecond rings.
fn ring(at_ns: u64) -> Moment {
    (at_ns, 0, 1)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Complete,
    Failed,
    TimedOut,
}

/// All that a cell does in one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beat {
    pub(crate) at: Moment,
    pub(crate) value: Option<u32>,
    pub(crate) end: Option<End>,
}

/// What is asked of an operator by its handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Control {
    Flush,
    Cancel,
}

pub(crate) type Controls = Vec<(Moment, Control)>;

/// All that a cell does; the first beat is its making.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    pub(crate) beats: Vec<Beat>,
}

/// A value, or what the handle is asked.
type Touch = (Moment, Result<u32, Control>);

impl Timeline {
    pub(crate) fn new(seed: u32, outs: Vec<(Moment, u32)>, end: Option<(Moment, End)>) -> Self {
        let mut beats = vec![Beat { at: (0, 0, 0), value: Some(seed), end: None }];
        for (at, value) in outs {
            beat_at(&mut beats, at).value = Some(value);
        }
        if let Some((at, end)) = end {
            beat_at(&mut beats, at).end = Some(end);
        }
        Self { beats }
    }

    fn seed(&self) -> u32 {
        self.beats[0].value.expect("a cell has a value")
    }

    /// The values after the seed.
    pub(crate) fn values(&self) -> Vec<(Moment, u32)> {
        self.beats[1..].iter().filter_map(|beat| Some((beat.at, beat.value?))).collect()
    }

    fn end(&self) -> Option<(Moment, End)> {
        self.beats.iter().find_map(|beat| Some((beat.at, beat.end?)))
    }

    /// Values and controls up to the end, in order.
    fn touches(&self, controls: &Controls) -> Vec<Touch> {
        let values = self.values().into_iter().map(|(at, value)| (at, Ok(value)));
        let controls = controls.iter().map(|&(at, control)| (at, Err(control)));
        let lives = |touch: &Touch| self.end().is_none_or(|(over, _)| touch.0 <= over);
        let mut touches: Vec<_> = values.chain(controls).filter(lives).collect();
        touches.sort_by_key(|touch| touch.0);
        touches
    }

    /// An operator that holds values until they are due. A completion brings the one that still waits, an error drops it.
    /// What comes in one round goes out in rounds of its own, in order (P10).
    fn due(&self, seed: u32, due: Vec<(Moment, u32)>) -> Self {
        let Some((over, end)) = self.end() else { return Self::new(seed, in_rounds(due), None) };
        let (mut outs, rest): (Vec<_>, Vec<_>) = due.into_iter().partition(|due| due.0 <= over);
        assert!(rest.len() <= 1, "one value waits at the most");
        let rest = rest.first().filter(|_| end == End::Complete);
        outs.extend(rest.map(|&(_, value)| (over, value)));
        let mut outs = in_rounds(outs);
        let last = outs.last().map_or(over, |out| out.0);
        if end == End::Complete {
            return Self::new(seed, outs, Some((over.max(last), end)));
        }
        outs.retain(|out| out.0 <= over);
        Self::new(seed, outs, Some((over, end)))
    }

    pub(crate) fn debounce(&self, d: u64, edges: Edges, controls: &Controls) -> Self {
        let mut due = vec![];
        // A control closes its burst.
        let same_burst = |a: &Touch, b: &Touch| a.1.is_ok() && b.0.0 - a.0.0 < d;
        for burst in self.touches(controls).chunk_by(same_burst) {
            let values: Vec<_> = burst.iter().filter_map(|&(at, v)| Some((at, v.ok()?))).collect();
            let (Some(&first), Some(&last)) = (values.first(), values.last()) else { continue };
            let leads = edges != Edges::Trailing;
            due.extend(Some(first).filter(|_| leads));
            let comes = match burst[burst.len() - 1] {
                (at, Err(Control::Flush)) => Some(at),
                (_, Err(Control::Cancel)) => None,
                (at, Ok(_)) => Some(ring(at.0 + d)),
            };
            let waits = edges != Edges::Leading && !(leads && values.len() == 1);
            due.extend(comes.filter(|_| waits).map(|at| (at, last.1)));
        }
        self.due(self.seed(), due)
    }

    pub(crate) fn throttle(&self, d: u64, edges: Edges, controls: &Controls) -> Self {
        let (mut due, mut touches) = (vec![], self.touches(controls).into_iter().peekable());
        while let Some((at, touch)) = touches.next() {
            let Ok(value) = touch else { continue };
            due.extend(Some((at, value)).filter(|_| edges != Edges::Trailing));
            let mut pause = Some((at.0 + d, Some(value).filter(|_| edges == Edges::Trailing)));
            while let Some((end_ns, waiting)) = pause.take() {
                let out = pause_gives(&mut touches, end_ns, waiting, edges);
                // What is let through opens a pause of its own.
                pause = out.map(|(at, _)| (at.0 + d, None));
                due.extend(out);
            }
        }
        self.due(self.seed(), due)
    }

    pub(crate) fn audit(&self, d: u64) -> Self {
        let (mut due, mut values) = (vec![], self.values().into_iter().peekable());
        while let Some((at, mut value)) = values.next() {
            while let Some(next) = values.next_if(|next| next.0.0 < at.0 + d) {
                value = next.1;
            }
            due.push((ring(at.0 + d), value));
        }
        self.due(self.seed(), due)
    }

    pub(crate) fn delay(&self, d: u64) -> Self {
        let values = self.values();
        // The rounds in which values of one nanosecond come count from 1.
        let round = |n: usize| values[..n].iter().filter(|v| v.0.0 == values[n].0.0).count() + 1;
        let later = |n: usize| ((values[n].0.0 + d, 0, round(n)), values[n].1);
        let mut outs: Vec<_> = (0..values.len()).map(later).collect();
        let end = self.end().map(|(over, end)| match end {
            End::Complete => {
                let before = values.iter().filter(|value| value.0.0 == over.0).count();
                ((over.0 + d, 0, before.max(1)), end)
            }
            _ => (over, end),
        });
        outs.retain(|out| end.is_none_or(|(over, _)| out.0 <= over));
        Self::new(self.seed(), outs, end)
    }

    pub(crate) fn sample_time(&self, d: u64) -> Self {
        let values = self.values();
        let periods = values.chunk_by(|a, b| a.0.0 / d == b.0.0 / d);
        let last = |period: &[(Moment, u32)]| {
            let (at, value) = period[period.len() - 1];
            (ring((at.0 / d + 1) * d), value)
        };
        self.due(self.seed(), periods.map(last).collect())
    }

    /// Lists are the sum of their values; that at construction is empty.
    pub(crate) fn buffer_time(&self, d: u64, until: u64) -> Self {
        let list = |period: u64| {
            let values = self.values().into_iter().filter(|value| value.0.0 / d == period);
            values.map(|value| value.1).collect::<Vec<_>>()
        };
        let last = self.end().map_or(until, |(over, _)| over.0) / d;
        let mut due: Vec<_> = (0..last).map(|k| (ring((k + 1) * d), sum(&list(k)))).collect();
        // The one under way comes with a completion, if anything is in it.
        let open = Some(list(last)).filter(|list| self.end().is_some() && !list.is_empty());
        due.extend(open.map(|list| (ring((last + 1) * d), sum(&list))));
        self.due(0, due)
    }

    /// A value at the very moment of the ring is in time, an end is not.
    pub(crate) fn timeout(&self, d: u64, until: u64) -> Self {
        let (mut outs, mut limit) = (vec![], ring(d));
        for (at, value) in self.values() {
            if at > limit {
                break;
            }
            outs.push((at, value));
            limit = ring(at.0 + d);
        }
        let in_time = self.end().filter(|end| end.0 < limit);
        let late = Some((limit, End::TimedOut)).filter(|_| limit.0 <= until);
        Self::new(self.seed(), outs, in_time.or(late))
    }

    /// An operator that does not wait. Its reference gets numbers of beats for times.
    pub(crate) fn plain(&self, plain: Plain, k: u32) -> Self {
        let event = |end| if end == End::Complete { Event::Complete } else { Event::Fail };
        let mut script = vec![];
        for (n, beat) in (0..).zip(&self.beats) {
            script.extend(beat.value.filter(|_| n > 0).map(|value| (n, Event::Set(value))));
            script.extend(beat.end.map(|end| (n, event(end))));
        }
        let line = plain.expected(&Line { seed: self.seed(), script }, k);
        let (mut outs, mut end) = (vec![], None);
        for (n, event) in line.script {
            let at = self.beats[n as usize].at;
            match event {
                Event::Set(value) => outs.push((at, value)),
                Event::Complete => end = Some((at, End::Complete)),
                Event::Fail => end = self.end(),
            }
        }
        Self::new(line.seed, outs, end)
    }
}

/// What a pause of a throttle lets through, at its end or when it is asked to.
fn pause_gives(
    touches: &mut std::iter::Peekable<std::vec::IntoIter<Touch>>,
    end_ns: u64,
    mut waiting: Option<u32>,
    edges: Edges,
) -> Option<(Moment, u32)> {
    while let Some((at, touch)) = touches.next_if(|touch| touch.0.0 < end_ns) {
        match (touch, waiting) {
            (Err(Control::Flush), Some(value)) => return Some((at, value)),
            (Err(_), _) => waiting = None,
            (Ok(value), _) => waiting = Some(value).filter(|_| edges != Edges::Leading),
        }
    }
    waiting.map(|value| (ring(end_ns), value))
}

/// The beat of a moment, which is the last one or comes after it.
fn beat_at(beats: &mut Vec<Beat>, at: Moment) -> &mut Beat {
    let last = beats.len() - 1;
    assert!(beats[last].at <= at, "beats are in order");
    if beats[last].at < at {
        beats.push(Beat { at, value: None, end: None });
    }
    let last = beats.len() - 1;
    &mut beats[last]
}

/// The same values, each in a later round than the one before.
fn in_rounds(mut outs: Vec<(Moment, u32)>) -> Vec<(Moment, u32)> {
    for at in 1..outs.len() {
        let before = outs[at - 1].0;
        if outs[at].0 <= before {
            outs[at].0 = (before.0, before.1, before.2 + 1);
        }
    }
    outs
}
