//! What these tests share: the counters of a cell at a glance, and a clock that closures move.

use std::cell::Cell as Plain;
use std::collections::HashMap;
use std::rc::Rc;

use hyphae::{Cell, CellId, CellTraceSnapshot, Signal, Timing, hot_traced_cells, set_timing};

/// All that is known of a cell.
#[track_caller]
pub(crate) fn trace_of(id: CellId) -> CellTraceSnapshot {
    hot_traced_cells().get(id).expect("it lives").clone()
}

#[track_caller]
pub(crate) fn trace<T: 'static, M>(cell: &Cell<T, M>) -> CellTraceSnapshot {
    trace_of(cell.cell_id())
}

/// The same of many, with one walk over all cells.
pub(crate) fn traces<T: 'static, M>(cells: &[Cell<T, M>]) -> Vec<CellTraceSnapshot> {
    let all = hot_traced_cells().into_iter().map(|cell| (cell.cell_id, cell));
    let mut all: HashMap<CellId, CellTraceSnapshot> = all.collect();
    cells.iter().map(|cell| all.remove(&cell.cell_id()).expect("it lives, and is one")).collect()
}

/// Notifies, calls of subscribers, runs cut off.
#[track_caller]
pub(crate) fn counts<T: 'static, M>(cell: &Cell<T, M>) -> (u64, u64, u64) {
    counts_in(&trace(cell))
}

pub(crate) fn counts_in(cell: &CellTraceSnapshot) -> (u64, u64, u64) {
    (cell.notify_count, cell.delivery_count, cell.cut_off_count)
}

#[track_caller]
pub(crate) fn notifies<T: 'static, M>(cell: &Cell<T, M>) -> u64 {
    trace(cell).notify_count
}

/// Nanoseconds: turns, calls of subscribers, last round, longest call.
#[track_caller]
pub(crate) fn times<T: 'static, M>(cell: &Cell<T, M>) -> [u64; 4] {
    let cell = trace(cell);
    assert_eq!(cell.total_notify_time_ns, cell.compute_time_ns + cell.delivery_time_ns);
    let [compute, delivery] = [cell.compute_time_ns, cell.delivery_time_ns];
    [compute, delivery, cell.last_notify_time_ns, cell.slowest_subscriber_ns]
}

/// The store's clock in a test: it stands still until a closure moves it.
#[derive(Clone, Default)]
pub(crate) struct Hand(Rc<Plain<u64>>);

impl Hand {
    /// The clock of this thread's store from here on.
    pub(crate) fn new() -> Self {
        let hand = Self::default();
        // Far from 0, so that a time which was not asked for shows.
        hand.0.set(1_000_000_000_000);
        let read = hand.clone();
        hyphae::set_timing_clock(move || read.0.get());
        hand
    }

    /// The same with all waves timed.
    pub(crate) fn timing_all() -> Self {
        let hand = Self::new();
        set_timing(Timing::EveryWave);
        hand
    }

    /// Work of so many nanoseconds.
    pub(crate) fn work(&self, ns: u64) {
        self.0.set(self.0.get() + ns);
    }

    /// How much work a hand that nobody reads has noted.
    pub(crate) fn worked(&self) -> u64 {
        self.0.get()
    }

    /// A closure that works so long and gives its argument back.
    pub(crate) fn of<T: Copy>(&self, ns: u64) -> impl Fn(&T) -> T + use<T> {
        let hand = self.clone();
        move |value| {
            hand.work(ns);
            *value
        }
    }

    /// A callback that works so long.
    pub(crate) fn call<T>(&self, ns: u64) -> impl FnMut(&T) + 'static + use<T> {
        let hand = self.clone();
        move |_| hand.work(ns)
    }

    /// The same for ends, too.
    pub(crate) fn hear<T>(&self, ns: u64) -> impl FnMut(&Signal<'_, T>) + 'static + use<T> {
        let hand = self.clone();
        move |_| hand.work(ns)
    }

    /// A callback that works as many nanoseconds as the value says.
    pub(crate) fn call_for(&self) -> impl FnMut(&u64) + 'static {
        let hand = self.clone();
        move |ns| hand.work(*ns)
    }
}
