//! What lives, and on what it hangs: cells live by handles, guards and dependents (C1), a closure's reads and choices are the
//! inputs, and clean-ups run once and in time.

use std::collections::BTreeSet;

use hyphae::{CellId, arena};

use super::table::{Kind, Num, Outcome, Owner};
use super::world::{Guarded, World};

type Check = Result<(), String>;

impl World {
    pub fn check_lives(&self) -> Check {
        for of in self.all_cells() {
            self.check_inputs(of)?;
        }
        let (live, hidden) = self.live();
        for of in self.all_cells() {
            if self.is_dead(of) == live.contains(&of) {
                let dead = self.is_dead(of);
                return Err(format!("cell {of}: dead is {dead}"));
            }
        }
        self.check_totals(live.len() + hidden.len())?;
        let logs = self.logs.borrow().len();
        (0..logs).try_for_each(|log| self.check_cleanups(log))
    }

    /// Cells that should live, and the nodes that belong to them.
    fn live(&self) -> (BTreeSet<Num>, BTreeSet<CellId>) {
        let (mut live, mut hidden, mut open) = (BTreeSet::new(), BTreeSet::new(), self.roots());
        while let Some(of) = open.pop() {
            if !live.insert(of) {
                continue;
            }
            let id = self.nodes.borrow()[of].id;
            let inputs = self.inputs_of(id);
            open.extend(inputs.0);
            hidden.extend(inputs.1);
        }
        (live, hidden)
    }

    fn roots(&self) -> Vec<Num> {
        let mut roots: Vec<Num> =
            self.handles.borrow().iter().flatten().map(|(of, _)| *of).collect();
        let is_disposed = |of: Num| self.nodes.borrow()[of].disposed;
        let subs = self.subs.borrow();
        roots.extend(subs.iter().filter(|sub| !sub.gone && !is_disposed(sub.on)).map(|sub| sub.on));
        for (number, log) in self.effects.borrow().iter().enumerate() {
            if self.is_live(Guarded::Effect(number)) {
                let logs = self.logs.borrow();
                roots.extend(logs[*log].reads());
                roots.extend(logs[*log].kept.iter().filter(|of| !self.is_dead(**of)));
            }
        }
        let selectors = self.selectors.borrow();
        let held = selectors.iter().filter(|chooser| chooser.selector.is_some());
        roots.extend(held.map(|chooser| chooser.of).filter(|of| !self.has_ended(*of)));
        roots
    }

    fn check_totals(&self, cells: usize) -> Check {
        let totals = arena::totals();
        let effects = (0..self.effects.borrow().len())
            .filter(|effect| self.is_live(Guarded::Effect(*effect)))
            .count();
        let lone = (0..self.selectors.borrow().len()).filter(|at| self.is_lone(*at)).count();
        let subs = self.subs.borrow();
        let nodes = self.nodes.borrow();
        let subs = subs.iter().filter(|sub| !sub.gone && !nodes[sub.on].disposed).count();
        let (got, expected) =
            ((totals.cells, totals.subscribers), (cells + effects + lone, subs + effects));
        if got == expected {
            return Ok(());
        }
        Err(format!("cells and subscribers: {got:?}, expected {expected:?}"))
    }

    /// Whether a selector is held of which no cell is there that depends on it.
    fn is_lone(&self, at: usize) -> bool {
        let held = self.selectors.borrow()[at].selector.is_some();
        let asks = |of: &Num| {
            let is = matches!(self.nodes.borrow()[*of].kind, Kind::Is { selector, .. } if selector == at);
            is && !self.inputs(*of).is_empty()
        };
        held && !self.all_cells().any(|of| asks(&of))
    }

    /// The inputs are what the kind of the cell says.
    fn check_inputs(&self, of: Num) -> Check {
        let id = self.nodes.borrow()[of].id;
        let (inputs, hidden) = self.inputs_of(id);
        let open = self.state(of).is_some_and(|state| state.1.is_none());
        if !open {
            let none = inputs.is_empty() && hidden.is_empty();
            return none.then_some(()).ok_or(format!("cell {of}: has inputs, and has ended"));
        }
        let (required, allowed) = self.expected_inputs(of);
        let missing: Vec<&Num> = required.difference(&inputs).collect();
        let excess: Vec<&Num> =
            inputs.iter().filter(|of| !required.contains(of) && !allowed.contains(of)).collect();
        if missing.is_empty() && excess.is_empty() {
            return Ok(());
        }
        Err(format!("cell {of}: the inputs {missing:?} are missing, {excess:?} are too many"))
    }

