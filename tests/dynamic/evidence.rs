//! What must hold of the values between two operations and in each delivery. No value is computed anew for that: each
//! closure has noted what its last run saw, and that must still be so. Since sources hold what was written last and what
//! was noted is checked cell by cell, all values are those that computing from scratch would give.
//!
//! A read that was refused must still be one that would close a cycle.

use std::collections::BTreeSet;

use hyphae::{CellId, arena};

use super::op::{Over, Two, work};
use super::table::{Kind, Num, Owner, Seen};
use super::world::{Guarded, World};

type Check = Result<(), String>;

impl World {
    /// The cells that a cell reads, through those that no handle was ever made for, which come second.
    pub fn inputs_of(&self, id: CellId) -> (BTreeSet<Num>, BTreeSet<CellId>) {
        let (mut known, mut hidden) = (BTreeSet::new(), BTreeSet::new());
        let mut open = arena::dependencies(id).unwrap_or_default();
        let numbers = self.numbers.borrow();
        while let Some(id) = open.pop() {
            match numbers.get(&id) {
                Some(of) => {
                    known.insert(*of);
                }
                None => {
                    hidden.insert(id);
                    open.extend(arena::dependencies(id).unwrap_or_default());
                }
            }
        }
        (known, hidden)
    }

    pub fn inputs(&self, of: Num) -> BTreeSet<Num> {
        let id = self.nodes.borrow()[of].id;
        self.inputs_of(id).0
    }

    /// The cell and all that it depends on.
    pub fn upstream(&self, of: Num) -> BTreeSet<Num> {
        let (mut found, mut open) = (BTreeSet::from([of]), vec![of]);
        while let Some(of) = open.pop() {
            open.extend(self.inputs(of).into_iter().filter(|input| found.insert(*input)));
        }
        found
    }

    /// Whether a cell would depend on another if nothing had been refused.
    pub fn wants(&self, of: Num, input: Num) -> bool {
        let (mut found, mut open) = (BTreeSet::from([of]), vec![of]);
        while let Some(of) = open.pop() {
            let inputs = self.inputs(of).into_iter().chain(self.wanted(of));
            open.extend(inputs.filter(|input| found.insert(*input)));
        }
        found.contains(&input)
    }

    /// What a cell's closure was refused in its last run.
    fn wanted(&self, of: Num) -> Vec<Num> {
        let logs = self.logs.borrow();
        let log = self.nodes.borrow()[of].log.map(|log| &logs[log]);
        let inner = log.and_then(|log| log.inner);
        log.map_or_else(Vec::new, |log| log.refusals()).into_iter().chain(inner).collect()
    }

    /// What must hold of the values of all cells. Between operations sources have the value that was written last.
    pub fn check_values(&self) -> Check {
        for of in self.all_cells() {
            self.check_source(of)?;
            self.check_value(of)?;
            self.check_among(of)?;
        }
        let (effects, subs) = (self.effects.borrow().len(), self.subs.borrow().len());
        (0..effects).try_for_each(|effect| self.check_effect(effect))?;
        (0..subs).try_for_each(|sub| self.check_heard(sub))
    }

    /// A read in a batch has brought the cell up to date, and all that it depends on (P4).
    pub fn check_upstream(&self, of: Num) {
        if self.refused.get() || self.unclear.get() {
            // Whoever was refused tries again at the end of the batch; what callbacks write comes after the read.
            return;
        }
        for of in self.upstream(of) {
            self.check_value(of).unwrap_or_else(|what| self.fault(format!("after a read: {what}")));
        }
    }

    /// Subscribers are called when all cells are computed, in the order of the cells (P0).
    pub fn check_delivery(&self, on: Num, round: u64) {
        let before = {
            let mut delivered = self.delivered.borrow_mut();
            if delivered.0 != round {
                *delivered = (round, Vec::new());
            }
            let before = delivered.1.clone();
            delivered.1.push(on);
            before
        };
        for early in before.into_iter().filter(|early| *early != on) {
            if self.upstream(early).contains(&on) {
                self.fault(format!("cell {early} was delivered before its input {on}"));
            }
        }
        if self.checked.replace(round) != round && !self.refused.get() {
            for of in self.all_cells() {
                self.check_value(of)
                    .unwrap_or_else(|what| self.fault(format!("in delivery: {what}")));
            }
        }
    }

    fn check_source(&self, of: Num) -> Check {
        let expected = match self.nodes.borrow()[of].kind {
            Kind::Source { value, end, .. } => (value, end),
            _ => return Ok(()),
        };
        match self.state(of) {
            Some(state) if state != expected => {
                Err(format!("source {of} is {state:?}, expected {expected:?}"))
            }
            _ => Ok(()),
        }
    }

    /// The last run of a cell's closure saw what is there now, and the cell has what it gave.
    fn check_value(&self, of: Num) -> Check {
        let Some((value, None)) = self.state(of) else { return Ok(()) };
        let Some(log) = self.nodes.borrow()[of].log else { return Ok(()) };
        self.check_seen(log, Some(of)).map_err(|what| format!("cell {of}: {what}"))?;
        match self.expected(of, log) {
            Some(expected) if expected != value => {
                Err(format!("cell {of} is {value}, expected {expected}"))
            }
            _ => Ok(()),
        }
    }

    fn check_among(&self, of: Num) -> Check {
        let Some((value, None)) = self.state(of) else { return Ok(()) };
        if let Some(among) = self.among(of)
            && !among.contains(&value)
        {
            return Err(format!("cell {of} is {value}, expected one of {among:?}"));
        }
        Ok(())
    }

