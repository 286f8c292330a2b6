//! The cells of the sheet: the only module that knows that values are derived by cells.
//!
//! An entry is two cells: what was typed, and what that is worth. The second one finds out by itself
//! which other entries it depends on. An entry that is read before anything was typed into it gets
//! its cells then, so that whoever read it hears when something is.

use std::cell::{Cell as Slot, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use hyphae::{Cell, CellImmutable, CellInfo, Error, SubscriptionGuard, batch};

use crate::address::{Address, Named};
use crate::evaluation::evaluate;
use crate::typed::{Content, Edit, Typed};
use crate::value::{Fault, Outcome, Value};

/// All entries that were typed into or read.
pub(crate) struct Sheet {
    table: Rc<Table>,
}

/// What a step of edits did.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// How many formulas were evaluated.
    pub(crate) evaluated: usize,
    /// The entries that are worth something else now, in order.
    pub(crate) changes: Vec<Change>,
}

/// An entry that is worth something else.
#[derive(Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) at: Address,
    pub(crate) old: Outcome,
    pub(crate) new: Outcome,
}

#[derive(Default)]
struct Table {
    entries: RefCell<BTreeMap<Address, Rc<Entry>>>,
    /// Evaluations that ran to their end.
    evaluated: Slot<usize>,
    /// The entries that were computed since the last report.
    touched: Rc<RefCell<Vec<Address>>>,
}

struct Entry {
    typed: Cell<Rc<Typed>>,
    worth: Cell<Outcome, CellImmutable>,
    /// What it was worth at the last report.
    told: RefCell<Outcome>,
    _watch: SubscriptionGuard,
}

impl Sheet {
    pub(crate) fn new() -> Self {
        Self { table: Rc::default() }
    }

    /// Makes all the edits in one wave; of several for one entry the last counts.
    pub(crate) fn apply(&self, edits: &[Edit]) -> Report {
        let before = self.table.evaluated.get();
        batch(|| {
            for edit in edits {
                self.table.entry(edit.at).typed.set(edit.typed.clone());
            }
        });
        Report { evaluated: self.table.evaluated.get() - before, changes: self.table.changes() }
    }

    /// What was typed into an entry.
    pub(crate) fn typed(&self, at: Address) -> Rc<Typed> {
        let entry = self.table.known(at);
        entry.map_or_else(|| Rc::new(Typed::blank()), |entry| entry.typed.get())
    }

    /// What all entries are worth that something was typed into, in order.
    pub(crate) fn outcomes(&self) -> Vec<(Address, Outcome)> {
        let entries = self.table.entries.borrow();
        let typed = entries.iter().filter(|(_, entry)| !entry.typed.get().is_blank());
        typed.map(|(at, entry)| (*at, entry.worth.get())).collect()
    }
}

impl Table {
    fn known(&self, at: Address) -> Option<Rc<Entry>> {
        self.entries.borrow().get(&at).cloned()
    }

    /// The entry; a blank one if nothing was there. The table is not borrowed while cells are made.
    fn entry(self: &Rc<Self>, at: Address) -> Rc<Entry> {
        self.known(at).unwrap_or_else(|| {
            let entry = Rc::new(Entry::blank(self, at));
            self.entries.borrow_mut().insert(at, entry.clone());
            entry
        })
    }

    fn changes(&self) -> Vec<Change> {
        let mut touched = self.touched.take();
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().filter_map(|at| self.known(at)?.change(at)).collect()
    }
}

impl Entry {
    fn blank(table: &Rc<Table>, at: Address) -> Self {
        let typed = Cell::new(Rc::new(Typed::blank())).with_name(format!("{at} as typed"));
        let worth = Cell::computed({
            let (typed, table) = (typed.clone(), Rc::downgrade(table));
            move || worth(&typed.get(), &table)
        })
        .with_name(at.to_string());
        let touched = table.touched.clone();
        let watch = worth.watch_changes(move |_| touched.borrow_mut().push(at));
        Self { typed, worth, told: RefCell::new(Ok(Value::Blank)), _watch: watch }
    }

    /// What has changed since the last call.
    fn change(&self, at: Address) -> Option<Change> {
        let new = self.worth.get();
        let old = self.told.replace(new.clone());
        (old != new).then_some(Change { at, old, new })
    }
}

