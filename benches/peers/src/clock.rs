//! Taking times: blocks of steps of a few milliseconds, and the median of what they took.

use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// Of all blocks together.
    pub whole: Duration,
    /// Of one block, about.
    pub block: Duration,
    /// The least steps of a block.
    pub least: u64,
}

impl Budget {
    /// A budget of so many milliseconds.
    pub(crate) fn millis(millis: u64) -> Self {
        let whole = Duration::from_millis(millis);
        Self { whole, block: (whole / 25).min(Duration::from_millis(3)), least: 1 }
    }

    /// A part of it.
    pub(crate) fn part(self, of: u32) -> Self {
        Self { whole: self.whole / of, ..self }
    }
}

/// The middle one.
pub(crate) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The nanoseconds of one call of `step`, by blocks. `between` is called after each block, its time not taken.
pub(crate) fn time_steps<S>(
    budget: Budget,
    state: &mut S,
    mut step: impl FnMut(&mut S),
    mut between: impl FnMut(&mut S) -> Result<(), String>,
) -> Result<f64, String> {
    let mut block = |state: &mut S, n: u64| {
        let start = Instant::now();
        (0..n).for_each(|_| step(state));
        start.elapsed()
    };
    let mut n = budget.least;
    let mut took = block(state, n);
    while took * 2 < budget.block && n < 1 << 24 {
        n *= 2;
        took = block(state, n);
    }
    between(state)?;
    let start = Instant::now();
    let mut times = Vec::new();
    // One block is enough of what takes longer than all the time there is.
    while times.is_empty() || start.elapsed() < budget.whole {
        times.push(block(state, n).as_nanos() as f64 / n as f64);
        between(state)?;
    }
    Ok(median(times))
}

/// What `f` gives, and the nanoseconds it took.
pub(crate) fn time<R>(f: impl FnOnce() -> R) -> (R, f64) {
    let start = Instant::now();
    let result = f();
    (result, start.elapsed().as_nanos() as f64)
}
