//! When frames are due: phase, skipped boundaries, no burst.

use hyphae::{Clock, Frame, FrameLoop, ManualClock};

use crate::{loop_at, ns};

/// Index, boundary and start of a frame, and how many were skipped before it.
fn when(frame: &Frame) -> (u64, u64, u64, u64) {
    (frame.index, frame.boundary_ns, frame.start_ns, frame.skipped)
}

/// Runs one frame now.
fn step(frames: &mut FrameLoop) -> (u64, u64, u64, u64) {
    let mut seen = None;
    let report = frames.frame(|frame| seen = Some(when(frame)));
    let told = (report.index, report.boundary_ns, report.start_ns, report.skipped);
    assert_eq!(seen, Some(told));
    told
}

#[test]
fn the_first_boundary_is_the_moment_of_the_first_frame() {
    let (clock, mut frames) = loop_at(500);
    clock.set(12_345);
    assert_eq!(frames.next_boundary_ns(), 12_345);
    assert_eq!(step(&mut frames), (0, 12_345, 12_345, 0));
    assert_eq!(frames.next_boundary_ns(), 13_345);
}

#[test]
fn boundaries_that_have_passed_are_skipped_and_the_phase_is_kept() {
    let (clock, mut frames) = loop_at(100);
    assert_eq!(step(&mut frames), (0, 100, 100, 0));
    clock.set(1_100);
    assert_eq!(step(&mut frames), (1, 1_100, 1_100, 0));
    clock.set(2_099);
    assert_eq!(step(&mut frames), (2, 2_100, 2_099, 0), "early");
    clock.set(4_102);
    assert_eq!(step(&mut frames), (4, 4_100, 4_102, 1));
    // No frame gets a boundary that had one.
    assert_eq!(step(&mut frames), (5, 5_100, 4_102, 0));
    clock.set(5_050);
    assert_eq!(step(&mut frames), (6, 6_100, 5_050, 0));
    clock.set(9_099);
    assert_eq!(step(&mut frames), (8, 8_100, 9_099, 1));
    assert_eq!(frames.next_boundary_ns(), 9_100);
    assert_eq!(frames.stats().boundaries_skipped(), 2);
}

/// Frame 1 takes three and a half periods: one frame late, then all on time.
#[test]
fn a_late_frame_is_not_followed_by_a_burst() {
    let (clock, mut frames) = loop_at(0);
    let mut seen = Vec::new();
    frames.run(5, |frame| {
        seen.push(when(frame));
        if frame.index == 1 {
            clock.advance(ns(3_500));
        }
    });
    let expected = [(0, 0, 0, 0), (1, 1_000, 1_000, 0), (4, 4_000, 4_500, 2), (5, 5_000, 5_000, 0)];
    assert_eq!(seen[..4], expected);
    assert_eq!(seen[4], (6, 6_000, 6_000, 0));
    assert_eq!(frames.stats().boundaries_skipped(), 2);
}

/// Every frame takes 1.25 periods: lateness grows by a quarter until a boundary is skipped.
#[test]
fn frames_that_are_always_too_long() {
    let (clock, mut frames) = loop_at(0);
    let mut seen = Vec::new();
    frames.run(6, |frame| {
        seen.push((frame.index, frame.lateness_ns(), frame.skipped));
        clock.advance(ns(1_250));
    });
    let expected = [(0, 0, 0), (1, 250, 0), (2, 500, 0), (3, 750, 0), (5, 0, 1), (6, 250, 0)];
    assert_eq!(seen, expected);
    assert_eq!(frames.stats().frames_over_budget(), 6);
}

/// The machine sleeps for an hour: one frame, and the phase is where it was.
#[test]
fn a_long_sleep_is_one_late_frame() {
    let clock = ManualClock::new();
    let mut frames = FrameLoop::new(60).with_clock(clock.clone());
    step(&mut frames);
    clock.set(3_600_000_000_000 + 1);
    assert_eq!(step(&mut frames), (216_000, 3_600_000_000_000, 3_600_000_000_001, 215_999));
    assert_eq!(frames.next_boundary_ns(), 3_600_016_666_667);
}

#[test]
fn sixty_hertz_stay_sixty_hertz() {
    let clock = ManualClock::at(5);
    let mut frames = FrameLoop::new(60.0).with_clock(clock.clone());
    let mut boundaries = Vec::new();
    frames.run(61, |frame| boundaries.push(frame.boundary_ns));
    assert_eq!(boundaries[..4], [5, 16_666_672, 33_333_338, 50_000_005]);
    assert_eq!((boundaries[60], clock.now_nanos()), (1_000_000_005, 1_000_000_005));
}

#[test]
fn run_sleeps_until_each_boundary() {
    let (clock, mut frames) = loop_at(0);
    let mut seen = Vec::new();
    frames.run(0, |_| panic!("no frame was asked for"));
    frames.run(3, |frame| {
        seen.push(when(frame));
        clock.advance(ns(10));
    });
    assert_eq!(seen, [(0, 0, 0, 0), (1, 1_000, 1_000, 0), (2, 2_000, 2_000, 0)]);
    assert_eq!(clock.now_nanos(), 2_010, "no sleep after the last");
    frames.run(1, |frame| seen.push(when(frame)));
    assert_eq!(seen[3], (3, 3_000, 3_000, 0));
}

#[test]
fn run_while_ends_with_the_frame_that_says_so() {
    let (_, mut frames) = loop_at(0);
    let mut indexes = Vec::new();
    frames.run_while(|frame| {
        indexes.push(frame.index);
        frame.index < 3
    });
    assert_eq!(indexes, [0, 1, 2, 3]);
    assert_eq!(frames.stats().frames(), 4);
}

/// A host that knows its boundaries: they need not be evenly spaced, and nothing counts as skipped.
#[test]
fn frames_driven_from_outside() {
    let (clock, mut frames) = loop_at(0);
    let mut at = |now: u64, boundary: u64| {
        clock.set(now);
        let report = frames.frame_at(boundary, |_| ());
        (report.index, report.boundary_ns, report.lateness_ns, report.skipped)
    };
    assert_eq!(at(10_000, 9_990), (0, 9_990, 10, 0));
    assert_eq!(at(17_000, 17_000), (1, 17_000, 0, 0));
    assert_eq!(at(17_500, 18_300), (2, 18_300, -800, 0));
    // Frames at the rate go on from the last one.
    assert_eq!(frames.next_boundary_ns(), 19_300);
    clock.set(20_400);
    assert_eq!(step(&mut frames), (4, 20_300, 20_400, 1));
}

#[test]
fn a_pause_that_was_meant_skips_nothing() {
    let (clock, mut frames) = loop_at(0);
    step(&mut frames);
    clock.set(77_777);
    frames.restart();
    assert_eq!(step(&mut frames), (1, 77_777, 77_777, 0));
    assert_eq!(frames.next_boundary_ns(), 78_777);
}

#[test]
fn another_clock_is_another_grid() {
    let (_, mut frames) = loop_at(1_000_000);
    step(&mut frames);
    let mut frames = frames.with_clock(ManualClock::at(30));
    assert_eq!(step(&mut frames), (1, 30, 30, 0));
}

/// The one test on the real clock: how long it sleeps is not checked, only that it never wakes early.
#[test]
fn the_operating_systems_clock_is_the_default() {
    let mut frames = FrameLoop::new(1000);
    let mut last = None;
    frames.run(3, |frame| {
        assert!(frame.lateness_ns() >= 0);
        assert!(last < Some(frame.index));
        last = Some(frame.index);
    });
    assert_eq!(frames.stats().frames(), 3);
}
