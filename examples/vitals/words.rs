//! The words of a line of text, each with its place in the file, so that every error can say where it is.
//!
//! Words are separated by ASCII blanks. Knows neither the files of the kernel nor the recording:
//! those are [`crate::proc`] and [`crate::record`], which read their lines with it.

use std::fmt;

/// A place in a text that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// The file as the reader of the message knows it.
    pub(crate) file: String,
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The column in characters, counted from 1.
    pub(crate) column: usize,
    /// What is wrong there.
    pub(crate) problem: String,
}

impl ParseError {
    /// The text as a whole lacks something: the place is the line after its last one.
    pub(crate) fn lacks(file: &str, text: &str, what: &str) -> Self {
        let (line, problem) = (text.lines().count() + 1, format!("no {what} in the whole file"));
        Self { file: file.to_owned(), line, column: 1, problem }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.problem)
    }
}

impl std::error::Error for ParseError {}

/// One line, read word by word.
#[derive(Debug, Clone)]
pub(crate) struct Words<'a> {
    file: &'a str,
    line: usize,
    text: &'a str,
    /// Where the word read last begins (the end of the text when there was none): the place of errors.
    start: usize,
    /// Where the search for the next word begins.
    next: usize,
}

impl<'a> Words<'a> {
    /// The words of one line with a known number. An end of line still in the text does not count.
    pub(crate) fn new(file: &'a str, line: usize, text: &'a str) -> Self {
        let text = text.trim_end_matches(['\r', '\n']);
        Self { file, line, text, start: 0, next: 0 }
    }

    /// All lines of a text that are not blank.
    pub(crate) fn lines(file: &'a str, text: &'a str) -> impl Iterator<Item = Words<'a>> {
        let numbered = text.lines().enumerate();
        numbered.map(move |(index, line)| Self::new(file, index + 1, line)).filter(Self::more)
    }

    /// The number of this line.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Whether a word is left.
    pub(crate) fn more(&self) -> bool {
        self.left() > 0
    }

    /// How many words are left.
    pub(crate) fn left(&self) -> usize {
        self.text[self.next..].split_ascii_whitespace().count()
    }

    /// The next word.
    pub(crate) fn word(&mut self) -> Option<&'a str> {
        let rest = self.text[self.next..].trim_ascii_start();
        self.start = self.text.len() - rest.len();
        let word = rest.split_ascii_whitespace().next()?;
        self.next = self.start + word.len();
        Some(word)
    }

    /// The next word, or an error that says what was expected.
    pub(crate) fn need(&mut self, what: &str) -> Result<&'a str, ParseError> {
        self.word().ok_or_else(|| self.error(format!("expected {what}, found the end of the line")))
    }

    /// Steps over the next word if it is this one.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let mut ahead = self.clone();
        let found = ahead.word() == Some(word);
        if found {
            *self = ahead;
        }
        found
    }

    /// Steps over `count` words, or over what is left.
    pub(crate) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.word();
        }
    }

    /// What stands before the last colon of the line, without blanks around it. The words go on behind
    /// the colon, so that `eth0:123` is a label and a number.
    pub(crate) fn label(&mut self) -> Option<&'a str> {
        let colon = self.text[self.next..].rfind(':')? + self.next;
        let label = self.text[self.next..colon].trim_ascii();
        self.next = colon + 1;
        Some(label)
    }

    /// The next word as a whole number: digits only, and within 64 bits.
    pub(crate) fn number(&mut self) -> Result<u64, ParseError> {
        let word = self.need("a whole number")?;
        self.whole(word)
    }

    /// The next `N` words as whole numbers.
    pub(crate) fn numbers<const N: usize>(&mut self) -> Result<[u64; N], ParseError> {
        self.array(Self::number)
    }

    /// The next `N` words as decimal numbers.
    pub(crate) fn decimals<const N: usize>(&mut self) -> Result<[f64; N], ParseError> {
        self.array(Self::decimal)
    }

    fn array<T: Copy + Default, const N: usize>(
        &mut self,
        one: fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<[T; N], ParseError> {
        let mut all = [T::default(); N];
        for value in &mut all {
            *value = one(self)?;
        }
        Ok(all)
    }

    /// A piece of the word read last as a whole number; an error points at that word.
    pub(crate) fn whole(&self, piece: &str) -> Result<u64, ParseError> {
        let digits = piece.bytes().all(|byte| byte.is_ascii_digit());
        let number = piece.parse().ok().filter(|_| digits);
        number.ok_or_else(|| self.unexpected("a whole number", piece))
    }

    /// The next word as a decimal number: digits with at most one point.
    pub(crate) fn decimal(&mut self) -> Result<f64, ParseError> {
        let word = self.need("a decimal number")?;
        let plain = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number = word.parse().ok().filter(|n: &f64| plain && n.is_finite());
        number.ok_or_else(|| self.unexpected("a decimal number", word))
    }

    /// Refuses a word that is left.
    pub(crate) fn end(&mut self) -> Result<(), ParseError> {
        match self.word() {
            None => Ok(()),
            Some(word) => Err(self.unexpected("the end of the line", word)),
        }
    }

    /// An error at the word read last, which is not what was expected.
    pub(crate) fn unexpected(&self, what: &str, found: &str) -> ParseError {
        self.error(format!("expected {what}, found `{}`", shown(found)))
    }

    /// An error at the word read last.
    pub(crate) fn error(&self, problem: impl Into<String>) -> ParseError {
        let column = self.text[..self.start].chars().count() + 1;
        ParseError { file: self.file.to_owned(), line: self.line, column, problem: problem.into() }
    }
}

