//! The rules of the operators that wait: what each does with a value, and when its time has come.
//!
//! They know nothing of cells or timers: the kernel in [`timed`](super::timed) asks them.

use std::collections::VecDeque;
use std::time::Duration;

use super::timed::{At, Edges, Rest, Rule, timed_out};
use crate::time::timers::nanos;

/// Waits until there was no value for a time.
pub(super) struct Debounce<T> {
    quiet: Duration,
    edges: Edges,
    waiting: Option<T>,
}

impl<T> Debounce<T> {
    pub(super) fn new(quiet: Duration, edges: Edges) -> Self {
        Self { quiet, edges, waiting: None }
    }
}

impl<T: Clone + 'static> Rule<T> for Debounce<T> {
    type Out = T;
    const NAME: &'static str = "debounce";

    fn seed(&mut self, value: &T, _: &mut At) -> T {
        value.clone()
    }

    fn value(&mut self, value: &T, at: &mut At) -> Option<T> {
        let first = at.rings_ns.is_none();
        at.rings_ns = Some(at.after(self.quiet));
        if first && self.edges.leading() {
            return Some(value.clone());
        }
        self.waiting = self.edges.trailing().then(|| value.clone());
        None
    }

    fn due(&mut self, _: &mut At) -> Option<T> {
        self.waiting.take()
    }

    fn complete(&mut self, _: &mut At) -> Rest<T> {
        Rest::Now(self.waiting.take())
    }

    fn flush(&mut self, at: &mut At) -> Option<T> {
        at.rings_ns = None;
        self.waiting.take()
    }

    fn cancel(&mut self, at: &mut At) {
        at.rings_ns = None;
        self.waiting = None;
    }
}

/// Lets a value through, then waits.
pub(super) struct Throttle<T> {
    pause: Duration,
    edges: Edges,
    waiting: Option<T>,
}

impl<T> Throttle<T> {
    pub(super) fn new(pause: Duration, edges: Edges) -> Self {
        Self { pause, edges, waiting: None }
    }
}

impl<T: Clone + 'static> Rule<T> for Throttle<T> {
    type Out = T;
    const NAME: &'static str = "throttle";

    fn seed(&mut self, value: &T, _: &mut At) -> T {
        value.clone()
    }

    fn value(&mut self, value: &T, at: &mut At) -> Option<T> {
        if at.rings_ns.is_none() {
            at.rings_ns = Some(at.after(self.pause));
            if self.edges.leading() {
                return Some(value.clone());
            }
        }
        self.waiting = self.edges.trailing().then(|| value.clone());
        None
    }

    fn due(&mut self, at: &mut At) -> Option<T> {
        let last = self.waiting.take()?;
        at.rings_ns = Some(at.after(self.pause));
        Some(last)
    }

    fn complete(&mut self, _: &mut At) -> Rest<T> {
        Rest::Now(self.waiting.take())
    }

    fn flush(&mut self, at: &mut At) -> Option<T> {
        self.due(at)
    }

    fn cancel(&mut self, _: &mut At) {
        self.waiting = None;
    }
}

/// Waits from a value on, then lets the latest through.
pub(super) struct Audit<T> {
    window: Duration,
    waiting: Option<T>,
}

impl<T> Audit<T> {
    pub(super) fn new(window: Duration) -> Self {
        Self { window, waiting: None }
    }
}

impl<T: Clone + 'static> Rule<T> for Audit<T> {
    type Out = T;
    const NAME: &'static str = "audit";

    fn seed(&mut self, value: &T, _: &mut At) -> T {
        value.clone()
    }

    fn value(&mut self, value: &T, at: &mut At) -> Option<T> {
        at.rings_ns = at.rings_ns.or_else(|| Some(at.after(self.window)));
        self.waiting = Some(value.clone());
        None
    }

    fn due(&mut self, _: &mut At) -> Option<T> {
        self.waiting.take()
    }

    fn complete(&mut self, _: &mut At) -> Rest<T> {
        Rest::Now(self.waiting.take())
    }
}

/// Lets everything through, later.
pub(super) struct Delay<T> {
    by: Duration,
    waiting: VecDeque<(u64, T)>,
    /// When the completion is due.
    ends_ns: Option<u64>,
}

impl<T> Delay<T> {
    pub(super) fn new(by: Duration) -> Self {
        Self { by, waiting: VecDeque::new(), ends_ns: None }
    }

    fn next_ns(&self) -> Option<u64> {
        self.waiting.front().map(|first| first.0).or(self.ends_ns)
    }
}

