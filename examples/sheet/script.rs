//! Scripts: edits and commands, one a line.

use crate::mistake::{FileError, Mistake, Place};
use crate::typed::Edit;

/// Something to do with the sheet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Edits that are made at once.
    Edit(Vec<Edit>),
    /// Takes back the last step of edits that is not taken back yet.
    Undo(Place),
    /// Shows the table.
    Print,
}

/// Reads a whole script, so that a mistake is told before anything is done.
pub(crate) fn steps(file: &str, text: &str) -> Result<Vec<Step>, FileError> {
    let mut script = Script::default();
    for (index, line) in text.lines().enumerate() {
        let place = |offset| Place { line: index + 1, column: 1 }.behind(&line[..offset]);
        let offset = line.len() - line.trim_start().len();
        let taken = script.take(line, place(offset));
        taken.map_err(|mistake| mistake.clone().placed(file, place(mistake.offset)))?;
    }
    match script.batch {
        None => Ok(script.steps),
        Some((_, begun)) => Err(Mistake::new(0, "`begin` without `commit`").placed(file, begun)),
    }
}

#[derive(Default)]
struct Script {
    steps: Vec<Step>,
    /// The edits since the last `begin`, if it is not committed, and where it is.
    batch: Option<(Vec<Edit>, Place)>,
}

impl Script {
    fn take(&mut self, line: &str, place: Place) -> Result<(), Mistake> {
        let command = line.trim();
        let offset = line.len() - line.trim_start().len();
        match (command, &mut self.batch) {
            ("commit", None) => return Err(Mistake::new(offset, "`commit` without `begin`")),
            ("begin" | "undo" | "print", Some(_)) => {
                let message = format!("`{command}` between `begin` and `commit`");
                return Err(Mistake::new(offset, message));
            }
            ("begin", None) => self.batch = Some((Vec::new(), place)),
            ("commit", Some(_)) => {
                let (edits, _) = self.batch.take().unwrap_or((Vec::new(), place));
                self.steps.push(Step::Edit(edits));
            }
            ("undo", None) => self.steps.push(Step::Undo(place)),
            ("print", None) => self.steps.push(Step::Print),
            (other, _) if other.is_empty() || other.starts_with('#') => (),
            (other, _) if !other.contains('=') => return Err(unknown(offset)),
            (_, Some((edits, _))) => edits.push(Edit::parse(line)?),
            (_, None) => self.steps.push(Step::Edit(vec![Edit::parse(line)?])),
        }
        Ok(())
    }
}

fn unknown(offset: usize) -> Mistake {
    let message = "expected an edit such as `A1 = 5`, `undo`, `print`, `begin` or `commit`";
    Mistake::new(offset, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edits as they are shown, undo with its line.
    fn read(text: &str) -> Result<Vec<String>, String> {
        let steps = steps("s", text).map_err(|error| error.to_string())?;
        let shown = |step: &Step| match step {
            Step::Edit(edits) => edits.iter().map(|edit| format!("[{edit}]")).collect(),
            Step::Undo(place) => format!("undo in line {}", place.line),
            Step::Print => "print".to_owned(),
        };
        Ok(steps.iter().map(shown).collect())
    }

    #[test]
    fn all_there_is() {
        let text =
            "# a comment\nA1 = 5\n\n  undo\r\nprint\nbegin\n B1 = =A1\n#x = 1\nC1=\ncommit\n";
        let expected = ["[A1 = 5]", "undo in line 4", "print", "[B1 = =A1][C1 cleared]"];
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn mistakes_have_line_and_column() {
        let unknown = "expected an edit such as `A1 = 5`, `undo`, `print`, `begin` or `commit`";
        let rows = [
            ("A1 = 5\n  redo", format!("s:2:3: {unknown}")),
            ("undo now", format!("s:1:1: {unknown}")),
            ("A1 = =1+%", "s:1:9: `%` has no meaning in a formula".into()),
            ("ü = 1", "s:1:1: `ü` is not the name of an entry".into()),
            ("A1 = =\"ü\" ü \"", "s:1:13: this quote is never closed".into()),
            (" commit", "s:1:2: `commit` without `begin`".into()),
            ("begin\ncommit\ncommit", "s:3:1: `commit` without `begin`".into()),
            ("begin\nbegin", "s:2:1: `begin` between `begin` and `commit`".into()),
            ("begin\n\tundo", "s:2:2: `undo` between `begin` and `commit`".into()),
            ("begin\nprint", "s:2:1: `print` between `begin` and `commit`".into()),
            ("A1=1\n begin\nA1=2", "s:2:2: `begin` without `commit`".into()),
        ];
        for (text, expected) in rows {
            assert_eq!(read(text).unwrap_err(), expected, "{text:?}");
        }
    }
}
