//! The grid of boundaries: when frame number `k` is due, and which frame is due by now.
//!
//! It reads no clock. A boundary is computed from its number, never from the boundary before, so that nothing adds up: the
//! phase is kept for ever. At a rate of which the period is no whole number of nanoseconds, each boundary is rounded by itself.
//!
//! Costs: O(1).

/// How far apart boundaries are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    Hertz(f64),
    Nanos(u64),
}

/// The longest period: 292 years, so that a difference of times has a sign.
const LONGEST_NS: u64 = i64::MAX as u64;

impl Pace {
    /// None for what is no rate: below one frame in 292 years, or above one a nanosecond.
    pub(crate) fn hertz(hz: f64) -> Option<Self> {
        let period = 1e9 / hz;
        (hz.is_finite() && period >= 1.0 && period < LONGEST_NS as f64).then_some(Self::Hertz(hz))
    }

    pub(crate) fn period(period: std::time::Duration) -> Option<Self> {
        let nanos = u64::try_from(period.as_nanos()).ok()?;
        (1..=LONGEST_NS).contains(&nanos).then_some(Self::Nanos(nanos))
    }

    /// From one boundary to the one that is `n` later.
    pub(crate) fn span_ns(self, n: u64) -> u64 {
        match self {
            // `as` saturates.
            Self::Hertz(hz) => (n as f64 * 1e9 / hz).round() as u64,
            Self::Nanos(nanos) => n.saturating_mul(nanos),
        }
    }

    /// How many whole periods there are in `elapsed` nanoseconds.
    fn periods_in(self, elapsed: u64) -> u64 {
        let hz = match self {
            Self::Nanos(nanos) => return elapsed / nanos,
            Self::Hertz(hz) => hz,
        };
        let mut n = ((elapsed as f64 * hz / 1e9) as u64).min(LONGEST_NS);
        while n > 0 && self.span_ns(n) > elapsed {
            n -= 1;
        }
        while self.span_ns(n + 1) <= elapsed {
            n += 1;
        }
        n
    }
}

/// Boundaries, counted from one whose number and time are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) pace: Pace,
    pub(crate) index: u64,
    pub(crate) at_ns: u64,
}

impl Grid {
    /// When boundary `index` is, which is not before the known one.
    pub(crate) fn boundary_ns(&self, index: u64) -> u64 {
        self.at_ns.saturating_add(self.pace.span_ns(index - self.index))
    }

    /// The number of the last boundary that has passed; that of the known one before it.
    pub(crate) fn last_passed(&self, now_ns: u64) -> u64 {
        self.index + self.pace.periods_in(now_ns.saturating_sub(self.at_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn boundaries_and_their_numbers_are_inverse() {
        let period = |nanos| Pace::period(Duration::from_nanos(nanos)).expect("a period");
        let rates = [59.94, 60.0, 44.0, 1e9, 0.3, 1e-3, 120_000.0 / 1001.0];
        let rates = rates.map(|hz| Pace::hertz(hz).expect("a rate"));
        for pace in rates.into_iter().chain([period(1), period(16_666_667)]) {
            let grid = Grid { pace, index: 5, at_ns: 1_000 };
            for n in (0..300).chain([100_000, 5_184_000, 5_184_001]) {
                let at = grid.boundary_ns(5 + n);
                assert_eq!(grid.last_passed(at), 5 + n, "{pace:?}");
                assert!(n == 0 || grid.last_passed(at - 1) == 5 + n - 1, "{pace:?} {n}");
            }
        }
    }

    /// A day at 60 Hz ends to the nanosecond where it should.
    #[test]
    fn nothing_adds_up() {
        let pace = Pace::hertz(60.0).expect("a rate");
        assert_eq!([0, 1, 2, 3].map(|n| pace.span_ns(n)), [0, 16_666_667, 33_333_333, 50_000_000]);
        assert_eq!(pace.span_ns(60 * 86_400), 86_400_000_000_000);
        assert_eq!(pace.span_ns(60 * 86_400 + 1), 86_400_016_666_667);
    }

    #[test]
    fn far_ends_do_not_overflow() {
        for pace in [Pace::hertz(1e-9), Pace::hertz(1e9), Pace::period(Duration::from_nanos(1))] {
            let grid = Grid { pace: pace.expect("a rate"), index: 0, at_ns: 5 };
            assert_eq!(grid.boundary_ns(u64::MAX), u64::MAX);
            assert!(grid.boundary_ns(grid.last_passed(1 << 60)) <= 1 << 60);
        }
        assert_eq!(Grid { pace: Pace::Nanos(7), index: 3, at_ns: 50 }.last_passed(0), 3);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1.1e9, 1e-12] {
            assert!(Pace::hertz(hz).is_none(), "{hz}");
        }
        assert!(Pace::period(Duration::ZERO).is_none());
        assert!(Pace::period(Duration::MAX).is_none());
    }
}