/// Whether a name is one word, so that it comes back whole from a line.
pub(crate) fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_ascii_whitespace())
}

/// A word as an error message shows it: on one line, and short.
pub(crate) fn shown(word: &str) -> String {
    let mut shown: String = word.chars().take(40).flat_map(char::escape_debug).collect();
    if word.chars().nth(40).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_labels_are_read_in_order() {
        let mut words = Words::new("f", 1, "  a\tb  7 1.50 x:9");
        assert!(words.more() && words.take("a") && !words.take("a"));
        assert_eq!(words.need("a letter"), Ok("b"));
        assert_eq!(words.numbers::<1>(), Ok([7]));
        assert_eq!(words.decimal(), Ok(1.5));
        assert_eq!(words.label(), Some("x"));
        assert_eq!((words.left(), words.number(), words.word()), (1, Ok(9), None));
    }

    #[test]
    fn broken_numbers_are_refused_with_their_place() {
        let huge = "18446744073709551616";
        for bad in ["-1", "+1", "1x", "0x10", "1,5", "1.5", "\u{663}", huge] {
            let text = format!("\u{e9}\u{e9}  {bad}");
            let mut words = Words::new("f", 3, &text);
            words.skip(1);
            let error = words.number().unwrap_err().to_string();
            let (place, problem) = error.split_at(7);
            assert_eq!((place, problem.contains(bad)), ("f:3:5: ", true), "{error}");
        }
        for bad in ["nan", "inf", "-0.5", "+1", "1e3", "1.2.3", ".", "1,5"] {
            assert!(Words::new("f", 1, bad).decimal().is_err(), "{bad}");
        }
        let error = Words::new("f", 1, "ab  ").numbers::<1>().unwrap_err();
        assert_eq!(error.to_string(), "f:1:1: expected a whole number, found `ab`");
    }

    #[test]
    fn a_missing_word_is_placed_at_the_end_of_the_line() {
        for text in ["12 34", "12 34\n", "12 34\r\n"] {
            let error = Words::new("f", 2, text).numbers::<3>().unwrap_err().to_string();
            assert_eq!(error, "f:2:6: expected a whole number, found the end of the line");
        }
    }

    #[test]
    fn blank_lines_are_skipped_but_counted() {
        let places: Vec<_> = Words::lines("f", "a\n\n \t\nb\n").map(|words| words.line()).collect();
        assert_eq!(places, [1, 4]);
    }

    #[test]
    fn a_message_stays_short_and_on_one_line() {
        assert_eq!(shown("a\u{1b}[2J\n"), "a\\u{1b}[2J\\n");
        assert_eq!(shown(&"9".repeat(41)), "9".repeat(40) + "...");
    }
}
