//! The parser of formulas: comparisons of sums of products of signed terms.
//!
//! Mistakes of writing are errors; a name that stands for nothing is a fault that the formula has as
//! its value. Knows nothing of values of entries.

use crate::address::{Address, Named, Range};
use crate::expression::{Aggregate, Choice, Expression, MAX_DEPTH, Operator};
use crate::mistake::Mistake;
use crate::token::{Placed, Token, tokens};
use crate::value::{Fault, Value};

/// Parses a formula, without the `=` in front.
pub(crate) fn parse(text: &str) -> Result<Expression, Mistake> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let parsed = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(parsed),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser<'a> {
    tokens: &'a [Placed<'a>],
    /// Never beyond the last token, which is the end.
    at: usize,
    depth: usize,
}

/// Operators by rank, the loosest first.
const COMPARISONS: &[(&str, Operator)] = &[
    ("=", Operator::Equal),
    ("<>", Operator::NotEqual),
    ("<", Operator::Less),
    ("<=", Operator::LessOrEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterOrEqual),
];
const SUMS: &[(&str, Operator)] = &[("+", Operator::Add), ("-", Operator::Subtract)];
const PRODUCTS: &[(&str, Operator)] = &[("*", Operator::Multiply), ("/", Operator::Divide)];

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a Token<'a> {
        &self.tokens[self.at].1
    }

    fn offset(&self) -> usize {
        self.tokens[self.at].0
    }

    fn step(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    /// Steps over a sign if it is next.
    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(next) if *next == sign);
        if found {
            self.step();
        }
        found
    }

    fn unexpected(&self, expected: &str) -> Mistake {
        let found = self.peek().shown();
        Mistake::new(self.offset(), format!("expected {expected}, found {found}"))
    }

    fn expression(&mut self) -> Result<Expression, Mistake> {
        self.chain(COMPARISONS, |parser| {
            parser.chain(SUMS, |parser| parser.chain(PRODUCTS, Self::signed))
        })
    }

    /// Terms with operators of one rank between them.
    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        mut term: impl FnMut(&mut Self) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        let first = term(self)?;
        let mut more = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.take(sign)) {
            more.push((*operator, term(self)?));
        }
        Ok(if more.is_empty() { first } else { Expression::Chain(Box::new(first), more) })
    }

    /// A term with any number of signs. Two minus signs are kept: they make a number of a truth value.
    fn signed(&mut self) -> Result<Expression, Mistake> {
        let mut minus = 0_usize;
        loop {
            if self.take("-") {
                minus += 1;
            } else if !self.take("+") {
                break;
            }
        }
        let term = self.term()?;
        let times = if minus == 0 { 0 } else { 2 - minus % 2 };
        Ok((0..times).fold(term, |term, _| Expression::Negated(Box::new(term))))
    }

    fn term(&mut self) -> Result<Expression, Mistake> {
        let literal = match self.peek() {
            Token::Name(name) => return self.named(name),
            Token::Sign("(") => return self.parenthesized(),
            Token::Number(number) => Value::Number(*number),
            Token::Text(text) => Value::Text(text.as_str().into()),
            _ => return Err(self.unexpected("a value")),
        };
        self.step();
        Ok(Expression::Literal(literal))
    }

    fn parenthesized(&mut self) -> Result<Expression, Mistake> {
        let mut inside = self.inside(1..=1, "parentheses take one value")?;
        Ok(inside.remove(0))
    }

    /// Expressions with commas between them, in the parentheses that are next. How many are `allowed`
    /// is told by `rule`.
    fn inside(
        &mut self,
        allowed: impl std::ops::RangeBounds<usize>,
        rule: &str,
    ) -> Result<Vec<Expression>, Mistake> {
        let opened = self.offset();
        if self.depth == MAX_DEPTH {
            let message = format!("parentheses nest deeper than {MAX_DEPTH} levels");
            return Err(Mistake::new(opened, message));
        }
        self.depth += 1;
        self.step();
        let found = if self.take(")") { Vec::new() } else { self.listed()? };
        self.depth -= 1;
        if allowed.contains(&found.len()) { Ok(found) } else { Err(Mistake::new(opened, rule)) }
    }

    /// At least one expression, and the parenthesis behind the last.
    fn listed(&mut self) -> Result<Vec<Expression>, Mistake> {
        let mut found = vec![self.expression()?];
        while self.take(",") {
            found.push(self.expression()?);
        }
        if self.take(")") { Ok(found) } else { Err(self.unexpected("`)`, `,` or an operator")) }
    }

    fn named(&mut self, name: &str) -> Result<Expression, Mistake> {
        self.step();
        if matches!(self.peek(), Token::Sign("(")) {
            return self.call(name);
        }
        let first = Address::read(name);
        if self.take(":") {
            let Token::Name(name) = self.peek() else {
                return Err(self.unexpected("the name of an entry"));
            };
            self.step();
            return Ok(range(first, Address::read(name)));
        }
        Ok(match first {
            Named::Entry(address) => Expression::Entry(address),
            Named::Outside => Expression::Fault(Fault::Reference),
            Named::Other => truth(name).map_or(Expression::Fault(Fault::Name), Expression::Literal),
        })
    }

    fn call(&mut self, name: &str) -> Result<Expression, Mistake> {
        let name = name.to_ascii_uppercase();
        if name == "IF" {
            let parts = self.inside(2..=3, "IF takes a condition and one or two values")?;
            return Ok(choice(parts));
        }
        let aggregate = match name.as_str() {
            "SUM" => Aggregate::Sum,
            "MIN" => Aggregate::Min,
            "MAX" => Aggregate::Max,
            "AVG" => Aggregate::Average,
            "COUNT" => Aggregate::Count,
            _ => return self.inside(.., "").map(|_| Expression::Fault(Fault::Name)),
        };
        let arguments = self.inside(1.., &format!("{name} takes at least one value or range"))?;
        Ok(Expression::Aggregate(aggregate, arguments))
    }
}

