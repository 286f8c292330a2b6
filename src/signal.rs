//! What a subscriber receives: a value or one of the two terminal signals.
//!
//! A signal borrows the value from the cell, so an emit allocates nothing and needs no `Clone`.

use crate::error::CellError;

/// One delivery to a subscriber.
///
/// Values come in the order in which the cell took them; after `Complete` or `Error` nothing follows.
///
/// ```
/// use hyphae::{Cell, Signal};
/// let cell = Cell::new(1);
/// let guard = cell.subscribe(|signal| match signal {
///     Signal::Value(v) => println!("value {v}"),
///     Signal::Complete => println!("the end"),
///     Signal::Error(e) => println!("failed: {e}"),
/// });
/// # drop(guard);
/// ```
pub enum Signal<'a, T: ?Sized> {
    /// The cell's new value, lent for the length of the call.
    Value(&'a T),
    /// The cell ended well; its last value stays readable.
    Complete,
    /// The cell ended with an error; its last value stays readable.
    Error(&'a CellError),
}

impl<T: ?Sized> Clone for Signal<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Signal<'_, T> {}

impl<'a, T: ?Sized> Signal<'a, T> {
    /// The value, if this is one.
    pub fn value_ref(&self) -> Option<&'a T> {
        match self {
            Signal::Value(v) => Some(v),
            _ => None,
        }
    }

    /// The error, if this is one.
    pub fn error_ref(&self) -> Option<&'a CellError> {
        match self {
            Signal::Error(e) => Some(e),
            _ => None,
        }
    }

    /// Whether this is a value.
    pub fn is_value(&self) -> bool {
        matches!(self, Signal::Value(_))
    }

    /// Whether this is the good end.
    pub fn is_complete(&self) -> bool {
        matches!(self, Signal::Complete)
    }

    /// Whether this is the bad end.
    pub fn is_error(&self) -> bool {
        matches!(self, Signal::Error(_))
    }
}

impl<T: std::fmt::Debug + ?Sized> std::fmt::Debug for Signal<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Signal::Value(v) => f.debug_tuple("Value").field(v).finish(),
            Signal::Complete => f.write_str("Complete"),
            Signal::Error(e) => f.debug_tuple("Error").field(&e.to_string()).finish(),
        }
    }
}
