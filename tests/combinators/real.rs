//! The library's side: sources, wires, the combinator, and the run of a script over them.

use std::any::Any;

use hyphae::{
    Cell, CellId, CellImmutable, Pipeline, Signal, Source, SubscriptionGuard, arena, batch,
    combine, combine_vec, join_vec, merge_vec, selector, zip_vec,
};

use crate::model::Output;
use crate::script::{Act, Kind, Op, Run, Shown, Step, Wire, show, start_of};
use crate::support::Log;

pub(crate) type Input = Cell<i64, CellImmutable>;

enum Written {
    Cell(Cell<i64>),
    /// A source, and the cell that holds its last event.
    Source(Source<i64>, Cell<Option<i64>, CellImmutable>),
}

impl Written {
    fn of(kind: Kind, start: i64) -> Self {
        match kind {
            Kind::Plain => Self::Cell(Cell::new(start)),
            Kind::Kept => Self::Cell(Cell::new(start).no_coalesce()),
            Kind::CutOff => Self::Cell(Cell::with_cutoff(start, i64::eq)),
            Kind::Fed => {
                let source = Source::new();
                let held = source.clone().materialize();
                Self::Source(source, held)
            }
        }
    }

    fn write(&self, source: usize, step: Step) {
        match (self, step) {
            (Self::Cell(cell), Step::Value(value)) => cell.set(value),
            (Self::Cell(cell), Step::Complete) => cell.complete(),
            (Self::Cell(cell), Step::Fail) => cell.fail(source.to_string()),
            (Self::Source(source, _), Step::Value(value)) => source.emit(value),
            (Self::Source(source, _), Step::Complete | Step::Fail) => source.complete(),
        }
    }
}

/// The combined cell, whatever it holds.
struct Combined {
    id: CellId,
    read: Box<dyn Fn() -> Shown>,
    ended: Box<dyn Fn() -> (bool, bool)>,
    _guard: SubscriptionGuard,
    /// What must live as long.
    _kept: Box<dyn Any>,
}

impl Combined {
    fn new<T: Clone + 'static>(
        cell: &Cell<T, CellImmutable>,
        log: &Log<String>,
        shown: fn(T) -> Shown,
    ) -> Self {
        let log = log.clone();
        let (read, ended) = (cell.clone(), cell.clone());
        let guard = cell.subscribe(move |signal| {
            log.push(match signal {
                Signal::Value(value) => show(&shown(T::clone(value))),
                Signal::Complete => "|".to_owned(),
                Signal::Error(error) => format!("!{error}"),
            });
        });
        Self {
            id: cell.cell_id(),
            read: Box::new(move || shown(read.get())),
            ended: Box::new(move || (ended.is_complete(), ended.is_error())),
            _guard: guard,
            _kept: Box::new(()),
        }
    }
}

fn one(value: i64) -> Shown {
    Some(vec![value])
}

fn pair((a, b): (i64, i64)) -> Shown {
    Some(vec![a, b])
}

/// `combine` over the first so many of a list of cells.
macro_rules! combined {
    ($cells:expr, $log:expr, $($n:literal: $($v:ident)*;)*) => {
        match $cells {
            $([$($v),*] => {
                let cell = combine(($($v,)*), |($($v,)*)| vec![$(*$v),*]);
                Combined::new(&cell, $log, Some)
            })*
            _ => panic!("combine takes 2 to 8 cells"),
        }
    };
}

fn combine_all(cells: &[Input], log: &Log<String>) -> Combined {
    combined!(cells, log,
        2: a b;
        3: a b c;
        4: a b c d;
        5: a b c d e;
        6: a b c d e f;
        7: a b c d e f g;
        8: a b c d e f g h;)
}

