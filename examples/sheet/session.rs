//! What is done with a sheet: edits, taking them back, and what is written about them.

use std::error::Error;
use std::io::{self, Write};

use crate::mistake::{FileError, Mistake};
use crate::script::Step;
use crate::sheet::{Report, Sheet};
use crate::table;
use crate::typed::Edit;
use crate::value::{Fault, Outcome, Value};

/// A sheet that is being edited, and what was typed before.
pub(crate) struct Session<'a> {
    sheet: Sheet,
    out: &'a mut dyn Write,
    /// Whether changes are written instead of the table.
    changes: bool,
    /// What takes each step of edits back.
    history: Vec<Vec<Edit>>,
}

impl<'a> Session<'a> {
    /// Makes a sheet and says how large it is.
    pub(crate) fn load(
        title: &str,
        edits: &[Edit],
        out: &'a mut dyn Write,
        changes: bool,
    ) -> io::Result<Self> {
        let formulas = edits.iter().filter(|edit| edit.typed.is_formula()).count();
        let sheet = Sheet::new();
        let evaluated = sheet.apply(edits).evaluated;
        let (entries, formulas) = (counted(edits.len(), "entry", "entries"), formulas_of(formulas));
        writeln!(out, "{title}: {entries}, {formulas}; {evaluated} computed")?;
        Ok(Self { sheet, out, changes, history: Vec::new() })
    }

    /// Does what a script says; `script` is its name.
    pub(crate) fn run(&mut self, script: &str, steps: &[Step]) -> Result<(), Box<dyn Error>> {
        for step in steps {
            match step {
                Step::Edit(edits) => self.edit(edits)?,
                Step::Print => self.print()?,
                Step::Undo(place) => {
                    let nothing = || Mistake::new(0, "nothing to undo").placed(script, *place);
                    self.undo(nothing)?;
                }
            }
        }
        Ok(())
    }

    fn edit(&mut self, edits: &[Edit]) -> io::Result<()> {
        let before = |edit: &Edit| Edit { at: edit.at, typed: self.sheet.typed(edit.at) };
        self.history.push(edits.iter().map(before).collect());
        let what = match edits {
            [edit] => edit.to_string(),
            edits => counted(edits.len(), "edit", "edits") + " at once",
        };
        let report = self.sheet.apply(edits);
        self.tell(&what, &report)
    }

    fn undo(&mut self, nothing: impl FnOnce() -> FileError) -> Result<(), Box<dyn Error>> {
        let edits = self.history.pop().ok_or_else(nothing)?;
        let report = self.sheet.apply(&edits);
        Ok(self.tell("undo", &report)?)
    }

    fn tell(&mut self, what: &str, report: &Report) -> io::Result<()> {
        writeln!(self.out, "{what}: {} recomputed", formulas_of(report.evaluated))?;
        if self.changes {
            for change in &report.changes {
                let (old, new) = (plain(&change.old), plain(&change.new));
                writeln!(self.out, "  {}: {old} => {new}", change.at)?;
            }
        }
        Ok(())
    }

    fn print(&mut self) -> io::Result<()> {
        table::write(self.out, &self.sheet.outcomes())
    }

