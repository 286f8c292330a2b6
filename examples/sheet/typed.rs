//! What was typed into an entry: a number, a text, a formula or nothing.

use std::fmt;
use std::rc::Rc;

use crate::address::{Address, Named};
use crate::expression::Expression;
use crate::formula;
use crate::mistake::Mistake;
use crate::token;
use crate::value::{Value, shown};

/// What was typed, and what it means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Typed {
    text: Rc<str>,
    pub(crate) content: Content,
}

/// What it means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Constant(Value),
    Formula(Expression),
}

impl Typed {
    /// Nothing.
    pub(crate) fn blank() -> Self {
        Self { text: "".into(), content: Content::Constant(Value::Blank) }
    }

    /// Reads what was typed: after `=` a formula, after `'` a text whatever it looks like.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let content = if let Some(formula) = text.strip_prefix('=') {
            Content::Formula(formula::parse(formula).map_err(|mistake| mistake.behind(1))?)
        } else {
            Content::Constant(constant(text))
        };
        Ok(Self { text: text.into(), content })
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.content == Content::Constant(Value::Blank)
    }

    pub(crate) fn is_formula(&self) -> bool {
        matches!(self.content, Content::Formula(_))
    }
}

impl fmt::Display for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.text))
    }
}

fn constant(text: &str) -> Value {
    if text.is_empty() {
        Value::Blank
    } else if let Some(text) = text.strip_prefix('\'') {
        Value::Text(text.into())
    } else {
        number(text.trim()).map_or_else(|| Value::Text(text.into()), Value::Number)
    }
}

/// A whole text as a number with an optional sign.
fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (number, length) = token::number(unsigned)?;
    let signed = if text.starts_with('-') { -number } else { number };
    (length == unsigned.len() && number.is_finite()).then_some(signed)
}

/// One entry typed anew.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edit {
    pub(crate) at: Address,
    pub(crate) typed: Rc<Typed>,
}

impl Edit {
    /// Reads `A1 = 5`, `B1 = =A1+1`, or `A1 =` to clear an entry. Blanks around either side do not
    /// count.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let Some((name, typed)) = text.split_once('=') else {
            return Err(Mistake::new(0, "expected `ENTRY=VALUE`, for example `A1=5`"));
        };
        let indent = name.len() - name.trim_start().len();
        let at = match Address::read(name.trim()) {
            Named::Entry(at) => at,
            Named::Outside => {
                let message = format!("`{}` is outside of the sheet (A1 to ZZ100000)", name.trim());
                return Err(Mistake::new(indent, message));
            }
            Named::Other => {
                let message = format!("`{}` is not the name of an entry", shown(name.trim()));
                return Err(Mistake::new(indent, message));
            }
        };
        let before = text.len() - typed.trim_start().len();
        let typed = Typed::parse(typed.trim()).map_err(|mistake| mistake.behind(before))?;
        Ok(Self { at, typed: Rc::new(typed) })
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.typed.is_blank() {
            write!(f, "{} cleared", self.at)
        } else {
            write!(f, "{} = {}", self.at, self.typed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant_of(text: &str) -> Value {
        match Typed::parse(text).unwrap().content {
            Content::Constant(value) => value,
            Content::Formula(_) => panic!("{text} is a formula"),
        }
    }

    #[test]
    fn numbers_texts_and_blanks() {
        let numbers = [("5", 5.0), (" -2.5 ", -2.5), ("+1e3", 1000.0), (".5", 0.5), ("-.5", -0.5)];
        for (text, number) in numbers {
            assert_eq!(constant_of(text), Value::Number(number), "{text}");
        }
        let texts = ["abc", "inf", "NaN", "1 2", "1,5", "--1", "-", "5 W", " ", "1e999", "0x10"];
        for text in texts {
            assert_eq!(constant_of(text), Value::Text(text.into()), "{text}");
        }
        assert_eq!(constant_of("'=1"), Value::Text("=1".into()));
        assert_eq!(constant_of("'"), Value::Text("".into()));
        assert_eq!(constant_of(""), Value::Blank);
        assert!(Typed::blank().is_blank() && Typed::parse("").unwrap().is_blank());
    }

    #[test]
    fn formulas_and_their_mistakes() {
        assert!(Typed::parse("=A1").unwrap().is_formula());
        assert!(!Typed::parse("A1").unwrap().is_formula());
        let mistake = Typed::parse("=1+").unwrap_err();
        assert_eq!(mistake, Mistake::new(3, "expected a value, found the end"));
    }

    #[test]
    fn edits() {
        let rows = [
            ("A1=5", "A1 = 5"),
            (" b2 =  =A1 + 1 ", "B2 = =A1 + 1"),
            ("$C$3=", "C3 cleared"),
            ("A1=a=b", "A1 = a=b"),
        ];
        for (text, expected) in rows {
            assert_eq!(Edit::parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn edits_that_are_none() {
        let rows = [
            ("A1", 0, "expected `ENTRY=VALUE`, for example `A1=5`"),
            (" x y=1", 1, "`x y` is not the name of an entry"),
            ("=1", 0, "`` is not the name of an entry"),
            ("AAA1=1", 0, "`AAA1` is outside of the sheet (A1 to ZZ100000)"),
            ("A1 = =(1", 8, "expected `)`, `,` or an operator, found the end"),
            ("A1==1+%", 6, "`%` has no meaning in a formula"),
        ];
        for (text, offset, message) in rows {
            assert_eq!(Edit::parse(text), Err(Mistake::new(offset, message)), "{text}");
        }
    }
}