/// What is typed is worth; reads of other entries are tracked. A cell must not keep the table, which
/// keeps the cell.
fn worth(typed: &Typed, table: &Weak<Table>) -> Outcome {
    let expression = match &typed.content {
        Content::Constant(value) => return Ok(value.clone()),
        Content::Formula(expression) => expression,
    };
    let Some(table) = table.upgrade() else { return Ok(Value::Blank) };
    let outcome = evaluate(expression, &|at| read(&table, at));
    table.evaluated.set(table.evaluated.get() + 1);
    outcome
}

fn read(table: &Rc<Table>, at: Address) -> Outcome {
    match table.entry(at).worth.try_get() {
        Ok(outcome) => outcome,
        Err(Error::Cycle { path }) => Err(cycle(&path)),
        Err(error) => panic!("{error}"),
    }
}

/// The path has the first cell once more at its end.
fn cycle(path: &[CellInfo]) -> Fault {
    let address = |cell: &CellInfo| match Address::read(cell.name.as_deref()?) {
        Named::Entry(at) => Some(at),
        _ => None,
    };
    let ring = path[..path.len().saturating_sub(1)].iter().filter_map(address);
    Fault::cycle(ring.collect())
}

#[cfg(test)]
mod tests {
    use hyphae::arena;

    use super::*;
    use crate::expression::MAX_DEPTH;

    /// Applies edits as one step; gives how many formulas were evaluated.
    fn apply<S: AsRef<str>>(sheet: &Sheet, edits: impl IntoIterator<Item = S>) -> usize {
        let edits: Vec<_> =
            edits.into_iter().map(|edit| Edit::parse(edit.as_ref()).unwrap()).collect();
        sheet.apply(&edits).evaluated
    }

    fn worth_of(sheet: &Sheet, name: &str) -> String {
        let Named::Entry(at) = Address::read(name) else { panic!("{name}") };
        let outcome = sheet.table.known(at).map_or(Ok(Value::Blank), |entry| entry.worth.get());
        outcome.map_or_else(|fault| fault.to_string(), |value| value.to_string())
    }

    /// Runs a test on a stack of the size that threads have unless told otherwise.
    fn on_small_stack(test: impl FnOnce() + Send + 'static) {
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap();
        thread.join().unwrap();
    }

    /// Formulas in column A, each reading the one above, and a quarter as many that read none of them.
    fn column(deep: usize) -> Vec<String> {
        let column = (2..=deep + 1).map(|row| format!("A{row} = =A{}+2", row - 1));
        let others = (1..=deep / 4).map(|row| format!("C{row} = =B{row}*2"));
        std::iter::once("A1 = 1".to_owned()).chain(column).chain(others).collect()
    }

    /// Loads a column in some order and edits it.
    fn check_column(deep: usize, edits: Vec<String>) {
        let sheet = Sheet::new();
        let (half, last) = (deep / 2, format!("A{}", deep + 1));
        assert_eq!(apply(&sheet, edits), deep + deep / 4);
        assert_eq!(worth_of(&sheet, &last), (1 + 2 * deep).to_string());
        assert_eq!(apply(&sheet, ["A1 = 5"]), deep);
        assert_eq!(worth_of(&sheet, &last), (5 + 2 * deep).to_string());
        assert_eq!(apply(&sheet, [format!("A{} = 0", half + 1)]), deep - half);
        assert_eq!(worth_of(&sheet, &last), (2 * (deep - half)).to_string());
        assert_eq!(apply(&sheet, ["A1 = 6"]), half - 1);
        assert_eq!(apply(&sheet, ["B7 = 6"]), 1);
        assert_eq!(apply(&sheet, ["D7 = 6"]), 0);
        drop(sheet);
        arena::assert_no_live();
    }

    #[test]
    fn an_edit_evaluates_exactly_its_dependents() {
        on_small_stack(|| check_column(10_000, column(10_000)));
    }

    #[test]
    fn the_order_of_the_entries_does_not_matter() {
        on_small_stack(|| check_column(10_000, column(10_000).into_iter().rev().collect()));
        on_small_stack(|| {
            let mut edits = column(10_000);
            // A step that has no factor in common with the 12 501 edits visits each once.
            let shuffled = (0..edits.len()).map(|i| std::mem::take(&mut edits[i * 1000 % 12_501]));
            check_column(10_000, shuffled.collect());
        });
    }

