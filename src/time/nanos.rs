//! Nanoseconds as text for people.

use std::fmt;

/// Writes nanoseconds in the unit in which they are easy to read, with the unit.
#[derive(Clone, Copy)]
pub(crate) struct Nanos(pub(crate) i64);

impl Nanos {
    /// The same for a time without sign.
    pub(crate) fn of(nanos: u64) -> Self {
        Self(i64::try_from(nanos).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0 as f64;
        let text = match self.0.unsigned_abs() {
            0..10_000 => format!("{} ns", self.0),
            10_000..1_000_000 => format!("{:.1} µs", nanos / 1e3),
            1_000_000..10_000_000_000 => format!("{:.3} ms", nanos / 1e6),
            _ => format!("{:.2} s", nanos / 1e9),
        };
        f.pad(&text)
    }
}
