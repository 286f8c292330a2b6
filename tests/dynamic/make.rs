//! Makes cells, with closures that note what they do.

use std::rc::Rc;

use hyphae::{Cell, CellImmutable, Pipeline, arena, combine, effect, merge_vec, zip_vec};

use super::op::{CellKind, Formula, Make, Over, Pick, Trap, Two, work};
use super::runs::{Closure, Given};
use super::table::{End, Kind, Num, Owner, Seen};
use super::world::{Guarded, Handle, World};

/// Each merge of what others have merged multiplies the rounds of a wave: so many in a case.
const MERGES: u32 = 5;
/// How many cells that do not end a merge gets.
const INNERS: usize = 3;
/// Closures make no more cells where so many live: each run of one may leave one behind.
const CROWD: usize = 100;

type Made = (Num, Handle);

/// What closures of `switch_map` and `merge_map` choose by.
#[derive(Clone)]
struct Chooser {
    world: Rc<World>,
    log: usize,
    of: Num,
    picks: Vec<Pick>,
    trap: Trap,
}

impl Chooser {
    fn choose(&self, value: i64) -> Handle {
        let seen = vec![Seen::Value(self.of, value)];
        self.world.turn(self.log, Closure::Choosing, &self.trap, seen, || {
            let (of, cell) = self.world.choose(self.log, &self.picks, value);
            Given { number: value, cell: Some(of), result: cell }
        })
    }

    /// The same, but after a few it gives cells that end.
    fn choose_few(&self, value: i64) -> Handle {
        let few = self.world.logs.borrow()[self.log].given.len() < INNERS;
        if few {
            return self.choose(value);
        }
        let seen = vec![Seen::Value(self.of, value)];
        self.world.turn(self.log, Closure::Choosing, &self.trap, seen, || {
            let (of, cell) = self.world.new_ended();
            Given { number: value, cell: Some(of), result: cell }
        })
    }
}

fn or_seven(cell: Cell<Option<i64>, CellImmutable>) -> Handle {
    cell.map(|v| v.unwrap_or(7)).materialize()
}

impl World {
    /// Makes a cell, if there are cells to make it of.
    pub fn make(self: &Rc<Self>, make: &Make) -> Option<Made> {
        if !self.is_outside() && arena::totals().cells > CROWD {
            return None;
        }
        let made = match make {
            Make::Map(of, trap) => self.make_map(*of, trap),
            Make::Combine(a, b, c, trap) => self.make_combine(*a, *b, *c, trap),
            Make::Latest(of, beside, trap) => self.make_latest(*of, *beside, trap),
            Make::Two(two, a, b) => self.make_two(*two, *a, *b),
            Make::Computed { formula, editable, cutoff, trap } => {
                self.make_computed(formula, *editable, *cutoff, trap)
            }
            Make::Switch { of, over, picks, trap } => self.make_switch(*of, *over, picks, trap),
            Make::MergeMap { of, over, limit, picks, trap } => {
                self.make_merge(*of, *over, *limit, picks, trap)
            }
            Make::Is(selector, key) => self.make_is(*selector, i64::from(*key)),
        };
        if made.is_some() && !self.is_outside() {
            self.count("a cell was made in a callback");
        }
        made
    }

    /// Notes a cell and its closure.
    fn made(&self, cell: Handle, kind: Kind, log: Option<usize>) -> Option<Made> {
        let of = self.register(&cell, kind, log);
        if let Some(log) = log {
            self.logs.borrow_mut()[log].owner = Owner::Cell(of);
        }
        Some((of, cell))
    }

    /// A cell that has ended from the start, without a write that waits.
    fn new_ended(&self) -> Made {
        let cell = or_seven(merge_vec(Vec::<Handle>::new()));
        let writer = Cell::new(7).downgrade();
        let kind = Kind::Source { value: 7, end: Some(End::Complete), writer };
        (self.register(&cell, kind, None), cell)
    }

    /// A closure over the values of cells.
    fn over(
        self: &Rc<Self>,
        cells: Vec<Num>,
        trap: &Trap,
        f: impl Fn(&[i64]) -> i64 + 'static,
    ) -> (usize, impl Fn(&[i64]) -> i64 + 'static) {
        let log = self.new_log();
        let (world, trap) = (self.clone(), trap.clone());
        let closure = move |values: &[i64]| {
            let pairs = cells.iter().zip(values);
            let seen = pairs.map(|(of, value)| Seen::Value(*of, *value)).collect();
            world.turn(log, Closure::Plain, &trap, seen, || {
                let result = f(values);
                Given { number: result, cell: None, result }
            })
        };
        (log, closure)
    }