    /// Each reads the one below, so that all are there before the first one that has a value.
    #[test]
    fn a_column_of_ten_thousand_that_reads_downwards() {
        on_small_stack(|| {
            let sheet = Sheet::new();
            let edits = (1..=10_000).map(|row| format!("A{row} = =A{}+1", row + 1));
            assert_eq!(apply(&sheet, edits), 10_000);
            assert_eq!(worth_of(&sheet, "A1"), "10000");
            assert_eq!(apply(&sheet, ["A10001 = 5"]), 10_000);
            assert_eq!(worth_of(&sheet, "A1"), "10005");
            check_ring(&sheet);
        });
    }

    /// Makes a ring of 10 000 entries and breaks it in the middle.
    fn check_ring(sheet: &Sheet) {
        assert_eq!(apply(sheet, ["A10000 = =A1"]), 10_000);
        let ring = "#CYCLE! A1 -> A2 -> A3 -> A4 -> A5 -> A6 -> ... (9993 more) -> A10000 -> A1";
        assert!(["A1", "A7", "A10000"].iter().all(|name| worth_of(sheet, name) == ring));
        assert_eq!(apply(sheet, ["A5000 = 1"]), 9999);
        assert_eq!(worth_of(sheet, "A5001"), "9999");
        assert_eq!(worth_of(sheet, "A1"), "5000");
    }

    /// The deepest formulas there can be, each reading the one below.
    #[test]
    fn deep_formulas_in_a_deep_column() {
        on_small_stack(|| {
            let (open, close) = ("IF(1,".repeat(MAX_DEPTH), ")".repeat(MAX_DEPTH));
            let formula = |row| format!("A{row} = ={open}A{}{close}", row + 1);
            let sheet = Sheet::new();
            assert_eq!(apply(&sheet, (1..=5000).map(formula)), 5000);
            assert_eq!(apply(&sheet, ["A5001 = 5"]), 5000);
            assert_eq!(worth_of(&sheet, "A1"), "5");
        });
    }

    #[test]
    fn only_the_branch_taken_is_a_dependency() {
        let sheet = Sheet::new();
        apply(&sheet, ["A1 = 1", "A2 = 2", "A3 = 3", "B1 = =IF(A1>0,A2,A3)"]);
        let of_b1 = |edit: &str| (apply(&sheet, [edit]), worth_of(&sheet, "B1"));
        assert_eq!(of_b1("A3 = 30"), (0, "2".into()));
        assert_eq!(of_b1("A2 = 20"), (1, "20".into()));
        assert_eq!(of_b1("A1 = 0"), (1, "30".into()));
        assert_eq!(of_b1("A2 = 2"), (0, "30".into()));
        assert_eq!(of_b1("A3 = 3"), (1, "3".into()));
    }

    /// A cycle is one only while both branches that close it are taken.
    #[test]
    fn branches_can_make_and_break_cycles() {
        let sheet = Sheet::new();
        apply(&sheet, ["C1 = 1", "A1 = =IF(C1,B1,1)", "B1 = =IF(C1,2,A1)"]);
        let both =
            |edit: &str| (apply(&sheet, [edit]), ["A1", "B1"].map(|at| worth_of(&sheet, at)));
        for _ in 0..3 {
            // Who reads whom is turned round, with no cycle in between.
            assert_eq!(both("C1 = 0"), (2, ["1", "1"].map(String::from)));
            assert_eq!(both("C1 = 1"), (2, ["2", "2"].map(String::from)));
        }
        let ring = ["#CYCLE! A1 -> B1 -> A1"; 2].map(String::from);
        assert_eq!(both("B1 = =IF(C1,A1,0)").1, ring);
        assert_eq!(both("C1 = 0"), (2, ["1", "0"].map(String::from)));
        assert_eq!(both("C1 = 1").1, ring);
        assert_eq!(both("A1 = 4"), (1, ["4", "4"].map(String::from)));
    }

    #[test]
    fn an_entry_may_be_read_before_it_is_there() {
        let sheet = Sheet::new();
        assert_eq!(apply(&sheet, ["A1 = =Z50+1", "A2 = =SUM(B1:C9)"]), 2);
        assert_eq!(apply(&sheet, ["Z50 = 5"]), 1);
        assert_eq!(apply(&sheet, ["C9 = =A1"]), 2);
        assert_eq!(apply(&sheet, ["C10 = 1"]), 0);
        assert_eq!([worth_of(&sheet, "A1"), worth_of(&sheet, "A2")], ["6", "6"]);
        assert_eq!(sheet.outcomes().len(), 5);
        assert_eq!(apply(&sheet, ["Z50 ="]), 3);
        assert_eq!(worth_of(&sheet, "A2"), "1");
    }

