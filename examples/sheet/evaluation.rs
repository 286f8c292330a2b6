//! The evaluator: what a formula is worth, given a function that tells what other entries are worth.
//!
//! It asks only for entries that the result depends on: of an `IF` those of the condition and the
//! branch taken, and nothing behind a fault. Knows nothing of cells.

use crate::address::Address;
use crate::expression::{Aggregate, Choice, Expression, Operator};
use crate::value::{Fault, Outcome, Value};

/// Tells what an entry is worth.
pub(crate) type Lookup<'a> = &'a dyn Fn(Address) -> Outcome;

/// Evaluates a formula.
pub(crate) fn evaluate(expression: &Expression, look: Lookup<'_>) -> Outcome {
    match expression {
        Expression::Literal(value) => Ok(value.clone()),
        Expression::Fault(fault) => Err(fault.clone()),
        Expression::Entry(address) => look(*address),
        Expression::Range(_) => Err(Fault::Kind),
        Expression::Negated(inner) => finite(-number(&evaluate(inner, look)?)?),
        Expression::Chain(first, more) => chain(first, more, look),
        Expression::Aggregate(function, arguments) => aggregate(*function, arguments, look),
        Expression::If(choice) => choose(choice, look),
    }
}

fn chain(first: &Expression, more: &[(Operator, Expression)], look: Lookup<'_>) -> Outcome {
    more.iter().try_fold(evaluate(first, look)?, |left, (operator, right)| {
        apply(*operator, &left, &evaluate(right, look)?)
    })
}

fn choose(choice: &Choice, look: Lookup<'_>) -> Outcome {
    let taken = match evaluate(&choice.condition, look)? {
        Value::Truth(truth) => truth,
        other => number(&other)? != 0.0,
    };
    evaluate(if taken { &choice.then } else { &choice.otherwise }, look)
}

fn apply(operator: Operator, left: &Value, right: &Value) -> Outcome {
    match operator {
        Operator::Add => finite(number(left)? + number(right)?),
        Operator::Subtract => finite(number(left)? - number(right)?),
        Operator::Multiply => finite(number(left)? * number(right)?),
        Operator::Divide => divide(number(left)?, number(right)?),
        _ => compare(operator, left, right).map(Value::Truth),
    }
}

fn divide(dividend: f64, divisor: f64) -> Outcome {
    if divisor == 0.0 { Err(Fault::DivisionByZero) } else { finite(dividend / divisor) }
}

fn finite(number: f64) -> Outcome {
    if number.is_finite() { Ok(Value::Number(number)) } else { Err(Fault::Kind) }
}

fn number(value: &Value) -> Result<f64, Fault> {
    match value {
        Value::Blank => Ok(0.0),
        Value::Number(number) => Ok(*number),
        Value::Truth(truth) => Ok(f64::from(u8::from(*truth))),
        Value::Text(_) => Err(Fault::Kind),
    }
}