    fn make_map(self: &Rc<Self>, of: u8, trap: &Trap) -> Option<Made> {
        let (of, cell) = self.pick(of)?;
        let (log, f) = self.over(vec![of], trap, |v| work::map(v[0]));
        self.made(cell.map(move |v| f(&[*v])).materialize(), Kind::Map(of), Some(log))
    }

    fn make_combine(self: &Rc<Self>, a: u8, b: u8, c: Option<u8>, trap: &Trap) -> Option<Made> {
        let ((a, left), (b, right)) = (self.pick(a)?, self.pick(b)?);
        let Some(c) = c else {
            let (log, f) = self.over(vec![a, b], trap, work::combine);
            let cell = combine((&left, &right), move |(a, b)| f(&[*a, *b]));
            return self.made(cell, Kind::Combine(vec![a, b]), Some(log));
        };
        let (c, third) = self.pick(c)?;
        let (log, f) = self.over(vec![a, b, c], trap, work::combine);
        let cell = combine((&left, &right, &third), move |(a, b, c)| f(&[*a, *b, *c]));
        self.made(cell, Kind::Combine(vec![a, b, c]), Some(log))
    }

    fn make_latest(self: &Rc<Self>, of: u8, beside: u8, trap: &Trap) -> Option<Made> {
        let ((of, cell), (beside, other)) = (self.pick(of)?, self.pick(beside)?);
        let log = self.new_log();
        let (world, trap) = (self.clone(), trap.clone());
        let pair = cell.with_latest_from(&other);
        let cell = pair.map(move |(v, other)| {
            let seen = vec![Seen::Value(of, *v)];
            world.turn(log, Closure::Plain, &trap, seen, || {
                let result = work::combine(&[*v, *other]);
                Given { number: result, cell: None, result }
            })
        });
        self.made(cell.materialize(), Kind::Latest(of, beside), Some(log))
    }

    fn make_two(self: &Rc<Self>, two: Two, a: u8, b: u8) -> Option<Made> {
        let ((a, left), (b, right)) = (self.pick(a)?, self.pick(b)?);
        let two = if two == Two::Merge && !self.may_merge() { Two::Concat } else { two };
        let cell = match two {
            Two::Merge if a % 2 == 0 => left.merge(&right),
            Two::Merge => or_seven(merge_vec([left, right])),
            Two::Zip if a % 2 == 0 => {
                left.zip(&right).map(|(a, b)| work::combine(&[*a, *b])).materialize()
            }
            Two::Zip => {
                let zipped = zip_vec([left, right]);
                zipped.map(|v| v.as_ref().map_or(7, |v| work::combine(v))).materialize()
            }
            Two::Concat => left.concat(&right),
            Two::TakeUntil => left.take_until(&right),
            Two::Sample => left.sample(&right).materialize(),
        };
        self.made(cell, Kind::Two(two, a, b), None)
    }

    fn make_computed(
        self: &Rc<Self>,
        formula: &Formula,
        editable: bool,
        cutoff: bool,
        trap: &Trap,
    ) -> Option<Made> {
        let number = self.new_formula(formula);
        let source = editable.then(|| self.new_source(number, CellKind::Plain));
        let cell = source.as_ref().map(|(of, _)| *of);
        let log = self.new_log();
        let (world, trap) = (self.clone(), trap.clone());
        let run = move || {
            world.turn(log, Closure::Tracking, &trap, Vec::new(), || {
                let read = |cell| {
                    let read = world.read(cell).ok();
                    if read.is_none() && !world.is_gone(log) {
                        world.fault(format!("formula cell {cell} is gone"));
                    }
                    read.unwrap_or(number)
                };
                let formula = cell.map_or(number, read);
                let result = world.evaluate(formula);
                Given { number: result, cell: None, result }
            })
        };
        let computed = match cutoff {
            true => Cell::computed_with_cutoff(run, i64::eq),
            false => Cell::computed(run),
        };
        self.made(computed, Kind::Computed { formula: cell, cutoff }, Some(log))
    }

    fn may_merge(&self) -> bool {
        self.merges.set(self.merges.get() + 1);
        self.merges.get() <= MERGES
    }

    fn chooser(self: &Rc<Self>, of: Num, picks: &[Pick], trap: &Trap) -> Chooser {
        let log = self.new_log();
        let (world, picks, trap) = (self.clone(), picks.to_vec(), trap.clone());
        Chooser { world, log, of, picks, trap }
    }

