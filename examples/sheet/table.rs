//! The table as text: columns aligned, numbers to the right.
//!
//! Knows what values look like, not where they come from.

use std::io::{self, Write};

use crate::address::{Address, letters};
use crate::value::{Fault, Outcome, Value};

/// Writes a table of these entries, which are in order: a line of letters, then a line a row.
pub(crate) fn write(out: &mut dyn Write, entries: &[(Address, Outcome)]) -> io::Result<()> {
    if entries.is_empty() {
        return writeln!(out, "(the sheet is empty)");
    }
    let columns = entries.iter().map(|(at, _)| at.column + 1).max().unwrap_or(0);
    let rows = entries.iter().map(|(at, _)| at.row + 1).max().unwrap_or(0);
    let texts: Vec<_> = entries.iter().map(|(at, outcome)| (*at, Text::of(outcome))).collect();
    let mut widths: Vec<usize> = (0..columns).map(|column| letters(column).len()).collect();
    for (at, text) in &texts {
        let width = &mut widths[at.column as usize];
        *width = text.width().max(*width);
    }
    let table = Table { margin: rows.to_string().len(), widths };
    table.head(out)?;
    let mut left = texts.as_slice();
    for row in 0..rows {
        let (here, below) = left.split_at(left.partition_point(|(at, _)| at.row == row));
        table.row(out, row, here)?;
        left = below;
    }
    Ok(())
}

struct Text {
    text: String,
    /// Whether it is aligned to the right.
    number: bool,
}

impl Text {
    fn of(outcome: &Outcome) -> Self {
        let text = outcome.as_ref().map_or_else(Fault::to_string, Value::to_string);
        Self { text, number: matches!(outcome, Ok(Value::Number(_))) }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

struct Table {
    /// The width of the numbers of the rows.
    margin: usize,
    widths: Vec<usize>,
}

impl Table {
    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = " ".repeat(self.margin);
        for (column, width) in (0..).zip(&self.widths) {
            line += &format!("  {:^width$}", letters(column));
        }
        writeln!(out, "{}", line.trim_end())
    }

    fn row(&self, out: &mut dyn Write, row: u32, entries: &[(Address, Text)]) -> io::Result<()> {
        let mut line = format!("{:>1$}", row + 1, self.margin);
        let mut entries = entries.iter().peekable();
        for (column, width) in (0..).zip(&self.widths) {
            line += "  ";
            line += &match entries.next_if(|(at, _)| at.column == column) {
                Some((_, Text { text, number: true })) => format!("{text:>width$}"),
                Some((_, Text { text, .. })) => format!("{text:<width$}"),
                None => " ".repeat(*width),
            };
        }
        writeln!(out, "{}", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(entries: &[(u32, u32, Outcome)]) -> String {
        let entries: Vec<_> = entries
            .iter()
            .map(|(row, column, outcome)| (Address { row: *row, column: *column }, outcome.clone()))
            .collect();
        let mut out = Vec::new();
        write(&mut out, &entries).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned() {
        let text = |text: &str| Ok(Value::Text(text.into()));
        let number = |number| Ok(Value::Number(number));
        let table = shown(&[
            (0, 0, text("Größe")),
            (0, 1, text("Watt")),
            (2, 0, text("x")),
            (2, 1, number(5.0)),
            (2, 3, number(-12.5)),
            (9, 1, Err(Fault::Name)),
            (9, 2, Ok(Value::Truth(true))),
        ]);
        let expected = [
            "      A      B      C      D",
            " 1  Größe  Watt",
            " 2",
            " 3  x           5        -12.5",
            " 4",
            " 5",
            " 6",
            " 7",
            " 8",
            " 9",
            "10         #NAME?  TRUE",
        ];
        assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_empty_sheet_is_said_to_be() {
        assert_eq!(shown(&[]), "(the sheet is empty)\n");
    }
}
