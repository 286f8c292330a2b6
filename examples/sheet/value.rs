//! What an entry is worth: a value or a fault, and how either is shown.
//!
//! A fault is a value like others: it spreads to the readers and goes when its cause does.

use std::fmt;
use std::rc::Rc;

use crate::address::Address;

/// What an entry is worth.
pub(crate) type Outcome = Result<Value, Fault>;

/// A value that is no fault. Numbers are always finite.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing: 0 where a number is needed, no text where a text is.
    Blank,
    Number(f64),
    Text(Rc<str>),
    Truth(bool),
}

/// Why an entry has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A division by zero, or an average of no numbers.
    DivisionByZero,
    /// A reference outside of the sheet's limits.
    Reference,
    /// An unknown name.
    Name,
    /// A value of a kind that does not fit, or a number that became too large.
    Kind,
    /// The entry reads itself: each of these reads the next, the last reads the first.
    Cycle(Rc<[Address]>),
}

impl Fault {
    /// A fault of entries that read each other in a ring; the ring is turned so that it does not
    /// matter which of them met it.
    pub(crate) fn cycle(mut ring: Vec<Address>) -> Self {
        let first =
            ring.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(index, _)| index);
        ring.rotate_left(first);
        Self::Cycle(ring.into())
    }
}

/// A longer ring is shown by this many of its first entries and its last one.
const SHOWN_OF_RING: usize = 6;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => f.write_str("#DIV/0!"),
            Self::Reference => f.write_str("#REF!"),
            Self::Name => f.write_str("#NAME?"),
            Self::Kind => f.write_str("#VALUE!"),
            Self::Cycle(ring) => write_ring(f, ring),
        }
    }
}

fn write_ring(f: &mut fmt::Formatter<'_>, ring: &[Address]) -> fmt::Result {
    f.write_str("#CYCLE! ")?;
    let left_out = ring.len().saturating_sub(SHOWN_OF_RING + 1);
    let shown = if left_out > 1 { SHOWN_OF_RING } else { ring.len() };
    ring[..shown].iter().try_for_each(|at| write!(f, "{at} -> "))?;
    match (ring.first(), ring.last()) {
        (Some(first), Some(last)) if shown < ring.len() => {
            write!(f, "... ({left_out} more) -> {last} -> {first}")
        }
        (Some(first), _) => write!(f, "{first}"),
        (None, _) => Ok(()),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => Ok(()),
            Self::Number(number) => write_number(f, *number),
            Self::Text(text) => f.write_str(&shown(text)),
            Self::Truth(true) => f.write_str("TRUE"),
            Self::Truth(false) => f.write_str("FALSE"),
        }
    }
}

/// At most 12 significant digits, so that 0.1 + 0.2 is shown as 0.3.
fn write_number(f: &mut fmt::Formatter<'_>, number: f64) -> fmt::Result {
    let rounded: f64 = format!("{number:.11e}").parse().unwrap_or(number);
    let size = rounded.abs();
    if rounded == 0.0 {
        f.write_str("0")
    } else if (1e-6..1e15).contains(&size) {
        write!(f, "{rounded}")
    } else {
        write!(f, "{rounded:e}")
    }
}

/// Text on one line: control characters are written as escapes.
pub(crate) fn shown(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_short() {
        let rows = [
            (0.0, "0"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333"),
            (2.0 / 3.0, "0.666666666667"),
            (-1234567.5, "-1234567.5"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1.5e300, "1.5e300"),
            (1e-6, "0.000001"),
            (-2.5e-7, "-2.5e-7"),
            (999_999_999_999.999_9, "1000000000000"),
        ];
        for (number, text) in rows {
            assert_eq!(Value::Number(number).to_string(), text);
        }
    }

    #[test]
    fn other_values_and_faults() {
        assert_eq!(Value::Blank.to_string(), "");
        assert_eq!(Value::Text("a\n\"b\"\tü".into()).to_string(), "a\\n\"b\"\\tü");
        assert_eq!(Value::Truth(true).to_string(), "TRUE");
        assert_eq!(Value::Truth(false).to_string(), "FALSE");
        let faults = [Fault::DivisionByZero, Fault::Reference, Fault::Name, Fault::Kind];
        assert_eq!(faults.map(|f| f.to_string()), ["#DIV/0!", "#REF!", "#NAME?", "#VALUE!"]);
    }

    fn ring(rows: impl IntoIterator<Item = u32>) -> String {
        Fault::cycle(rows.into_iter().map(|row| Address { row, column: 0 }).collect()).to_string()
    }

    #[test]
    fn a_ring_starts_with_its_first_entry_whoever_met_it() {
        assert_eq!(ring([0]), "#CYCLE! A1 -> A1");
        for rows in [[0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            assert_eq!(ring(rows), "#CYCLE! A1 -> A3 -> A2 -> A1");
        }
    }

    #[test]
    fn a_long_ring_is_shortened() {
        assert_eq!(ring(0..8), "#CYCLE! A1 -> A2 -> A3 -> A4 -> A5 -> A6 -> A7 -> A8 -> A1");
        let long = "#CYCLE! A1 -> A2 -> A3 -> A4 -> A5 -> A6 -> ... (2 more) -> A9 -> A1";
        assert_eq!(ring(0..9), long);
    }
}
