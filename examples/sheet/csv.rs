//! Comma-separated values: fields, in quotes where they hold commas, quotes or line ends.
//!
//! Knows nothing of what the fields mean, but where each character of them stands in the file.

use std::borrow::Cow;

use crate::mistake::{Mistake, Place};

/// A field as it stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// With its quotes, if it has any.
    raw: &'a str,
    start: Place,
}

impl<'a> Field<'a> {
    /// What the field says.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        match self.quoted() {
            Some(inside) if inside.contains('"') => inside.replace("\"\"", "\"").into(),
            Some(inside) => inside.into(),
            None => self.raw.into(),
        }
    }

    fn quoted(&self) -> Option<&'a str> {
        self.raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'))
    }

    /// Where in the file its first character is.
    pub(crate) fn start(&self) -> Place {
        self.start
    }

    /// Where in the file the character is that has this many bytes of the text before it.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let Some(inside) = self.quoted() else {
            return self.start.behind(&self.raw[..offset]);
        };
        let mut place = self.start.after('"');
        let (mut chars, mut passed) = (inside.chars(), 0);
        while passed < offset {
            let Some(c) = chars.next() else { break };
            place = place.after(c);
            passed += c.len_utf8();
            if c == '"' {
                chars.next();
                place = place.after('"');
            }
        }
        place
    }
}

/// A mistake and where it is.
type Placed = (Mistake, Place);

/// Reads a whole text: its records, each of its fields. An empty line is a record of one empty field.
pub(crate) fn read(text: &str) -> Result<Vec<Vec<Field<'_>>>, Placed> {
    let mut reader = Reader { text, at: 0, place: Place::START };
    let mut records = Vec::new();
    while reader.at < text.len() {
        records.push(reader.record()?);
    }
    Ok(records)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    place: Place,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        self.place = self.place.after(c);
        Some(c)
    }

    /// Steps over a text if it is next.
    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
            self.place = self.place.behind(text);
        }
        found
    }

    fn mistake<T>(&self, place: Place, message: &str) -> Result<T, Placed> {
        Err((Mistake::new(self.at, message), place))
    }

    fn record(&mut self) -> Result<Vec<Field<'a>>, Placed> {
        let mut fields = vec![self.field()?];
        while self.take(",") {
            fields.push(self.field()?);
        }
        let _ = self.take("\r\n") || self.take("\n");
        Ok(fields)
    }

    /// Reads a field up to the comma or line end behind it.
    fn field(&mut self) -> Result<Field<'a>, Placed> {
        let (from, start) = (self.at, self.place);
        if self.take("\"") {
            self.quoted(start)?;
        } else {
            self.plain()?;
        }
        Ok(Field { raw: &self.text[from..self.at], start })
    }

    fn plain(&mut self) -> Result<(), Placed> {
        while !self.at_end_of_field() {
            let place = self.place;
            if self.step() == Some('"') {
                let message = "a quote inside a field; put the field in quotes and double this one";
                return self.mistake(place, message);
            }
        }
        Ok(())
    }

    /// Reads on behind the opening quote.
    fn quoted(&mut self, opened: Place) -> Result<(), Placed> {
        loop {
            match self.step() {
                Some('"') if self.take("\"") => (),
                Some('"') if self.at_end_of_field() => return Ok(()),
                Some('"') => {
                    return self.mistake(
                        self.place,
                        "expected a comma or the line's end behind the quotes",
                    );
                }
                Some(_) => (),
                None => return self.mistake(opened, "this quote is never closed"),
            }
        }
    }

    fn at_end_of_field(&self) -> bool {
        let rest = self.rest();
        rest.is_empty() || [",", "\n", "\r\n"].iter().any(|end| rest.starts_with(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let records = read(text).unwrap();
        records.iter().map(|r| r.iter().map(|f| f.text().into_owned()).collect()).collect()
    }

    #[test]
    fn plain_fields() {
        assert_eq!(texts(""), Vec::<Vec<String>>::new());
        assert_eq!(texts("a,b\nc"), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(texts("a,b\r\nc\r\n"), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(texts("a, b ,\n"), [vec!["a", " b ", ""]]);
        assert_eq!(texts("\n\n,\n"), [vec![""], vec![""], vec!["", ""]]);
        assert_eq!(texts("a\rb"), [vec!["a\rb"]]);
    }

    #[test]
    fn quoted_fields() {
        assert_eq!(texts("\"a,b\",\"c\nd\"\n\"\""), [vec!["a,b", "c\nd"], vec![""]]);
        assert_eq!(texts("\"say \"\"hi\"\"\",\"\"\"\"\r\n"), [vec!["say \"hi\"", "\""]]);
        assert_eq!(texts("\"a\r\nb\""), [vec!["a\r\nb"]]);
    }

    #[test]
    fn broken_files_are_told_with_line_and_column() {
        let unclosed = "this quote is never closed";
        let inside = "a quote inside a field; put the field in quotes and double this one";
        let behind = "expected a comma or the line's end behind the quotes";
        let rows = [
            ("a,b\nc,\"d\n\n", 2, 3, unclosed),
            ("\"", 1, 1, unclosed),
            ("\"\"\"", 1, 1, unclosed),
            ("ä,ö\"", 1, 4, inside),
            ("a\nb, \"c\"", 2, 4, inside),
            ("\"x\ny\"z,1", 2, 3, behind),
            ("\"a\" ,b", 1, 4, behind),
            ("\"a\"\r", 1, 4, behind),
        ];
        for (text, line, column, message) in rows {
            let (mistake, place) = read(text).unwrap_err();
            assert_eq!(
                (mistake.message.as_str(), place),
                (message, Place { line, column }),
                "{text:?}"
            );
        }
    }

    #[test]
    fn each_character_of_a_field_has_its_place() {
        let text = "1,\"=\"\"a\"\"\n+ü*z\",=y\n";
        let records = read(text).unwrap();
        let place = |field: &Field<'_>, c: char| {
            let place = field.place(field.text().find(c).unwrap());
            (place.line, place.column)
        };
        let formula = &records[0][1];
        assert_eq!(formula.text(), "=\"a\"\n+ü*z");
        assert_eq!(formula.start(), Place { line: 1, column: 3 });
        let found = ['=', 'a', '+', 'ü', 'z'].map(|c| place(formula, c));
        assert_eq!(found, [(1, 4), (1, 7), (2, 1), (2, 2), (2, 4)]);
        assert_eq!(formula.place(formula.text().len()), Place { line: 2, column: 5 });
        assert_eq!(place(&records[0][2], 'y'), (2, 8));
    }
}