fn truth(name: &str) -> Option<Value> {
    let is = |word| name.eq_ignore_ascii_case(word);
    (is("TRUE") || is("FALSE")).then(|| Value::Truth(is("TRUE")))
}

fn range(first: Named, last: Named) -> Expression {
    match (first, last) {
        (Named::Other, _) | (_, Named::Other) => Expression::Fault(Fault::Name),
        (Named::Entry(first), Named::Entry(last)) => Range::between(first, last)
            .map_or(Expression::Fault(Fault::Reference), Expression::Range),
        _ => Expression::Fault(Fault::Reference),
    }
}

/// An `IF` of two or three parts; the third is FALSE if it is left out.
fn choice(parts: Vec<Expression>) -> Expression {
    let mut parts = parts.into_iter();
    let mut next = || parts.next().unwrap_or(Expression::Literal(Value::Truth(false)));
    let (condition, then, otherwise) = (next(), next(), next());
    Expression::If(Box::new(Choice { condition, then, otherwise }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fully parenthesized, so that the order of work is seen.
    fn written(expression: &Expression) -> String {
        match expression {
            Expression::Literal(value) => format!("{value}"),
            Expression::Fault(fault) => format!("{fault}"),
            Expression::Entry(address) => format!("{address}"),
            Expression::Range(range) => range.entries().map(|at| format!("{at};")).collect(),
            Expression::Negated(inner) => format!("(-{})", written(inner)),
            Expression::Chain(first, more) => {
                more.iter().fold(written(first), |left, (op, right)| {
                    format!("({left} {op:?} {})", written(right))
                })
            }
            Expression::Aggregate(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(written).collect();
                format!("{function:?}[{}]", arguments.join(","))
            }
            Expression::If(choice) => {
                let parts = [&choice.condition, &choice.then, &choice.otherwise];
                format!("If{:?}", parts.map(written)).replace('"', "")
            }
        }
    }

    #[test]
    fn operators_have_ranks_and_go_from_left_to_right() {
        let rows = [
            ("1+2*3", "(1 Add (2 Multiply 3))"),
            ("1-2-3", "((1 Subtract 2) Subtract 3)"),
            ("8/4/2*5", "(((8 Divide 4) Divide 2) Multiply 5)"),
            ("(1+2)*3", "((1 Add 2) Multiply 3)"),
            ("1+1=2", "((1 Add 1) Equal 2)"),
            ("1<2<>3>=4", "(((1 Less 2) NotEqual 3) GreaterOrEqual 4)"),
            ("1<=2>3", "((1 LessOrEqual 2) Greater 3)"),
            ("-2*-3", "((-2) Multiply (-3))"),
            ("2--3", "(2 Subtract (-3))"),
            ("--+-1", "(-1)"),
            ("--+1", "(-(-1))"),
            ("+1", "1"),
            ("-(1+2)", "(-(1 Add 2))"),
        ];
        for (text, expected) in rows {
            assert_eq!(written(&parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn names_and_functions() {
        let rows = [
            ("a1+$B$2", "(A1 Add B2)"),
            ("sum(A1:B2, 3,C1)", "Sum[A1;B1;A2;B2;,3,C1]"),
            (
                "Min(1)+MAX(2)+avg(3)+COUNT(4)",
                "(((Min[1] Add Max[2]) Add Average[3]) Add Count[4])",
            ),
            ("if(A1>1,\"x\",-1)", "If[(A1 Greater 1), x, (-1)]"),
            ("IF(1,2)", "If[1, 2, FALSE]"),
            ("true<>False", "(TRUE NotEqual FALSE)"),
            ("B2 : A2", "A2;B2;"),
            ("ZZZ1", "#REF!"),
            ("A0:B1", "#REF!"),
            ("A1:ZZ100000", "#REF!"),
            ("nothing", "#NAME?"),
            ("A1:nothing", "#NAME?"),
            ("TOTAL(A1, 2)*2", "(#NAME? Multiply 2)"),
            ("now()", "#NAME?"),
            ("sum", "#NAME?"),
        ];
        for (text, expected) in rows {
            assert_eq!(written(&parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        let rows = [
            ("", 0, "expected a value, found the end"),
            ("1+", 2, "expected a value, found the end"),
            ("1 2", 2, "expected an operator or the end, found the number 2"),
            ("A1 B1", 3, "expected an operator or the end, found `B1`"),
            ("(1+2", 4, "expected `)`, `,` or an operator, found the end"),
            ("1)", 1, "expected an operator or the end, found `)`"),
            ("SUM(1,)", 6, "expected a value, found `)`"),
            ("SUM(1 \"a\")", 6, "expected `)`, `,` or an operator, found a text"),
            ("A1:2", 3, "expected the name of an entry, found the number 2"),
            ("1+()", 2, "parentheses take one value"),
            ("(1,2)", 0, "parentheses take one value"),
            ("IF(1)", 2, "IF takes a condition and one or two values"),
            ("if(1,2,3,4)", 2, "IF takes a condition and one or two values"),
            ("1+sum()", 5, "SUM takes at least one value or range"),
            ("1+*2", 2, "expected a value, found `*`"),
            ("1=<2", 2, "expected a value, found `<`"),
        ];
        for (text, offset, message) in rows {
            assert_eq!(parse(text), Err(Mistake::new(offset, message)), "{text}");
        }
    }

    #[test]
    fn nesting_has_a_limit_and_chains_have_none() {
        let nested = |depth| "(".repeat(depth) + "1" + &")".repeat(depth);
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert!(parse(&format!("{0}+{0}", nested(MAX_DEPTH))).is_ok());
        let too_deep = Mistake::new(MAX_DEPTH, "parentheses nest deeper than 64 levels");
        assert_eq!(parse(&nested(MAX_DEPTH + 1)), Err(too_deep));
        assert!(parse(&nested(100_000)).is_err());
        assert!(parse(&"SUM(".repeat(100_000)).is_err());
        for joint in ["+1", "*A1", "<2", "--"] {
            assert!(parse(&format!("1{}1", joint.repeat(100_000))).is_ok(), "{joint}");
        }
    }
}