/// Compares values of one kind, texts without regard to case; a blank is of any kind. Values of two
/// kinds are different, and neither is less.
fn compare(operator: Operator, left: &Value, right: &Value) -> Result<bool, Fault> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let ordering = match (left, right) {
        (Value::Blank, Value::Blank) => Some(Equal),
        (Value::Text(left), Value::Text(right)) => Some(lower(left).cmp(&lower(right))),
        (Value::Text(text), Value::Blank) => Some(text.len().cmp(&0)),
        (Value::Blank, Value::Text(text)) => Some(0.cmp(&text.len())),
        (Value::Text(_), _) | (_, Value::Text(_)) => None,
        (Value::Truth(_), Value::Number(_)) | (Value::Number(_), Value::Truth(_)) => None,
        (left, right) => number(left)?.partial_cmp(&number(right)?),
    };
    match (operator, ordering) {
        (Operator::Equal, ordering) => Ok(ordering == Some(Equal)),
        (Operator::NotEqual, ordering) => Ok(ordering != Some(Equal)),
        (_, None) => Err(Fault::Kind),
        (Operator::Less, ordering) => Ok(ordering == Some(Less)),
        (Operator::LessOrEqual, ordering) => Ok(ordering != Some(Greater)),
        (Operator::Greater, ordering) => Ok(ordering == Some(Greater)),
        (_, ordering) => Ok(ordering != Some(Less)),
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

/// The numbers that a function of many has met.
#[derive(Default)]
struct Tally {
    count: u32,
    sum: f64,
    least: Option<f64>,
    most: Option<f64>,
}

impl Tally {
    fn add(&mut self, number: f64) {
        self.count += 1;
        self.sum += number;
        self.least = Some(self.least.map_or(number, |least| least.min(number)));
        self.most = Some(self.most.map_or(number, |most| most.max(number)));
    }

    /// Adds what an entry is worth if that is a number; only a fault matters otherwise.
    fn add_entry(&mut self, outcome: Outcome) -> Result<(), Fault> {
        if let Value::Number(number) = outcome? {
            self.add(number);
        }
        Ok(())
    }

    fn result(&self, function: Aggregate) -> Outcome {
        match function {
            Aggregate::Sum => finite(self.sum),
            Aggregate::Min => finite(self.least.unwrap_or(0.0)),
            Aggregate::Max => finite(self.most.unwrap_or(0.0)),
            Aggregate::Average => divide(self.sum, f64::from(self.count)),
            Aggregate::Count => finite(f64::from(self.count)),
        }
    }
}

/// Of entries the numbers count; a value that is written out must be one.
fn aggregate(function: Aggregate, arguments: &[Expression], look: Lookup<'_>) -> Outcome {
    let mut tally = Tally::default();
    for argument in arguments {
        match argument {
            Expression::Entry(address) => tally.add_entry(look(*address))?,
            Expression::Range(range) => {
                range.entries().try_for_each(|address| tally.add_entry(look(address)))?;
            }
            other => tally.add(number(&evaluate(other, look)?)?),
        }
    }
    tally.result(function)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::expression::MAX_DEPTH;
    use crate::formula::parse;

    /// A1 and A2 are 10 and 4, A3 is text, A4 is TRUE, A5 is a fault; the rest is blank.
    fn entry(address: Address) -> Outcome {
        match address.to_string().as_str() {
            "A1" => Ok(Value::Number(10.0)),
            "A2" => Ok(Value::Number(4.0)),
            "A3" => Ok(Value::Text("Text".into())),
            "A4" => Ok(Value::Truth(true)),
            "A5" => Err(Fault::Name),
            _ => Ok(Value::Blank),
        }
    }

    fn shown(outcome: &Outcome) -> String {
        outcome.as_ref().map_or_else(Fault::to_string, Value::to_string)
    }

    fn check(rows: &[(&str, &str)]) {
        for (text, expected) in rows {
            let outcome = evaluate(&parse(text).unwrap(), &entry);
            assert_eq!(shown(&outcome), *expected, "{text}");
        }
    }

    #[test]
    fn arithmetic() {
        check(&[
            ("1+2*3-4/2", "5"),
            ("(A1-A2)*2", "12"),
            ("-A1+B1", "-10"),
            ("--A4", "1"),
            ("A4+1", "2"),
            ("2/4/2", "0.25"),
            ("\"text\"", "text"),
            ("B1", ""),
        ]);
    }

    #[test]
    fn faults() {
        check(&[
            ("1/0", "#DIV/0!"),
            ("1/B1", "#DIV/0!"),
            ("A3+1", "#VALUE!"),
            ("-\"a\"", "#VALUE!"),
            ("A1:A2", "#VALUE!"),
            ("1+A1:A2", "#VALUE!"),
            ("1e308*10", "#VALUE!"),
            ("SUM(1e308,1e308)", "#VALUE!"),
            ("A5+1/0", "#NAME?"),
            ("1/0+A5", "#DIV/0!"),
            ("ZZZ1+1", "#REF!"),
            ("SUM(A1:A5)", "#NAME?"),
            ("COUNT(A5)", "#NAME?"),
            ("IF(A5,1,2)", "#NAME?"),
            ("IF(\"a\",1,2)", "#VALUE!"),
            ("SUM(\"a\")", "#VALUE!"),
        ]);
    }

    #[test]
    fn comparisons() {
        check(&[
            ("A1>A2", "TRUE"),
            ("A1<A2", "FALSE"),
            ("4<=A2", "TRUE"),
            ("4>=A2", "TRUE"),
            ("4<>A2", "FALSE"),
            ("A3=\"tEXT\"", "TRUE"),
            ("\"a\"<\"B\"", "TRUE"),
            ("B1=0", "TRUE"),
            ("B1=\"\"", "TRUE"),
            ("\"\"<>B1", "FALSE"),
            ("B1<\"a\"", "TRUE"),
            ("B1=B2", "TRUE"),
            ("B1=FALSE", "TRUE"),
            ("A4>FALSE", "TRUE"),
            ("A3=4", "FALSE"),
            ("A3<>4", "TRUE"),
            ("A4=1", "FALSE"),
            ("A3<4", "#VALUE!"),
            ("A4>=1", "#VALUE!"),
        ]);
    }

    #[test]
    fn functions_of_many_take_the_numbers_of_entries() {
        check(&[
            ("SUM(A1:A4)", "14"),
            ("SUM(A1:A2,A1,3*2,TRUE)", "31"),
            ("MIN(A1:A4)", "4"),
            ("MAX(A1:B4)", "10"),
            ("AVG(A1:A4)", "7"),
            ("COUNT(A1:B4)", "2"),
            ("COUNT(A3)", "0"),
            ("MIN(-1,-2)", "-2"),
            ("MAX(-1,-2)", "-1"),
            ("SUM(B1:B9)", "0"),
            ("MIN(B1)+MAX(B1)", "0"),
            ("AVG(B1:B9)", "#DIV/0!"),
        ]);
    }

    /// What a formula asks for.
    fn asked(text: &str) -> String {
        let asked = RefCell::new(Vec::new());
        let look = |address: Address| {
            asked.borrow_mut().push(address.to_string());
            entry(address)
        };
        let _ = evaluate(&parse(text).unwrap(), &look);
        asked.take().join(" ")
    }

    #[test]
    fn it_asks_only_for_what_matters() {
        assert_eq!(asked("IF(A1>5,B1,C1)"), "A1 B1");
        assert_eq!(asked("IF(A1<5,B1,C1)"), "A1 C1");
        assert_eq!(asked("IF(A1<5,B1)"), "A1");
        assert_eq!(asked("IF(A5,B1,C1)"), "A5");
        assert_eq!(asked("A5+B1"), "A5");
        assert_eq!(asked("SUM(B2:C3)"), "B2 C2 B3 C3");
    }

    #[test]
    fn the_deepest_formula_is_evaluated() {
        let text = "IF(1,".repeat(MAX_DEPTH) + "A1" + &")".repeat(MAX_DEPTH);
        check(&[(&text, "10")]);
    }
}