fn make(run: &Run, written: &[Written], cells: &[Input], log: &Log<String>) -> Combined {
    let all = || cells.iter().cloned();
    match run.op {
        Op::Zip => Combined::new(&cells[0].zip(&cells[1]), log, pair),
        Op::ZipVec => Combined::new(&zip_vec(all()), log, |row| row),
        Op::Merge => Combined::new(&cells[0].merge(&cells[1]), log, one),
        Op::MergeVec => Combined::new(&merge_vec(all()), log, |value| value.map(|v| vec![v])),
        Op::Concat => Combined::new(&cells[0].concat(&cells[1]), log, one),
        Op::TakeUntil => Combined::new(&cells[0].take_until(&cells[1]), log, one),
        Op::Join => Combined::new(&cells[0].join(&cells[1]), log, pair),
        Op::JoinVec => Combined::new(&join_vec(all()), log, Some),
        Op::Combine => combine_all(cells, log),
        Op::CombineVec => {
            let listed = combine_vec(cells, |values| {
                let row = values.fold(vec![], |mut row, value| {
                    row.push(*value);
                    row
                });
                let by_index: Vec<_> = (0..values.len()).map(|i| values.with(i, |v| *v)).collect();
                assert!(values.iter().eq(by_index.iter().copied()));
                assert_eq!((format!("{values:?}"), by_index), (format!("{row:?}"), row.clone()));
                assert_eq!(values.is_empty(), row.is_empty());
                row
            });
            Combined::new(&listed, log, Some)
        }
        Op::WithLatest => {
            let cell = cells[0].clone().with_latest_from(&cells[1]).materialize();
            Combined::new(&cell, log, pair)
        }
        Op::SharedLatest => {
            let shared = cells[0].clone().with_latest_from(&cells[1]).share();
            let cell = shared.clone().materialize();
            Combined { _kept: Box::new(shared), ..Combined::new(&cell, log, pair) }
        }
        Op::Sample => Combined::new(&cells[0].sample(&cells[1]).materialize(), log, one),
        Op::SampleOn => {
            let Written::Source(source, _) = &written[run.wires[1].source] else {
                panic!("sample_on takes a source")
            };
            Combined::new(&cells[0].sample_on(source), log, one)
        }
        Op::Selector(key) => {
            let selector = selector(&cells[0]);
            let is = selector.is(key);
            let combined = Combined::new(&is, log, |is| one(i64::from(is)));
            Combined { _kept: Box::new(selector), ..combined }
        }
    }
}

impl Run {
    /// Runs the script and compares all that is heard and read with the reference.
    #[track_caller]
    pub(crate) fn check(&self) {
        let (heard, expected) = (self.heard(), self.expected());
        assert_eq!(heard, expected, "{self:?}");
    }

    pub(crate) fn expected(&self) -> String {
        Output::of(self).words().join(" ")
    }

    /// What a subscriber hears that comes right after the construction. In the end nothing may live.
    pub(crate) fn heard(&self) -> String {
        let written: Vec<Written> = self
            .kinds
            .iter()
            .enumerate()
            .map(|(source, kind)| Written::of(*kind, start_of(source)))
            .collect();
        // What hangs on a source is there from the start, so that no event passes it by.
        let bases: Vec<Input> = written.iter().enumerate().map(base).collect();
        let wire = |wire: &Wire| self.input(&bases[wire.source], *wire);
        let cells: Vec<Input> = self.wires.iter().map(wire).collect();
        self.before.iter().for_each(|&(source, step)| written[source].write(source, step));
        let log = Log::new();
        let before = arena::totals().cells;
        let combined = make(self, &written, &cells, &log);
        self.play(&written, &combined, &log);
        let heard = log.take();
        self.check_end(&combined, &heard);
        drop(combined);
        assert_eq!(arena::totals().cells, before, "{self:?}");
        drop((cells, bases, written));
        arena::assert_no_live();
        heard.join(" ")
    }

    fn input(&self, base: &Input, wire: Wire) -> Input {
        match wire.plus {
            Some(plus) => base.map(move |v| v + plus).materialize(),
            None => base.clone(),
        }
    }

    /// A read is logged like a delivery, with a `?`.
    fn play(&self, written: &[Written], combined: &Combined, log: &Log<String>) {
        let act = |act: &Act| match *act {
            Act::Write(source, step) => written[source].write(source, step),
            Act::Read => log.push(format!("?{}", show(&(combined.read)()))),
        };
        for acts in &self.after {
            match acts[..] {
                [Act::Write(..)] => act(&acts[0]),
                _ => batch(|| acts.iter().for_each(act)),
            }
        }
    }

    /// The cell reads as what was heard last, and one that ended has let go of its inputs (C5, C6).
    fn check_end(&self, combined: &Combined, heard: &[String]) {
        let ends = |word: &str| word.starts_with(['|', '!']);
        let last = heard.iter().rev().find(|word| !ends(word) && !word.starts_with('?'));
        assert_eq!(Some(&show(&(combined.read)())), last, "{self:?}");
        let end = heard.iter().find(|word| ends(word)).map(|word| word.starts_with('|'));
        let (completed, failed) = (combined.ended)();
        assert_eq!((completed, failed), (end == Some(true), end == Some(false)), "{self:?}");
        let inputs = arena::dependencies(combined.id).expect("it lives");
        assert!(end.is_none() || inputs.is_empty(), "an ended cell holds its inputs: {self:?}");
    }
}

fn base((source, written): (usize, &Written)) -> Input {
    match written {
        Written::Cell(cell) => cell.clone().lock(),
        Written::Source(_, held) => {
            held.map(move |event| event.unwrap_or(start_of(source))).materialize()
        }
    }
}
