//! Tables of text: columns as wide as their widest entry, numbers to the right.

use std::fmt;

/// Writes a table; all but the last column are numbers.
pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    head: &[&str],
    rows: &[Vec<String>],
) -> fmt::Result {
    let wide = |column: usize| {
        let entries = rows.iter().map(|row| row[column].chars().count());
        entries.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(wide).collect();
    let heads: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    for row in std::iter::once(&heads).chain(rows) {
        let last = row.len() - 1;
        for (entry, width) in row[..last].iter().zip(&widths) {
            write!(f, "{entry:>width$}  ")?;
        }
        writeln!(f, "{}", row[last])?;
    }
    Ok(())
}
