//! The operations that make cells of several inputs.

use std::rc::Rc;

use super::op::{Several, Trap, Two};
use super::world::{Api, Class, World, is_number};

impl<A: Api> World<A> {
    pub fn join(&self, left: u8, right: u8) -> bool {
        let (Some(left), Some(right)) = (self.pick(left, is_number), self.pick(right, is_number))
        else {
            return false;
        };
        self.keep(self.api.join(&left, &right))
    }

    pub fn join_vec(&self, of: &[u8]) -> bool {
        let picked = of.iter().filter_map(|at| self.pick(*at, is_number));
        let picked: Vec<A::Handle> = picked.collect();
        self.keep(self.api.join_vec(&picked))
    }

    pub fn combine(self: &Rc<Self>, of: &[u8], trap: &Trap) -> bool {
        let picked: Option<Vec<_>> = of.iter().map(|at| self.pick(*at, is_number)).collect();
        let Some(picked) = picked else { return false };
        let tick = self.tick(trap);
        self.keep(self.api.combine(&picked, tick))
    }

    /// A cell of numbers whose order of writes is known: one without a cut-off.
    fn pick_plain(&self, at: u8) -> Option<A::Handle> {
        let plain = self.plain.borrow();
        let in_update = self.lent.get() > 0;
        self.pick_any(at, |handle, class| {
            class == Class::Cell
                && plain.contains(&self.api.key(handle))
                && (!in_update || self.api.readable(handle))
        })
    }

    pub fn two(&self, two: Two, left: u8, right: u8) -> bool {
        let (left, right) = match two {
            Two::Zip | Two::Sample => (self.pick(left, is_number), self.pick(right, is_number)),
            Two::SampleOn => {
                (self.pick(left, is_number), self.pick(right, |class| class == Class::Source))
            }
            _ => (self.pick_plain(left), self.pick_plain(right)),
        };
        let (Some(left), Some(right)) = (left, right) else { return false };
        self.keep(self.api.two(two, &left, &right))
    }

    pub fn several(&self, several: Several, of: &[u8]) -> bool {
        let pick = |at: &u8| match several {
            Several::Zip => self.pick(*at, is_number),
            Several::Merge => self.pick_plain(*at),
        };
        let picked: Vec<A::Handle> = of.iter().filter_map(pick).collect();
        self.keep(self.api.several(several, &picked))
    }

    pub fn latest(self: &Rc<Self>, of: u8, beside: u8, trap: &Trap) -> bool {
        let (Some(of), Some(beside)) = (self.pick(of, is_number), self.pick(beside, is_number))
        else {
            return false;
        };
        let tick = self.tick(trap);
        self.keep(self.api.latest(&of, &beside, tick))
    }
}