impl<T: Clone + 'static> Rule<T> for Delay<T> {
    type Out = T;
    const NAME: &'static str = "delay";

    fn seed(&mut self, value: &T, _: &mut At) -> T {
        value.clone()
    }

    fn value(&mut self, value: &T, at: &mut At) -> Option<T> {
        self.waiting.push_back((at.after(self.by), value.clone()));
        at.rings_ns = self.next_ns();
        None
    }

    fn due(&mut self, at: &mut At) -> Option<T> {
        let is_due = |next: &(u64, T)| next.0 <= at.now_ns;
        let first = self.waiting.pop_front_if(|next| is_due(next)).map(|first| first.1);
        at.more = self.waiting.front().is_some_and(is_due);
        at.rings_ns = self.next_ns();
        first
    }

    fn complete(&mut self, at: &mut At) -> Rest<T> {
        let ends_ns = *self.ends_ns.get_or_insert(at.after(self.by));
        at.rings_ns = self.next_ns();
        if self.waiting.is_empty() && ends_ns <= at.now_ns { Rest::Now(None) } else { Rest::Later }
    }
}

/// The next multiple of a period after a start.
struct Grid {
    period_ns: u64,
    start_ns: Option<u64>,
}

impl Grid {
    fn new(period: Duration) -> Self {
        assert!(!period.is_zero(), "a period of 0 ns has no end");
        Self { period_ns: nanos(period), start_ns: None }
    }

    fn next_ns(&mut self, at: &At) -> Option<u64> {
        let start_ns = *self.start_ns.get_or_insert(at.now_ns);
        let passed = (at.now_ns - start_ns) / self.period_ns;
        Some((passed + 1).saturating_mul(self.period_ns).saturating_add(start_ns))
    }
}

/// Lets the latest value through at the end of each period.
pub(super) struct SampleTime<T> {
    grid: Grid,
    waiting: Option<T>,
}

impl<T> SampleTime<T> {
    #[track_caller]
    pub(super) fn new(period: Duration) -> Self {
        Self { grid: Grid::new(period), waiting: None }
    }
}

impl<T: Clone + 'static> Rule<T> for SampleTime<T> {
    type Out = T;
    const NAME: &'static str = "sample_time";

    fn seed(&mut self, value: &T, at: &mut At) -> T {
        self.grid.next_ns(at);
        value.clone()
    }

    fn value(&mut self, value: &T, at: &mut At) -> Option<T> {
        self.waiting = Some(value.clone());
        at.rings_ns = self.grid.next_ns(at);
        None
    }

    fn due(&mut self, _: &mut At) -> Option<T> {
        self.waiting.take()
    }

    fn complete(&mut self, _: &mut At) -> Rest<T> {
        Rest::Now(self.waiting.take())
    }
}

/// Collects the values of each period.
pub(super) struct BufferTime<T> {
    grid: Grid,
    values: Vec<T>,
}

impl<T> BufferTime<T> {
    #[track_caller]
    pub(super) fn new(period: Duration) -> Self {
        Self { grid: Grid::new(period), values: Vec::new() }
    }
}

impl<T: Clone + 'static> Rule<T> for BufferTime<T> {
    type Out = Vec<T>;
    const NAME: &'static str = "buffer_time";

    fn seed(&mut self, _: &T, at: &mut At) -> Vec<T> {
        at.rings_ns = self.grid.next_ns(at);
        Vec::new()
    }

    fn value(&mut self, value: &T, _: &mut At) -> Option<Vec<T>> {
        self.values.push(value.clone());
        None
    }

    fn due(&mut self, at: &mut At) -> Option<Vec<T>> {
        at.rings_ns = self.grid.next_ns(at);
        Some(std::mem::take(&mut self.values))
    }

    fn complete(&mut self, _: &mut At) -> Rest<Vec<T>> {
        let rest = std::mem::take(&mut self.values);
        Rest::Now((!rest.is_empty()).then_some(rest))
    }
}

/// Fails when nothing comes.
pub(super) struct Timeout {
    limit: Duration,
}

impl Timeout {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit }
    }
}

impl<T: Clone + 'static> Rule<T> for Timeout {
    type Out = T;
    const NAME: &'static str = "timeout";

    fn seed(&mut self, value: &T, at: &mut At) -> T {
        at.rings_ns = Some(at.after(self.limit));
        value.clone()
    }

    fn value(&mut self, value: &T, at: &mut At) -> Option<T> {
        // It comes before a ring of the same moment.
        at.end = None;
        at.rings_ns = Some(at.after(self.limit));
        Some(value.clone())
    }

    fn due(&mut self, at: &mut At) -> Option<T> {
        at.end = Some(timed_out());
        None
    }

    fn complete(&mut self, _: &mut At) -> Rest<T> {
        Rest::Now(None)
    }
}