    /// The inputs that a cell must have, and those that it may have.
    fn expected_inputs(&self, of: Num) -> (BTreeSet<Num>, BTreeSet<Num>) {
        let nodes = self.nodes.borrow();
        let open = |of: &Num| !self.has_ended(*of);
        let log = nodes[of].log;
        let logs = self.logs.borrow();
        let mut must = BTreeSet::new();
        let mut may = BTreeSet::new();
        match &nodes[of].kind {
            Kind::Source { .. } => (),
            Kind::Map(of) => must.extend([*of]),
            Kind::Combine(of) => must.extend(of.iter().copied()),
            Kind::Latest(a, b) | Kind::Two(_, a, b) => must.extend([*a, *b]),
            Kind::Computed { .. } => {
                let log = &logs[log.expect("a closure")];
                must.extend(log.reads());
                may.extend(log.kept.iter().chain(&log.stale).copied());
                // An input that is refused now stays one.
                may.extend(log.refusals());
            }
            Kind::Switch(of, _) => {
                may.insert(*of);
                must.extend(Some(*of).filter(open));
                may.extend(logs[log.expect("a closure")].inner);
            }
            Kind::MergeMap { of, .. } => {
                may.insert(*of);
                must.extend(Some(*of).filter(open));
                // One that was refused, or that had ended already, is none.
                may.extend(logs[log.expect("a closure")].given.iter().map(|g| g.1).filter(open));
            }
            Kind::Is { selector, .. } => must.extend([self.selectors.borrow()[*selector].of]),
        }
        (must, may)
    }

    /// The cell that a switch follows: none if its closure panicked, or what it gave was refused as a cycle.
    pub fn followed(&self, of: Num) -> Option<Num> {
        let log = self.nodes.borrow()[of].log?;
        let inner = self.logs.borrow()[log].inner;
        inner.filter(|inner| self.inputs(of).contains(inner))
    }

    /// A switch whose closure gave a cell follows it, unless that would be a cycle.
    pub fn check_switches(&self, panicked: bool) -> Check {
        self.panicked.set(panicked);
        for of in self.all_cells() {
            let is_switch = matches!(self.nodes.borrow()[of].kind, Kind::Switch(..));
            let Some(log) = self.nodes.borrow()[of].log.filter(|_| is_switch) else { continue };
            let open = self.state(of).is_some_and(|state| state.1.is_none());
            let Some(inner) = self.logs.borrow()[log].inner.filter(|_| open) else { continue };
            let followed = self.followed(of).is_some();
            self.logs.borrow_mut()[log].unlinked = !followed;
            if followed || self.handle(inner).is_none() {
                continue;
            }
            self.count("a switch was refused a cell");
            if !self.wants(inner, of) {
                return Err(format!("switch {of} does not follow cell {inner}"));
            }
        }
        Ok(())
    }

    /// Whether the cell or effect of a closure is there no more.
    pub fn is_gone(&self, log: usize) -> bool {
        match self.logs.borrow()[log].owner {
            Owner::Nobody => false,
            Owner::Cell(of) => self.state(of).is_none(),
            Owner::Effect(guard) => self.guards.borrow()[guard].is_none(),
        }
    }

    fn check_cleanups(&self, log: usize) -> Check {
        let logs = self.logs.borrow();
        let entry = &logs[log];
        let gone = entry.owner == Owner::Nobody || self.is_gone(log);
        let ended = matches!(entry.owner, Owner::Cell(of) if self.has_ended(of));
        if let Some(last) = &entry.last
            && last.number != entry.started
            && !gone
            && !ended
        {
            return Err(format!("run {} of closure {log} was never repeated", entry.started));
        }
        for cleanup in &entry.cleanups {
            let current = entry.last.as_ref().is_some_and(|last| {
                last.number == cleanup.run && matches!(last.outcome, Outcome::Gave(_))
            });
            let kept = if self.is_merging(log) && !gone {
                let given = entry.given.iter().find(|given| given.0 == cleanup.run);
                given.is_some_and(|given| !self.has_ended(given.1))
            } else {
                current
            };
            let wrong = match (cleanup.done, gone) {
                (false, true) => true,
                (false, false) => !kept && !ended,
                (true, _) => kept && !gone && !ended && !self.is_without(log),
            };
            if wrong {
                let (run, done) = (cleanup.run, cleanup.done);
                return Err(format!("clean-ups of run {run} of closure {log}: done is {done}"));
            }
        }
        Ok(())
    }

    /// Whether the last run gave a cell that was refused. (The contract leaves open when what it registered goes.)
    fn is_without(&self, log: usize) -> bool {
        let logs = self.logs.borrow();
        match logs[log].owner {
            Owner::Cell(of) => match self.nodes.borrow()[of].kind {
                Kind::Switch(..) => self.followed(of).is_none(),
                Kind::MergeMap { .. } => true,
                _ => false,
            },
            _ => false,
        }
    }
}