    fn make_switch(
        self: &Rc<Self>,
        of: u8,
        over: Over,
        picks: &[Pick],
        trap: &Trap,
    ) -> Option<Made> {
        let (of, cell) = self.pick(of)?;
        let chooser = self.chooser(of, picks, trap);
        let log = Some(chooser.log);
        let choose = move |v: &i64| chooser.choose(*v);
        let switch = match over {
            Over::Cell => cell.switch_map(choose),
            Over::Mapped => cell.map(|v| *v).switch_map(choose),
            Over::Filtered => or_seven(cell.filter(|v| work::keep(*v)).switch_map(choose)),
        };
        self.made(switch, Kind::Switch(of, over), log)
    }

    fn make_merge(
        self: &Rc<Self>,
        of: u8,
        over: Over,
        limit: Option<u8>,
        picks: &[Pick],
        trap: &Trap,
    ) -> Option<Made> {
        let (of, cell) = self.pick(of).filter(|_| self.may_merge())?;
        let chooser = self.chooser(of, picks, trap);
        let log = Some(chooser.log);
        let choose = move |v: &i64| chooser.choose_few(*v);
        let kept = |v: &i64| work::keep(*v);
        let merged = match (over, limit.map(usize::from)) {
            (Over::Cell, None) => cell.merge_map(choose),
            (Over::Cell, Some(limit)) => cell.merge_map_limit(limit, choose),
            (Over::Mapped, None) => cell.map(|v| *v).merge_map(choose),
            (Over::Mapped, Some(limit)) => cell.map(|v| *v).merge_map_limit(limit, choose),
            (Over::Filtered, None) => or_seven(cell.filter(kept).merge_map(choose)),
            (Over::Filtered, Some(limit)) => {
                or_seven(cell.filter(kept).merge_map_limit(limit, choose))
            }
        };
        self.made(merged, Kind::MergeMap { of, over, limited: limit.is_some() }, log)
    }

    fn make_is(self: &Rc<Self>, at: u8, key: i64) -> Option<Made> {
        let (number, selector, of) = {
            let selectors = self.selectors.borrow();
            let live: Vec<usize> =
                (0..selectors.len()).filter(|&i| selectors[i].selector.is_some()).collect();
            let number = live[usize::from(at).checked_rem(live.len())?];
            (number, selectors[number].selector.clone()?, selectors[number].of)
        };
        let log = self.new_log();
        let world = self.clone();
        let answer = selector.is(key);
        let cell = answer.map(move |is| {
            world.turn(log, Closure::Plain, &Trap::default(), Vec::new(), || {
                let result = i64::from(*is);
                // Only in a batch can it flip and flip back between two turns of this cell.
                if world.logs.borrow()[log].good == Some(result) && !world.batched.get() {
                    world.fault(format!("the answer of a selector over {of} came twice"));
                }
                Given { number: result, cell: None, result }
            })
        });
        self.made(cell.materialize(), Kind::Is { selector: number, key }, Some(log))
    }

    /// The cell that a closure gives for a value.
    fn choose(self: &Rc<Self>, log: usize, picks: &[Pick], value: i64) -> Made {
        let at = usize::try_from(value).unwrap_or(0).checked_rem(picks.len());
        let last = self.logs.borrow()[log].last.as_ref().and_then(|run| run.gave);
        let made = match at.map(|at| &picks[at]) {
            Some(Pick::Existing(at)) => self.pick(*at),
            Some(Pick::Again) => last.and_then(|last| Some((last, self.handle(last)?))),
            Some(Pick::Fresh(make)) => self.make(make),
            Some(Pick::Kept(make)) => self.make(make).inspect(|made| {
                self.keep(made.clone());
            }),
            Some(Pick::Source(value)) => Some(self.new_source(i64::from(*value), CellKind::Plain)),
            None => None,
        };
        made.unwrap_or_else(|| self.new_source(value, CellKind::Plain))
    }

    pub fn effect(self: &Rc<Self>, formula: &Formula, trap: &Trap) -> bool {
        let number = self.new_formula(formula);
        let log = self.new_log();
        let effect_number = self.effects.borrow().len();
        self.effects.borrow_mut().push(log);
        let own = self.new_guard(Guarded::Effect(effect_number));
        let (world, trap) = (self.clone(), trap.clone());
        let guard = effect(move || {
            if world.logs.borrow()[log].owner == Owner::Effect(own)
                && world.guards.borrow()[own].is_none()
            {
                world.fault(format!("effect {effect_number} ran after its guard was dropped"));
            }
            world.turn(log, Closure::Tracking, &trap, Vec::new(), || {
                let result = world.evaluate(number);
                Given { number: result, cell: None, result: () }
            });
        });
        self.guards.borrow_mut()[own] = Some(guard);
        self.logs.borrow_mut()[log].owner = Owner::Effect(own);
        true
    }
}
