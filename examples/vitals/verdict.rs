//! The one health verdict, from all alarms together.
//!
//! Knows nothing of what the alarms watch.

use std::fmt;

use hyphae::{Pipeline, join_vec};

use crate::alarm::{Alarm, Rule};
use crate::gauge::Shown;

/// How the machine is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Nothing to say.
    #[default]
    Ok,
    /// Much to do.
    Busy,
    /// More to do than it can.
    Strained,
}

impl Level {
    /// All of them, in order.
    pub(crate) const ALL: [Self; 3] = [Self::Ok, Self::Busy, Self::Strained];
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Busy => "busy",
            Self::Strained => "strained",
        })
    }
}

/// How the machine is, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The worst level of the alarms that are raised.
    pub(crate) level: Level,
    /// What these alarms say; those of a lower level would only repeat it.
    pub(crate) reasons: Vec<&'static str>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.level)?;
        if !self.reasons.is_empty() {
            write!(f, ": {}", self.reasons.join(", "))?;
        }
        Ok(())
    }
}

fn judge<'a>(raised: impl Iterator<Item = &'a Rule> + Clone) -> Verdict {
    let level = raised.clone().map(|rule| rule.level).max();
    let level = level.unwrap_or_default();
    let worst = raised.filter(|rule| rule.level == level);
    Verdict { level, reasons: worst.map(|rule| rule.what).collect() }
}

/// Which alarms are raised, in their order; changes when one of them is raised or ends.
pub(crate) fn raised(alarms: &[Alarm]) -> Shown<Vec<bool>> {
    join_vec(alarms.iter().map(|alarm| alarm.raised.clone())).with_name("alarms raised")
}

/// The verdict from what is [`raised`] of some alarms; delivered when it differs.
pub(crate) fn verdict(alarms: &[Alarm], raised: &Shown<Vec<bool>>) -> Shown<Verdict> {
    let rules: Vec<Rule> = alarms.iter().map(|alarm| alarm.rule).collect();
    raised
        .map(move |raised| {
            let raised = rules.iter().zip(raised).filter(|(_, raised)| **raised);
            judge(raised.map(|(rule, _)| rule))
        })
        .deduped()
        .materialize()
        .with_name("verdict")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::number;
    use hyphae::{Cell, batch};
    use std::{cell::RefCell, rc::Rc};

    fn alarm(what: &'static str, level: Level) -> (Cell<Option<f64>>, Alarm) {
        let source = Cell::new(None);
        let rule = Rule { what, level, above: 1.0, below: 1.0, hold: 1, text: number };
        let alarm = Alarm::on(&source, rule);
        (source, alarm)
    }

    #[test]
    fn the_worst_alarms_give_level_and_reasons() {
        let (sources, alarms): (Vec<_>, Vec<_>) =
            [("warm", Level::Busy), ("hot", Level::Strained), ("loud", Level::Busy)]
                .map(|(what, level)| alarm(what, level))
                .into_iter()
                .unzip();
        let verdict = verdict(&alarms, &raised(&alarms));
        let heard = Rc::new(RefCell::new(Vec::new()));
        let log = heard.clone();
        let guard = verdict.watch(move |verdict| log.borrow_mut().push(verdict.to_string()));
        let set = |values: [f64; 3]| {
            batch(|| {
                sources.iter().zip(values).for_each(|(source, value)| source.set(Some(value)));
            });
        };
        set([2.0, 0.0, 2.0]);
        set([3.0, 0.0, 3.0]);
        set([2.0, 2.0, 0.0]);
        set([0.0, 2.0, 0.0]); // another set of alarms, the same verdict
        set([0.0, 0.0, 0.0]);
        assert_eq!(*heard.borrow(), ["ok", "busy: warm, loud", "strained: hot", "ok"]);
        drop(guard);
    }
}
