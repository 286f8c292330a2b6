//! Alarms: a limit with hysteresis and a hold time, as a `scan` over the value that is watched.
//!
//! An alarm is raised when the value has been above its upper limit for some frames on end, and ends
//! when it has been below its lower limit for as many. Knows nothing of other alarms.

use hyphae::{Cell, Pipeline};

use crate::gauge::Shown;
use crate::verdict::Level;

/// When an alarm is raised and when it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// What is wrong, for people.
    pub(crate) what: &'static str,
    /// How bad it is.
    pub(crate) level: Level,
    /// It is raised above this,
    pub(crate) above: f64,
    /// ends below this,
    pub(crate) below: f64,
    /// and both only after so many frames on end.
    pub(crate) hold: u32,
    /// How a value of this kind is written.
    pub(crate) text: fn(Option<f64>) -> String,
}

impl Rule {
    /// Why it was raised, or why it ended.
    pub(crate) fn reason(&self, raised: bool) -> String {
        let (side, limit) = if raised { ("above", self.above) } else { ("below", self.below) };
        format!("{side} {} for {} frames", (self.text)(Some(limit)), self.hold)
    }
}

/// Where an alarm is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Watch {
    /// Whether it is raised.
    pub(crate) raised: bool,
    /// How often it was raised.
    pub(crate) count: u64,
    /// For how many frames on end the value has been beyond the limit that counts now.
    beyond: u32,
}

impl Watch {
    /// One frame further. An unknown value is beyond no limit.
    fn step(self, rule: &Rule, value: Option<f64>) -> Self {
        let crossing =
            |value| (self.raised && value < rule.below) || (!self.raised && value > rule.above);
        let beyond = if value.is_some_and(crossing) { self.beyond + 1 } else { 0 };
        if beyond < rule.hold {
            return Self { beyond, ..self };
        }
        Self { raised: !self.raised, count: self.count + u64::from(!self.raised), beyond: 0 }
    }
}

/// The cells of one alarm.
#[derive(Clone)]
pub(crate) struct Alarm {
    /// Its rule.
    pub(crate) rule: Rule,
    /// Where it is; counts frames, so it changes with every one.
    pub(crate) watch: Shown<Watch>,
    /// Whether it is raised; changes only when that does.
    pub(crate) raised: Shown<bool>,
}

impl Alarm {
    /// Watches a value that is written once a frame.
    pub(crate) fn on<M>(value: &Cell<Option<f64>, M>, rule: Rule) -> Self {
        let watch = value
            .scan(Watch::default(), move |watch, value| watch.step(&rule, *value))
            .materialize()
            .with_name(format!("watch: {}", rule.what));
        let raised = (&watch)
            .map(|watch| watch.raised)
            .deduped()
            .materialize()
            .with_name(format!("alarm: {}", rule.what));
        Self { rule, watch, raised }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::number;
    use std::{cell::RefCell, rc::Rc};

    const RULE: Rule =
        Rule { what: "heat", level: Level::Busy, above: 8.0, below: 5.0, hold: 3, text: number };

    /// Whether the alarm is raised after each value, `+` or `-`.
    fn course(values: &[f64]) -> (String, u64) {
        let source = Cell::new(None);
        let alarm = Alarm::on(&source, RULE);
        let mut course = String::new();
        for value in values {
            source.set(Some(*value));
            course.push(if alarm.raised.get() { '+' } else { '-' });
        }
        (course, alarm.watch.get().count)
    }

    #[test]
    fn it_takes_the_hold_time_to_raise_and_to_end() {
        let up_and_down = [9.0, 9.0, 9.0, 9.0, 4.0, 4.0, 4.0, 4.0];
        assert_eq!(course(&up_and_down), ("--++++--".into(), 1));
    }

    #[test]
    fn a_frame_at_the_limit_starts_the_hold_time_again() {
        assert_eq!(course(&[9.0, 9.0, 8.0, 9.0, 9.0, 9.0]), ("-----+".into(), 1));
        let values = [9.0, 9.0, 9.0, 4.0, 4.0, 5.0, 4.0, 4.0, 4.0];
        assert_eq!(course(&values), ("--++++++-".into(), 1));
    }

    #[test]
    fn between_the_limits_it_stays_as_it_is() {
        let (course, count) = course(&[6.0, 7.0, 9.0, 9.0, 9.0, 6.0, 6.0, 6.0, 6.0]);
        assert_eq!((course.as_str(), count), ("----+++++", 1));
    }

    #[test]
    fn subscribers_hear_of_changes_only() {
        let source = Cell::new(None);
        let alarm = Alarm::on(&source, RULE);
        let heard = Rc::new(RefCell::new(Vec::new()));
        let log = heard.clone();
        let guard = alarm.raised.watch(move |raised| log.borrow_mut().push(*raised));
        for value in [9.0, 9.0, 9.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0] {
            source.set(Some(value));
        }
        assert_eq!(*heard.borrow(), [false, true, false]);
        drop(guard);
    }
}
