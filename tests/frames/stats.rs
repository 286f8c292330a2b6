//! Percentiles and histograms.

use hyphae::{Bar, Cell, FrameLoop, FrameStats, FrameSummary, ManualClock, Percentiles, Pipeline};

use crate::{loop_at, ns};

/// Frames whose settling takes so many nanoseconds each; no delivery.
fn settles(nanos: impl IntoIterator<Item = u64>) -> FrameStats {
    let (clock, frames) = loop_at(0);
    let mut frames = frames.with_budget(ns(950));
    let cost = Cell::new(0);
    let ticks = clock.clone();
    let _slow = (&cost).map(move |&cost| ticks.advance(ns(cost))).materialize();
    for cost_ns in nanos {
        frames.frame(|_| cost.set(cost_ns));
    }
    frames.take_stats()
}

/// Frames whose first fan-out is so many nanoseconds from the boundary.
fn jitters(nanos: impl IntoIterator<Item = i64>) -> FrameStats {
    const NOW: u64 = 1 << 40;
    let mut frames = FrameLoop::new(60).with_clock(ManualClock::at(NOW));
    let cell = Cell::new(0);
    for nanos in nanos {
        let boundary = NOW.checked_add_signed(-nanos).expect("in range");
        assert_eq!(frames.frame_at(boundary, |_| cell.set(0)).jitter_ns, Some(nanos));
    }
    frames.take_stats()
}

fn all(p: Percentiles) -> (u64, [i64; 6]) {
    (p.samples, [p.min_ns, p.p50_ns, p.p90_ns, p.p99_ns, p.p999_ns, p.max_ns])
}

/// Up to 2 µs each nanosecond has a place of its own; the order of arrival does not matter.
#[test]
fn percentiles_of_a_thousand_frames() {
    let stats = settles((1..=1000).map(|n| n * 3 % 1001));
    assert_eq!(all(stats.fanout()), (1000, [1, 500, 900, 990, 999, 1000]));
    assert_eq!(stats.settle(), stats.fanout());
    assert_eq!((stats.frames(), stats.frames_over_budget()), (1000, 50));
}

#[test]
fn percentiles_of_a_few_frames() {
    assert_eq!(all(settles([]).fanout()), (0, [0; 6]));
    assert_eq!(all(settles([40]).fanout()), (1, [40; 6]));
    assert_eq!(all(settles([30, 10]).fanout()), (2, [10, 10, 30, 30, 30, 30]));
    assert_eq!(all(settles([0, 0, 9]).fanout()), (3, [0, 0, 9, 9, 9, 9]));
}

/// Great times are within 1/1000, the greatest and the smallest exact.
#[test]
fn great_times() {
    let stats = settles((1..=999).map(|n| n * 1_000_003).chain([3_600_000_000_000]));
    let (samples, [min, p50, p90, p99, p999, max]) = all(stats.fanout());
    assert_eq!((samples, min, max), (1000, 1_000_003, 3_600_000_000_000));
    for (got, exact) in [(p50, 500), (p90, 900), (p99, 990), (p999, 999)] {
        let exact = exact * 1_000_003;
        assert!((got - exact).abs() * 1000 <= exact, "{got} instead of {exact}");
    }
}

#[test]
fn jitter_has_a_sign() {
    let stats = jitters(-500..500);
    assert_eq!(all(stats.jitter()), (1000, [-500, -1, 399, 489, 498, 499]));
    assert_eq!(all(jitters([-30, -10, -20]).jitter()), (3, [-30, -20, -10, -10, -10, -10]));
    assert_eq!(all(jitters([0, -1]).jitter()), (2, [-1, -1, 0, 0, 0, 0]));
    assert_eq!(all(jitters([5, 6]).jitter()), (2, [5, 5, 6, 6, 6, 6]));
}

/// Frames that changed nothing count as frames without fan-out, and have no jitter.
#[test]
fn frames_without_changes() {
    let (_, mut frames) = loop_at(0);
    frames.run(10, |_| ());
    let stats = frames.stats();
    assert_eq!(all(stats.fanout()), (10, [0; 6]));
    assert_eq!(stats.jitter(), Percentiles::default());
    assert_eq!(stats.jitter_bars(), []);
}

fn bars(bars: &[Bar]) -> Vec<(i64, i64, u64)> {
    bars.iter().map(|bar| (bar.from_ns, bar.to_ns, bar.samples)).collect()
}

