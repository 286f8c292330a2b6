//! The formulas of computed cells and effects.

use std::rc::Rc;

use super::op::{Formula, Make, Term};
use super::table::Num;
use super::world::World;

/// A term with its cells found.
#[derive(Clone, Debug)]
pub enum Part {
    Number(i64),
    Read(Num),
    If(Num, Num, Num),
    Or(Num, Num),
    Demand(Num),
    Quiet(Num),
    Fresh(Make),
}

impl World {
    /// Finds the cells of a formula; gives its number.
    pub fn new_formula(&self, formula: &Formula) -> i64 {
        let parts = formula.iter().map(|term| self.part(term)).collect();
        let mut formulas = self.formulas.borrow_mut();
        formulas.push(Rc::new(parts));
        i64::try_from(formulas.len() - 1).expect("few formulas")
    }

    fn part(&self, term: &Term) -> Part {
        let find = |at: u8| self.pick(at).map(|(of, _)| of);
        let part = match term {
            Term::Read(of) => find(*of).map(Part::Read),
            Term::If(of, yes, no) => find(*of).map(|of| {
                let (yes, no) = (find(*yes).unwrap_or(of), find(*no).unwrap_or(of));
                Part::If(of, yes, no)
            }),
            Term::Or(of, other) => find(*of).map(|of| Part::Or(of, find(*other).unwrap_or(of))),
            Term::Demand(of) => find(*of).map(Part::Demand),
            Term::Quiet(of) => find(*of).map(Part::Quiet),
            Term::Fresh(make) => Some(Part::Fresh((**make).clone())),
        };
        part.unwrap_or(Part::Number(1))
    }

    /// The sum of the parts, as a digit; the first error is the result.
    pub fn evaluate(self: &Rc<Self>, formula: i64) -> i64 {
        if self.closing.get() {
            return 0;
        }
        let number = usize::try_from(formula).expect("the number of a formula");
        let parts = self.formulas.borrow()[number].clone();
        let mut sum = 0;
        for part in parts.iter() {
            match self.value_of(part) {
                Ok(value) => sum = (sum + value) % 10,
                Err(error) => return error,
            }
        }
        sum
    }

    fn value_of(self: &Rc<Self>, part: &Part) -> Result<i64, i64> {
        let read = |of: &Num| Self::number_of(self.read(*of));
        match part {
            Part::Number(number) => Ok(*number),
            Part::Read(of) => read(of),
            Part::If(of, yes, no) => read(if read(of)? % 2 == 0 { yes } else { no }),
            Part::Or(of, other) => read(of).or_else(|_| read(other)),
            Part::Demand(of) => Ok(self.demand(*of)),
            Part::Quiet(of) => Ok(Self::number_of(self.read_quietly(*of)).unwrap_or(0)),
            Part::Fresh(make) => {
                let Some((of, cell)) = self.make(make) else { return Ok(2) };
                // One that reads its maker must not go, or it would be made and refused for ever.
                let value = read(&of);
                if value.is_err() {
                    self.keep((of, cell));
                }
                value
            }
        }
    }

    /// Reads a cell with `get`, which panics where `try_get` gives an error.
    fn demand(&self, of: Num) -> i64 {
        if let Ok(value) = Self::number_of(self.read(of)) {
            let cell = self.handle(of);
            return cell.map_or(value, |cell| cell.get());
        }
        self.handle(of).map_or(0, |cell| cell.get())
    }
}
