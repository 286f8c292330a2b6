//! How cells end: by the end of their inputs, and not without it.

use super::op::Two;
use super::table::{End, Kind, Num};
use super::world::World;

/// What can be seen of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Open,
    Complete,
    Failed,
    /// Disposed of: it may have ended in any way before.
    Gone,
    /// Nobody holds it any more: an ended cell has let go of it.
    Dead,
}

impl Fate {
    fn over(self) -> bool {
        !matches!(self, Fate::Open | Fate::Dead)
    }

    fn may_be_over(self) -> bool {
        self != Fate::Open
    }

    fn failed(self) -> bool {
        self == Fate::Failed
    }

    fn may_have_failed(self) -> bool {
        matches!(self, Fate::Failed | Fate::Gone | Fate::Dead)
    }
}

impl World {
    fn fate(&self, of: Num) -> Fate {
        match self.state(of) {
            Some((_, None)) => Fate::Open,
            Some((_, Some(End::Complete))) => Fate::Complete,
            Some((_, Some(End::Error))) => Fate::Failed,
            None if self.is_dead(of) => Fate::Dead,
            None => Fate::Gone,
        }
    }

    pub fn has_ended(&self, of: Num) -> bool {
        self.fate(of).may_be_over()
    }

    pub fn check_ends(&self) -> Result<(), String> {
        for of in self.all_cells() {
            self.check_end(of)?;
        }
        Ok(())
    }

    fn check_end(&self, of: Num) -> Result<(), String> {
        let Some((value, end)) = self.state(of) else { return Ok(()) };
        let known = self.nodes.borrow()[of].ended;
        match (known, end) {
            (Some(known), _) if Some(known) != end.map(|end| (value, end)) => {
                Err(format!("cell {of} had ended with {known:?} and is {value}, {end:?}"))
            }
            (None, Some(end)) => {
                self.nodes.borrow_mut()[of].ended = Some((value, end));
                self.ends(of, Fate::may_be_over, Fate::may_have_failed, true)
                    .then_some(())
                    .ok_or_else(|| format!("cell {of} ended without a reason"))
            }
            (None, None) if self.ends(of, Fate::over, Fate::failed, false) => {
                Err(format!("cell {of} should have ended"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a cell's inputs make it end; `unclear` where what can be seen does not tell.
    fn ends(
        &self,
        of: Num,
        over: fn(Fate) -> bool,
        failed: fn(Fate) -> bool,
        unclear: bool,
    ) -> bool {
        let (nodes, this) = (self.nodes.borrow(), of);
        let (over, failed) = (|of| over(self.fate(of)), |of| failed(self.fate(of)));
        let all = |of: &[Num]| of.iter().any(|of| failed(*of)) || of.iter().all(|of| over(*of));
        match &nodes[of].kind {
            Kind::Source { .. } => unclear,
            Kind::Map(of) | Kind::Latest(of, _) => over(*of),
            Kind::Combine(of) => all(of),
            Kind::Two(Two::Merge, a, b) => all(&[*a, *b]),
            Kind::Two(Two::Zip, a, b) => failed(*a) || failed(*b) || unclear,
            Kind::Two(Two::Concat, a, b) => failed(*a) || (over(*a) && over(*b)),
            Kind::Two(Two::TakeUntil, a, _) => over(*a) || unclear,
            Kind::Two(Two::Sample, _, trigger) => over(*trigger),
            Kind::Is { selector, .. } => over(self.selectors.borrow()[*selector].of),
            Kind::Computed { .. } => self.computed_ends(of, over),
            Kind::Switch(selecting, _) => {
                let log = nodes[of].log.expect("a switch has a closure");
                let (inner, unlinked) = {
                    let log = &self.logs.borrow()[log];
                    (log.inner, log.unlinked || self.panicked.get())
                };
                // One that depends on the switch was refused.
                let unlinked = unlinked || inner.is_some_and(|inner| self.wants(inner, this));
                let inner = if unclear { inner } else { self.followed(of) };
                let none = inner.is_none() || (unclear && unlinked);
                let through = over(*selecting) && (none || inner.is_none_or(over));
                failed(*selecting) || inner.is_some_and(failed) || through
            }
            Kind::MergeMap { of: outer, limited, .. } => {
                let log = nodes[of].log.expect("a merge has a closure");
                let given: Vec<Num> = self.logs.borrow()[log].given.iter().map(|g| g.1).collect();
                let through = over(*outer) && given.iter().all(|of| over(*of));
                let by_inner = unclear && given.iter().any(|of| failed(*of));
                failed(*outer) || by_inner || (through && (unclear || !limited))
            }
        }
    }

    fn computed_ends(&self, of: Num, over: impl Fn(Num) -> bool) -> bool {
        let log = self.nodes.borrow()[of].log.expect("a computed cell has a closure");
        let logs = self.logs.borrow();
        let (reads, kept) = (logs[log].reads(), &logs[log].kept);
        logs[log].refusals().is_empty() && reads.iter().chain(kept).all(|of| over(*of))
    }
}