    /// Writes the table, unless changes were to be written instead.
    pub(crate) fn close(mut self) -> io::Result<()> {
        if self.changes { Ok(()) } else { self.print() }
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn formulas_of(count: usize) -> String {
    counted(count, "formula", "formulas")
}

/// An outcome outside of the table, where a text needs quotes and a blank a word.
fn plain(outcome: &Outcome) -> String {
    match outcome {
        Ok(Value::Blank) => "blank".to_owned(),
        Ok(text @ Value::Text(_)) => format!("\"{text}\""),
        Ok(value) => value.to_string(),
        Err(fault) => Fault::to_string(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{load, script};

    /// What a script writes about a sheet: without the line about loading, and only changes.
    fn changes(csv: &str, text: &str) -> String {
        let edits = load::edits("f", csv).unwrap();
        let mut out = Vec::new();
        let mut session = Session::load("f", &edits, &mut out, true).unwrap();
        session.run("s", &script::steps("s", text).unwrap()).unwrap();
        session.close().unwrap();
        hyphae::arena::assert_no_live();
        let out = String::from_utf8(out).unwrap();
        out.split_once('\n').unwrap().1.to_owned()
    }

    /// Compares without the indentation that the expected text has here.
    #[track_caller]
    fn check(csv: &str, text: &str, expected: &str) {
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().map(|line| line.trim().to_owned());
            lines.filter(|line| !line.is_empty()).collect()
        };
        assert_eq!(lines(&changes(csv, text)), lines(expected));
    }

    #[test]
    fn every_fault_spreads_and_is_cured_by_undo() {
        let rows = [
            ("A1 = 0", "A1: 2 => 0", "#DIV/0!"),
            ("A1 = x", "A1: 2 => \"x\"", "#VALUE!"),
            ("A1 = =nothing", "A1: 2 => #NAME?", "#NAME?"),
            ("A1 = =AAA1", "A1: 2 => #REF!", "#REF!"),
        ];
        for (edit, first, fault) in rows {
            let formula = usize::from(edit.contains("= ="));
            let back = first.split_once(": 2 => ").unwrap().1;
            let expected = format!(
                "{edit}: {} formulas recomputed
                {first}
                B1: 5 => {fault}
                C1: 6 => {fault}
                undo: 2 formulas recomputed
                A1: {back} => 2
                B1: {fault} => 5
                C1: {fault} => 6",
                2 + formula
            );
            check("2,=10/A1,=B1+1\n", &format!("{edit}\nundo"), &expected);
        }
    }

    #[test]
    fn a_cycle_is_cured_by_an_edit_on_either_entry_or_undo() {
        let ring = "#CYCLE! A1 -> B1 -> A1";
        let made = format!(
            "A1 = =B1+1: 3 formulas recomputed
            A1: 2 => {ring}
            B1: 3 => {ring}
            C1: 4 => {ring}"
        );
        let cures = [
            ("undo", "undo: 2", 2, 3, 4),
            ("A1 = 7", "A1 = 7: 2", 7, 8, 9),
            ("B1 = 7", "B1 = 7: 2", 8, 7, 8),
        ];
        for (cure, head, a, b, c) in cures {
            let cured = format!(
                "{head} formulas recomputed
                A1: {ring} => {a}
                B1: {ring} => {b}
                C1: {ring} => {c}"
            );
            let script = format!("A1 = =B1+1\n{cure}");
            check("2,=A1+1,=B1+1\n", &script, &format!("{made}\n{cured}"));
        }
    }

    #[test]
    fn an_entry_may_not_read_itself() {
        check(
            "1\n",
            "A1 = =A1+1\nA1 = =SUM(A1:A3)\nA3 = 5\nundo\nA1 = =SUM(A2:A3)",
            "A1 = =A1+1: 1 formula recomputed
            A1: 1 => #CYCLE! A1 -> A1
            A1 = =SUM(A1:A3): 1 formula recomputed
            A3 = 5: 0 formulas recomputed
            A3: blank => 5
            undo: 0 formulas recomputed
            A3: 5 => blank
            A1 = =SUM(A2:A3): 1 formula recomputed
            A1: #CYCLE! A1 -> A1 => 0",
        );
    }

    #[test]
    fn what_is_loaded_may_have_cycles() {
        let csv = "=B1,=C1,=A1,=A1\n";
        let ring = "#CYCLE! A1 -> B1 -> C1 -> A1";
        check(
            csv,
            "C1 = 3",
            &format!(
                "C1 = 3: 3 formulas recomputed
                A1: {ring} => 3
                B1: {ring} => 3
                C1: {ring} => 3
                D1: {ring} => 3"
            ),
        );
    }

    #[test]
    fn undo_takes_back_one_step_after_the_other() {
        check(
            "1,=A1*2\n",
            "A1 = 2\nbegin\nA1 = 3\nA1 = 4\nC1 = =B1\ncommit\nundo\nundo",
            "A1 = 2: 1 formula recomputed
            A1: 1 => 2
            B1: 2 => 4
            3 edits at once: 2 formulas recomputed
            A1: 2 => 4
            B1: 4 => 8
            C1: blank => 8
            undo: 1 formula recomputed
            A1: 4 => 2
            B1: 8 => 4
            C1: 8 => blank
            undo: 1 formula recomputed
            A1: 2 => 1
            B1: 4 => 2",
        );
    }

    #[test]
    fn undo_needs_something_to_undo() {
        let mut out = Vec::new();
        let mut session = Session::load("f", &[], &mut out, false).unwrap();
        let steps = script::steps("s", "A1 = 1\nundo\n undo\nA1 = 2").unwrap();
        let error = session.run("s", &steps).unwrap_err();
        assert_eq!(error.to_string(), "s:3:2: nothing to undo");
        session.close().unwrap();
        let expected = "f: 0 entries, 0 formulas; 0 computed
A1 = 1: 0 formulas recomputed
undo: 0 formulas recomputed
(the sheet is empty)
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn the_table_is_written_when_asked_for_and_at_the_end() {
        let mut out = Vec::new();
        let edits = load::edits("f", "1,=A1\n").unwrap();
        let mut session = Session::load("f", &edits, &mut out, false).unwrap();
        session.run("s", &script::steps("s", "print\nA1 = 20").unwrap()).unwrap();
        session.close().unwrap();
        let expected = "f: 2 entries, 1 formula; 1 computed
   A  B
1  1  1
A1 = 20: 1 formula recomputed
   A   B
1  20  20
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
