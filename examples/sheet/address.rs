//! Names of entries: `A1` as column and row, and ranges of them.
//!
//! Knows how far the sheet reaches, not what is in it.

use std::fmt;

/// Columns of the sheet: A to ZZ.
pub(crate) const COLUMNS: u32 = 26 + 26 * 26;

/// Rows of the sheet.
pub(crate) const ROWS: u32 = 100_000;

/// A range of more entries than this is refused: each entry read is an edge of the graph.
pub(crate) const MAX_RANGE: u64 = 100_000;

/// A place in the sheet, counted from 0; the order is row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address {
    pub(crate) row: u32,
    pub(crate) column: u32,
}

/// What a word is as the name of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// The name of this entry.
    Entry(Address),
    /// Built like one, but beyond the last column or row, or in row 0.
    Outside,
    /// Not such a name.
    Other,
}

impl Address {
    /// The entry at these places counted from 0, if the sheet reaches so far.
    pub(crate) fn at(row: usize, column: usize) -> Option<Self> {
        let row = u32::try_from(row).ok().filter(|row| *row < ROWS)?;
        let column = u32::try_from(column).ok().filter(|column| *column < COLUMNS)?;
        Some(Self { row, column })
    }

    /// Reads a name such as `A1`, `aa10` or `$B$2`.
    pub(crate) fn read(word: &str) -> Named {
        let word = word.strip_prefix('$').unwrap_or(word);
        let end = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        let (letters, digits) = word.split_at(end);
        let digits = digits.strip_prefix('$').unwrap_or(digits);
        let numeric = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !(1..=3).contains(&letters.len()) || !numeric {
            return Named::Other;
        }
        let place = |row: usize| Self::at(row.checked_sub(1)?, column_of(letters));
        digits.parse().ok().and_then(place).map_or(Named::Outside, Named::Entry)
    }
}

/// The number of a column, counted from 0, of one to three letters.
fn column_of(letters: &str) -> usize {
    let digit = |b: u8| usize::from(b.to_ascii_uppercase() - b'A') + 1;
    letters.bytes().fold(0, |column, b| column * 26 + digit(b)) - 1
}

/// The letters of a column counted from 0.
pub(crate) fn letters(column: u32) -> String {
    let mut reversed = Vec::new();
    let mut left = column + 1;
    while left > 0 {
        left -= 1;
        reversed.push(char::from(b'A' + (left % 26) as u8));
        left /= 26;
    }
    reversed.iter().rev().collect()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", letters(self.column), self.row + 1)
    }
}

/// A rectangle of entries, corners included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    first: Address,
    last: Address,
}

impl Range {
    /// The range between two corners, whichever they are; `None` if it is larger than [`MAX_RANGE`].
    pub(crate) fn between(a: Address, b: Address) -> Option<Self> {
        let first = Address { row: a.row.min(b.row), column: a.column.min(b.column) };
        let last = Address { row: a.row.max(b.row), column: a.column.max(b.column) };
        let rows = u64::from(last.row - first.row + 1);
        let columns = u64::from(last.column - first.column + 1);
        (rows * columns <= MAX_RANGE).then_some(Self { first, last })
    }

    /// Its entries, row by row.
    pub(crate) fn entries(self) -> impl Iterator<Item = Address> {
        let columns = move |row| {
            (self.first.column..=self.last.column).map(move |column| Address { row, column })
        };
        (self.first.row..=self.last.row).flat_map(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Address {
        match Address::read(name) {
            Named::Entry(address) => address,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn names_and_places_go_both_ways() {
        let rows = [
            ("A1", 0, 0),
            ("Z1", 0, 25),
            ("AA10", 9, 26),
            ("AZ2", 1, 51),
            ("BA2", 1, 52),
            ("ZZ100000", 99_999, 701),
        ];
        for (name, row, column) in rows {
            assert_eq!(entry(name), Address { row, column }, "{name}");
            assert_eq!(Address { row, column }.to_string(), name);
        }
        let all: Vec<_> = (0..COLUMNS).map(letters).collect();
        assert_eq!((all[0].as_str(), all[701].as_str()), ("A", "ZZ"));
        assert!(all.iter().zip(0_u32..).all(|(name, at)| entry(&format!("{name}1")).column == at));
    }

    #[test]
    fn case_dollars_and_zeros_do_not_matter() {
        for name in ["b2", "$B2", "B$2", "$b$2", "B002"] {
            assert_eq!(entry(name).to_string(), "B2", "{name}");
        }
    }

    #[test]
    fn what_is_no_name_of_an_entry() {
        for word in ["A0", "AAA1", "A100001", "ZZZ1", "A99999999999999999999999"] {
            assert_eq!(Address::read(word), Named::Outside, "{word}");
        }
        for word in ["", "$", "A", "1", "A1B", "AAAA1", "A-1", "A 1", "$$A1", "A$$1", "Ä1", "A1$"]
        {
            assert_eq!(Address::read(word), Named::Other, "{word}");
        }
    }

    #[test]
    fn ranges_have_their_entries_row_by_row() {
        let names = |a, b| -> Vec<String> {
            let range = Range::between(entry(a), entry(b)).unwrap();
            range.entries().map(|at| at.to_string()).collect()
        };
        assert_eq!(names("A1", "B2"), ["A1", "B1", "A2", "B2"]);
        assert_eq!(names("B1", "A2"), ["A1", "B1", "A2", "B2"]);
        assert_eq!(names("C3", "C3"), ["C3"]);
    }

    #[test]
    fn a_range_has_a_largest_size() {
        assert_eq!(u64::from(ROWS), MAX_RANGE);
        assert!(Range::between(entry("A1"), entry("A100000")).is_some());
        assert!(Range::between(entry("A1"), entry("B50000")).is_some());
        assert!(Range::between(entry("A1"), entry("B50001")).is_none());
        assert!(Range::between(entry("A1"), entry("ZZ100000")).is_none());
    }
}
