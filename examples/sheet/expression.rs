//! A formula in parsed form.
//!
//! Chains of operators are lists, not trees, so that only parentheses and calls nest.

use crate::address::{Address, Range};
use crate::value::{Fault, Value};

/// Parentheses and calls may nest this deep: the parser and the evaluator recurse as deep.
pub(crate) const MAX_DEPTH: usize = 64;

/// What a formula computes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Literal(Value),
    /// A name that stands for nothing, in an otherwise good formula.
    Fault(Fault),
    Entry(Address),
    Range(Range),
    Negated(Box<Expression>),
    /// Operators of one rank, worked off from left to right.
    Chain(Box<Expression>, Vec<(Operator, Expression)>),
    Aggregate(Aggregate, Vec<Expression>),
    If(Box<Choice>),
}

/// The parts of an `IF`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) condition: Expression,
    pub(crate) then: Expression,
    pub(crate) otherwise: Expression,
}

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A function of many numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Sum,
    Min,
    Max,
    Average,
    Count,
}
