//! Numbers for people.

/// A time with the unit in which it is easy to read.
pub(crate) fn time(nanos: i64) -> String {
    let value = nanos as f64;
    match nanos.unsigned_abs() {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.1} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// The same for a time without sign.
pub(crate) fn time_of(nanos: u64) -> String {
    time(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// Microseconds with one decimal, for columns.
pub(crate) fn micros(nanos: u64) -> String {
    format!("{:.1}", nanos as f64 / 1e3)
}

/// Bytes with the unit in which they are easy to read.
pub(crate) fn bytes(bytes: usize) -> String {
    let value = bytes as f64;
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", value / 1e3),
        _ => format!("{:.1} MB", value / 1e6),
    }
}

/// The part of a whole in percent.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The mean of a sum over some.
pub(crate) fn mean(sum: u64, of: u64) -> u64 {
    (sum + of / 2).checked_div(of).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let rows = [(0, "0 ns"), (-999, "-999 ns"), (1_000, "1.0 µs"), (-2_345_678, "-2.35 ms")];
        for (nanos, text) in rows {
            assert_eq!(time(nanos), text);
        }
        assert_eq!(time_of(u64::MAX), "9223372036.85 s");
        assert_eq!(micros(12_340), "12.3");
    }

    #[test]
    fn amounts() {
        assert_eq!([bytes(12), bytes(12_345), bytes(12_345_678)], ["12 B", "12.3 kB", "12.3 MB"]);
        assert_eq!([percent(1, 3), percent(0, 0)], ["33.3", "0.0"]);
        assert_eq!([mean(7, 2), mean(5, 0)], [4, 0]);
    }
}
