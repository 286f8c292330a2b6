//! Groups of cells that hang on one quantity: its value now, its moving average, its peak.
//!
//! Each group is derived from one input cell. Knows nothing of where the input comes from or what is
//! shown.

use hyphae::{Cell, CellImmutable, Pipeline};

use crate::measure::{Flow, Moment, busy_share, larger, mean};
use crate::reading::CpuTimes;

/// A derived cell.
pub(crate) type Shown<T> = Cell<T, CellImmutable>;

/// How many frames a moving average spans.
const MEAN_FRAMES: usize = 5;

/// How much a processor works, as a share of the time; `None` before there are two frames.
#[derive(Clone)]
pub(crate) struct Gauge {
    /// Between the last two frames.
    pub(crate) now: Shown<Option<f64>>,
    /// Over the last frames.
    pub(crate) mean: Shown<Option<f64>>,
    /// The highest so far.
    pub(crate) peak: Shown<Option<f64>>,
}

impl Gauge {
    /// The gauge of a processor from its times.
    pub(crate) fn of<M>(name: &str, times: &Cell<CpuTimes, M>) -> Self {
        let now = times
            .pairwise()
            // Frames may come faster than the kernel's clock ticks: then the last share holds.
            .scan(0.0, |last, (before, after)| busy_share(before, after).unwrap_or(*last))
            .materialize()
            .with_name(name);
        let mean = now
            .plan()
            .window(MEAN_FRAMES)
            .map(|last| mean(last))
            .materialize()
            .with_name(format!("{name} mean"));
        let peak = (&now)
            .scan(None, |peak, now| larger(*peak, *now))
            .materialize()
            .with_name(format!("{name} peak"));
        Self { now, mean, peak }
    }
}

/// What devices move per second; `None` before there are two frames.
#[derive(Clone)]
pub(crate) struct Traffic {
    /// Between the last two frames.
    pub(crate) now: Shown<Option<Flow>>,
    /// The highest so far, each amount for itself.
    pub(crate) peak: Shown<Flow>,
}

impl Traffic {
    /// The traffic that `measure` finds between two frames; where it finds none the last holds.
    pub(crate) fn of<M>(
        name: &str,
        moments: &Cell<Moment, M>,
        measure: impl Fn(&Moment, &Moment) -> Option<Flow> + 'static,
    ) -> Self {
        let now = moments
            .pairwise()
            .scan(Flow::default(), move |last, (before, after)| {
                measure(before, after).unwrap_or(*last)
            })
            .materialize()
            .with_name(name);
        let peak = (&now)
            .scan(Flow::default(), |peak, now| peak.max(now.unwrap_or_default()))
            .materialize()
            .with_name(format!("{name} peak"));
        Self { now, peak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Volume, device_flow};
    use std::rc::Rc;

    fn times(busy: u64, idle: u64) -> CpuTimes {
        CpuTimes::from([busy, 0, 0, idle, 0, 0, 0, 0])
    }

    #[test]
    fn a_gauge_follows_its_processor() {
        let source = Cell::new(times(0, 0));
        let gauge = Gauge::of("cpu", &source);
        let read = || (gauge.now.get(), gauge.mean.get(), gauge.peak.get());
        assert_eq!(read(), (None, None, None));
        source.set(times(1, 1));
        source.set(times(4, 2));
        assert_eq!(read(), (Some(0.75), Some(0.625), Some(0.75)));
        source.set(times(4, 2));
        assert_eq!(gauge.now.get(), Some(0.75), "no tick of the clock: it holds");
        for idle in 3..8 {
            source.set(times(4, idle));
        }
        assert_eq!(read(), (Some(0.0), Some(0.0), Some(0.75)));
    }

    #[test]
    fn traffic_holds_when_no_time_passes() {
        let moment = |ms, taken| {
            let volume = Volume { taken, ..Volume::default() };
            (ms, Rc::new([("a".to_owned(), volume)].into()))
        };
        let source = Cell::new(moment(0, 0));
        let traffic = Traffic::of("a", &source, |b, a| device_flow("a", b, a));
        assert_eq!(traffic.now.get(), None);
        let taken = || traffic.now.get().map(|flow| flow.taken);
        source.set(moment(100, 7));
        assert_eq!(taken(), Some(70.0));
        source.set(moment(100, 9));
        assert_eq!(taken(), Some(70.0));
        source.set(moment(1100, 10));
        assert_eq!((taken(), traffic.peak.get().taken), (Some(1.0), 70.0));
    }
}
