//! What the store asks of the allocator: nothing in a steady state, and bounded bytes for each cell (rule O2).
//!
//! The counters are the thread's own, so that tests running beside each other do not disturb the counts.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell as StdCell;
use std::rc::Rc;

use hyphae::{
    Cell, CellImmutable, Pipeline, SubscriptionGuard, arena, batch, combine, effect, join_vec,
    selector,
};

struct Counting;

thread_local! {
    static CALLS: StdCell<u64> = const { StdCell::new(0) };
    static LIVE: StdCell<i64> = const { StdCell::new(0) };
}

/// Counts one call (of any kind) and the bytes that it adds or gives back; a thread on its way out is not counted.
fn count(bytes: i64) {
    let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

fn size(bytes: usize) -> i64 {
    i64::try_from(bytes).expect("a layout's size fits an isize")
}

// SAFETY: each call is passed on to the system's allocator as it came; counting touches plain thread-locals only, which
// neither allocate nor unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-size(layout.size()));
        // SAFETY: the block came from `System`, with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        count(size(new) - size(layout.size()));
        // SAFETY: the block came from `System`, with this layout; the caller keeps the contract for `new`.
        unsafe { System.realloc(block, layout, new) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls of the allocator while `f` runs.
fn calls_of(f: impl FnOnce()) -> u64 {
    let before = CALLS.get();
    f();
    CALLS.get() - before
}

/// Checks that `f` settles into not calling the allocator: three warm-up runs, then a hundred counted ones.
#[track_caller]
fn check_steady(mut f: impl FnMut(u64)) {
    (0..3).for_each(&mut f);
    assert_eq!(calls_of(|| (3..103).for_each(&mut f)), 0);
}

/// Bytes that `f` leaves behind, for each of `n`.
fn bytes_each<R>(n: usize, f: impl FnOnce() -> R) -> (f64, R) {
    let before = LIVE.get();
    let kept = f();
    ((LIVE.get() - before) as f64 / n as f64, kept)
}

#[test]
fn the_allocator_counts() {
    assert_eq!(calls_of(|| drop(Box::new([0_u8; 100]))), 2);
    let (each, kept) = bytes_each(1, || Box::new([0_u8; 100]));
    assert_eq!(each, 100.0);
    drop(kept);
}

/// The storm: sources, and levels of cells with two inputs each from the level above, chosen by a fixed generator.
struct Storm {
    sources: Vec<Cell<u64>>,
    cells: Vec<Cell<u64, CellImmutable>>,
    calls: Rc<StdCell<u64>>,
    _guards: Vec<SubscriptionGuard>,
}

const SOURCES: usize = 200;
const CELLS: usize = 20_000;
const LEVELS: usize = 6;
const SUBSCRIBERS: usize = 500;

/// A linear congruential generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

impl Storm {
    fn new() -> Self {
        let mut random = Random(1);
        let sources: Vec<Cell<u64>> = (0..SOURCES as u64).map(Cell::new).collect();
        let cells = levels(&sources, &mut random);
        let calls = Rc::new(StdCell::new(0));
        let guards = (0..SUBSCRIBERS).map(|_| {
            let calls = calls.clone();
            cells[random.below(CELLS)].subscribe_changes(move |_| calls.set(calls.get() + 1))
        });
        let guards = guards.collect();
        Self { sources, cells, calls, _guards: guards }
    }

    /// Sets every source, in one batch.
    fn frame(&self, number: u64) {
        batch(|| {
            for (i, source) in self.sources.iter().enumerate() {
                source.set(number.wrapping_mul(31) + i as u64);
            }
        });
    }
}

fn levels(sources: &[Cell<u64>], random: &mut Random) -> Vec<Cell<u64, CellImmutable>> {
    let mut cells = Vec::with_capacity(CELLS);
    let mut above: Vec<_> = sources.iter().map(|source| source.clone().lock()).collect();
    for level in 0..LEVELS {
        let count = CELLS * (level + 1) / LEVELS - CELLS * level / LEVELS;
        let made: Vec<_> = (0..count)
            .map(|_| {
                let (a, b) = (&above[random.below(above.len())], &above[random.below(above.len())]);
                a.join(b).map(|(a, b)| a.wrapping_mul(3) ^ b).materialize()
            })
            .collect();
        cells.extend(made.iter().cloned());
        above = made;
    }
    cells
}

#[test]
fn a_storm_allocates_nothing_after_the_third_frame() {
    let frames = 1000;
    let storm = Storm::new();
    assert_eq!(storm.cells.len(), CELLS);
    (0..3).for_each(|number| storm.frame(number));
    let (before, runs) = (storm.calls.get(), hyphae::arena::totals().recomputations);
    let allocations = calls_of(|| (3..3 + frames).for_each(|number| storm.frame(number)));
    assert_eq!(allocations, 0);
    // It did work: every cell (two nodes each) and every subscriber, each frame.
    assert_eq!(storm.calls.get() - before, frames * SUBSCRIBERS as u64);
    let runs = hyphae::arena::totals().recomputations - runs;
    assert_eq!(runs, frames * 2 * CELLS as u64);
}

/// A source with a derived cell and a subscriber on it.
fn watched(calls: &Rc<StdCell<u64>>) -> (Cell<u64>, Cell<u64, CellImmutable>, SubscriptionGuard) {
    let source = Cell::new(0);
    let derived = (&source).map(|v| v + 1).materialize();
    let calls = calls.clone();
    let guard = derived.subscribe_changes(move |_| calls.set(calls.get() + 1));
    (source, derived, guard)
}

#[test]
fn a_set_allocates_nothing() {
    let calls = Rc::default();
    let (source, derived, _guard) = watched(&calls);
    check_steady(|v| source.set(v));
    assert_eq!((derived.get(), calls.get()), (103, 103));
}

#[test]
fn an_update_allocates_nothing() {
    let calls = Rc::default();
    let (source, derived, _guard) = watched(&calls);
    check_steady(|_| source.update(|v| *v += 1));
    assert_eq!((derived.get(), calls.get()), (104, 103));
}

#[test]
fn a_set_of_a_cell_with_a_cutoff_allocates_nothing() {
    let source = Cell::with_cutoff(0_u64, u64::eq);
    let derived = (&source).map(|v| v / 2).deduped().materialize();
    let _guard = derived.subscribe_changes(|_| ());
    check_steady(|v| source.set(v / 2));
    assert_eq!(derived.get(), 25);
}

#[test]
fn reads_and_handles_allocate_nothing() {
    let calls = Rc::default();
    let (source, derived, _guard) = watched(&calls);
    check_steady(|v| {
        batch(|| {
            source.set(v);
            assert_eq!(derived.get(), v + 1);
        });
        let copy = derived.clone();
        let weak = copy.downgrade();
        assert!(weak.upgrade().is_some_and(|cell| cell.with(|held| *held == v + 1)));
    });
}

#[test]
fn a_set_queued_by_a_callback_allocates_nothing() {
    let calls = Rc::default();
    let (target, derived, _guard) = watched(&calls);
    let trigger = Cell::new(0_u64);
    let _acts = trigger.subscribe_changes(move |signal| {
        if let hyphae::Signal::Value(v) = signal {
            target.set(**v);
            target.set(**v + 1);
            batch(|| {
                target.set(**v + 2);
                target.set(**v + 3);
            });
        }
    });
    check_steady(|v| trigger.set(v));
    assert_eq!(derived.get(), 102 + 3 + 1);
    assert_eq!(calls.get(), 103 * 3, "two waves of one write and one of a batch");
}

#[test]
fn events_allocate_nothing() {
    let source = hyphae::Source::new();
    let sum = source.clone().scan(0, |sum, v: &u64| sum + v).materialize();
    let _guard = source.subscribe(|_| ());
    check_steady(|v| {
        source.emit(v);
        batch(|| (0..3).for_each(|n| source.emit(n)));
    });
    assert_eq!(sum.get(), Some((0..103).sum::<u64>() + 103 * 3));
}

#[test]
fn subscribing_a_zero_sized_callback_allocates_nothing() {
    let source = Cell::new(0_u64);
    check_steady(|v| {
        let first = source.watch(|_| ());
        let second = source.subscribe_changes(|_| ());
        source.set(v);
        drop(first);
        source.set(v);
        drop(second);
    });
    assert_eq!(source.callbacks(), 0);
}

#[test]
fn a_batch_of_a_thousand_sources_allocates_nothing() {
    let sources: Vec<Cell<u64>> = (0..1000).map(Cell::new).collect();
    let maps: Vec<_> = sources.iter().map(|s| s.map(|v| v + 1).materialize()).collect();
    let calls = Rc::new(StdCell::new(0_u64));
    let _guards: Vec<_> = maps
        .iter()
        .map(|map| {
            let calls = calls.clone();
            map.subscribe_changes(move |_| calls.set(calls.get() + 1))
        })
        .collect();
    check_steady(|v| batch(|| sources.iter().for_each(|source| source.set(v))));
    assert_eq!(calls.get(), 103 * 1000);
}

/// Runs so far.
fn runs() -> u64 {
    arena::totals().recomputations
}

#[test]
fn a_switch_between_two_cached_cells_allocates_nothing() {
    let (first, second, which) = (Cell::new(0_u64), Cell::new(1_000_u64), Cell::new(0_u64));
    let plus = |cell: &Cell<u64>| cell.map(|v| v + 1).materialize();
    let (a, b) = (plus(&first), plus(&second));
    let shown = which.switch_map({
        let (a, b) = (a.clone(), b.clone());
        move |which| if which % 2 == 0 { a.clone() } else { b.clone() }
    });
    let _guard = shown.subscribe_changes(|_| ());
    check_steady(|v| {
        which.set(v);
        first.set(v);
        second.set(v + 1_000);
    });
    assert_eq!((shown.get(), a.dependents(), b.dependents()), (103, 1, 0));
}

#[test]
fn a_computed_cell_with_changing_reads_allocates_nothing() {
    let cells: Vec<Cell<u64>> = (0..4).map(Cell::new).collect();
    let which = Cell::new(0_u64);
    let sum = Cell::computed({
        let (cells, which) = (cells.clone(), which.clone());
        move || {
            let from = which.get() as usize;
            cells[from % 4].get() + cells[(from + 1) % 4].get()
        }
    });
    let _guard = sum.subscribe_changes(|_| ());
    check_steady(|v| {
        which.set(v);
        cells.iter().for_each(|cell| cell.set(v));
    });
    assert_eq!((sum.get(), which.dependents()), (204, 1));
    assert_eq!(cells.iter().map(Cell::dependents).sum::<usize>(), 2);
}

#[test]
fn an_effect_with_changing_reads_allocates_nothing() {
    let (a, b, which) = (Cell::new(0_u64), Cell::new(0_u64), Cell::new(0_u64));
    let seen = Rc::new(StdCell::new(0));
    let _guard = effect({
        let (a, b, which, seen) = (a.clone(), b.clone(), which.clone(), seen.clone());
        move || seen.set(if which.get() % 2 == 0 { a.get() } else { 1_000 + b.get() })
    });
    check_steady(|v| {
        which.set(v);
        a.set(v);
        b.set(v);
    });
    assert_eq!((seen.get(), a.dependents(), b.dependents()), (102, 1, 0));
}

#[test]
fn combined_cells_allocate_nothing() {
    let (a, b, c) = (Cell::new(0_u64), Cell::new(0_u64), Cell::new(0_u64));
    let sum = combine((&a, &b, &c), |(a, b, c)| a + b + c);
    let zipped = a.zip(&b);
    let then = a.concat(&b);
    let until = b.take_until(&Cell::new(()));
    let beside = (&a).with_latest_from(&sum).map(|(a, sum)| a * sum).materialize();
    let sampled = sum.sample(&c).materialize();
    let _guards = (sum.watch(|_| ()), zipped.watch(|_| ()), beside.watch(|_| ()));
    let before = runs();
    check_steady(|v| {
        batch(|| {
            a.set(v);
            b.set(v);
        });
        c.set(v);
    });
    assert_eq!((sum.get(), zipped.get(), then.get(), until.get()), (306, (102, 102), 102, 102));
    assert_eq!((beside.get(), sampled.get()), (102 * (102 + 102 + 101), 306));
    // In the first wave `combine`, `zip`, `concat`, `take_until`, `with_latest_from`, in the second `combine` and `sample`.
    assert_eq!(runs() - before, 103 * 7);
}

/// The values that wait for their rounds need room once.
#[test]
fn a_merge_of_two_changes_allocates_nothing() {
    let (a, b) = (Cell::new(0_u64), Cell::new(0_u64));
    let merged = a.merge(&b);
    let calls = Rc::new(StdCell::new(0));
    let counter = calls.clone();
    let _guard = merged.subscribe_changes(move |_| counter.set(counter.get() + 1));
    check_steady(|v| {
        batch(|| {
            b.set(v);
            a.set(v);
        });
        b.set(v);
    });
    assert_eq!((merged.get(), calls.get()), (102, 3 * 103));
}

/// The list of the values is the value: one allocation a wave, however many inputs changed.
#[test]
fn join_vec_allocates_its_list_alone() {
    let cells: Vec<Cell<u64>> = (0..1000).map(Cell::new).collect();
    let all = join_vec(cells.iter().cloned());
    let _guard = all.subscribe_changes(|_| ());
    let frame = |v: u64| batch(|| cells.iter().for_each(|cell| cell.set(v)));
    (0..3).for_each(frame);
    let calls = calls_of(|| (3..103).for_each(frame));
    assert_eq!(calls, 100 * 2, "the new list, and the old one dropped");
    assert_eq!(all.with(|all| all.iter().sum::<u64>()), 102 * 1000);
}

#[test]
fn a_selection_allocates_nothing() {
    let selected = Cell::new(0_u64);
    let selector = selector(&selected);
    let rows: Vec<_> = (0..1000).map(|row| selector.is(row)).collect();
    let _guards: Vec<_> = rows.iter().map(|row| row.subscribe_changes(|_| ())).collect();
    let before = runs();
    check_steady(|v| selected.set(v * 7 % 1000));
    assert_eq!(rows.iter().filter(|row| row.get()).count(), 1);
    // The selector and two rows; the first value was selected already.
    assert_eq!(runs() - before, 102 * 3 + 1);
}

/// A frame, its report and its statistics; its levels, too, once the column has its length.
#[cfg(feature = "frames")]
#[test]
fn frames_allocate_nothing() {
    use hyphae::{FrameLoop, ManualClock};
    let calls = Rc::default();
    let (source, derived, _guard) = watched(&calls);
    let follows = Cell::new(0_u64);
    let writes = follows.clone();
    let _acts = derived.subscribe_changes(move |_| writes.update(|v| *v += 1));
    for levels in [false, true] {
        let frames = FrameLoop::new(60).with_clock(ManualClock::new());
        let mut frames = frames.with_levels(levels);
        check_steady(|v| {
            frames.run(1, |frame| {
                assert_eq!(frame.index, v);
                source.set(v);
            });
        });
        let report = frames.frame(|_| source.set(0));
        assert_eq!((report.emits, report.waves), (3, 2));
        assert_eq!(report.levels, levels.then_some(1));
    }
    assert_eq!((calls.get(), follows.get()), (2 * 104, 2 * 104));
}

#[test]
fn bytes_for_each_cell_and_subscriber() {
    const N: usize = 100_000;
    let mut sources = Vec::with_capacity(N);
    let mut maps = Vec::with_capacity(N);
    let mut guards = Vec::with_capacity(N);
    let (source, ()) = bytes_each(N, || sources.extend((0..N as u64).map(Cell::new)));
    let (map, ()) = bytes_each(N, || {
        maps.extend(sources.iter().map(|source| source.map(|v| v + 1).materialize()));
    });
    let (subscriber, ()) =
        bytes_each(N, || guards.extend(maps.iter().map(|map| map.watch(|_| ()))));
    let totals = [source, source + map, source + map + subscriber];
    println!(
        "bytes each at n = {N}: source {source:.1}, map {map:.1}, subscriber {subscriber:.1}; together {totals:.1?}"
    );
    for (total, bound) in totals.into_iter().zip(BYTES) {
        assert!(total <= bound, "{totals:.1?} bytes; {total:.1} is over {bound}");
    }
}

/// Bytes of a source, of a source with a map, of both with a subscriber.
#[cfg(not(feature = "trace"))]
const BYTES: [f64; 3] = [90.0, 190.0, 235.0];
/// The same with a row of counters for each cell (32 bytes, and its number in the node); `profiling` adds none.
#[cfg(feature = "trace")]
const BYTES: [f64; 3] = [130.0, 275.0, 320.0];

/// Counters take their room when a cell is made, times when they are first asked for; a wave takes none.
#[cfg(feature = "trace")]
mod traced {
    use hyphae::{Timing, hot_traced_cells, log_hot_cells_every, profiling, set_timing};

    use super::*;

    #[test]
    fn bytes_of_times() {
        const N: usize = 100_000;
        let sources: Vec<Cell<u64>> = (0..N as u64).map(|v| Cell::new(v + 1)).collect();
        set_timing(Timing::EveryWave);
        let below = (&sources[0]).map(|v| v + 1).materialize();
        let (times, ()) = bytes_each(N, || sources[0].set(5));
        println!("bytes of times each at n = {N}: {times:.1}");
        assert!((40.0..=41.0).contains(&times), "{times:.1} bytes, a row and no more");
        let after = calls_of(|| sources.iter().for_each(|source| source.set(1)));
        assert_eq!((after, below.get()), (0, 2));
    }

    /// A storm of a thousand cells, counted, with times and without, and with a period of the log that never ends.
    #[test]
    fn counting_and_timing_allocate_nothing() {
        let source = Cell::new(0_u64);
        let cells: Vec<_> = (0..1000).map(|i| source.map_with(i)).collect();
        let _guards: Vec<_> = cells.iter().map(|cell| cell.subscribe_changes(|_| ())).collect();
        for timing in [Timing::Off, Timing::EveryWave, Timing::OneWaveIn(3)] {
            set_timing(timing);
            log_hot_cells_every(u64::MAX);
            check_steady(|v| source.set(v));
        }
        let hot = hot_traced_cells();
        assert!(hot.iter().all(|cell| cell.notify_count == 3 * 103));
    }

    /// A pass notes each fire: its list grows, and is all that it takes.
    #[test]
    fn a_pass_allocates_its_list_alone() {
        let source = Cell::new(0_u64);
        let cells: Vec<_> = (0..1000).map(|i| source.map_with(i)).collect();
        source.set(1);
        let calls = calls_of(|| profiling::pass(|| source.set(2)));
        assert!((1..=12).contains(&calls), "a list of 1001 ids that doubles: {calls} calls");
        let report = profiling::take_report().expect("a pass has been");
        assert_eq!((report.cells_fired(), cells.len()), (1001, 1000));
    }

    trait MapWith {
        fn map_with(&self, i: u64) -> Cell<u64, CellImmutable>;
    }

    impl MapWith for Cell<u64> {
        fn map_with(&self, i: u64) -> Cell<u64, CellImmutable> {
            self.clone().map(move |v| v + i).materialize()
        }
    }
}

/// TR-1: the library's own spans, to a listener that takes them and does nothing.
#[cfg(feature = "profiling")]
mod spans {
    use hyphae::Source;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    thread_local! {
        static SPANS: StdCell<u64> = const { StdCell::new(0) };
    }

    struct Idle;

    impl Subscriber for Idle {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            SPANS.set(SPANS.get() + 1);
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn tr_1_a_span_asks_the_allocator_for_nothing() {
        let (a, source) = (Cell::new(0_u64).with_name("a"), Source::new());
        let maps: Vec<_> = (0..1000).map(|i| (&a).map(move |v| v + i).materialize()).collect();
        maps[..500].iter().for_each(|map| map.set_name("one of many"));
        let _guards: Vec<_> = maps.iter().map(|map| map.watch(|_| ())).collect();
        let event = source.clone().map(|v: &u64| *v).materialize();
        let read = Cell::computed({
            let a = a.clone();
            move || a.get()
        });
        let _listens = tracing::subscriber::set_default(Idle);
        let before = SPANS.get();
        check_steady(|v| {
            a.set(v);
            batch(|| {
                source.emit(v);
                source.emit(v);
            });
        });
        assert_eq!((event.get(), read.get()), (Some(102), 102));
        // A wave, 1001 turns, 1002 fan-outs; a wave with two rounds of a turn and two fan-outs.
        assert_eq!(SPANS.get() - before, 103 * (1 + 1001 + 1002 + 1 + 2 * 3));
    }
}

/// Spans of a known stack are folded without a call of the allocator, by the layer and by the registry below it.
#[cfg(feature = "flame")]
#[test]
fn spans_are_folded_in_place() {
    use tracing_subscriber::prelude::*;

    let (layer, folded) = hyphae::FoldedLayer::new();
    let _guard = tracing_subscriber::registry().with(layer.by_id()).set_default();
    let names: Vec<String> = (0..100).map(|i| format!("src/rig;{i}")).collect();
    check_steady(|round| {
        let _wave = tracing::trace_span!(target: "hyphae", "hyphae.wave", width = round).entered();
        for (id, name) in names.iter().enumerate() {
            let name = name.as_str();
            tracing::trace_span!(target: "hyphae", "hyphae.fanout", id = %id, name).in_scope(|| {
                let _inner = tracing::trace_span!(target: "hyphae", "hyphae.compute", operator = "map", name).entered();
            });
        }
    });
    assert_eq!(folded.stacks().map(|stack| stack.count).sum::<u64>(), 103 * 201);
}
