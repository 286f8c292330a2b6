//! The words of a formula.
//!
//! Knows how words are written, not how they go together.

use std::iter::Peekable;
use std::str::CharIndices;

use crate::mistake::Mistake;

/// A word of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token<'a> {
    Number(f64),
    /// What is between the quotes.
    Text(String),
    /// Of an entry, a function or nothing known.
    Name(&'a str),
    /// An operator, a parenthesis, a comma or a colon.
    Sign(&'static str),
    End,
}

impl Token<'_> {
    /// The word for a message.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Number(number) => format!("the number {number}"),
            Self::Text(_) => "a text".to_owned(),
            Self::Name(name) => format!("`{name}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Longer signs before those that begin them.
const SIGNS: [&str; 14] = ["<=", ">=", "<>", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", ":"];

/// A word with the number of bytes before it.
pub(crate) type Placed<'a> = (usize, Token<'a>);

/// Takes a formula, without the `=` in front, apart. The last word is always [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Placed<'_>>, Mistake> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, length) = token(&text[at..], c).map_err(|mistake| mistake.behind(at))?;
        found.push((at, token));
        at += length;
    }
    found.push((at, Token::End));
    Ok(found)
}

/// The first word of a text that begins with `first`, and its length.
fn token(text: &str, first: char) -> Result<(Token<'_>, usize), Mistake> {
    if let Some((number, length)) = number(text) {
        let finite = number.is_finite().then_some((Token::Number(number), length));
        return finite.ok_or_else(|| Mistake::new(0, "this number is too large"));
    }
    if first == '"' {
        return quoted(text);
    }
    if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    let end = text.find(|c: char| !in_name(c)).unwrap_or(text.len());
    if end == 0 {
        let message = format!("`{}` has no meaning in a formula", first.escape_default());
        return Err(Mistake::new(0, message));
    }
    Ok((Token::Name(&text[..end]), end))
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// A text in quotes, doubled ones inside it.
fn quoted(text: &str) -> Result<(Token<'_>, usize), Mistake> {
    let mut inside = String::new();
    let mut chars = text.char_indices().peekable();
    chars.next();
    while let Some((at, c)) = chars.next() {
        if c != '"' {
            inside.push(c);
        } else if chars.next_if(|(_, next)| *next == '"').is_some() {
            inside.push('"');
        } else {
            return Ok((Token::Text(inside), at + 1));
        }
    }
    Err(Mistake::new(0, "this quote is never closed"))
}

/// The number at the start of a text and its length: digits with an optional point and exponent. It
/// may be too large to be finite.
pub(crate) fn number(text: &str) -> Option<(f64, usize)> {
    let mut chars = text.char_indices().peekable();
    let whole = digits(&mut chars);
    let point = chars.next_if(|(_, c)| *c == '.').is_some();
    let fraction = if point { digits(&mut chars) } else { 0 };
    if whole + fraction == 0 {
        return None;
    }
    let mantissa = whole + usize::from(point) + fraction;
    let length = mantissa + exponent(&text[mantissa..]);
    text[..length].parse().ok().map(|number| (number, length))
}

fn digits(chars: &mut Peekable<CharIndices<'_>>) -> usize {
    std::iter::from_fn(|| chars.next_if(|(_, c)| c.is_ascii_digit())).count()
}

/// The length of an exponent; 0 if there is none.
fn exponent(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    if chars.next_if(|(_, c)| matches!(c, 'e' | 'E')).is_none() {
        return 0;
    }
    let sign = usize::from(chars.next_if(|(_, c)| matches!(c, '+' | '-')).is_some());
    match digits(&mut chars) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_their_places() {
        let found = tokens(" SUM($a$1:B2)<=1.5e3 ,\"a\"\"ü\"").unwrap();
        let expected = [
            (1, Token::Name("SUM")),
            (4, Token::Sign("(")),
            (5, Token::Name("$a$1")),
            (9, Token::Sign(":")),
            (10, Token::Name("B2")),
            (12, Token::Sign(")")),
            (13, Token::Sign("<=")),
            (15, Token::Number(1500.0)),
            (21, Token::Sign(",")),
            (22, Token::Text("a\"ü".into())),
            (29, Token::End),
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens("").unwrap(), [(0, Token::End)]);
    }

    #[test]
    fn numbers() {
        let rows = [
            ("1", Some((1.0, 1))),
            ("1.", Some((1.0, 2))),
            (".5x", Some((0.5, 2))),
            ("1e", Some((1.0, 1))),
            ("1e+", Some((1.0, 1))),
            ("2E-2", Some((0.02, 4))),
            ("1.2.3", Some((1.2, 3))),
            (".", None),
            ("e1", None),
            ("", None),
            ("-1", None),
        ];
        for (text, expected) in rows {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_word() {
        let rows = [
            ("1+ü%", 4, "`%` has no meaning in a formula"),
            ("\t&", 1, "`&` has no meaning in a formula"),
            ("1+\"a\"\"", 2, "this quote is never closed"),
            ("9e999", 0, "this number is too large"),
        ];
        for (text, offset, message) in rows {
            assert_eq!(tokens(text), Err(Mistake::new(offset, message)), "{text}");
        }
    }
}
