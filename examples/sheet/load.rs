//! From the text of a CSV file to what is typed into the entries.

use std::rc::Rc;

use crate::address::Address;
use crate::csv;
use crate::mistake::{FileError, Mistake};
use crate::typed::{Edit, Typed};

/// Reads a CSV file; entries that hold nothing are left out.
pub(crate) fn edits(file: &str, text: &str) -> Result<Vec<Edit>, FileError> {
    let records = csv::read(text).map_err(|(mistake, place)| mistake.placed(file, place))?;
    let mut edits = Vec::new();
    for (row, record) in records.iter().enumerate() {
        for (column, field) in record.iter().enumerate() {
            let at = Address::at(row, column);
            if let Some(edit) = edit(file, at, field)? {
                edits.push(edit);
            }
        }
    }
    Ok(edits)
}

fn edit(
    file: &str,
    at: Option<Address>,
    field: &csv::Field<'_>,
) -> Result<Option<Edit>, FileError> {
    let typed = Typed::parse(&field.text())
        .map_err(|mistake| mistake.clone().placed(file, field.place(mistake.offset)))?;
    if typed.is_blank() {
        return Ok(None);
    }
    let outside = || {
        let message = "this is outside of the sheet, which has columns A to ZZ and 100000 rows";
        Mistake::new(0, message).placed(file, field.start())
    };
    Ok(Some(Edit { at: at.ok_or_else(outside)?, typed: Rc::new(typed) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{COLUMNS, ROWS};

    fn loaded(text: &str) -> Result<Vec<String>, String> {
        let edits = edits("f.csv", text).map_err(|error| error.to_string())?;
        Ok(edits.iter().map(Edit::to_string).collect())
    }

    #[test]
    fn entries_have_their_places() {
        let text = "Name,W\n\n\"lamp, big\",=B1*2,\n,,'=x\n";
        let expected = ["A1 = Name", "B1 = W", "A3 = lamp, big", "B3 = =B1*2", "C4 = '=x"];
        assert_eq!(loaded(text).unwrap(), expected);
    }

    #[test]
    fn broken_formulas_are_told_with_line_and_column() {
        let text = "a,\"=IF(1,\n\"\"x\"\",%)\"\n";
        assert_eq!(loaded(text).unwrap_err(), "f.csv:2:7: `%` has no meaning in a formula");
        let text = "1,=2+\n";
        assert_eq!(loaded(text).unwrap_err(), "f.csv:1:6: expected a value, found the end");
        assert_eq!(loaded("1,\"2\n").unwrap_err(), "f.csv:1:3: this quote is never closed");
    }

    #[test]
    fn the_sheet_has_an_end() {
        let wide = |columns: u32| ",".repeat(columns as usize - 1) + "x";
        let long = |rows: u32| "\n".repeat(rows as usize - 1) + "x";
        assert_eq!(loaded(&wide(COLUMNS)).unwrap(), ["ZZ1 = x"]);
        assert_eq!(loaded(&long(ROWS)).unwrap(), ["A100000 = x"]);
        let problem = "this is outside of the sheet, which has columns A to ZZ and 100000 rows";
        assert_eq!(loaded(&wide(COLUMNS + 1)).unwrap_err(), format!("f.csv:1:703: {problem}"));
        assert_eq!(loaded(&long(ROWS + 1)).unwrap_err(), format!("f.csv:100001:1: {problem}"));
        assert_eq!(loaded(&(wide(COLUMNS) + ",,")).unwrap(), ["ZZ1 = x"]);
    }
}
