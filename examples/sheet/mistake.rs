//! Mistakes in texts, and where in a file they are.

use std::fmt;

/// A mistake in a text that does not know where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// How many bytes of the text are before it.
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Mistake {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into() }
    }

    /// The same mistake in a text that has this many bytes more in front.
    pub(crate) fn behind(self, bytes: usize) -> Self {
        Self { offset: self.offset + bytes, ..self }
    }

    /// The same mistake as one of a file.
    pub(crate) fn placed(self, file: &str, place: Place) -> FileError {
        FileError { file: file.to_owned(), place, message: self.message }
    }
}

/// A line and a column, both counted from 1; a column is a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    /// The place behind this character.
    #[must_use]
    pub(crate) fn after(self, c: char) -> Self {
        match c {
            '\n' => Self { line: self.line + 1, column: 1 },
            _ => Self { line: self.line, column: self.column + 1 },
        }
    }

    /// The place behind this text.
    #[must_use]
    pub(crate) fn behind(self, text: &str) -> Self {
        text.chars().fold(self, Self::after)
    }
}

/// A mistake in a file: `FILE:LINE:COLUMN: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileError {
    pub(crate) file: String,
    pub(crate) place: Place,
    pub(crate) message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.place;
        write!(f, "{}:{line}:{column}: {}", self.file, self.message)
    }
}

impl std::error::Error for FileError {}

/// The text of a file, without a byte order mark; or where it is not UTF-8.
pub(crate) fn text_of<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, FileError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let place = Place::START.behind(good.trim_start_matches('\u{feff}'));
            return Err(Mistake::new(0, "this is not UTF-8 text").placed(file, place));
        }
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_lines() {
        assert_eq!(Place::START.behind("äb"), Place { line: 1, column: 3 });
        assert_eq!(Place::START.behind("a\r\nbc"), Place { line: 2, column: 3 });
    }

    #[test]
    fn text_must_be_utf8() {
        assert_eq!(text_of("f", "ü\n".as_bytes()), Ok("ü\n"));
        assert_eq!(text_of("f", b"\xef\xbb\xbfa"), Ok("a"));
        let error = text_of("f.csv", b"a\n\xc3\xbc\xff").unwrap_err();
        assert_eq!(error.to_string(), "f.csv:2:2: this is not UTF-8 text");
    }
}
