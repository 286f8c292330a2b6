//! How times are spread: samples in histograms of a fixed size, told as percentiles and as bars.
//!
//! Samples are signed. The histograms (of the kind called HDR) take what is not negative only, so there is one for samples
//! from 0 up and, where there may be negative ones, one for their distances from 0.
//!
//! Invariants: the smallest and the greatest sample are kept as they are; all others to within 1/1000. A histogram counts
//! what is above a minute as a minute.
//!
//! Costs: 110 KiB a histogram, from the start; recording a sample is a few nanoseconds and allocates nothing.

use std::fmt;

use hdrhistogram::Histogram;

use super::nanos::Nanos;

/// Samples above this are counted as this.
const LONGEST_NS: u64 = 60_000_000_000;

/// How many bars a histogram is told in, about.
const BARS: i64 = 12;

/// Percentiles of a time, in nanoseconds. All 0 without samples.
///
/// That at 99 % is the smallest that at least 99 % of the samples do not exceed. Up to 2 µs, and for the smallest and the
/// greatest sample, it is exact, above within 0.1 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Percentiles {
    /// How many samples there are.
    pub samples: u64,
    /// The smallest.
    pub min_ns: i64,
    /// 50 %: the median.
    pub p50_ns: i64,
    /// 90 %.
    pub p90_ns: i64,
    /// 99 %.
    pub p99_ns: i64,
    /// 99.9 %.
    pub p999_ns: i64,
    /// The greatest.
    pub max_ns: i64,
}

impl Percentiles {
    /// The heads of the columns that [`Self::write_row`] writes.
    pub(crate) fn write_heads(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:9}{:>12}{:>12}{:>12}{:>12}{:>12}", "", "p50", "p90", "p99", "p99.9", "max")
    }

    pub(crate) fn write_row(&self, f: &mut fmt::Formatter<'_>, head: &str) -> fmt::Result {
        write!(f, "{head:9}")?;
        for nanos in [self.p50_ns, self.p90_ns, self.p99_ns, self.p999_ns, self.max_ns] {
            write!(f, "{:>12}", Nanos(nanos))?;
        }
        writeln!(f)
    }
}

/// How many samples lie in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Bar {
    /// The lower end, which belongs to it.
    pub from_ns: i64,
    /// The upper end, which does not.
    pub to_ns: i64,
    /// How many.
    pub samples: u64,
}

/// Samples of a time.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    rest: Histogram<u32>,
    below_zero: Option<Histogram<u32>>,
    min: i64,
    max: i64,
}

fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are sound")
}

fn signed(nanos: u64) -> i64 {
    i64::try_from(nanos).unwrap_or(i64::MAX)
}

impl Spread {
    /// Of samples that are not negative.
    pub(crate) fn unsigned() -> Self {
        Self { rest: histogram(), below_zero: None, min: i64::MAX, max: i64::MIN }
    }

    pub(crate) fn signed() -> Self {
        Self { below_zero: Some(histogram()), ..Self::unsigned() }
    }

    pub(crate) fn record(&mut self, nanos: i64) {
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        match &mut self.below_zero {
            Some(below) if nanos < 0 => below.saturating_record(nanos.unsigned_abs()),
            _ => self.rest.saturating_record(u64::try_from(nanos).unwrap_or(0)),
        }
    }

    fn below(&self) -> u64 {
        self.below_zero.as_ref().map_or(0, Histogram::len)
    }

    pub(crate) fn percentiles(&self) -> Percentiles {
        let samples = self.below() + self.rest.len();
        if samples == 0 {
            return Percentiles::default();
        }
        Percentiles {
            samples,
            min_ns: self.min,
            p50_ns: self.at_least(samples, 500),
            p90_ns: self.at_least(samples, 900),
            p99_ns: self.at_least(samples, 990),
            p999_ns: self.at_least(samples, 999),
            max_ns: self.max,
        }
    }

    /// The smallest that so many of 1000 samples do not exceed.
    fn at_least(&self, samples: u64, of_1000: u64) -> i64 {
        let place = (u128::from(samples) * u128::from(of_1000)).div_ceil(1000);
        let (place, below) = (place as u64, self.below());
        let nanos = match &self.below_zero {
            // Its smallest distances from 0 come last.
            Some(histogram) if place <= below => -signed(nth(histogram, below - place + 1)),
            _ => signed(nth(&self.rest, place - below)),
        };
        nanos.clamp(self.min, self.max)
    }

    /// Ranges of equal width, in which 98 % of the samples are; what is below or above them has a range of its own, which
    /// may be wider.
    pub(crate) fn bars(&self) -> Vec<Bar> {
        let samples = self.below() + self.rest.len();
        if samples == 0 {
            return Vec::new();
        }
        let (low, high) = (self.at_least(samples, 10), self.at_least(samples, 990));
        let step = round_up(high.saturating_sub(low) / BARS);
        let (first, last) = (low.div_euclid(step) - 1, high.div_euclid(step) + 1);
        let edge = |at: i64| at.saturating_mul(step);
        let bar = |at| Bar { from_ns: edge(at), to_ns: edge(at + 1), samples: 0 };
        let mut bars: Vec<Bar> = (first..=last).map(bar).collect();
        self.each(|nanos, count| {
            let at = nanos.div_euclid(step).clamp(first, last) - first;
            bars[at as usize].samples += count;
        });
        if let [lowest, .., highest] = &mut bars[..] {
            lowest.from_ns = lowest.from_ns.min(self.min);
            highest.to_ns = highest.to_ns.max(self.max.saturating_add(1));
        }
        bars.pop_if(|bar| bar.samples == 0);
        bars.drain(..usize::from(bars[0].samples == 0));
        bars
    }

    /// Visits the samples, equal ones together.
    fn each(&self, mut visit: impl FnMut(i64, u64)) {
        let within = |nanos: i64| nanos.clamp(self.min, self.max);
        // Of values that are equal to within 1/1000, the least negative or most positive: a round one stays in the range that
        // begins with it.
        if let Some(below) = &self.below_zero {
            for value in below.iter_recorded() {
                let least = below.lowest_equivalent(value.value_iterated_to());
                visit(within(-signed(least)), value.count_at_value().into());
            }
        }
        for value in self.rest.iter_recorded() {
            visit(within(signed(value.value_iterated_to())), value.count_at_value().into());
        }
    }
}

/// Sample number `n` of a histogram, from 1, in order.
fn nth(histogram: &Histogram<u32>, n: u64) -> u64 {
    // Half a place down, so that no rounding comes out above it.
    histogram.value_at_quantile((n as f64 - 0.5) / histogram.len() as f64)
}

/// The next of 1, 2, 5, 10, 20, ... that is not smaller.
fn round_up(nanos: i64) -> i64 {
    let mut step = 1_i64;
    loop {
        for round in [step, step.saturating_mul(2), step.saturating_mul(5)] {
            if round >= nanos {
                return round;
            }
        }
        step = step.saturating_mul(10);
    }
}

/// Writes bars as lines of text.
pub(crate) fn write_bars(f: &mut fmt::Formatter<'_>, bars: &[Bar]) -> fmt::Result {
    const WIDTH: u64 = 40;
    let most = bars.iter().map(|bar| bar.samples).max().unwrap_or(0);
    for bar in bars {
        let width = (bar.samples * WIDTH).div_ceil(most.max(1)) as usize;
        let (from, to) = (Nanos(bar.from_ns), Nanos(bar.to_ns));
        let marks = "#".repeat(width);
        let line = format!("{from:>11} to {to:>11}{:>9} {marks}", bar.samples);
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}
