//! Values as short text.
//!
//! Pure functions; an unknown value is a dash.

/// A share as percent.
pub(crate) fn percent(share: Option<f64>) -> String {
    known(share, |share| format!("{:.0}%", share * 100.0))
}

/// A plain number.
pub(crate) fn number(value: Option<f64>) -> String {
    known(value, |value| format!("{value:.2}"))
}

/// An amount of bytes, three digits or so.
pub(crate) fn bytes(amount: Option<f64>) -> String {
    known(amount, |amount| {
        let mut amount = amount.round();
        let mut units = ["B", "kB", "MB", "GB", "TB"].into_iter();
        let mut unit = units.next().unwrap_or_default();
        // What would be shown as 1000 is 1.0 of the next unit.
        while amount >= 999.5 {
            let Some(next) = units.next() else { break };
            (amount, unit) = (amount / 1000.0, next);
        }
        let digits = usize::from(unit != "B" && amount < 99.95);
        format!("{amount:.digits$} {unit}")
    })
}

/// A share as one character of growing height.
pub(crate) fn bar(share: Option<f64>) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    share.map_or('-', |share| {
        let height = (share.clamp(0.0, 1.0) * 7.0).round();
        BARS[height as usize]
    })
}

fn known(value: Option<f64>, text: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_and_unknown_ones_a_dash() {
        assert_eq!(percent(Some(0.054)), "5%");
        assert_eq!(number(Some(0.6)), "0.60");
        assert_eq!(
            (percent(None), number(None), bytes(None), bar(None)),
            ("-".into(), "-".into(), "-".into(), '-')
        );
        let bars: String =
            [-1.0, 0.0, 0.5, 1.0, 2.0].map(|share| bar(Some(share))).iter().collect();
        assert_eq!(bars, "▁▁▅██");
    }

    #[test]
    fn bytes_change_their_unit_before_they_need_four_digits() {
        let rows = [
            (0.0, "0 B"),
            (999.4, "999 B"),
            (999.6, "1.0 kB"),
            (1000.0, "1.0 kB"),
            (99_949.0, "99.9 kB"),
            (99_951.0, "100 kB"),
            (999_499.0, "999 kB"),
            (999_500.0, "1.0 MB"),
            (2.5e9, "2.5 GB"),
            (5e15, "5000 TB"),
        ];
        for (amount, text) in rows {
            assert_eq!(bytes(Some(amount)), text, "{amount}");
        }
    }
}