    /// The values of which a cell that gives one of several has one: that of the last to change.
    fn among(&self, of: Num) -> Option<Vec<i64>> {
        let nodes = self.nodes.borrow();
        let values =
            |of: &[Num]| of.iter().map(|of| self.state(*of).map(|state| state.0)).collect();
        match &nodes[of].kind {
            Kind::Two(Two::Merge | Two::Concat, a, b) => values(&[*a, *b]),
            Kind::Two(Two::TakeUntil, a, _) => values(&[*a]),
            Kind::MergeMap { over, .. } => {
                let log = nodes[of].log?;
                let given: Vec<Num> = self.logs.borrow()[log].given.iter().map(|g| g.1).collect();
                let mut among: Vec<i64> = values(&given)?;
                among.extend((*over == Over::Filtered && given.is_empty()).then_some(7));
                Some(among)
            }
            _ => None,
        }
    }

    fn expected(&self, of: Num, log: usize) -> Option<i64> {
        let nodes = self.nodes.borrow();
        let good = self.logs.borrow()[log].good;
        match nodes[of].kind {
            Kind::Switch(_, over) => {
                let never = self.logs.borrow()[log].started == 0 && over == Over::Filtered;
                let inner = self.followed(of).and_then(|inner| self.state(inner));
                let value = inner.map(|state| state.0);
                value.or_else(|| never.then_some(7))
            }
            Kind::MergeMap { .. } => None,
            Kind::Is { selector, key } => {
                let of = self.selectors.borrow()[selector].of;
                self.state(of).map(|state| i64::from(state.0 == key)).or(good)
            }
            _ => good,
        }
    }

    fn check_seen(&self, log: usize, of: Option<Num>) -> Check {
        let (seen, started) = {
            let logs = self.logs.borrow();
            let Some(last) = &logs[log].last else { return Ok(()) };
            (last.seen.clone(), logs[log].started)
        };
        let filtered = of.is_some_and(|of| self.may_be_late(of));
        for seen in seen {
            let holds = match seen {
                Seen::Value(input, value) => self.state(input).is_none_or(|now| {
                    now.0 == value || (filtered && !work::keep(now.0)) || self.is_limited(log)
                }),
                // Where a run has what it reads from a table, that may have died since.
                Seen::Refused(input) if self.is_dead(input) => true,
                Seen::Refused(input) => of.is_none_or(|of| self.wants(input, of)),
                Seen::Gone(input) => self.handle(input).is_none(),
            };
            if !holds {
                return Err(format!("run {started} saw {seen:?}, which is not so now"));
            }
        }
        Ok(())
    }

    fn may_be_late(&self, of: Num) -> bool {
        let filtered = Over::Filtered;
        match self.nodes.borrow()[of].kind {
            Kind::Switch(_, over) | Kind::MergeMap { over, .. } => over == filtered,
            _ => false,
        }
    }

    pub fn is_limited(&self, log: usize) -> bool {
        let Owner::Cell(of) = self.logs.borrow()[log].owner else { return false };
        matches!(self.nodes.borrow()[of].kind, Kind::MergeMap { limited: true, .. })
    }

    pub fn is_merging(&self, log: usize) -> bool {
        match self.logs.borrow()[log].owner {
            Owner::Cell(of) => matches!(self.nodes.borrow()[of].kind, Kind::MergeMap { .. }),
            // It may become one.
            Owner::Nobody => true,
            Owner::Effect(_) => false,
        }
    }

    fn check_effect(&self, effect: usize) -> Check {
        let log = self.effects.borrow()[effect];
        if !self.is_live(Guarded::Effect(effect)) {
            return Ok(());
        }
        self.check_seen(log, None).map_err(|what| format!("effect {effect}: {what}"))
    }

    pub fn is_live(&self, guarded: Guarded) -> bool {
        let at = self.guarded.borrow().iter().position(|other| *other == guarded);
        at.is_some_and(|at| self.guards.borrow()[at].is_some())
    }

    /// A subscriber hears of each round in which the closure of its cell gave something.
    fn check_rounds(&self, number: usize) -> Check {
        let (subs, nodes, logs) = (self.subs.borrow(), self.nodes.borrow(), self.logs.borrow());
        let node = &nodes[subs[number].on];
        let gives = match node.kind {
            Kind::Map(_) | Kind::Combine(_) | Kind::Latest(..) | Kind::Is { .. } => true,
            Kind::Computed { cutoff, .. } => !cutoff,
            _ => false,
        };
        let (Some(log), Some(heard)) = (node.log.filter(|_| gives), &subs[number].rounds) else {
            return Ok(());
        };
        let gave = &logs[log].rounds;
        if heard == gave || node.disposed {
            return Ok(());
        }
        Err(format!("subscriber {number} heard in the rounds {heard:?}, its cell gave in {gave:?}"))
    }

    /// The last value that a subscriber has heard is the current one (P3), and it heard of the end.
    fn check_heard(&self, number: usize) -> Check {
        let (on, heard, end) = {
            let sub = &self.subs.borrow()[number];
            if sub.gone {
                return Ok(());
            }
            (sub.on, sub.heard, sub.end)
        };
        self.check_rounds(number)?;
        match self.state(on) {
            Some(state) if (Some(state.0), state.1) != (heard, end) => Err(format!(
                "subscriber {number} heard {heard:?} and {end:?}, cell {on} is {state:?}"
            )),
            _ => Ok(()),
        }
    }
}