    #[test]
    fn a_step_of_edits_is_one_wave() {
        let sheet = Sheet::new();
        apply(&sheet, ["B1 = =SUM(A1:A1000)", "B2 = =B1+A1"]);
        let waves = || arena::totals().waves;
        let before = waves();
        assert_eq!(apply(&sheet, (1..=1000).map(|row| format!("A{row} = 1"))), 2);
        assert_eq!((waves() - before, worth_of(&sheet, "B2")), (1, "1001".into()));
    }

    #[test]
    fn only_what_is_worth_something_else_is_a_change() {
        let sheet = Sheet::new();
        apply(&sheet, ["A1 = 3", "B1 = =A1>2", "C1 = =A1"]);
        let edit = Edit::parse("A1 = 4").unwrap();
        let report = sheet.apply(std::slice::from_ref(&edit));
        let changed: Vec<_> = report.changes.iter().map(|change| change.at.to_string()).collect();
        assert_eq!((report.evaluated, changed), (2, vec!["A1".to_owned(), "C1".to_owned()]));
        assert_eq!(sheet.apply(&[edit]), Report { evaluated: 2, changes: vec![] });
    }

    /// What an entry is worth if everything is evaluated anew; `open` are the entries on the way.
    fn plainly(sheet: &Sheet, at: Address, open: &RefCell<Vec<Address>>) -> Outcome {
        if open.borrow().contains(&at) {
            return Err(Fault::cycle(open.borrow().clone()));
        }
        open.borrow_mut().push(at);
        let outcome = match &sheet.typed(at).content {
            Content::Constant(value) => Ok(value.clone()),
            Content::Formula(formula) => evaluate(formula, &|other| plainly(sheet, other, open)),
        };
        open.borrow_mut().pop();
        outcome
    }

    /// Rings that share entries can be told by any of them.
    fn without_ring(outcome: Outcome) -> Outcome {
        outcome.map_err(|fault| match fault {
            Fault::Cycle(_) => Fault::cycle(Vec::new()),
            other => other,
        })
    }

    /// Entries A1 to C4, some of them in rings that the edits make and break.
    #[test]
    fn after_any_edits_all_entries_are_worth_what_they_should_be() {
        let names: Vec<_> = (0..12).map(|i| Address { row: i / 3, column: i % 3 }).collect();
        for seed in 0..300_u64 {
            let mut state = seed;
            let mut random = move |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % below
            };
            let (sheet, mut rings) = (Sheet::new(), 0);
            for _ in 0..100 {
                let edits: Vec<_> = (0..=random(3)).map(|_| random_edit(&mut random)).collect();
                apply(&sheet, &edits);
                for &at in &names {
                    let expected = plainly(&sheet, at, &RefCell::default());
                    let entry = sheet.table.known(at);
                    let found = entry.map_or(Ok(Value::Blank), |entry| entry.worth.get());
                    rings += usize::from(matches!(found, Err(Fault::Cycle(_))));
                    let (found, expected) = (without_ring(found), without_ring(expected));
                    assert_eq!(found, expected, "seed {seed}: {at} after {edits:?}");
                }
            }
            assert!((100..1100).contains(&rings), "{rings}");
        }
    }

    fn random_edit(random: &mut impl FnMut(u64) -> u64) -> String {
        let mut name = || {
            let (column, row) = (random(3), random(4));
            format!("{}{}", ["A", "B", "C"][column as usize], row + 1)
        };
        let [at, a, b, c] = [name(), name(), name(), name()];
        match random(8) {
            0 | 1 => format!("{at} = {}", random(4)),
            2 => format!("{at} ="),
            3 => format!("{at} = ={a}+{b}"),
            4 => format!("{at} = =IF({a}>1,{b},{c})"),
            5 => format!("{at} = =IF({a}=0,{b}/{c},{c})"),
            6 => format!("{at} = =SUM({a}:{b})"),
            _ => format!("{at} = ={a}"),
        }
    }
}