#[test]
fn bars_of_one_width() {
    let stats = settles((0..120).chain([60, 60]));
    let told = bars(&stats.fanout_bars());
    // 118 / 12 is below 10.
    let expected: Vec<_> =
        (0..12).map(|n| (n * 10, n * 10 + 10, if n == 6 { 12 } else { 10 })).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_is_far_above_has_one_wide_bar() {
    let stats = settles((0..995).map(|_| 1_000).chain([1_003, 50_000, 7_000_000, 7_000_001]));
    assert_eq!(bars(&stats.fanout_bars()), [(1_000, 1_001, 995), (1_001, 7_000_002, 4)]);
}

#[test]
fn what_is_far_below_has_one_wide_bar() {
    let stats = jitters([-9_000_000, 3].into_iter().chain((0..400).map(|n| n % 4 * 100 - 100)));
    let told = bars(&stats.jitter_bars());
    assert_eq!(told.iter().map(|bar| bar.2).sum::<u64>(), 402);
    assert_eq!(told.first(), Some(&(-9_000_000, -100, 1)));
    assert_eq!(told[1], (-100, -50, 100));
    assert_eq!(told.last(), Some(&(200, 250, 100)));
    assert!(told.windows(2).all(|pair| pair[0].1 == pair[1].0), "{told:?}");
}

/// Round times stay in the bar that begins with them, whatever the precision.
#[test]
fn round_times_on_both_sides() {
    let stats = jitters((-3..=3).flat_map(|n| [n * 10_000_000; 20]));
    let told: Vec<_> = bars(&stats.jitter_bars()).into_iter().filter(|bar| bar.2 > 0).collect();
    let expected: Vec<_> =
        (-3..=3).map(|n| (n * 10_000_000, n * 10_000_000 + 5_000_000, 20)).collect();
    assert_eq!(told, expected);
}

#[test]
fn statistics_from_reports() {
    let (clock, mut frames) = loop_at(0);
    let mut own = FrameStats::new();
    for n in [1, 5, 6, 11] {
        clock.set(n * 1_000);
        own.record(&frames.frame(|_| ()));
    }
    assert_eq!(own.summary(), frames.stats().summary());
    assert_eq!((own.frames(), own.boundaries_skipped()), (4, 7));
    let taken = frames.take_stats();
    assert_eq!(taken.summary(), own.summary());
    assert_eq!(frames.stats().summary(), FrameSummary::default());
}

#[test]
fn the_text() {
    let (clock, mut frames) = loop_at(0);
    let cost = Cell::new(0);
    let ticks = clock.clone();
    let _guard = cost.watch_changes(move |&cost| ticks.advance(ns(cost)));
    for (at, cost_ns) in [(0, 100), (1_000, 100), (3_000, 300), (4_000, 1_200)] {
        clock.set(at);
        frames.frame(|_| cost.set(cost_ns));
    }
    let expected = "\
4 frames, 1 over budget, 1 boundaries skipped
                  p50         p90         p99       p99.9         max
settle           0 ns        0 ns        0 ns        0 ns        0 ns
fan-out        100 ns     1200 ns     1200 ns     1200 ns     1200 ns
jitter           0 ns        0 ns        0 ns        0 ns        0 ns
fan-out time, frames in each range
     100 ns to      200 ns        2 ########################################
     200 ns to      300 ns        0
     300 ns to      400 ns        1 ####################
";
    let text = frames.stats().to_string();
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.ends_with(
            "\
jitter of the first fan-out, frames in each range
       0 ns to        1 ns        4 ########################################
"
        ),
        "{text}"
    );
}

#[cfg(feature = "serde")]
#[test]
fn reports_are_data() {
    let (clock, mut frames) = loop_at(20);
    let cell = Cell::new(0);
    clock.set(30);
    let report = frames.frame_at(25, |_| cell.set(1));
    let value = serde_json::to_value(report).expect("it is data");
    assert_eq!((&value["lateness_ns"], &value["emits"]), (&5.into(), &1.into()));
    assert_eq!((&value["jitter_ns"], &value["levels"]), (&5.into(), &serde_json::Value::Null));
    let value = serde_json::to_value(frames.stats().summary()).expect("it is data");
    assert_eq!((&value["frames"], &value["jitter"]["p99_ns"]), (&1.into(), &5.into()));
    let value = serde_json::to_value(frames.stats().jitter_bars()).expect("it is data");
    assert_eq!(value, serde_json::json!([{ "from_ns": 5, "to_ns": 6, "samples": 1 }]));
}
