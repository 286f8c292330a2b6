//! When times of cells are taken, and by which clock.

use std::rc::Rc;

use crate::store::probe::{Timer, Timing};
use crate::store::with_store;

/// Says which waves are timed from now on: how long each cell's turns and its subscribers' calls take. Counts are always
/// kept.
///
/// A timed wave reads the processor's counter (through `quanta`) at the end of each turn and each call, about 10 ns. A program
/// that runs long takes [`Timing::OneWaveIn`]`(16)`, say, and gets times of a sixteenth of its waves, at little cost.
///
/// ```
/// use hyphae::{Cell, Pipeline, Timing, hot_traced_cells, set_timing};
/// let cell = Cell::new(1).with_name("input");
/// let guard = cell.subscribe(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
/// set_timing(Timing::EveryWave);
/// cell.set(2);
/// assert!(hot_traced_cells()[0].slowest_subscriber_ns >= 1_000_000);
/// # drop(guard);
/// ```
pub fn set_timing(timing: Timing) {
    let _ = with_store(|store| store.probe.set_timing(timing));
}

/// Which waves are timed.
pub fn timing() -> Timing {
    with_store(|store| store.probe.timing()).unwrap_or_default()
}

/// Times are taken from `now_nanos` from here on, which must never go back: a clock of the application's own, or of a test.
/// What was measured before is forgotten.
///
/// ```
/// use std::{cell::Cell as Plain, rc::Rc};
/// use hyphae::{Cell, Pipeline, Timing, hot_traced_cells, set_timing, set_timing_clock};
/// let now = Rc::new(Plain::new(0));
/// set_timing(Timing::EveryWave);
/// set_timing_clock({ let now = now.clone(); move || now.get() });
/// let cell = Cell::new(1);
/// let slow = (&cell).map(move |v| { now.set(now.get() + 250); *v }).materialize();
/// cell.set(2);
/// let hot = hot_traced_cells();
/// assert_eq!(hot.get(slow.cell_id()).unwrap().compute_time_ns, 250);
/// ```
pub fn set_timing_clock(now_nanos: impl Fn() -> u64 + 'static) {
    let _ = with_store(|store| store.probe.set_timer(Timer::Given(Rc::new(now_nanos))));
}
